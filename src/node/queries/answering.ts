/** Answering queries of the ledger with values: what a server has an answer to, and how it becomes bytes. */
import { ok } from "#src/base/result.ts";
import { nodeError } from "#src/node/errors.ts";
import { eraMismatch } from "#src/node/queries/eraMismatch.ts";
import {
  type Answer,
  decodeQuery,
  type EraAnswer,
  type EraQuery,
  isKnownTo,
  isOfEra,
  type Query,
} from "#src/node/queries/query.ts";
import { encodeAnswer, encodeResult } from "#src/node/queries/result.ts";
import type { AnswerOf, EraKind } from "#src/node/queries/table.ts";

type Awaitable<T> = T | Promise<T>;
type Of<K extends Query["kind"]> = Extract<Query, { readonly kind: K }>;
/** A version that has every query. */
const NEWEST = 23;

type PlainKind = Exclude<Query["kind"], EraQuery["kind"] | "currentEra">;

/** What a ledger state has an answer to. `era` is the era that it is in, by its index. */
export type Answers =
  & { readonly era: number }
  /** In the ledger's era alone; for another the mismatch is told. */
  & { readonly [K in EraKind]?: (query: Of<K>, signal: AbortSignal) => Awaitable<AnswerOf<K>> }
  & { readonly [K in PlainKind]?: (query: Of<K>, signal: AbortSignal) => Awaitable<Answer<Of<K>>> }
  /** Queries that are not typed: CBOR to CBOR. */
  & { readonly raw?: (query: Of<"raw">, signal: AbortSignal) => Awaitable<Uint8Array> };

/**
 * Answers a query, CBOR to CBOR. Throws `NodeError` on a query without an answer, as a node hangs up then, and `CborError` on bytes that
 * are no query.
 */
export async function answerQuery(
  answers: Answers,
  bytes: Uint8Array,
  version: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const query = decodeQuery(bytes, version);
  if (query.kind === "currentEra") return encodeResult(query, answers.era, version);
  if (!isOfEra(query)) return encodeResult(query, await answerOf(answers, query, version, signal) as never, version);
  if (query.era !== answers.era) {
    return encodeResult(query, { ok: false, error: eraMismatch(query.era, answers.era) }, version);
  }
  return encodeResult(query, ok(await eraAnswer(answers, query, version, signal)), version);
}

/** What a ledger answers to a query, as a value. Throws `NodeError` on a query without an answer. */
export async function answerValue<Q extends Exclude<Query, EraQuery>>(
  answers: Answers,
  query: Q,
  signal: AbortSignal,
): Promise<Answer<Q>> {
  return (query.kind === "currentEra" ? answers.era : await answerOf(answers, query, NEWEST, signal)) as Answer<Q>;
}

/** The same for a query about the era that the ledger is in. */
export async function answerEraValue<Q extends EraQuery>(
  answers: Answers,
  query: Q,
  signal: AbortSignal,
): Promise<EraAnswer<Q>> {
  return await eraAnswer(answers, query, NEWEST, signal) as EraAnswer<Q>;
}

async function eraAnswer(
  answers: Answers,
  query: EraQuery,
  version: number,
  signal: AbortSignal,
): Promise<EraAnswer<EraQuery>> {
  if (query.kind !== "wrapped") return await answerOf(answers, query, version, signal) as EraAnswer<EraQuery>;
  return encodeAnswer(query.query, await eraAnswer(answers, query.query, version, signal), version);
}

/** The types of `Answers` say which value goes with which query; here they have been forgotten. */
async function answerOf(answers: Answers, query: Query, version: number, signal: AbortSignal): Promise<unknown> {
  const answer = (answers as Readonly<Record<string, unknown>>)[query.kind];
  if (typeof answer !== "function" || !isKnownTo(query, version)) {
    throw nodeError("protocol_violation", `This ledger has no answer to the query "${query.kind}".`);
  }
  return await answer.call(answers, query, signal);
}
