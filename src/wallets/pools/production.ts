/**
 * Projection that counts the blocks of each pool since the index began, and notes the last block with a pool
 * certificate.
 */
import { fromHex } from "#src/base/bytes.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { certified, type ScannedBlock } from "#src/cardano/block.ts";
import type { Projection, Row, RowWrite } from "#src/chain/index/projection.ts";
import { column } from "#src/store/column.ts";
import type { Queries } from "#src/store/store.ts";

const TABLE = "pool_production";
/** One current row: the last block with a pool certificate. */
const CHANGES = "pool_change";
const ALL = { pools: "all" };
/** First era with pools. */
const SHELLEY = 2;

/** The pool that made a block; undefined in Byron. */
function makerOf({ era, issuer }: Pick<ScannedBlock, "era" | "issuer">): string | undefined {
  if (era < SHELLEY || issuer === undefined) return undefined;
  // some providers report the pool id, others the key
  return issuer.length === 56 ? issuer : hash224(fromHex(issuer));
}

function changesPools({ transactions }: ScannedBlock): boolean {
  return transactions.some((transaction) =>
    certified(transaction).some(({ kind }) => kind === "register pool" || kind === "retire pool")
  );
}

const isBigint = (value: unknown): value is bigint => typeof value === "bigint";

/** A row for each pool, replaced with each of its blocks, and one for all pool certificates. */
export const productionProjection: Projection = {
  name: "pools",
  tables: [TABLE, CHANGES],
  passing: [TABLE, CHANGES],
  keys(block) {
    const pool = makerOf(block);
    return [
      ...(pool === undefined ? [] : [{ table: TABLE, column: "pool", in: [pool] }]),
      ...(changesPools(block) ? [{ table: CHANGES, column: "pools", in: [ALL.pools] }] : []),
    ];
  },
  fold(block, rows) {
    const pool = makerOf(block);
    const writes: RowWrite[] = [];
    const put = (table: string, known: Row | undefined, key: Row, row: Row = {}) => {
      if (known) writes.push({ type: "close", table, key });
      writes.push({ type: "insert", table, row: { ...key, ...row } });
    };
    if (pool !== undefined) {
      const known = (rows.get(TABLE) ?? []).find((row) => row.pool === pool);
      put(TABLE, known, { pool }, { blocks: (known ? column(known, "blocks", isBigint) : 0n) + 1n });
    }
    if (changesPools(block)) put(CHANGES, rows.get(CHANGES)?.[0], ALL);
    return { type: "done", writes, touched: [] };
  },
  undo: () => [],
};

/** The slot of the last block with a certificate about a pool, -1 where there is none. */
export async function readPoolChange(sql: Queries): Promise<number> {
  const [row] = await sql<{ slot: number | bigint }[]>`select from_slot as slot from pool_change where to_slot is null`;
  return Number(row?.slot ?? -1);
}

/** Blocks made by pools since the index began, by pool id in hexadecimal. */
export async function readProduction(sql: Queries): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ pool: string; blocks: bigint }[]>`select pool, blocks from pool_production
    where to_slot is null`;
  return new Map(rows.map(({ pool, blocks }) => [pool, blocks]));
}
