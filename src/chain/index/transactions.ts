/**
 * Projection of the transactions in the ledger, and the events for those that were submitted here.
 *
 * Hashes of all transactions of the last k blocks are kept, those of submitted ones permanently.
 */
import { bigintOf } from "#src/chain/index/rows.ts";
import type { Queries } from "#src/store/store.ts";
import type { Point, ScannedBlock } from "#src/cardano/block.ts";
import type { Projection, Row, RowQuery, Rows, Touched } from "#src/chain/index/projection.ts";

const touched = (hash: string, event: Touched["event"]): Touched => ({
  entity: { kind: "transaction", id: hash },
  event,
});

export const transactionProjection: Projection = {
  name: "transactions",
  tables: ["chain_transaction"],
  keys(block: ScannedBlock): RowQuery[] {
    return [
      { table: "submission", column: "hash", in: block.transactions.map((transaction) => transaction.hash) },
      { table: "submission_open", column: "open_until", atMost: block.slot },
    ];
  },
  fold(block, rows, settled) {
    const submitted = new Set(hashes(rows.get("submission")));
    const included = new Set(block.transactions.map((transaction) => transaction.hash));
    const events: Touched[] = [];
    for (const { hash, valid } of block.transactions) {
      if (submitted.has(hash)) {
        events.push(
          touched(hash, { type: "IN_LEDGER", slot: block.slot, block: block.hash, height: block.height, valid }),
        );
      }
    }
    for (const hash of hashes(rows.get("submission_open"))) {
      if (!included.has(hash)) {
        events.push({ ...touched(hash, { type: "EXPIRED", slot: block.slot }), oneUnread: true });
      }
    }
    return {
      type: "done",
      writes: block.transactions.filter(({ hash }) => !settled || submitted.has(hash)).map((transaction) => ({
        type: "insert",
        table: "chain_transaction",
        row: {
          hash: transaction.hash,
          block_hash: block.hash,
          height: block.height,
          index: transaction.index,
          valid: transaction.valid,
          fee: transaction.fee ?? null,
          valid_from: transaction.validFrom ?? null,
          valid_to: transaction.validTo ?? null,
        },
      })),
      touched: events,
    };
  },
  undoKeys: (affected: Rows, { from, to }) => [
    { table: "submission", column: "hash", in: hashes(affected.get("chain_transaction")) },
    // open ones whose last slot has passed: their actors may not have processed that yet
    { table: "submission_open", column: "open_until", above: to, atMost: from },
    { table: "submission_status", column: "lapsed_until", above: to, atMost: Number.MAX_SAFE_INTEGER },
  ],
  undo(point: Point, _affected: Rows, rows: Rows) {
    const back = ["submission", "submission_open", "submission_status"].flatMap((table) => hashes(rows.get(table)));
    const event = { type: "ROLLED_BACK", slot: point.slot, ...(point.hash === "" ? {} : { block: point.hash }) };
    return [...new Set(back)].map((hash) => touched(hash, event));
  },
};

function hashes(rows: readonly Row[] | undefined): string[] {
  return (rows ?? []).map((row) => String(row.hash));
}

/** A transaction in the ledger, from the index. */
export interface IndexedTransaction {
  readonly hash: string;
  readonly slot: number;
  readonly block: string;
  readonly height: number;
  readonly index: number;
  readonly valid: boolean;
  /** Lovelace, as the transaction states it; Byron transactions state none. */
  readonly fee?: bigint;
  readonly validFrom?: number;
  readonly validTo?: number;
}

/** Finds a transaction in the ledger by its hash. */
export async function findTransaction(sql: Queries, hash: string): Promise<IndexedTransaction | undefined> {
  const [row] = await sql<Row[]>`select * from chain_transaction where hash = ${hash} and to_slot is null`;
  if (!row) return undefined;
  return {
    hash,
    slot: Number(row.from_slot),
    block: String(row.block_hash),
    height: Number(row.height),
    index: Number(row.index),
    valid: row.valid === true,
    ...(row.fee === null ? {} : { fee: bigintOf(row.fee) }),
    ...(row.valid_from === null ? {} : { validFrom: Number(row.valid_from) }),
    ...(row.valid_to === null ? {} : { validTo: Number(row.valid_to) }),
  };
}

/** How many blocks are on top of the blocks that hold some transactions, by hash; without those that no block holds. */
export async function readDepths(sql: Queries, hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ hash: string; depth: bigint }[]>`
    select t.hash, c.height - t.height as depth from chain_transaction t, chain_cursor c
    where c.id = 'main' and t.hash = any(${sql.array([...hashes])}::text[]) and t.to_slot is null`;
  return new Map(rows.map(({ hash, depth }) => [hash, Number(depth)]));
}

/**
 * Notifies a submitted transaction's actor if the ledger already holds it: the submission's row may have been written
 * after the block was indexed. This is the only entry of the chain log that the follower does not write and no epoch
 * guards; it is written where the submission is. The follower locks the cursor's row before it appends. This function
 * locks the same row until the commit and looks again under the lock, so that the entry has its place in the chain's
 * order.
 */
export async function noticeTransaction(
  sql: Queries,
  hash: string,
  append: (sql: Queries, touched: readonly Touched[]) => Promise<void>,
): Promise<boolean> {
  if (!(await findTransaction(sql, hash))) return false;
  await sql`select 1 from chain_cursor where id = 'main' for update`;
  const found = await findTransaction(sql, hash);
  if (!found) return false;
  await append(sql, [
    touched(hash, {
      type: "IN_LEDGER",
      slot: found.slot,
      block: found.block,
      height: found.height,
      valid: found.valid,
    }),
  ]);
  return true;
}

/** A block that the index still has. */
export interface KnownBlock {
  readonly slot: number;
  readonly hash: string;
  readonly height: number;
}

/** The blocks of some slots, by slot; blocks that no rollback reaches any more are missing. */
export async function readBlocks(sql: Queries, slots: readonly number[]): Promise<ReadonlyMap<number, KnownBlock>> {
  const rows = slots.length === 0 ? [] : await sql<{ slot: bigint; hash: string; height: bigint }[]>`
    select slot, hash, height from chain_block where slot = any(${sql.array([...slots])}::bigint[])`;
  return new Map(rows.map(({ slot, hash, height }) => [Number(slot), {
    slot: Number(slot),
    hash,
    height: Number(height),
  }]));
}
