/** Distribution of a wallet's outputs by amount. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Queries } from "#src/store/store.ts";
import { readForged } from "#src/wallet/index/forged.ts";
import { readFacts } from "#src/wallet/index/owners.ts";
import { readPending } from "#src/wallet/index/pending.ts";

/** Inclusive upper bounds of the buckets, in lovelace: powers of ten, and the maximal supply. */
export const BUCKETS: readonly bigint[] = [
  ...Array.from({ length: 16 }, (_, i) => 10n ** BigInt(i + 1)),
  45_000_000_000_000_000n,
];

export interface Statistics {
  /** Sum in lovelace. */
  readonly total: bigint;
  /** Number of outputs by bucket, in ascending order. */
  readonly distribution: ReadonlyMap<bigint, number>;
}

/** Distributes amounts over the buckets. */
export function spread(amounts: Iterable<bigint>): Statistics {
  const distribution = new Map(BUCKETS.map((bound) => [bound, 0]));
  let total = 0n;
  for (const amount of amounts) {
    total += amount;
    const bound = BUCKETS.find((one) => amount <= one) ?? BUCKETS.at(-1)!;
    distribution.set(bound, distribution.get(bound)! + 1);
  }
  return { total, distribution };
}

/** Statistics of the outputs that a wallet can spend: in the ledger, and not spent by a pending transaction. */
export async function readStatistics(
  sql: Queries,
  wallet: string,
  pending: readonly ScannedTransaction[],
): Promise<Statistics> {
  const open = (await readPending(sql, await readFacts(sql, [wallet]), new Map([[wallet, pending]]))).get(wallet);
  const without = [...open?.spends ?? [], ...(await readForged(sql, [wallet])).get(wallet)?.refs ?? []];
  const rows = await sql<{ coin: bigint }[]>`select coin from wallet_utxo where wallet = ${wallet} and to_slot is null
    ${without.length > 0 ? sql`and ref <> all(${sql.array(without)})` : sql``}`;
  return spread(rows.map(({ coin }) => coin));
}
