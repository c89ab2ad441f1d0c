/** Encoding of the answers to ledger queries: a server encodes them, a client decodes them. */
import { ok, type Result } from "#src/base/result.ts";
import { as, CborError, decodeAll, type Encodable, encode, type Item } from "#src/cardano/cbor.ts";
import { encodeEraMismatch, type EraMismatch, readEraMismatch } from "#src/node/queries/eraMismatch.ts";
import { embedded, point } from "#src/node/protocols/values.ts";
import { eraBound, eraHistory, systemStartShape } from "#src/node/queries/history.ts";
import {
  type EraAnswer,
  type EraQuery,
  isEraQuery,
  type NodeQuery,
  type QueryAnswer,
} from "#src/node/queries/query.ts";
import { type CborShape, count, type EncodingContext, maybe } from "#src/node/queries/shape.ts";
import { queryTable } from "#src/node/queries/table.ts";
import { anything } from "#src/node/queries/vocabulary.ts";

/** `[0]` before the first block, or `[1, height]`. */
const height: CborShape<number | undefined> = {
  read(item, at) {
    const [known, value] = as(item, "array").value;
    return count.read(known, at) === 0 ? undefined : count.read(value, at);
  },
  write: (value) => (value === undefined ? [0] : [1, value]),
};

const plain = {
  systemStart: systemStartShape,
  height,
  point,
  ledgerConfig: anything,
  currentEra: count,
  eraHistory,
  eraStart: maybe(eraBound),
  unknown: anything,
};

/** The shape of a query's answer. `query.ts` relates queries to values by type; here the relation is erased. */
function shapeOf(query: NodeQuery): CborShape<unknown> {
  if (query.kind === "wrapped") return embedded;
  if (query.kind === "raw") return anything;
  return isEraQuery(query) ? queryTable[query.kind].answer : plain[query.kind];
}

const placeOf = (query: NodeQuery, version: number): EncodingContext => ({
  version,
  era: isEraQuery(query) ? query.era : -1,
});

/** Encodes an answer as a node does: the second element of `[4, answer]`. */
export function encodeResult<Q extends NodeQuery>(query: Q, answer: QueryAnswer<Q>, version: number): Uint8Array {
  return isEraQuery(query)
    ? encodeEraResult(query, answer as Result<unknown, EraMismatch>, version)
    : encodeValue(query, answer, version);
}

/** As `encodeResult` for a query of an era, with an answer whose type is not related to the query's. */
export function encodeEraResult(
  query: EraQuery,
  answer: Result<unknown, EraMismatch>,
  version: number,
): Uint8Array {
  return encode(answer.ok ? [encodable(query, answer.value, version)] : encodeEraMismatch(answer.error));
}

/** Encodes the value of an answer, whose type is not related to the query's. */
export function encodeValue(query: NodeQuery, value: unknown, version: number): Uint8Array {
  return encode(encodable(query, value, version));
}

function encodable(query: NodeQuery, value: unknown, version: number): Encodable {
  return shapeOf(query).write(value, placeOf(query, version));
}

/** Decodes the answer to a query. An era mismatch is a value. Throws `CborError` for anything else. */
export function decodeResult<Q extends NodeQuery>(query: Q, bytes: Uint8Array, version: number): QueryAnswer<Q> {
  const item = decodeAll(bytes);
  const shape = shapeOf(query);
  const at = placeOf(query, version);
  return (isEraQuery(query) ? readEraResult(item, shape, at) : shape.read(item, at)) as QueryAnswer<Q>;
}

function readEraResult(item: Item, shape: CborShape<unknown>, at: EncodingContext): Result<unknown, EraMismatch> {
  const elements = as(item, "array").value;
  if (elements.length === 1) return ok(shape.read(elements[0], at));
  if (elements.length === 2) return { ok: false, error: readEraMismatch(elements) };
  throw new CborError("neither an answer nor an era mismatch");
}

/** Decodes the answer to the query inside a `wrapped` query. Throws `CborError`. */
export function decodeAnswer<Q extends EraQuery>(query: Q, bytes: Uint8Array, version: number): EraAnswer<Q> {
  return shapeOf(query).read(decodeAll(bytes), placeOf(query, version)) as EraAnswer<Q>;
}

/** Encodes the answer to the query inside a `wrapped` query. */
export function encodeAnswer<Q extends EraQuery>(query: Q, answer: EraAnswer<Q>, version: number): Uint8Array {
  return encodeValue(query, answer, version);
}
