/** The distribution of a wallet's outputs over amounts: a histogram with a bucket for each power of ten. */
import { lovelace } from "#src/edge/wallets/amountViews.ts";
import { MOST_LOVELACE } from "#src/api/wallets/text.ts";

/** Upper bounds of the buckets, themselves included. */
const BOUNDS = [...Array.from({ length: 16 }, (_, i) => 10n ** BigInt(i + 1)), MOST_LOVELACE];

/** The histogram of some amounts of lovelace. */
export function distributionOf(amounts: readonly bigint[]) {
  const counts = new Map(BOUNDS.map((bound) => [bound, 0]));
  for (const amount of amounts) {
    const bound = BOUNDS.find((one) => amount <= one) ?? MOST_LOVELACE;
    counts.set(bound, counts.get(bound)! + 1);
  }
  return {
    total: lovelace(amounts.reduce((sum, amount) => sum + amount, 0n)),
    scale: "log10" as const,
    distribution: Object.fromEntries([...counts].map(([bound, count]) => [String(bound), count])),
  };
}
