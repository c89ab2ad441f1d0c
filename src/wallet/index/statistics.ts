/** How a wallet's outputs are spread over magnitudes. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Queries } from "#src/store/store.ts";
import { readForged } from "#src/wallet/index/forged.ts";
import { readFacts } from "#src/wallet/index/owners.ts";
import { readPending } from "#src/wallet/index/pending.ts";

/** Upper bounds of the buckets, in lovelace, each included: the powers of ten, and all there can ever be. */
export const BUCKETS: readonly bigint[] = [
  ...Array.from({ length: 16 }, (_, i) => 10n ** BigInt(i + 1)),
  45_000_000_000_000_000n,
];

export interface Statistics {
  /** Sum in lovelace. */
  readonly total: bigint;
  /** Numbers of outputs by their bucket, in the order of the buckets. */
  readonly distribution: ReadonlyMap<bigint, number>;
}

/** Puts amounts into their buckets. */
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

/** Statistics of the outputs that a wallet can spend: in the ledger, and spent by nothing that is pending. */
export async function readStatistics(
  sql: Queries,
  wallet: string,
  pending: readonly ScannedTransaction[],
): Promise<Statistics> {
  const open = (await readPending(sql, await readFacts(sql, [wallet]), new Map([[wallet, pending]]))).get(wallet);
  const without = [...open?.gone ?? [], ...(await readForged(sql, [wallet])).get(wallet)?.refs ?? []];
  const rows = await sql<{ coin: bigint }[]>`select coin from wallet_utxo where wallet = ${wallet} and to_slot is null
    ${without.length > 0 ? sql`and ref <> all(${sql.array(without)})` : sql``}`;
  return spread(rows.map(({ coin }) => coin));
}
