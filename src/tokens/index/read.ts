/** Reads of the token index: SQL over rows that the indexer wrote. */
import type { Operation } from "#src/contract/datum.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import { type Output, type OutRef, parseRefKey, readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import { decode } from "#src/cardano/cbor.ts";
import type { Row } from "#src/chain/index/projection.ts";
import { bigint, bytes, flag, number, text } from "#src/tokens/index/rows.ts";

/** A token's current state on the ledger. */
export interface TokenState {
  readonly token: string;
  readonly owner: string;
  readonly root: string;
  /** The state output. */
  readonly utxo: Utxo;
  readonly facts: number;
  readonly cut: boolean;
  /** Why the token is quarantined: the index no longer vouches for its facts. */
  readonly quarantine?: string;
}

/** A token in a list. */
export interface TokenListItem extends Pick<TokenState, "token" | "owner" | "root"> {
  /** Reference of the state output. */
  readonly ref: OutRef;
  /** Whether the index no longer vouches for its facts. */
  readonly quarantined: boolean;
  /** Number of facts, and of open requests. */
  readonly facts: number;
  readonly requests: number;
  /** The first state: slot of its block, and its output. */
  readonly booted: { readonly slot: number; readonly ref: OutRef };
  /** Slot of the block that made the current state. */
  readonly slot: number;
}

/** What is known of a token's id: never seen, live, quarantined or ended. */
export type TokenLookup =
  | { readonly status: "unknown" }
  | { readonly status: "ended" }
  | { readonly status: "live" | "quarantined"; readonly state: TokenState };

/** A request that is neither applied nor retracted. */
export interface OpenRequest {
  readonly token: string;
  readonly utxo: Utxo;
  /** Payment key hash of the refund address. */
  readonly owner: string;
  readonly key: Uint8Array;
  readonly operation: Operation;
  /** Digest of the key, in hexadecimal. */
  readonly path: string;
  /** Where it was made: slot, and position in the block (65536 × the transaction's index + the output's index). */
  readonly made: { readonly slot: number; readonly position: number };
}

/** An open request with where its deposit returns, and what it offers. */
export interface PagedRequest extends OpenRequest {
  /** Bytes of the refund address, in hexadecimal. */
  readonly refundAddress: string;
  /** Lovelace that it offers to the token's owner. */
  readonly fee: bigint;
}

/** The output of a row with columns `ref` and `output`. */
function utxoOf(row: Row): Utxo {
  return { ref: parseRefKey(text(row, "ref")), output: readOutput(decode(bytes(row, "output"))) };
}

/** The state in a row of `token_state`, with the reason of a quarantine beside it. */
export function stateOf(row: Row): TokenState {
  return {
    token: text(row, "token"),
    owner: text(row, "owner"),
    root: text(row, "root"),
    utxo: utxoOf(row),
    facts: number(row, "facts"),
    cut: flag(row, "cut"),
    ...(row.reason ? { quarantine: text(row, "reason") } : {}),
  };
}

/** The operation in a row of `token_request`. */
export function operationOf(row: Row): Operation {
  switch (row.type) {
    case "update":
      return { type: "update", old: bytes(row, "old_value"), value: bytes(row, "new_value") };
    case "insert":
      return { type: "insert", value: bytes(row, "new_value") };
    default:
      return { type: "delete", value: bytes(row, "old_value") };
  }
}

/** The request in a row of `token_request`. */
export function requestOf(row: Row): OpenRequest {
  return {
    token: text(row, "token"),
    utxo: utxoOf(row),
    owner: text(row, "owner"),
    key: bytes(row, "key"),
    operation: operationOf(row),
    path: text(row, "path"),
    made: { slot: number(row, "from_slot"), position: number(row, "position") },
  };
}

/**
 * The condition of a token's states that begin in the newest slot up to `slot`. An order by that slot and another column
 * would, in a plan that was made for a small table, sort all states of the token.
 */
export function newestStates(sql: Queries, token: string | Fragment, slot: number): Fragment {
  return sql`token = ${token} and from_slot = (select from_slot from token_state
    where token = ${token} and from_slot <= ${slot} order by from_slot desc limit 1)`;
}

/** Reads a token's status and state. */
export async function readToken(sql: Queries, token: string): Promise<TokenLookup> {
  const [row] = await sql<Row[]>`
    select s.*, q.reason from token_state s left join token_quarantine q on q.token = s.token and q.to_slot is null
    where s.token = ${token} order by s.from_slot desc, s.to_slot desc nulls first limit 1`;
  if (!row) return { status: "unknown" };
  if (row.to_slot !== null) return { status: "ended" };
  const state = stateOf(row);
  return { status: state.quarantine === undefined ? "live" : "quarantined", state };
}

/** Live tokens, oldest state first; without their outputs, because decoding those would block the event loop. */
export async function readTokens(sql: Queries): Promise<TokenListItem[]> {
  const rows = await sql<Row[]>`
    select s.token, s.owner, s.root, s.ref, s.facts, s.from_slot, coalesce(r.requests, 0) as requests,
      b.from_slot as booted_slot, b.ref as booted_ref, q.token is not null as quarantined
    from token_state s
    cross join lateral (select from_slot, ref from token_state first where first.token = s.token
      order by first.from_slot, first.to_slot nulls last limit 1) b
    left join (select token, count(*) as requests from token_request where to_slot is null group by token) r
      on r.token = s.token
    left join token_quarantine q on q.token = s.token and q.to_slot is null
    where s.to_slot is null order by s.from_slot, s.token`;
  return rows.map((row) => ({
    token: text(row, "token"),
    owner: text(row, "owner"),
    root: text(row, "root"),
    ref: parseRefKey(text(row, "ref")),
    quarantined: flag(row, "quarantined"),
    facts: number(row, "facts"),
    requests: number(row, "requests"),
    booted: { slot: number(row, "booted_slot"), ref: parseRefKey(text(row, "booted_ref")) },
    slot: number(row, "from_slot"),
  }));
}

/**
 * Open requests of a token, in the ledger's order of output references: at most `limit`, after the output `after` (`refKey`),
 * which need not be a request any more.
 */
export async function readRequests(
  sql: Queries,
  token: string,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<OpenRequest[]> {
  const place = after === undefined ? undefined : parseRefKey(after);
  const from = place ? sql`and (left(ref, 64), substr(ref, 66)::int) > (${place.txHash}, ${place.index})` : sql``;
  const rows = await sql<Row[]>`
    select * from token_request where token = ${token} and to_slot is null ${from}
    order by left(ref, 64), substr(ref, 66)::int limit ${limit}`;
  return rows.map(requestOf);
}

/** The oldest open requests of a token, at most `limit`, oldest first. */
export async function readOldestRequests(sql: Queries, token: string, limit: number): Promise<OpenRequest[]> {
  const rows = await sql<Row[]>`
    select * from token_request where token = ${token} and to_slot is null
    order by from_slot, position, ref limit ${limit}`;
  return rows.map(requestOf);
}

/** Number of open requests of a token. */
export async function countRequests(sql: Queries, token: string): Promise<number> {
  const [row] = await sql<Row[]>`select count(*) as n from token_request where token = ${token} and to_slot is null`;
  return row ? number(row, "n") : 0;
}

/** A page of a token's open requests, oldest first: at most `limit`, after the request `after` (`refKey`). Undefined if that does not exist. */
export async function readRequestPage(
  sql: Queries,
  { token, owner }: { readonly token: string; readonly owner?: string | undefined },
  after: string | undefined,
  limit: number,
): Promise<PagedRequest[] | undefined> {
  let from = sql``;
  if (after !== undefined) {
    const [place] = await sql<Row[]>`
      select from_slot, position from token_request where ref = ${after} and token = ${token}`;
    if (!place) return undefined;
    from = sql`and (from_slot, position, ref) > (${number(place, "from_slot")}, ${
      number(place, "position")
    }, ${after})`;
  }
  const rows = await sql<Row[]>`select * from token_request
    where token = ${token} and to_slot is null ${owner === undefined ? sql`` : sql`and owner = ${owner}`} ${from}
    order by from_slot, position, ref limit ${limit}`;
  return rows.map((row) => ({
    ...requestOf(row),
    refundAddress: text(row, "refund_address"),
    fee: bigint(row, "fee"),
  }));
}

/** Open requests for some keys of a token (by the keys' digests), oldest first, without their outputs; of each key the `most` oldest. */
export async function readOpenChanges(
  sql: Queries,
  token: string,
  paths: readonly string[],
  most: number,
): Promise<Map<string, { ref: string; operation: Operation }[]>> {
  const rows = await sql<Row[]>`
    select r.* from unnest(${sql.array([...paths])}::text[]) w (path)
    cross join lateral (select r.ref, r.path, r.type, r.old_value, r.new_value, r.from_slot, r.position from token_request r
      where r.token = ${token} and r.path = w.path and r.to_slot is null
      order by r.from_slot, r.position, r.ref limit ${most}) r
    order by r.from_slot, r.position, r.ref`;
  const found = new Map<string, { ref: string; operation: Operation }[]>();
  for (const row of rows) {
    const one = { ref: text(row, "ref"), operation: operationOf(row) };
    const path = text(row, "path");
    const known = found.get(path);
    if (known) known.push(one);
    else found.set(path, [one]);
  }
  return found;
}

/** One open request. */
export async function readRequest(sql: Queries, ref: string): Promise<OpenRequest | undefined> {
  const [row] = await sql<Row[]>`select * from token_request where ref = ${ref} and to_slot is null`;
  return row && requestOf(row);
}

/** Open requests by reference, in the order of `refs`; undefined where one is not open. */
export async function readRequestsAt(sql: Queries, refs: readonly string[]): Promise<(OpenRequest | undefined)[]> {
  const rows = await sql<Row[]>`select * from token_request where ref = any(${[...refs]}::text[]) and to_slot is null`;
  const found = new Map(rows.map((row) => [text(row, "ref"), row]));
  return refs.map((ref) => {
    const row = found.get(ref);
    return row && requestOf(row);
  });
}

/** The query for the references of a token's unspent outputs at the contract: its state and its open requests. */
export function contractRefs(sql: Queries, token: string): Fragment {
  return sql`select ref from token_state where token = ${token} and to_slot is null
    union all select ref from token_request where token = ${token} and to_slot is null`;
}

/** The hashes of `inputs` (SQL with columns `hash` and `ref`) whose output was a state or request, and is spent. */
export async function readSpentAt(sql: Queries, inputs: Fragment): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`with i as materialized (${inputs})
    select i.hash from i join token_state t on t.ref = i.ref and t.to_slot is not null
    union select i.hash from i join token_request t on t.ref = i.ref and t.to_slot is not null`;
  return rows.map(({ hash }) => hash);
}

/** A state output, of whatever time, among outputs (`refKey`), with its token; undefined where none is one. */
export async function readStateAmong(
  sql: Queries,
  refs: readonly string[],
): Promise<{ readonly ref: string; readonly token: string } | undefined> {
  if (refs.length === 0) return undefined;
  const [row] = await sql<{ ref: string; token: string }[]>`
    select ref, token from token_state where ref = any(${sql.array([...refs])}::text[]) order by ref limit 1`;
  return row;
}

/** Values of facts, by the digests of their keys. */
export async function readFactsAt(
  sql: Queries,
  token: string,
  paths: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const rows = await sql<Row[]>`select path, value from fact
    where entry = any(${sql.array(paths.map((path) => `${token}:${path}`))}) and to_slot is null`;
  return new Map(rows.map((row) => [text(row, "path"), bytes(row, "value")]));
}

/** Outputs of the contract, states and requests, including spent ones; by `refKey`. Other outputs are left out. */
export async function readContractOutputs(sql: Queries, refs: readonly OutRef[]): Promise<Map<string, Output>> {
  const keys = sql.array(refs.map(refKey));
  const rows = await sql<Row[]>`
    select ref, output from token_state where ref = any(${keys}::text[])
    union all select ref, output from token_request where ref = any(${keys}::text[])`;
  return new Map(rows.map((row) => [text(row, "ref"), readOutput(decode(bytes(row, "output")))]));
}
