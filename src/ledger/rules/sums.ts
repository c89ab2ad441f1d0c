/** Sums of values that may hold hundreds of thousands of assets together: they let others have their turn, and stay small. */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { type AssetId, type Assets, noAssets, type Value } from "#src/cardano/value.ts";

/** Assets that a failure names beside those that there should be, at the most: an answer on the bus or the socket must stay small. */
const NAMED = 1_000;

/**
 * Sum of values with positive quantities. Of the assets that are not in `expected`, only the first 1,000 are included: one is
 * enough to show that the sum differs.
 */
export async function boundedSum(values: readonly Value[], expected: Assets = noAssets): Promise<Value> {
  const pace = new EventLoopPacer();
  const assets = new Map<AssetId, bigint>();
  let lovelace = 0n;
  let others = 0;
  for (const value of values) {
    lovelace += value.lovelace;
    for (const [asset, quantity] of value.assets) {
      const before = assets.get(asset);
      if (before === undefined && !expected.has(asset) && ++others > NAMED) continue;
      assets.set(asset, (before ?? 0n) + quantity);
    }
    await pace.step();
  }
  return { lovelace, assets };
}
