/**
 * Matches of Kupo: outputs of the index, in the order of the chain.
 *
 * Assumptions: the work runs in a transaction that sees one state of the chain. Rows come through a cursor, so the
 * memory of a large answer is that of some rows. The index keeps neither the place of an input in its transaction nor
 * its redeemer beside the output: both are read from the spending transaction, for the rows of an answer alone.
 */
import { fromHex } from "#src/base/bytes.ts";
import { spent } from "#src/cardano/block.ts";
import { compareRefs, type OutRef, refKey } from "#src/cardano/output.ts";
import { BodyTransaction } from "#src/cardano/scanBody.ts";
import { Walk } from "#src/cardano/walk.ts";
import type { Pattern } from "#src/devnet/index/kupo/pattern.ts";
import { covered, type PatternRow } from "#src/devnet/index/kupo/patterns.ts";
import { heldBy } from "#src/devnet/index/reads/addresses.ts";
import type { IndexedAsset } from "#src/devnet/index/reads/outputs.ts";
import { direction } from "#src/devnet/index/reads/page.ts";
import { readTransactionBytes } from "#src/devnet/index/reads/transactions.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** Heights of blocks, both inclusive; undefined: without a bound. The genesis has -1. */
export interface Heights {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Which outputs are requested. */
export interface MatchQuestion {
  readonly pattern: Exclude<Pattern, { kind: "label" }>;
  /** A second pattern that they match. */
  readonly filter?: Extract<Pattern, { kind: "asset" | "output" }> | undefined;
  readonly status?: "spent" | "unspent" | undefined;
  /** Blocks in which they were created, and spent. */
  readonly created?: Heights;
  readonly spent?: Heights;
  readonly oldestFirst?: boolean;
  /** Whether datums and scripts are read too. */
  readonly resolve?: boolean;
}

/** An output of an answer. */
export interface MatchRow {
  readonly tx_hash: string;
  readonly index: number;
  readonly tx_index: number;
  /** Bytes in hexadecimal. */
  readonly address: string;
  readonly lovelace: bigint;
  readonly assets: IndexedAsset[] | null;
  readonly datum_hash: string | null;
  /** Whether the output holds the datum itself. */
  readonly inline: boolean;
  readonly script_hash: string | null;
  /** Its block; null: the genesis. */
  readonly slot: bigint | null;
  readonly block: string | null;
  readonly spent_height: bigint | null;
  readonly spent_index: number | null;
  readonly spent_tx: string | null;
  readonly spent_slot: bigint | null;
  readonly spent_block: string | null;
  /** CBOR of its datum, and its script; null where they are unknown or not requested. */
  readonly datum: Uint8Array | null;
  readonly script_kind: string | null;
  readonly script_bytes: Uint8Array | null;
}

/** How an output was spent. */
export interface Spend {
  /** Place of its input among those of the transaction, in the ledger's order. */
  readonly input: number;
  /** CBOR of the redeemer's data; undefined where it has none. */
  readonly redeemer: Uint8Array | undefined;
}

/** Rows that are read at once, as the statement says too. */
const ROWS = 500;

/** Condition on outputs `o` that a pattern matches them. */
function matched(sql: Queries, pattern: MatchQuestion["pattern"]): Fragment {
  switch (pattern.kind) {
    case "any":
      return sql`true`;
    case "shelley":
      return sql`o.payment is not null`;
    case "address":
      return heldBy(sql, { address: pattern.address });
    case "credentials": {
      // the index has the kind of a credential before its hash
      const kinds = (hash: string) => sql.array([`k${hash}`, `s${hash}`]);
      const { payment, stake } = pattern;
      const paid = payment === undefined ? sql`true` : sql`o.payment = any(${kinds(payment)}::text[])`;
      return stake === undefined ? paid : sql`(${paid} and o.stake = any(${kinds(stake)}::text[]))`;
    }
    case "output": {
      const { txHash, index } = pattern;
      return index === undefined
        ? sql`o.tx_hash = ${txHash}`
        : sql`(o.tx_hash = ${txHash} and o.index = ${index}::int)`;
    }
    case "asset": {
      const { policy, name } = pattern;
      // no hexadecimal digit is greater than f
      const held = name === undefined
        ? sql`a.unit >= ${policy} and a.unit < ${`${policy}g`}`
        : sql`a.unit = ${policy + name}`;
      return sql`(o.tx_hash, o.index) in (select a.tx_hash, a.index from devnet_index_asset a where ${held})`;
    }
  }
}

/** Condition that a height is within bounds. */
function between(sql: Queries, height: Fragment, { from, to }: Heights = {}): Fragment {
  const lowest = from === undefined ? sql`true` : sql`${height} >= ${from}::bigint`;
  return to === undefined ? lowest : sql`(${lowest} and ${height} <= ${to}::bigint)`;
}

/** Outputs `o`, with the height of their blocks and the positions of their transactions, as the tables are read in order. */
interface Source {
  readonly tables: Fragment;
  readonly height: Fragment;
  readonly position: Fragment;
}

/** All outputs, by their own indexes. */
const byOutput = (sql: Queries, tables = sql`devnet_index_output o`): Source => ({
  tables,
  height: sql`o.height`,
  position: sql`o.tx_index`,
});

/**
 * The tables of an answer, one after the other. What is all over the chain is read in the chain's order: transactions
 * have an index for that, and outputs that of their transaction. The genesis has outputs without a transaction.
 */
function sources(
  sql: Queries,
  { pattern, filter, oldestFirst }: MatchQuestion,
  genesis: readonly string[],
): readonly Source[] {
  if (filter || (pattern.kind !== "any" && pattern.kind !== "shelley")) return [byOutput(sql)];
  const chain: Source = {
    // the offset makes it a lookup for each transaction, whatever the statistics are
    tables: sql`devnet_index_tx t cross join lateral (
      select * from devnet_index_output o where o.tx_hash = t.hash offset 0) o`,
    height: sql`t.height`,
    position: sql`t.tx_index`,
  };
  const first = byOutput(
    sql,
    sql`(select * from devnet_index_output where tx_hash = any(${sql.array([...genesis])}::text[])) o`,
  );
  return oldestFirst ? [first, chain] : [chain, first];
}

/** `from … where …` of the outputs of an answer, called `o`, and their blocks, called `b`. */
function outputs(
  sql: Queries,
  { pattern, filter, status, created, spent }: MatchQuestion,
  rows: readonly PatternRow[],
  { tables, height }: Source,
): Fragment {
  const isSpent = status === undefined
    ? sql`true`
    : status === "spent"
    ? sql`o.spent_height is not null`
    : sql`o.spent_height is null`;
  return sql`from ${tables} left join devnet_block b on b.height = ${height}
    where ${matched(sql, pattern)} and ${filter ? matched(sql, filter) : sql`true`} and ${isSpent}
      and ${between(sql, height, created)} and ${between(sql, sql`o.spent_height`, spent)}
      and ${covered(sql, rows)}`;
}

/**
 * Reads the outputs of an answer in order and calls `each` with some at a time, which it waits for. `genesis` are the
 * hashes of the genesis' outputs. In a transaction of a lookup store.
 */
export async function eachMatch(
  sql: Queries,
  question: MatchQuestion,
  { patterns, genesis }: { readonly patterns: readonly PatternRow[]; readonly genesis: readonly string[] },
  each: (rows: readonly MatchRow[], spends: ReadonlyMap<MatchRow, Spend>) => Promise<void>,
): Promise<void> {
  for (const [i, source] of sources(sql, question, genesis).entries()) {
    if (i > 0) await sql`close matches`;
    // both are sent at once
    let [, rows] = await Promise.all([
      declareMatches(sql, question, patterns, source),
      sql<MatchRow[]>`fetch 500 from matches`,
    ]);
    while (rows.length > 0) {
      await each(rows, await readSpends(sql, rows));
      if (rows.length < ROWS) break;
      rows = await sql<MatchRow[]>`fetch 500 from matches`;
    }
  }
}

/** Opens the cursor of an answer. */
function declareMatches(
  sql: Queries,
  question: MatchQuestion,
  patterns: readonly PatternRow[],
  source: Source,
): Fragment {
  const { oldestFirst, resolve } = question;
  const towards = direction(sql, { order: oldestFirst ? "asc" : "desc" });
  const resolved = resolve
    ? sql`(select d.cbor from devnet_index_datum d where d.hash = o.datum_hash) as datum, r.kind as script_kind,
      r.bytes as script_bytes`
    : sql`null::bytea as datum, null as script_kind, null::bytea as script_bytes`;
  return sql`declare matches no scroll cursor for
    select o.*, s.slot as spent_slot, s.hash as spent_block, (
        select json_agg(json_build_object('unit', a.unit, 'quantity', a.quantity::text) order by a.unit)
        from devnet_index_asset a where a.tx_hash = o.tx_hash and a.index = o.index) as assets, ${resolved}
    from (
      select o.tx_hash, o.index, ${source.height} as height, ${source.position} as tx_index, o.address, o.lovelace, o.datum_hash,
        o.datum is not null as inline, o.script_hash, o.spent_height, o.spent_index, o.spent_tx, b.slot,
        b.hash as block
      ${outputs(sql, question, patterns, source)}
      order by ${source.height} ${towards}, ${source.position} ${towards}, o.index ${towards}) o
    left join devnet_block s on s.height = o.spent_height
    ${resolve ? sql`left join devnet_index_script r on r.hash = o.script_hash` : sql``}
    order by o.height ${towards}, o.tx_index ${towards}, o.index ${towards}`;
}

/** Counts the outputs of an answer. */
export async function countMatches(
  sql: Queries,
  question: MatchQuestion,
  patterns: readonly PatternRow[],
): Promise<number> {
  const { count } = await onlyRow(sql<{ count: bigint }[]>`
    select count(*) as count ${outputs(sql, question, patterns, byOutput(sql))}`);
  return Number(count);
}

/** How the spent ones of some outputs were spent. */
async function readSpends(sql: Queries, rows: readonly MatchRow[]): Promise<Map<MatchRow, Spend>> {
  const spentRows = rows.flatMap((row) => row.spent_tx === null ? [] : [{ row, by: row.spent_tx }]);
  const spends = new Map<MatchRow, Spend>();
  if (spentRows.length === 0) return spends;
  const places = new Map<string, ReadonlyMap<string, number>>();
  for (const [hash, cbor] of await readTransactionBytes(sql, [...new Set(spentRows.map(({ by }) => by))])) {
    const refs = [...spentBy(cbor)].sort(compareRefs);
    places.set(hash, new Map(refs.map((ref, place) => [refKey(ref), place])));
  }
  const found = spentRows.map(({ row, by }) => ({
    row,
    input: places.get(by)?.get(refKey({ txHash: row.tx_hash, index: row.index })) ?? 0,
  }));
  const redeemers = await readRedeemers(sql, found.filter(({ row }) => isScript(row.address)));
  for (const { row, input } of found) spends.set(row, { input, redeemer: redeemers.get(row) });
  return spends;
}

/** What a transaction of the index spends; nothing else of it is read. */
function spentBy(cbor: Uint8Array): readonly OutRef[] {
  const walk = new Walk(cbor);
  walk.tuple("transaction", 4);
  const [body, witnesses] = [walk.raw(), walk.raw()];
  const valid = walk.bool();
  return spent(
    new BodyTransaction({ index: 0, valid, body, witnesses, auxiliaryData: undefined, lastSlotIncluded: false }),
  );
}

/** Whether only a script can spend from an address: bit 4 of its header. */
const isScript = (address: string) =>
  fromHex(address.slice(0, 2)).some((header) => header < 0x80 && (header & 0x10) !== 0);

/** Data of the redeemers with which outputs were spent. */
async function readRedeemers(
  sql: Queries,
  spends: readonly { readonly row: MatchRow; readonly input: number }[],
): Promise<Map<MatchRow, Uint8Array>> {
  if (spends.length === 0) return new Map();
  const column = <T extends bigint | number | null>(of: (spend: typeof spends[number]) => T) =>
    sql.array(spends.map(of));
  const rows = await sql<{ place: bigint; cbor: Uint8Array }[]>`
    select x.place, d.cbor
    from unnest(${column(({ row }) => row.spent_height)}::bigint[], ${column(({ row }) => row.spent_index)}::int[],
      ${column(({ input }) => input)}::int[]) with ordinality as x (height, tx_index, index, place)
    join devnet_index_redeemer r
      on r.height = x.height and r.tx_index = x.tx_index and r.purpose = 'spend' and r.index = x.index
    join devnet_index_datum d on d.hash = r.data_hash`;
  return new Map(rows.flatMap(({ place, cbor }) => {
    const spend = spends[Number(place) - 1];
    return spend ? [[spend.row, new Uint8Array(cbor)] as const] : [];
  }));
}
