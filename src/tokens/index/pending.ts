/**
 * A token's newest state: that of the ledger and what the pending transactions make of it, as if the next block held
 * them. The projection of blocks interprets them; nothing is written.
 *
 * Facts are not folded: the digests of the pending changes are enough to build on the facts of the ledger, and the build
 * compares the root.
 */
import { type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Folded, Row, Rows } from "#src/chain/index/projection.ts";
import { changeOf, type Operation } from "#src/contract/datum.ts";
import { type OpenRequest, operationOf, requestOf, stateOf, type TokenLookup } from "#src/tokens/index/read.ts";
import { spendRedeemers } from "#src/tokens/index/redeemers.ts";
import { bytes, number, text, texts } from "#src/tokens/index/rows.ts";
import type { Change } from "#src/forestry/trie.ts";

/** A change of one fact that a pending update applies. */
export interface PendingChange {
  /** Digest of the key, in hexadecimal. */
  readonly path: string;
  readonly key: Uint8Array;
  readonly operation: Operation;
}

/** What pending transactions change of a token. */
export interface PendingToken {
  /** The status after them. */
  readonly after: TokenLookup;
  /** Hash of the last one that changed the state or ended the token; undefined if none did. */
  readonly transaction?: string;
  /** Changes of facts, in the order in which the ledger applies them. */
  readonly changes: readonly PendingChange[];
  /** Requests that they make and do not spend, parents before the transactions that follow them. */
  readonly requests: readonly OpenRequest[];
  /** Hashes of those that spend requests, by the request's `refKey`. */
  readonly spent: ReadonlyMap<string, string>;
}

/** Slot of the block that would hold the pending transactions: later than all others. */
export const PENDING_SLOT = Number.MAX_SAFE_INTEGER;

/** A change in digests, as the trie applies it. */
export const digestsOf = ({ key, operation }: PendingChange): Change => changeOf(key, operation);

/** Pending transactions that can follow the ledger's state, and two that exclude each other. */
export interface Chainable {
  readonly transactions: readonly ScannedTransaction[];
  /** Hashes of two that spend the same output of the contract: the ledger will take one of them at most. */
  readonly conflict?: readonly [string, string];
}

/**
 * Leaves out transactions whose state or request is gone, and what follows them. `transactions` have parents before
 * children; `rows` are the ledger's rows for them; `made` gives the outputs of the contract that a transaction makes.
 */
export function chainable(
  transactions: readonly ScannedTransaction[],
  rows: Rows,
  made: (transaction: ScannedTransaction) => readonly string[],
): Chainable {
  const open = new Set([...texts(rows, "token_state", "ref"), ...texts(rows, "token_request", "ref")]);
  const spenders = new Map<string, string>();
  let conflict: readonly [string, string] | undefined;
  const kept = transactions.filter((transaction) => {
    const scripted = transaction.valid ? [...spendRedeemers(transaction).keys()] : [];
    const inputs = spent(transaction).map(refKey);
    const rival = inputs.map((ref) => spenders.get(ref)).find((one) => one !== undefined);
    if (rival !== undefined) conflict ??= [rival, transaction.hash];
    if (rival !== undefined || scripted.some((ref) => !open.has(ref))) return false;
    for (const ref of inputs) if (open.has(ref)) spenders.set(ref, transaction.hash);
    for (const ref of made(transaction)) open.add(ref);
    return true;
  });
  return { transactions: kept, ...(conflict ? { conflict } : {}) };
}

/** What a fold of pending transactions (`cageProjection` without facts, at `PENDING_SLOT`) says of a token. */
export function pendingToken(
  token: string,
  ledger: TokenLookup,
  rows: Rows,
  { writes, touched }: Extract<Folded, { type: "done" }>,
): PendingToken {
  const inserted = (table: string) =>
    writes.flatMap((write) => write.type === "insert" && write.table === table ? [write.row] : [])
      .filter((row) => row.token === token);
  const live = (row: Row) => row.to_slot === null;
  const made = inserted("token_request").map((row): Row => ({ ...row, from_slot: PENDING_SLOT }));
  const requests = new Map([...rows.get("token_request") ?? [], ...made].map((row) => [text(row, "ref"), row]));
  const ends = inserted("token_request_end").sort((a, b) => number(a, "position") - number(b, "position"));
  const state = inserted("token_state").find(live);
  const end = touched.find(({ entity, event }) => entity.id === token && event.type === "ENDED");
  return {
    after: statusAfter(ledger, state, end !== undefined),
    ...(state
      ? { transaction: text(state, "ref").slice(0, 64) }
      : end
      ? { transaction: String(end.event.transaction) }
      : {}),
    changes: ends.filter((row) => row.status === "applied").flatMap((row) => {
      const request = requests.get(text(row, "ref"));
      return request
        ? [{ path: text(request, "path"), key: bytes(request, "key"), operation: operationOf(request) }]
        : [];
    }),
    requests: made.filter(live).map(requestOf),
    spent: new Map(ends.map((row) => [text(row, "ref"), text(row, "tx")])),
  };
}

/** The status after pending transactions; a quarantine of the ledger stays. */
function statusAfter(ledger: TokenLookup, state: Row | undefined, hasEnded: boolean): TokenLookup {
  if (!state) return hasEnded ? { status: "ended" } : ledger;
  const reason = "state" in ledger ? ledger.state.quarantine : undefined;
  return {
    status: reason === undefined ? "live" : "quarantined",
    state: stateOf({ ...state, ...(reason === undefined ? {} : { reason }) }),
  };
}
