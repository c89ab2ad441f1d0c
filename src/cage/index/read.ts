/** Reads of the tokens' index: SQL over rows that the follower wrote. */
import type { Operation } from "#src/cage/datum.ts";
import { bytesText } from "#src/cage/text.ts";
import type { Queries } from "#src/store/store.ts";
import { type OutRef, parseRefKey, readOutput, type Utxo } from "#src/cardano/output.ts";
import { decode } from "#src/cardano/cbor.ts";
import type { Row } from "#src/cardano/projection.ts";

/** A token as it stands on the ledger. */
export interface TokenState {
  readonly token: string;
  readonly owner: string;
  readonly root: string;
  /** The state output. */
  readonly utxo: Utxo;
  readonly facts: number;
  readonly cut: boolean;
  /** Why the index no longer vouches for its facts. */
  readonly quarantine?: string;
}

/** A token in a list. */
export interface TokenLine extends Pick<TokenState, "token" | "owner" | "root"> {
  /** Of the state output. */
  readonly ref: OutRef;
  /** Whether the index no longer vouches for its facts. */
  readonly quarantined: boolean;
}

/** What became of a token id: never seen, alive, or ended. */
export type TokenStanding =
  | { readonly status: "unknown" }
  | { readonly status: "ended" }
  | { readonly status: "live" | "quarantined"; readonly state: TokenState };

/** A request that waits to be applied or taken back. */
export interface OpenRequest {
  readonly token: string;
  readonly utxo: Utxo;
  /** Payment key hash of the refund address. */
  readonly owner: string;
  readonly key: Uint8Array;
  readonly operation: Operation;
  /** Digest of the key, in hexadecimal. */
  readonly path: string;
  /** Where in the chain it was made: `position` is 65536 times the transaction's index in the block, and the output's. */
  readonly made: { readonly slot: number; readonly position: number };
}

const bytes = (value: unknown) => new Uint8Array(value as Uint8Array);

/** The output of a row with columns `ref` and `output`. */
export function utxoOf(row: Row): Utxo {
  return { ref: parseRefKey(row.ref as string), output: readOutput(decode(bytes(row.output))) };
}

function stateOf(row: Row): TokenState {
  return {
    token: row.token as string,
    owner: row.owner as string,
    root: row.root as string,
    utxo: utxoOf(row),
    facts: row.facts as number,
    cut: row.cut as boolean,
    ...(row.reason ? { quarantine: row.reason as string } : {}),
  };
}

/** The operation that a row of `token_request` asks for. */
export function operationOf(row: Row): Operation {
  switch (row.type) {
    case "update":
      return { type: "update", old: bytes(row.old_value), value: bytes(row.new_value) };
    case "insert":
      return { type: "insert", value: bytes(row.new_value) };
    default:
      return { type: "delete", value: bytes(row.old_value) };
  }
}

function requestOf(row: Row): OpenRequest {
  return {
    token: row.token as string,
    utxo: utxoOf(row),
    owner: row.owner as string,
    key: bytes(row.key),
    operation: operationOf(row),
    path: row.path as string,
    made: { slot: Number(row.from_slot), position: Number(row.position) },
  };
}

/** How a token stands. */
export async function readToken(sql: Queries, token: string): Promise<TokenStanding> {
  const [row] = await sql<Row[]>`
    select s.*, q.reason from token_state s left join token_quarantine q on q.token = s.token and q.to_slot is null
    where s.token = ${token} order by s.from_slot desc, s.to_slot desc nulls first limit 1`;
  if (!row) return { status: "unknown" };
  if (row.to_slot !== null) return { status: "ended" };
  const state = stateOf(row);
  return { status: state.quarantine === undefined ? "live" : "quarantined", state };
}

/** Tokens that are alive, oldest state first; without their outputs, whose decoding would hold up the loop that serves. */
export async function readTokens(sql: Queries): Promise<TokenLine[]> {
  const rows = await sql<{ token: string; owner: string; root: string; ref: string; quarantined: boolean }[]>`
    select s.token, s.owner, s.root, s.ref, q.token is not null as quarantined
    from token_state s left join token_quarantine q on q.token = s.token and q.to_slot is null
    where s.to_slot is null order by s.from_slot, s.token`;
  return rows.map(({ ref, ...row }) => ({ ...row, ref: parseRefKey(ref) }));
}

/** Open requests of a token in the ledger's order of their outputs. */
export async function readRequests(sql: Queries, token: string): Promise<OpenRequest[]> {
  const rows = await sql<Row[]>`
    select * from token_request where token = ${token} and to_slot is null order by left(ref, 64), substr(ref, 66)::int`;
  return rows.map(requestOf);
}

/** Open requests of a token in the order in which they came into the chain, at most so many. */
export async function readOldestRequests(sql: Queries, token: string, most: number): Promise<OpenRequest[]> {
  const rows = await sql<Row[]>`
    select * from token_request where token = ${token} and to_slot is null
    order by from_slot, position, ref limit ${most}`;
  return rows.map(requestOf);
}

/** Open requests for one key of a token, by the key's digest, in the order in which they came into the chain. */
export async function readRequestsOf(sql: Queries, token: string, path: string): Promise<OpenRequest[]> {
  const rows = await sql<Row[]>`
    select * from token_request where token = ${token} and path = ${path} and to_slot is null
    order by from_slot, position, ref`;
  return rows.map(requestOf);
}

/** One open request. */
export async function readRequest(sql: Queries, ref: string): Promise<OpenRequest | undefined> {
  const [row] = await sql<Row[]>`select * from token_request where ref = ${ref} and to_slot is null`;
  return row && requestOf(row);
}

/** Several open requests, each at the place of its reference. */
export async function readRequestsAt(sql: Queries, refs: readonly string[]): Promise<(OpenRequest | undefined)[]> {
  const rows = await sql<Row[]>`select * from token_request where ref = any(${[...refs]}::text[]) and to_slot is null`;
  const found = new Map(rows.map((row) => [row.ref as string, row]));
  return refs.map((ref) => {
    const row = found.get(ref);
    return row && requestOf(row);
  });
}

/** Most facts in one page: about 10 ms of work. */
const PAGE = 1_000;

/**
 * Facts of a token as they stood at a slot, in pages by the digests of their keys; no connection is held between two pages. The
 * caller sees to it that the slot is not rolled back meanwhile.
 */
export async function* readFacts(
  sql: Queries,
  token: string,
  slot: number,
): AsyncGenerator<{ readonly facts: readonly [key: string, value: string][]; readonly last: boolean }, void> {
  // Digits of a digest end before "g".
  const end = `${token}:g`;
  let after = `${token}:`;
  for (;;) {
    const rows = await sql<Row[]>`
      select entry, key, value from fact
      where entry > ${after} and entry < ${end} and from_slot <= ${slot} and (to_slot is null or to_slot > ${slot})
      order by entry limit ${PAGE}`;
    const last = rows.length < PAGE;
    yield { facts: rows.map((row) => [bytesText(bytes(row.key)), bytesText(bytes(row.value))]), last };
    if (last) return;
    after = rows.at(-1)!.entry as string;
  }
}

/** Values of some facts by the digests of their keys. */
export async function readFactsAt(
  sql: Queries,
  token: string,
  paths: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const rows = await sql<Row[]>`select path, value from fact
    where entry = any(${sql.array(paths.map((path) => `${token}:${path}`))}) and to_slot is null`;
  return new Map(rows.map((row) => [row.path as string, bytes(row.value)]));
}
