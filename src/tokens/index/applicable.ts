/**
 * The open requests from which an update can select, however many others are open: anyone may open requests that can
 * never be applied.
 *
 * A key's value stays until a request for it is applied, and the first one to be applied expects that value. So a key
 * matters only if an open request expects its value; of its other requests, those that expect what such ones leave, and
 * so on. Of requests for one key that expect the same value the oldest are read, since at most one of them is applied
 * before the value changes.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "#src/base/bytes.ts";
import type { PendingToken } from "#src/tokens/index/pending.ts";
import { type OpenRequest, operationOf, readFactsAt, readOldestRequests, requestOf } from "#src/tokens/index/read.ts";
import { text } from "#src/tokens/index/rows.ts";
import { afterOperation } from "#src/tokens/index/warnings.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Row } from "#src/chain/index/projection.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A token, and what its update can spend. */
export interface ApplicableQuery {
  readonly token: string;
  /** Script hash of the token's version of the contract. */
  readonly script: string;
  /** Lovelace that the refund to an address without and with a stake key must hold. */
  readonly leastRefund: { readonly key: bigint; readonly base: bigint };
}

type Pending = Pick<PendingToken, "changes" | "requests" | "spent">;

/** Keys considered: more than one update has room for. */
const MOST_KEYS = 200;
/** Requests for one key that expect the same value. */
const MOST_ALIKE = 20;
/** Requests in all. */
const MOST_READ = 2_000;
/** Requests for one key that follow each other. */
const MOST_FOLLOWING = 100;

/** Digits of an address without a stake key. */
const KEY_ADDRESS = 58;

/** What a request expects, as the index on open requests has it: a digest, or nothing where the key must have no value. */
const expectation = (sql: Queries) => sql`(case when r.type = 'insert' then ''::bytea else sha256(r.old_value) end)`;

/** SQL condition: an update of the token could spend the request, whatever the facts are. */
function spendable(sql: Queries, { token, script, leastRefund }: ApplicableQuery, { spent }: Pending): Fragment {
  return sql`r.token = ${token} and r.to_slot is null and (r.policy is null or r.policy = ${script})
    and r.lovelace - r.fee >= case when length(r.refund_address) = ${KEY_ADDRESS} then ${leastRefund.key}::bigint
      else ${leastRefund.base}::bigint end
    and r.ref <> all(${sql.array([...spent.keys()])}::text[])`;
}

/**
 * The open requests from which an update selects: those that the facts allow, and of the others the `others` oldest, for
 * their reasons. First those of the ledger, oldest first, then those that pending transactions make.
 */
export async function readSelectable(
  sql: Queries,
  query: ApplicableQuery,
  pending: Pending,
  others: number,
): Promise<OpenRequest[]> {
  const values = await readPendingValues(sql, query.token, pending);
  const good = await readApplicable(sql, query, pending, values);
  const known = new Set(good.map(({ utxo }) => refKey(utxo.ref)));
  const oldest = (await readOldestRequests(sql, query.token, others)).filter(({ utxo }) =>
    !known.has(refKey(utxo.ref))
  );
  const reached = new Set([...values, ...good.map(leaves)].map(nameOf));
  let room = others - oldest.length;
  const made = pending.requests.filter((one) => reached.has(nameOf(expects(one))) || room-- > 0);
  return [...[...good, ...oldest].sort(byAge), ...made];
}

/** The values of the keys that pending transactions change, and those that their requests would leave. */
async function readPendingValues(sql: Queries, token: string, { changes, requests }: Pending): Promise<KeyValue[]> {
  const paths = [...new Set([...changes, ...requests].map(({ path }) => path))];
  const values = await readFactsAt(sql, token, paths);
  for (const { path, operation } of changes) {
    const { value } = afterOperation(values.get(path), operation);
    if (value) values.set(path, value);
    else values.delete(path);
  }
  return [...paths.map((path) => ({ path, value: values.get(path) })), ...requests.map(leaves)];
}

/** Open requests of the ledger that an update can select, oldest first; `seeds` are values of keys that it may meet. */
async function readApplicable(
  sql: Queries,
  query: ApplicableQuery,
  pending: Pending,
  seeds: readonly KeyValue[],
): Promise<OpenRequest[]> {
  const found = new Map<string, Row>();
  const seen = new Set<string>();
  let values = [...seeds, ...await readExpected(sql, query, pending, seeds)];
  for (let round = 0; round < MOST_FOLLOWING && values.length > 0 && found.size < MOST_READ; round++) {
    for (const one of values) seen.add(nameOf(one));
    const rows = await sql<Row[]>`
      select r.* from unnest(${sql.array(values.map(({ path }) => path))}::text[],
        ${
      sql.array(values.map(({ value }) => value === undefined ? "" : toHex(sha256(value))))
    }::text[]) w (path, expected)
      cross join lateral (
        select r.*, row_number() over (order by r.from_slot, r.position, r.ref) as place from token_request r
        where ${spendable(sql, query, pending)} and r.path = w.path and ${expectation(sql)} = decode(w.expected, 'hex')
        order by r.from_slot, r.position, r.ref limit ${MOST_ALIKE}) r
      order by r.place, r.from_slot, r.position, r.ref limit ${MOST_READ - found.size}`;
    for (const row of rows) found.set(text(row, "ref"), row);
    const left = rows.map((row) => leaves({ path: text(row, "path"), operation: operationOf(row) }));
    values = [...new Map(left.map((one) => [nameOf(one), one])).values()].filter((one) => !seen.has(nameOf(one)));
  }
  return [...found.values()].map(requestOf).sort(byAge);
}

/** A key, by its digest, and its value; undefined where it has none. */
interface KeyValue {
  readonly path: string;
  readonly value: Uint8Array | undefined;
}

type KeyChange = Pick<OpenRequest, "path" | "operation">;

/** What a request expects of its key. */
function expects({ path, operation }: KeyChange): KeyValue {
  const { type } = operation;
  return { path, value: type === "insert" ? undefined : type === "update" ? operation.old : operation.value };
}

/** What an applied request leaves of its key. */
function leaves({ path, operation }: KeyChange): KeyValue {
  return { path, value: operation.type === "delete" ? undefined : operation.value };
}

const nameOf = ({ path, value }: KeyValue): string => `${path} ${value === undefined ? "" : `= ${toHex(value)}`}`;

/** The keys whose values open requests expect, those with the oldest such request first, with their values. */
async function readExpected(
  sql: Queries,
  query: ApplicableQuery,
  pending: Pending,
  seeds: readonly KeyValue[],
): Promise<KeyValue[]> {
  const rows = await sql<{ path: string; value: Uint8Array | null }[]>`
    select path, value from (
      select distinct on (r.path) r.path, f.value, r.from_slot, r.position, r.ref
      from token_request r
      left join lateral (select value from fact f
        where f.entry = ${`${query.token}:`} || r.path and f.to_slot is null offset 0) f on true
      where ${spendable(sql, query, pending)} and r.path <> all(${sql.array(seeds.map(({ path }) => path))}::text[])
        and case when r.type = 'insert' then f.value is null else f.value = r.old_value end
      order by r.path, r.from_slot, r.position, r.ref) keys
    order by from_slot, position, ref limit ${MOST_KEYS}`;
  return rows.map(({ path, value }) => ({ path, value: value ?? undefined }));
}

/** Oldest first. */
function byAge(a: Pick<OpenRequest, "made">, b: Pick<OpenRequest, "made">): number {
  return a.made.slot - b.made.slot || a.made.position - b.made.position;
}
