/** Projection of the outputs at watched addresses. */
import { created, spent } from "#src/cardano/block.ts";
import { decode } from "#src/cardano/cbor.ts";
import { parseRefKey, readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import type { Projection } from "#src/chain/index/projection.ts";
import type { Queries } from "#src/store/store.ts";

export const utxoProjection: Projection = {
  name: "utxo",
  tables: ["chain_utxo"],
  keys: (block) => [
    {
      table: "chain_watch",
      column: "address",
      in: [...new Set(block.transactions.flatMap((tx) => created(tx).map(({ output }) => output.address)))],
    },
    { table: "chain_utxo", column: "ref", in: block.transactions.flatMap((tx) => spent(tx).map(refKey)) },
  ],
  fold(block, rows) {
    const watched = new Set(
      (rows.get("chain_watch") ?? []).filter((row) => row.ready).map((row) => String(row.address)),
    );
    const live = new Set((rows.get("chain_utxo") ?? []).map((row) => String(row.ref)));
    const fresh = new Map<string, Record<string, unknown>>();
    const closed: string[] = [];
    for (const transaction of block.transactions) {
      for (const key of spent(transaction).map(refKey)) {
        const row = fresh.get(key);
        if (row) row.to_slot = block.slot;
        else if (live.has(key)) closed.push(key);
      }
      for (const { ref, output } of created(transaction)) {
        if (!watched.has(output.address)) continue;
        fresh.set(refKey(ref), { ref: refKey(ref), address: output.address, output: output.raw, to_slot: null });
      }
    }
    return {
      type: "done",
      writes: [
        ...closed.map((ref) => ({ type: "close" as const, table: "chain_utxo", key: { ref } })),
        ...[...fresh.values()].map((row) => ({ type: "insert" as const, table: "chain_utxo", row })),
      ],
      touched: [],
    };
  },
  undo: () => [],
};

/** Reads the unspent outputs at addresses (bytes in hexadecimal) whose watches are ready. */
export async function readUtxos(sql: Queries, addresses: readonly string[]): Promise<Utxo[]> {
  const rows = await sql<{ ref: string; output: Uint8Array }[]>`
    select ref, output from chain_utxo where address = any(${sql.array([...addresses])}) and to_slot is null`;
  return rows.map(({ ref, output }) => ({
    ref: parseRefKey(ref),
    output: readOutput(decode(new Uint8Array(output))),
  }));
}
