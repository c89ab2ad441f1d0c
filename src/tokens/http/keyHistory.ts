/**
 * The history of a key with the proof that nothing was left out. Entries of the log and facts are read at one point; the proofs
 * are computed in a builder thread, and given only if they lead to the roots in the log.
 */
import type { Context } from "hono";
import { toHex } from "#src/base/bytes.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { proofJson } from "#src/forestry/json.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { afterIn, linkNext } from "#src/http/paging.ts";
import { type HistoryEntry, historyPlace } from "#src/tokens/api/keyHistory.ts";
import type { FactKey } from "#src/tokens/http/factKey.ts";
import { rolledBack } from "#src/tokens/http/factRoutes.ts";
import { factsQuarantined, timeOf, tokenGone, type TokenService } from "#src/tokens/http/service.ts";
import { refusal } from "#src/tokens/http/status.ts";
import { readTokenPoint } from "#src/tokens/index/factPages.ts";
import { readKeyEvidence } from "#src/tokens/index/keyHistory.ts";
import { isOnChain, readInclusions, readSpan, type SpanEntry, type SpanQuery } from "#src/tokens/log/read.ts";
import type { Queries } from "#src/store/store.ts";

/** Most bytes of the values of one page, about. */
const MOST_BYTES = 4_000_000;

interface Query {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly limit: number;
  readonly after?: string | undefined;
}

/** A page of the history of a key; adds the `Link` to the next one. */
export async function provedHistory(
  { store, builders }: Pick<TokenService, "store" | "builders">,
  context: Context,
  token: string,
  { path }: FactKey,
  query: Query,
) {
  const until = { deadline: Date.now() + timeOf(context), affinity: token };
  if (query.from !== undefined && query.to !== undefined && query.from > query.to) {
    throw new HttpFailure(400, "bad_request", "from is after to.");
  }
  const place = afterIn(query.after, historyPlace);
  const wanted: SpanQuery = place
    ? { token, from: place.next, to: place.to, size: place.size }
    : { token, from: query.from ?? 0, to: query.to };
  const { value: { span, all, evidence } } = await atPoint(
    store,
    (sql) => readPage(sql, wanted, path, query.limit, place !== undefined),
  );
  const states = all.slice(0, evidence.changes.length);
  const wantedFrom = span.before.length;
  const cut = all[states.length]?.leaf.seq ?? Infinity;
  const proven = await builders.run("keyHistory", {
    path,
    facts: evidence.facts,
    states: states.map(({ leaf: { root } }, i) => ({
      root,
      changes: evidence.changes[i] ?? [],
      proven: i === wantedFrom || (i > wantedFrom && states[i - 1]?.leaf.root !== root),
    })),
  }, until);
  if (!proven.ok) {
    throw proven.error.code === "facts_differ" ? factsQuarantined(proven.error.message) : refusal(proven.error);
  }
  const entries = span.entries.filter(({ leaf: { seq } }) => seq < cut);
  const page = pageOf(entries, proven.value.states, evidence.values);
  const [first] = entries;
  const lastSeq = wanted.from + page.states.length - 1;
  if (!first || page.states.length === 0) {
    throw new HttpFailure(413, "answer_too_large", "A block has too many changes of the token's facts to prove them.");
  }
  const indices = page.states.map(({ index }) => index);
  const included = await builders.run("inclusions", await readInclusions(store.sql, indices, span.size), until);
  if (!included.ok) throw refusal(included.error);
  linkNext(context, lastSeq < span.to ? { next: lastSeq + 1, to: span.to, size: span.size } : undefined);
  const { leaf: { net, policy } } = first;
  return {
    format: "arbor.key-history/1" as const,
    tokenId: token,
    path: toHex(path),
    net,
    policyId: policy,
    from: wanted.from,
    ...page,
    steps: proofJson(proven.value.steps),
    hashes: included.value.map(toHex),
    checkpoint: span.checkpoint,
  };
}

/** Entries, and what the proofs of their states are computed from: `all` begins with the first state of the first block. */
async function readPage(sql: Queries, wanted: SpanQuery, path: Uint8Array, limit: number, isLater: boolean) {
  const span = await readSpan(sql, wanted, limit);
  if (span === "undone" || (span === "not_logged" && isLater)) throw rolledBack();
  if (span === "not_logged") {
    const { status } = await readTokenPoint(sql, wanted.token);
    if (status === "unknown") throw tokenGone(wanted.token, status);
    throw new HttpFailure(404, "not_logged", "The log has not these states of the token (yet).");
  }
  const all = [...span.before, ...span.entries].filter(isOnChain).filter(({ leaf }) => leaf.kind !== "end");
  // where the span is the end alone, there is no state to prove
  const evidence = await readKeyEvidence(
    sql,
    wanted.token,
    path,
    all.map(({ leaf: { ref, slot } }) => ({ ref, slot })),
  );
  return { span, all, evidence };
}

/** The states of a page, as many as its bytes allow, and their values. */
function pageOf(
  entries: readonly SpanEntry[],
  proofs: readonly { readonly value?: Uint8Array; readonly steps: readonly number[] }[],
  known: ReadonlyMap<string, Uint8Array>,
) {
  const places = new Map<string, number>();
  const values: string[] = [];
  const states: HistoryEntry[] = [];
  let [bytes, next] = [0, 0];
  let place: number | null = null;
  let root: string | undefined;
  for (const { index, leaf, withdrawn } of entries) {
    if (leaf.kind === "rollback") {
      states.push({ index, slot: leaf.slot, first: leaf.first });
      continue;
    }
    const { kind, seq, slot, ref } = leaf;
    const line: HistoryEntry = {
      ...{ index, slot, ref, root: leaf.root },
      ...(kind === "end" ? { end: true } : kind === "boot" && seq > 0 ? { boot: true } : {}),
      ...(withdrawn ? { withdrawn } : {}),
    };
    if (kind === "end" || withdrawn) {
      states.push(line);
      continue;
    }
    if (leaf.root === root) {
      states.push({ ...line, value: place });
      continue;
    }
    const proof = proofs[next++];
    if (!proof) throw new Error(`the state ${ref} has no proof`);
    place = null;
    if (proof.value) {
      const name = toHex(proof.value);
      const value = known.get(name);
      if (!value) throw factsQuarantined("A value of the key is not known.");
      bytes += places.has(name) ? 0 : value.length;
      if (bytes > MOST_BYTES && states.length > 0) break;
      place = places.get(name) ?? values.push(toHex(value)) - 1;
      places.set(name, place);
    }
    root = leaf.root;
    states.push({ ...line, value: place, steps: [...proof.steps] });
  }
  return { states, values };
}
