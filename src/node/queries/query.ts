/**
 * Queries of a node's ledger (mini-protocol local-state-query) and their encoding: a client encodes them, a server
 * decodes them. The answers are in `result.ts`.
 */
import { as, asInt, CborError, decode, type Encodable, encode, Encoded, type Item, raw } from "#src/cardano/cbor.ts";
import type { Point } from "#src/cardano/block.ts";
import type { Result } from "#src/base/result.ts";
import type { EraBound, EraHistory } from "#src/cardano/eras.ts";
import type { EraMismatch } from "#src/node/queries/eraMismatch.ts";
import type { SystemStart } from "#src/node/queries/history.ts";
import {
  type AnswerOf,
  type ArgumentsOf,
  type EraKind,
  isEraKind,
  kindOf,
  queryTable,
} from "#src/node/queries/table.ts";
import { readSmallNumber } from "#src/node/protocols/values.ts";

/** A query of an era's ledger; if the ledger is in another era, the answer is an `EraMismatch`. */
export type EraQuery =
  | { [K in EraKind]: { readonly kind: K; readonly era: number } & ArgumentsOf<K> }[EraKind]
  /** The answer to another query, as CBOR (see `decodeAnswer`). */
  | { readonly kind: "wrapped"; readonly era: number; readonly query: EraQuery }
  /** An untyped query, as CBOR: `[23]` for the constitution. */
  | { readonly kind: "raw"; readonly era: number; readonly query: Uint8Array };

/** A query that is independent of the era, or of an era. */
export type NodeQuery =
  | { readonly kind: "systemStart" }
  | { readonly kind: "height" }
  | { readonly kind: "point" }
  /** Since version 20; CBOR. */
  | { readonly kind: "ledgerConfig" }
  | { readonly kind: "currentEra" }
  | { readonly kind: "eraHistory" }
  | { readonly kind: "eraStart"; readonly era: number }
  /** Any other query, complete, as CBOR. */
  | { readonly kind: "unknown"; readonly query: Uint8Array }
  | EraQuery;

/** Answers to queries that are independent of the era. */
interface PlainAnswers {
  systemStart: SystemStart;
  /** Undefined before the first block. */
  height: number | undefined;
  point: Point;
  ledgerConfig: Uint8Array;
  currentEra: number;
  eraHistory: EraHistory;
  /** Undefined if the era has not begun. */
  eraStart: EraBound | undefined;
  unknown: Uint8Array;
}

/** The answer to a query of an era, if the ledger is in that era. */
export type EraAnswer<Q extends EraQuery> = Q["kind"] extends EraKind ? AnswerOf<Q["kind"]> : Uint8Array;

/** The answer to a query. */
export type QueryAnswer<Q extends NodeQuery> = Q extends EraQuery ? Result<EraAnswer<Q>, EraMismatch>
  : Q["kind"] extends keyof PlainAnswers ? PlainAnswers[Q["kind"]]
  : never;

/** The queries that are only a number, from 1 on. */
const NUMBERED = ["systemStart", "height", "point", "ledgerConfig"] as const;

/** First version of the protocol with `ledgerConfig`. */
const LEDGER_CONFIG_SINCE = 20;

/** Whether a node of a protocol version (16 to 23) supports a query. On others it closes the connection. */
export function isSupportedBy(query: NodeQuery, version: number): boolean {
  if (query.kind === "wrapped") return isSupportedBy(query.query, version);
  if (query.kind === "ledgerConfig") return version >= LEDGER_CONFIG_SINCE;
  return isTableQuery(query) ? version >= queryTable[query.kind].since : true;
}

/** Whether a query is in the table. */
function isTableQuery(query: NodeQuery): query is Extract<NodeQuery, { kind: EraKind }> {
  return isEraKind(query.kind);
}

/** Whether a query is of an era. */
export function isEraQuery(query: NodeQuery): query is EraQuery {
  return query.kind === "wrapped" || query.kind === "raw" || isTableQuery(query);
}

/** Encodes a query: the second element of `[3, query]`. */
export function encodeQuery(query: NodeQuery, version: number): Uint8Array {
  return encode(queryValue(query, version));
}

function queryValue(query: NodeQuery, version: number): Encodable {
  switch (query.kind) {
    case "systemStart":
    case "height":
    case "point":
    case "ledgerConfig":
      return [NUMBERED.indexOf(query.kind) + 1];
    case "currentEra":
      return [0, [2, [1]]];
    case "eraHistory":
      return [0, [2, [0]]];
    case "eraStart":
      return [0, [1, [0], query.era]];
    case "unknown":
      return new Encoded(query.query);
    default:
      return [0, [0, [query.era, eraQueryValue(query, version)]]];
  }
}

function eraQueryValue(query: EraQuery, version: number): Encodable {
  if (query.kind === "raw") return new Encoded(query.query);
  if (query.kind === "wrapped") return [9, eraQueryValue(query.query, version)];
  return tableValue(query.kind, query, { version, era: query.era });
}

function tableValue<K extends EraKind>(
  kind: K,
  given: ArgumentsOf<K>,
  at: { version: number; era: number },
): Encodable {
  const entry = queryTable[kind];
  return [entry.tag(at.version), ...entry.arguments.write(given, at)];
}

/** Decodes a query. Well-formed but unknown ones become `raw` or `unknown`. Throws `CborError` for anything else. */
export function decodeQuery(bytes: Uint8Array, version: number): NodeQuery {
  const item = decode(bytes);
  const unknown: NodeQuery = { kind: "unknown", query: bytes };
  const [tag, about, ...more] = as(item, "array").value;
  if (more.length > 0) return unknown;
  if (!about) {
    const kind = NUMBERED[readSmallNumber(tag) - 1];
    return kind && isSupportedBy({ kind }, version) ? { kind } : unknown;
  }
  return (readSmallNumber(tag) === 0 && blockQuery(about, version)) || unknown;
}

function blockQuery(item: Item, version: number): NodeQuery | undefined {
  const [tag, what, era, ...more] = as(item, "array").value;
  const number = more.length > 0 ? -1 : readSmallNumber(tag);
  if (number === 1 && era && isList(what, 0n)) return { kind: "eraStart", era: readSmallNumber(era) };
  if (number === 2 && !era && isList(what, 0n)) return { kind: "eraHistory" };
  if (number === 2 && !era && isList(what, 1n)) return { kind: "currentEra" };
  if (number !== 0 || era) return undefined;
  const [index, query, ...rest] = as(what, "array").value;
  if (!query || rest.length > 0) throw new CborError("no query of an era");
  return eraQuery(query, readSmallNumber(index), version);
}

/** Whether an item is a list with just this number. */
function isList(item: Item | undefined, number: bigint): boolean {
  return item?.type === "array" && item.value.length === 1 && asInt(item.value[0]) === number;
}

function eraQuery(item: Item, era: number, version: number): EraQuery {
  const bare: EraQuery = { kind: "raw", era, query: raw(item) };
  // Byron has only one query, a bare number
  if (era === 0) return bare;
  const [tag, ...given] = as(item, "array").value;
  const number = readSmallNumber(tag);
  const [inner] = given;
  if (number === 9 && inner && given.length === 1) {
    return { kind: "wrapped", era, query: eraQuery(inner, era, version) };
  }
  const kind = kindOf(number, given.length, version);
  if (!kind) return bare;
  return { ...queryTable[kind].arguments.read(given, { version, era }), kind, era } as EraQuery;
}
