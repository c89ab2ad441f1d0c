/** Answering ledger queries with typed values, on the server's side. */
import { ok } from "#src/base/result.ts";
import { nodeError } from "#src/node/errors.ts";
import { eraMismatch } from "#src/node/queries/eraMismatch.ts";
import {
  decodeQuery,
  type EraAnswer,
  type EraQuery,
  isEraQuery,
  isSupportedBy,
  type NodeQuery,
  type QueryAnswer,
} from "#src/node/queries/query.ts";
import { encodeEraResult, encodeResult, encodeValue } from "#src/node/queries/result.ts";
import type { AnswerOf, EraKind } from "#src/node/queries/table.ts";

type Awaitable<T> = T | Promise<T>;
type QueryOf<K extends NodeQuery["kind"]> = Extract<NodeQuery, { readonly kind: K }>;
/** A version that has every query. */
const NEWEST = 23;

type PlainKind = Exclude<NodeQuery["kind"], EraQuery["kind"] | "currentEra">;

/** The queries that a ledger state answers. `era` is the index of its era. */
export type QueryHandlers =
  & { readonly era: number }
  /** Only called for the ledger's era; other eras are answered with a mismatch. */
  & { readonly [K in EraKind]?: (query: QueryOf<K>, signal: AbortSignal) => Awaitable<AnswerOf<K>> }
  & { readonly [K in PlainKind]?: (query: QueryOf<K>, signal: AbortSignal) => Awaitable<QueryAnswer<QueryOf<K>>> }
  /** Untyped queries, as CBOR. */
  & { readonly raw?: (query: QueryOf<"raw">, signal: AbortSignal) => Awaitable<Uint8Array> };

/**
 * Answers a query, CBOR to CBOR.
 *
 * @throws NodeError for a query that is not supported: the server then closes the connection, like a node
 * @throws CborError for bytes that are not a query
 */
export async function answerQuery(
  answers: QueryHandlers,
  bytes: Uint8Array,
  version: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const query = decodeQuery(bytes, version);
  if (query.kind === "currentEra") return encodeResult(query, answers.era, version);
  if (!isEraQuery(query)) return encodeValue(query, await callHandler(answers, query, version, signal), version);
  if (query.era !== answers.era) {
    return encodeEraResult(query, { ok: false, error: eraMismatch(query.era, answers.era) }, version);
  }
  return encodeEraResult(query, ok(await eraAnswer(answers, query, version, signal)), version);
}

/** The typed answer to a query. Throws `NodeError` for a query that is not supported. */
export async function answerValue<Q extends Exclude<NodeQuery, EraQuery>>(
  answers: QueryHandlers,
  query: Q,
  signal: AbortSignal,
): Promise<QueryAnswer<Q>> {
  return (query.kind === "currentEra" ? answers.era : await callHandler(answers, query, NEWEST, signal)) as QueryAnswer<
    Q
  >;
}

/** The typed answer to a query of the ledger's era. */
export async function answerEraValue<Q extends EraQuery>(
  answers: QueryHandlers,
  query: Q,
  signal: AbortSignal,
): Promise<EraAnswer<Q>> {
  return await eraAnswer(answers, query, NEWEST, signal) as EraAnswer<Q>;
}

async function eraAnswer(
  answers: QueryHandlers,
  query: EraQuery,
  version: number,
  signal: AbortSignal,
): Promise<unknown> {
  if (query.kind !== "wrapped") return await callHandler(answers, query, version, signal);
  return encodeValue(query.query, await eraAnswer(answers, query.query, version, signal), version);
}

/** Calls the handler of a query. `QueryHandlers` relates queries to values by type; here the relation is erased. */
async function callHandler(
  answers: QueryHandlers,
  query: NodeQuery,
  version: number,
  signal: AbortSignal,
): Promise<unknown> {
  const answer: unknown = Reflect.get(answers, query.kind);
  if (typeof answer !== "function" || !isSupportedBy(query, version)) {
    throw nodeError("protocol_violation", `This ledger has no answer to the query "${query.kind}".`);
  }
  return await answer.call(answers, query, signal);
}
