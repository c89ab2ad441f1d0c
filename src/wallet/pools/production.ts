/** Counts the blocks that each pool makes, since the index began. */
import { fromHex } from "#src/base/bytes.ts";
import { hash224 } from "#src/cardano/hash.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import type { Projection } from "#src/cardano/projection.ts";
import type { Queries } from "#src/store/store.ts";

const TABLE = "pool_production";
/** Eras whose blocks are made by pools: from Shelley on. */
const SHELLEY = 2;

/** The pool that made a block; undefined in Byron. */
export function makerOf({ era, issuer }: Pick<ScannedBlock, "era" | "issuer">): string | undefined {
  if (era < SHELLEY || issuer === undefined) return undefined;
  // a provider may tell the pool's id itself
  return issuer.length === 56 ? issuer : hash224(fromHex(issuer));
}

/** The projection: a row for each pool, replaced with each of its blocks. */
export const productionProjection: Projection = {
  name: "pools",
  tables: [TABLE],
  passing: [TABLE],
  keys(block) {
    const pool = makerOf(block);
    return pool === undefined ? [] : [{ table: TABLE, column: "pool", in: [pool] }];
  },
  fold(block, rows) {
    const pool = makerOf(block);
    if (pool === undefined) return { type: "done", writes: [], touched: [] };
    const known = (rows.get(TABLE) ?? []).find((row) => row.pool === pool);
    const blocks = ((known?.blocks as bigint | undefined) ?? 0n) + 1n;
    return {
      type: "done",
      touched: [],
      writes: [
        ...(known ? [{ type: "close" as const, table: TABLE, key: { pool } }] : []),
        { type: "insert", table: TABLE, row: { pool, blocks } },
      ],
    };
  },
  undo: () => [],
};

/** Blocks made by pools since the index began, by pool id in hexadecimal. */
export async function readProduction(sql: Queries): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ pool: string; blocks: bigint }[]>`select pool, blocks from pool_production
    where to_slot is null`;
  return new Map(rows.map(({ pool, blocks }) => [pool, blocks]));
}
