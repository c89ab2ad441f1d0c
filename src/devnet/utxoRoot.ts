/** Reads of the tree over the devnet's unspent outputs. */
import type { OutRef } from "#src/cardano/output.ts";
import { type OutputsSize, UtxoRootReads } from "#src/chain/utxoRoot/reads.ts";
import { type OutputRow, readTip, readUtxosByRef } from "#src/devnet/blocks/rows.ts";
import { DEVNET_TREE } from "#src/devnet/blocks/utxoTree.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Roots of blocks in one answer, at most: more than a rollback of mainnet's depth goes back. */
const MOST_ROOTS = 2_500;

/** The reads for `utxoRootRoutes` and the proofs of the token service. */
export function devnetUtxoRoot(store: Pick<Store, "sql">): UtxoRootReads {
  return new UtxoRootReads({
    store,
    tables: DEVNET_TREE,
    tip: readTip,
    unspent: async (sql: Queries, refs: readonly OutRef[]) => (await readUtxosByRef(sql, refs)).value,
    sizeAt: (sql, address, most) =>
      onlyRow(sql<OutputsSize[]>`
        select count(*)::int as count, coalesce(sum(octet_length(cbor)), 0)::int as bytes from
          (select cbor from devnet_utxo where spent_height is null and address = ${address} limit ${most}) as counted`),
    unspentAt: async (sql, address) => {
      const rows = await sql<OutputRow[]>`
        select tx_hash, index, cbor from devnet_utxo where spent_height is null and address = ${address}`;
      return rows.map(({ tx_hash: txHash, index, cbor }) => ({ ref: { txHash, index }, cbor }));
    },
    roots: async (sql) => {
      const rows = await sql<{ slot: bigint; hash: string; root: Uint8Array | null }[]>`
        select slot, hash, root from devnet_block join devnet_utxo_root using (hash)
        order by devnet_block.height desc limit ${MOST_ROOTS}`;
      return rows.map(({ slot, hash, root }) => ({ slot: Number(slot), hash, root }));
    },
  });
}
