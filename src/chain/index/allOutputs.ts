/** Projection of all outputs of the chain, for a follower that keeps the root of the unspent ones (`outputSet.ts`). */
import { created, spent } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Projection, Row } from "#src/chain/index/projection.ts";

const TABLE = "chain_output";

export const allOutputsProjection: Projection = {
  name: "output",
  tables: [TABLE],
  passing: [TABLE],
  keys: (block) => [{ table: TABLE, column: "ref", in: block.transactions.flatMap((tx) => spent(tx).map(refKey)) }],
  fold(block, rows, settled) {
    const live = new Set((rows.get(TABLE) ?? []).map((row) => String(row.ref)));
    const fresh = new Map<string, Row>();
    const closed: string[] = [];
    for (const transaction of block.transactions) {
      for (const key of spent(transaction).map(refKey)) {
        const row = fresh.get(key);
        if (row && settled) fresh.delete(key);
        else if (row) fresh.set(key, { ...row, to_slot: block.slot });
        else if (live.has(key)) closed.push(key);
      }
      for (const { ref, output } of created(transaction)) {
        fresh.set(refKey(ref), { ref: refKey(ref), address: output.address, output: output.raw, to_slot: null });
      }
    }
    return {
      type: "done",
      writes: [
        ...closed.map((ref) => ({ type: "close" as const, table: TABLE, key: { ref } })),
        ...[...fresh.values()].map((row) => ({ type: "insert" as const, table: TABLE, row })),
      ],
      touched: [],
    };
  },
  undo: () => [],
};
