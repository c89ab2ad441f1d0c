/**
 * The token index's projection: tokens booted, updated and ended, requests made, applied, refused and retracted, and facts.
 *
 * Assumptions:
 * - A token under a published script's policy is always in an output of that script whose datum is a state. The contract
 *   enforces this.
 * - A request is an output of the script with a request as its datum and no assets, made by anyone. Other outputs at the
 *   script are ignored.
 * - Requests are applied in the ledger's order of inputs.
 * - A token is identified by its name. If one transaction boots a name under several versions of the script, the token is
 *   that of the newest version and the others are ignored.
 *
 * Each new root is checked against the facts. A token whose root the requests do not explain is quarantined by a row; other
 * tokens are not affected.
 */
import { toHex } from "#src/base/bytes.ts";
import { created, type Point, type ScannedBlock, type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { decode } from "#src/cardano/cbor.ts";
import { compareRefs, type Output, type OutRef, readOutput, refKey } from "#src/cardano/output.ts";
import {
  type Folded,
  type Projection,
  type Row,
  type RowQuery,
  type Rows,
  type RowWrite,
  type Touched,
  unanswered,
} from "#src/chain/index/projection.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import { decodeDatum, EMPTY_ROOT, type Request, type State } from "#src/contract/datum.ts";
import { FactTable } from "#src/tokens/index/facts.ts";
import { eventChange, partsOf } from "#src/tokens/index/changes.ts";
import { operationOf } from "#src/tokens/index/read.ts";
import { bytes, flag, number, text, texts } from "#src/tokens/index/rows.ts";
import { CUT_ABOVE } from "#src/tokens/index/trie.ts";
import { spendRedeemers } from "#src/tokens/index/redeemers.ts";
import { keyAddressHex } from "#src/contract/plutusAddress.ts";
import type { SpendRedeemer } from "#src/contract/redeemer.ts";
import { digest } from "#src/forestry/hash.ts";

export interface CageProjectionOptions {
  /** Hashes of every published version of the script. */
  readonly scripts: readonly string[];
  /** Network id in addresses. */
  readonly network: 0 | 1;
  /** Number of facts above which the cut is stored; default `CUT_ABOVE`. */
  readonly cutAbove?: number;
  /** False: facts are neither read nor changed, and roots are not checked against them; default true. */
  readonly facts?: boolean;
}

/** The projection of tokens, their requests and their facts. */
export function cageProjection(options: CageProjectionOptions): Projection {
  const scripts = new Set(options.scripts);
  return {
    name: "cage",
    tables: [
      "token_state",
      "token_quarantine",
      "token_request",
      "token_request_end",
      "token_end",
      "fact",
      "token_bucket",
    ],
    keys(block): RowQuery[] {
      const refs = block.transactions.flatMap((transaction) => spent(transaction).map(refKey));
      return [
        { table: "token_state", column: "ref", in: refs },
        { table: "token_request", column: "ref", in: refs },
        // actors of existing tokens are notified of requests
        { table: "token_state", column: "token", in: [...requestedTokens(block, scripts)] },
      ];
    },
    fold: (block, rows) => new BlockFold(block, rows, scripts, options).run(),
    undoKeys(affected) {
      const tokens = [...affectedTokens(affected)];
      return [
        { table: "token_state", column: "token", in: tokens },
        { table: "token_quarantine", column: "token", in: tokens },
        { table: "token_history", column: "token", in: tokens },
      ];
    },
    undo: rollbackEvents,
  };
}

function affectedTokens(affected: Rows): Set<string> {
  return new Set(
    ["token_state", "token_quarantine", "token_request"].flatMap((table) => texts(affected, table, "token")),
  );
}

function rollbackEvents(point: Point, affected: Rows, rows: Rows): Touched[] {
  const states = new Map((rows.get("token_state") ?? []).map((row) => [text(row, "token"), row]));
  const reasons = new Map(
    (rows.get("token_quarantine") ?? []).map((row) => [text(row, "token"), text(row, "reason")]),
  );
  const past = new Set(texts(rows, "token_history", "token"));
  const wasLive = new Set(texts(affected, "token_state", "token"));
  return [...affectedTokens(affected)].filter((token) => past.has(token) || wasLive.has(token)).map((token) => {
    const state = states.get(token);
    const reason = state ? reasons.get(token) ?? null : null;
    return {
      entity: { kind: "token", id: token },
      event: {
        type: "ROLLED_BACK",
        slot: point.slot,
        ...(point.hash === "" ? {} : { block: point.hash }),
        to: !state ? (past.has(token) ? "ended" : "absent") : reason === null ? "live" : "quarantined",
        owner: state ? text(state, "owner") : null,
        root: state ? text(state, "root") : null,
        ref: state ? text(state, "ref") : null,
        reason,
      },
    };
  });
}

/** Script hash in the payment part of an address; undefined for a key. */
export function scriptOf(address: string): string | undefined {
  // address types 1, 3, 5 and 7 have a script as payment part (CIP-19)
  const type = parseInt(address.slice(0, 1), 16);
  return type < 8 && type % 2 === 1 ? address.slice(2, 58) : undefined;
}

/** The requests that a transaction makes. */
export function* requestsIn(transaction: ScannedTransaction, scripts: ReadonlySet<string>) {
  for (const { ref, output } of created(transaction)) {
    const script = scriptOf(output.address);
    if (script === undefined || !scripts.has(script) || !output.datum || output.value.assets.size > 0) continue;
    const datum = decodeDatum(output.datum);
    if (datum?.type === "request" && datum.request.policy === script) yield { ref, output, request: datum.request };
  }
}

function requestedTokens(block: ScannedBlock, scripts: ReadonlySet<string>): Set<string> {
  const tokens = new Set<string>();
  for (const transaction of block.transactions) {
    for (const { request } of requestsIn(transaction, scripts)) tokens.add(request.name);
  }
  return tokens;
}

/** How a request ended. */
export type RequestEnd = "applied" | "refused" | "retracted";

/** How a request ended, from its redeemer beside an update of its token; undefined where there is no such update. */
function requestEnd(redeemer: SpendRedeemer["type"] | undefined): RequestEnd {
  return redeemer === "contribute" ? "applied" : redeemer === "refuse" ? "refused" : "retracted";
}

/** Position within a block: 65536 × the transaction's index + the index within the transaction. */
const positionOf = (transaction: ScannedTransaction, place: number) => 65_536 * transaction.index + place;

/** By token, the key digests of all requests that a block spends or makes. */
function touchedPaths(block: ScannedBlock, rows: Rows, scripts: ReadonlySet<string>): Map<string, Set<string>> {
  const paths = new Map<string, Set<string>>();
  const add = (token: string, path: string) => {
    const known = paths.get(token);
    if (known) known.add(path);
    else paths.set(token, new Set([path]));
  };
  for (const row of rows.get("token_request") ?? []) add(text(row, "token"), text(row, "path"));
  for (const transaction of block.transactions) {
    for (const { request } of requestsIn(transaction, scripts)) add(request.name, toHex(digest(request.key)));
  }
  return paths;
}

/** A state output that a transaction makes. */
interface StateOutput {
  readonly ref: OutRef;
  readonly output: Output;
  readonly state: State;
}

/** The asset id of a token whose state is in a row; if the row is damaged, that of its next state. */
function assetOf(row: Row, token: string, next: ReadonlyMap<string, StateOutput>): string | undefined {
  try {
    return scriptOf(readOutput(decode(bytes(row, "output"))).address) + token;
  } catch {
    return [...next.keys()].find((asset) => nameOf(asset) === token);
  }
}

/** A live output. */
interface LiveOutput {
  readonly row: Row;
  /** The row, if this block made it: there is no stored row to close. */
  readonly made?: Record<string, unknown>;
}

/** One pass over a block. If it needs more rows it stops, and a new pass starts from the beginning with them. */
class BlockFold {
  private readonly states = new Map<string, LiveOutput>();
  private readonly requests = new Map<string, LiveOutput>();
  private readonly quarantined: Set<string>;
  private readonly known: Set<string>;
  private readonly facts: FactTable;
  private readonly inserts: RowWrite[] = [];
  private readonly closes: RowWrite[] = [];
  private readonly touched: Touched[] = [];

  constructor(
    private readonly block: ScannedBlock,
    private readonly rows: Rows,
    private readonly scripts: ReadonlySet<string>,
    private readonly options: CageProjectionOptions,
  ) {
    for (const row of rows.get("token_state") ?? []) this.states.set(text(row, "ref"), { row });
    for (const row of rows.get("token_request") ?? []) this.requests.set(text(row, "ref"), { row });
    this.quarantined = new Set(texts(rows, "token_quarantine", "token"));
    this.known = new Set(texts(rows, "token_state", "token"));
    const paths = touchedPaths(block, rows, scripts);
    this.facts = new FactTable(rows, (token) => [...(paths.get(token) ?? [])], options.cutAbove ?? CUT_ABOVE);
  }

  run(): Folded {
    for (const transaction of this.block.transactions) {
      const queries = this.transaction(transaction);
      if (queries.length > 0) return { type: "more", queries };
    }
    return {
      type: "done",
      writes: [...this.closes, ...this.inserts, ...this.facts.writes()],
      touched: this.touched,
    };
  }

  private transaction(transaction: ScannedTransaction): readonly RowQuery[] {
    const inputs = [...spent(transaction)].sort(compareRefs);
    const states = inputs.flatMap((ref) => this.take(this.states, "token_state", ref));
    const requests = inputs.flatMap((ref) => this.take(this.requests, "token_request", ref));
    const redeemers = states.length + requests.length > 0 ? spendRedeemers(transaction) : undefined;
    const modified = new Set(
      states.filter((row) => redeemers?.get(text(row, "ref")) === "modify").map((row) => text(row, "token")),
    );
    const applied = new Map<string, Row[]>();
    for (const [place, row] of requests.entries()) {
      const token = text(row, "token");
      const status = requestEnd(modified.has(token) ? redeemers?.get(text(row, "ref")) : undefined);
      if (status === "applied") applied.set(token, [...(applied.get(token) ?? []), row]);
      else {
        const request = { request: text(row, "ref"), requester: text(row, "owner") };
        const type = status === "refused" ? "REFUSED" : "RETRACTED";
        this.notify(token, { type, ...this.placeOf(transaction), ...request });
      }
      this.recordRequestEnd(row, status, transaction, place);
    }
    const next = this.statesOf(transaction);
    for (const row of states) {
      const token = text(row, "token");
      const asset = assetOf(row, token, next) ?? "";
      const after = next.get(asset);
      next.delete(asset);
      const queries = after ? this.updateToken(row, after, applied.get(token) ?? [], transaction) : [];
      if (queries.length > 0) return queries;
      if (!after) {
        this.insert("token_end", { token, tx: transaction.hash, to_slot: null });
        this.notify(token, { type: "ENDED", ...this.placeOf(transaction) });
      }
    }
    const bootedStates = this.bootedStates(next);
    if (bootedStates.queries.length > 0) return bootedStates.queries;
    for (const [token, after] of bootedStates.tokens) this.bootToken(token, after, transaction);
    for (const { ref, output, request } of requestsIn(transaction, this.scripts)) {
      this.addRequest(ref, output, request, transaction);
    }
    return [];
  }

  /** Removes an output from the live ones and gives its row. */
  private take(live: Map<string, LiveOutput>, table: string, ref: OutRef): Row[] {
    const key = refKey(ref);
    const found = live.get(key);
    if (!found) return [];
    live.delete(key);
    if (found.made) found.made.to_slot = this.block.slot;
    else this.closes.push({ type: "close", table, key: { ref: key } });
    return [found.row];
  }

  private insert(table: string, row: Row): void {
    this.inserts.push({ type: "insert", table, row });
  }

  private put(live: Map<string, LiveOutput>, table: string, row: Record<string, unknown>): void {
    live.set(text(row, "ref"), { row, made: row });
    this.insert(table, row);
  }

  /** State outputs that a transaction makes, by asset. */
  private statesOf(transaction: ScannedTransaction): Map<string, StateOutput> {
    const found = new Map<string, StateOutput>();
    if (!transaction.valid) return found;
    for (const { ref, output } of created(transaction)) {
      for (const [asset, quantity] of output.value.assets) {
        if (!this.scripts.has(policyOf(asset)) || quantity !== 1n || scriptOf(output.address) !== policyOf(asset)) {
          continue;
        }
        const datum = output.datum && decodeDatum(output.datum);
        if (datum?.type === "state") found.set(asset, { ref, output, state: datum.state });
      }
    }
    return found;
  }

  /** Of the states without a predecessor, those whose token was never seen before. */
  private bootedStates(next: ReadonlyMap<string, StateOutput>) {
    const tokens = new Map<string, StateOutput>();
    if (next.size === 0) return { tokens, queries: [] };
    const names = [...new Set([...next.keys()].map(nameOf))];
    const queries = unanswered(this.rows, [{ table: "token_history", column: "token", in: names }]);
    const past = new Set(texts(this.rows, "token_history", "token"));
    for (const script of this.scripts) {
      for (const [asset, state] of next) {
        const name = nameOf(asset);
        if (policyOf(asset) === script && !past.has(name) && !this.known.has(name)) tokens.set(name, state);
      }
    }
    return { tokens, queries };
  }

  private notify(token: string, event: Touched["event"]): void {
    this.touched.push({ entity: { kind: "token", id: token }, event });
  }

  private stateRow(token: string, next: StateOutput, transaction: ScannedTransaction, facts: number, cut: boolean) {
    const row = {
      ref: refKey(next.ref),
      token,
      owner: next.state.owner,
      root: next.state.root,
      output: next.output.raw,
      facts,
      cut,
      position: positionOf(transaction, next.ref.index),
      to_slot: null,
    };
    this.put(this.states, "token_state", row);
    return { owner: row.owner, root: row.root, ref: row.ref };
  }

  /** Where the events of a transaction take place. */
  private placeOf({ hash }: ScannedTransaction) {
    const { slot, hash: block, height } = this.block;
    return { slot, transaction: hash, block, height };
  }

  private bootToken(token: string, next: StateOutput, transaction: ScannedTransaction): void {
    const data = this.stateRow(token, next, transaction, 0, false);
    this.facts.addEmpty(token);
    this.known.add(token);
    this.notify(token, { type: "BOOTED", ...this.placeOf(transaction), ...data });
    if (next.state.root !== EMPTY_ROOT) this.quarantine(token, "it was booted with facts", transaction);
  }

  /** Records a token's next state; gives the queries for rows that this needs first. */
  private updateToken(
    row: Row,
    next: StateOutput,
    applied: readonly Row[],
    transaction: ScannedTransaction,
  ): readonly RowQuery[] {
    const token = text(row, "token");
    const quarantine = unanswered(this.rows, [{ table: "token_quarantine", column: "token", in: [token] }]);
    if (quarantine.length > 0) return quarantine;
    const before = { token, facts: number(row, "facts"), cut: flag(row, "cut") };
    // a quarantined token keeps the facts that the index has of it
    const isTrusted = this.options.facts !== false && !this.quarantined.has(token);
    const queries = isTrusted && applied.length > 0 ? this.facts.missing(before) : [];
    if (queries.length > 0) return queries;
    const reason = isTrusted ? this.applyRequests(before, applied, next.state.root, text(row, "root")) : undefined;
    const size = this.facts.sizeOf(before);
    const data = this.stateRow(token, next, transaction, size.facts, size.cut);
    const explained = isTrusted && reason === undefined ? {} : { unexplained: true };
    const parts = partsOf(applied.map(eventChange));
    for (const [i, changes] of parts.entries()) {
      const place = this.placeOf(transaction);
      const part = { ...(parts.length > 1 ? { parts: parts.length } : {}), changes: [...changes], ...explained };
      if (i < parts.length - 1) this.notify(token, { type: "APPLIED", ...place, part: i + 1, ...part });
      else this.notify(token, { type: "UPDATED", ...place, ...data, applied: applied.length, ...part });
    }
    if (reason !== undefined) this.quarantine(token, reason, transaction);
    return [];
  }

  /** Applies requests to the facts; gives the reason if they do not lead to the new root. */
  private applyRequests(
    before: { token: string; facts: number; cut: boolean },
    applied: readonly Row[],
    root: string,
    oldRoot: string,
  ): string | undefined {
    if (applied.length === 0) return root === oldRoot ? undefined : "the root changed without a request";
    const done = this.facts.apply(
      before,
      applied.map((row) => ({
        path: text(row, "path"),
        key: bytes(row, "key"),
        operation: operationOf(row),
      })),
      root,
    );
    return done.ok ? undefined : done.error.message;
  }

  private quarantine(token: string, reason: string, transaction: ScannedTransaction): void {
    this.quarantined.add(token);
    this.insert("token_quarantine", { token, reason, to_slot: null });
    this.notify(token, { type: "QUARANTINED", ...this.placeOf(transaction), reason });
  }

  private addRequest(ref: OutRef, output: Output, request: Request, transaction: ScannedTransaction): void {
    const { operation } = request;
    const row = {
      ref: refKey(ref),
      token: request.name,
      owner: request.refund.payment,
      refund_address: keyAddressHex(request.refund, this.options.network),
      fee: request.fee,
      type: operation.type,
      path: toHex(digest(request.key)),
      key: request.key,
      old_value: operation.type === "update" ? operation.old : operation.type === "delete" ? operation.value : null,
      new_value: operation.type === "delete" ? null : operation.value,
      lovelace: output.value.lovelace,
      output: output.raw,
      position: positionOf(transaction, ref.index),
      // the owner would pay the fee for a script
      policy: output.script ? "" : request.policy,
      to_slot: null,
    };
    this.put(this.requests, "token_request", row);
    if (!this.known.has(request.name)) return;
    const lovelace = row.lovelace.toString();
    this.notify(request.name, { type: "REQUESTED", ...this.placeOf(transaction), ...eventChange(row), lovelace });
  }

  /** Records how a request ended. */
  private recordRequestEnd(row: Row, status: RequestEnd, transaction: ScannedTransaction, place: number): void {
    const { ref, token, path } = row;
    const [entry, position] = [`${token}:${path}`, positionOf(transaction, place)];
    this.insert("token_request_end", { ref, token, entry, status, tx: transaction.hash, position, to_slot: null });
  }
}
