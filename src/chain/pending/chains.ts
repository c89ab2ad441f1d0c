/**
 * Pending transactions that build on each other: parents before children, and what a projection makes of them.
 *
 * Assumptions: everything is read in one snapshot of the index. A transaction that the index has in the ledger is not
 * pending, even if its actor has not processed that yet.
 */
import { created, type ScannedBlock, type ScannedTransaction } from "#src/cardano/block.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import type { Folded, Projection, Rows } from "#src/chain/index/projection.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { MAIN } from "#src/chain/index/cursor.ts";
import { fetchRows, mergeRows, scopeOf } from "#src/chain/index/rows.ts";
import { pendingHashes, withoutLost } from "#src/chain/pending/overlay.ts";
import { parentsFirst } from "#src/chain/pending/order.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** Which pending transactions are wanted. */
export interface PendingSearch {
  /** Those whose CBOR has these bytes (hexadecimal), and those that spend outputs of them that `follows` accepts. */
  readonly containing: string;
  readonly follows: (output: Output) => boolean;
  /** Those that spend one of these outputs (`refKey`); the query for them. */
  readonly spending: Fragment;
}

interface PendingRow {
  readonly hash: string;
  readonly cbor: Uint8Array;
}

/**
 * Reads the pending transactions that a block can still hold, parents before children; `index` of each is its place in
 * that order.
 */
export async function readPendingChain(
  sql: Queries,
  { containing, follows, spending }: PendingSearch,
): Promise<ScannedTransaction[]> {
  const [any] = await sql`select 1 from ${pendingHashes(sql)} p limit 1`;
  if (!any) return [];
  const open = sql`${pendingHashes(sql)} o join submission s using (hash)
    where not exists (select 1 from chain_transaction c where c.hash = o.hash and c.to_slot is null)`;
  const named = await sql<
    PendingRow[]
  >`select s.hash, s.cbor from ${open} and position(decode(${containing}, 'hex') in s.cbor) > 0`;
  const found = named.map((row) => scanned(row));
  const made = found.flatMap(created).filter(({ output }) => follows(output)).map(({ ref }) => refKey(ref));
  const spenders = await sql<PendingRow[]>`
    select s.hash, s.cbor from ${open} and s.hash <> all(${sql.array(named.map(({ hash }) => hash))}::text[])
      and exists (select 1 from unnest(s.inputs) i(ref) where i.ref = any(${
    sql.array(made)
  }::text[]) or i.ref in (${spending}))`;
  const rows = new Map([...named, ...spenders].map((row) => [row.hash, row]));
  const possible = await withoutLost(sql, [...found, ...spenders.map((row) => scanned(row))]);
  const all = possible.flatMap(({ hash, inputs }) => {
    const row = rows.get(hash);
    return row ? [{ hash, parents: inputs.map(({ txHash }) => txHash), row }] : [];
  });
  return parentsFirst(all, ({ parents }) => parents).map(({ row }, index) => scanned(row, index));
}

const scanned = ({ cbor }: Pick<PendingRow, "cbor">, index = 0) => scanTransaction(new Uint8Array(cbor), index);

/** The CBOR of a pending transaction; `undefined` where none with this hash is pending. */
export async function readPendingCbor(sql: Queries, hash: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<
    Pick<PendingRow, "cbor">[]
  >`select s.cbor from ${pendingHashes(sql)} o join submission s using (hash) where o.hash = ${hash}`;
  return row && new Uint8Array(row.cbor);
}

/** The block that would hold some transactions. */
function blockOf(transactions: readonly ScannedTransaction[], slot: number): ScannedBlock {
  return { slot, hash: "", height: 0, era: CONWAY, size: 0, header: new Uint8Array(), transactions };
}

const CONWAY = 7;

/** The ledger's rows that a fold of some pending transactions begins with. */
export async function readRowsFor(
  sql: Queries,
  projection: Projection,
  transactions: readonly ScannedTransaction[],
  slot: number,
): Promise<Rows> {
  return await fetchRows(sql, projection.keys(blockOf(transactions, slot)), scopeOf([projection], MAIN));
}

/** What a projection would write if the block at `slot` held some transactions; `begin` are the rows of `readRowsFor`. */
export async function foldPending(
  sql: Queries,
  projection: Projection,
  transactions: readonly ScannedTransaction[],
  slot: number,
  begin: Rows,
): Promise<Extract<Folded, { type: "done" }>> {
  const scope = scopeOf([projection], MAIN);
  const block = blockOf(transactions, slot);
  for (let rows = begin;;) {
    const folded = projection.fold(block, rows, false);
    if (folded.type === "done") return folded;
    if (folded.type === "want") throw new Error(`the projection ${projection.name} cannot fold pending transactions`);
    rows = mergeRows(rows, await fetchRows(sql, folded.queries, scope));
  }
}
