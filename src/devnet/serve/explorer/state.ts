/** Where a transaction is: in a block, in the mempool, in the genesis, or among those that departed. */
import type { Departure } from "#src/devnet/blocks/departures.ts";
import { transactionCbor } from "#src/devnet/blocks/mempool.ts";
import { readBlocks, readIncluded, readTransactionHeight } from "#src/devnet/blocks/rows.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { Tip } from "#src/cardano/block.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import type { Queries } from "#src/store/store.ts";

/** A transaction that the devnet has. */
export type FoundTransaction =
  & { readonly cbor: Uint8Array }
  & (
    | { readonly status: "in_mempool" }
    | {
      readonly status: "in_block";
      readonly block: Tip;
      /** Position in the block. */
      readonly index: number;
      readonly confirmations: number;
    }
    | { readonly status: Departure["kind"]; readonly departure: Departure }
  );

/** Finds a transaction by its hash, which is in lower case. The row's tables are enough: no index is needed. */
export async function findTransaction(
  sql: Queries,
  devnet: Devnet,
  hash: string,
): Promise<FoundTransaction | undefined> {
  const waiting = devnet.mempool().find(({ transaction }) => transaction.hash === hash);
  if (waiting) return { status: "in_mempool", cbor: waiting.cbor };
  const height = await readTransactionHeight(sql, hash);
  const { blocks: [block], tip } = height === undefined
    ? { blocks: [], tip: undefined }
    : await readBlocks(sql, height, 1);
  if (block && tip) {
    const { transactions } = scanBlock(block.bytes);
    const index = transactions.findIndex((transaction) => transaction.hash === hash);
    const transaction = transactions[index];
    // a rollback between the two reads
    if (transaction) {
      const { bytes: _, ...at } = block;
      const confirmations = tip.height - block.height;
      return { status: "in_block", cbor: transactionCbor(transaction), block: at, index, confirmations };
    }
  }
  const departure = devnet.departures().find((one) => one.hash === hash);
  return departure && { status: departure.kind, cbor: departure.cbor, departure };
}

/** The transactions that departed and are in no block and not in the mempool now, newest first. */
export async function readDeparted(sql: Queries, devnet: Devnet): Promise<Departure[]> {
  const departures = devnet.departures();
  const waiting = new Set(devnet.mempool().map(({ transaction }) => transaction.hash));
  const included = await readIncluded(sql, departures.map(({ hash }) => hash));
  return departures.filter(({ hash }) => !waiting.has(hash) && !included.has(hash));
}
