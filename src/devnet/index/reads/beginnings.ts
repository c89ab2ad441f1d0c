/**
 * What begins with some digits, for the search. Each read steps from one value of an index to the next, so that it costs as
 * much as it gives, however many rows a value has.
 */
import type { Fragment, Queries } from "#src/store/store.ts";

/** A range of texts of hexadecimal digits: those from `from` on, and before `to`. */
export interface DigitRange {
  readonly from: string;
  readonly to: string;
}

/** Texts that begin with some digits. */
export const beginningWith = (digits: string): DigitRange => ({
  from: digits,
  // no hexadecimal digit is behind f
  to: `${digits}g`,
});

/** Rows of an address that are looked through for others with the same payment credential. */
const MOST_ROWS = 1_000;

/** Rows `(value)`: values of an indexed expression within a range, in their order; `after` is what the next one is behind. */
function steps(
  sql: Queries,
  { table, value, range: { from, to }, most, after = sql`f.value` }: {
    readonly table: Fragment;
    readonly value: Fragment;
    readonly range: DigitRange;
    readonly most: number;
    readonly after?: Fragment;
  },
): Fragment {
  return sql`
    with recursive f(value, n) as (
      (select ${value}, 1 from ${table} where ${value} >= ${from} and ${value} < ${to} order by ${value} limit 1)
      union all
      select (select ${value} from ${table} where ${value} > ${after} and ${value} < ${to} order by ${value} limit 1),
        f.n + 1
      from f where f.value is not null and f.n < ${most}::int)
    select value from f where value is not null`;
}

interface Values {
  readonly value: string;
}

/** Hashes of scripts. */
export async function readScriptsWithin(sql: Queries, range: DigitRange, most: number): Promise<string[]> {
  const rows = await sql<Values[]>`
    select hash as value from devnet_index_script where hash >= ${range.from} and hash < ${range.to}
    order by hash limit ${most}`;
  return rows.map(({ value }) => value);
}

/** Hashes of datums. */
export async function readDatumsWithin(sql: Queries, range: DigitRange, most: number): Promise<string[]> {
  const rows = await sql<Values[]>`
    select hash as value from devnet_index_datum where hash >= ${range.from} and hash < ${range.to}
    order by hash limit ${most}`;
  return rows.map(({ value }) => value);
}

/** Ids of pools that certificates name. */
export async function readPoolsWithin(sql: Queries, range: DigitRange, most: number): Promise<string[]> {
  const rows = await sql<Values[]>`${
    steps(sql, { table: sql`devnet_index_certificate`, value: sql`pool`, range, most })
  }`;
  return rows.map(({ value }) => value);
}

/** Policies of assets that were ever minted. */
export async function readPoliciesWithin(sql: Queries, range: DigitRange, most: number): Promise<string[]> {
  const rows = await sql<Values[]>`${
    steps(sql, { table: sql`devnet_index_mint`, value: sql`unit`, range, most, after: sql`left(f.value, 56) || 'g'` })
  }`;
  return rows.map(({ value }) => value.slice(0, 56));
}

/** Keys of stake credentials of addresses with outputs. */
export async function readStakesWithin(sql: Queries, range: DigitRange, most: number): Promise<string[]> {
  const rows = await sql<Values[]>`${steps(sql, { table: sql`devnet_index_output`, value: sql`stake`, range, most })}`;
  return rows.map(({ value }) => value);
}

/** Addresses (bytes in hexadecimal) of outputs by a range of the keys of their payment credentials. */
export async function readAddressesWithin(sql: Queries, payments: DigitRange, most: number): Promise<string[]> {
  const rows = await sql<Values[]>`
    select distinct o.address as value
    from (${steps(sql, { table: sql`devnet_index_output`, value: sql`payment`, range: payments, most })}) p
    cross join lateral (
      select address from devnet_index_output where payment = p.value order by height, tx_index, index
      limit ${MOST_ROWS}) o
    order by 1`;
  return rows.map(({ value }) => value);
}

/** Units of the assets whose names (hexadecimal) are within a range, by name. */
export async function readAssetsWithin(sql: Queries, { from, to }: DigitRange, most: number): Promise<string[]> {
  const name = sql`substr(unit, 57)`;
  const rows = await sql<{ unit: string }[]>`
    with recursive f(unit, n) as (
      (select unit, 1 from devnet_index_mint where ${name} >= ${from} and ${name} < ${to}
        order by ${name}, unit limit 1)
      union all
      select (
        select m.unit from devnet_index_mint m
        where (substr(m.unit, 57), m.unit) > (substr(f.unit, 57), f.unit) and substr(m.unit, 57) < ${to}
        order by substr(m.unit, 57), m.unit limit 1), f.n + 1
      from f where f.unit is not null and f.n < ${most}::int)
    select unit from f where unit is not null`;
  return rows.map(({ unit }) => unit);
}
