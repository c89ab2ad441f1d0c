/** Change: what is left over goes back, in as few outputs as the ledger allows. */
import type { Parameters } from "#src/cardano/parameters.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { type AssetId, type Assets, noAssets, policyOf, type Value } from "#src/cardano/value.ts";
import { leastLovelace, neededLovelace } from "#src/transaction/output.ts";

/** Outputs of change; `missing` is the lovelace that they would have to get beside what is left over, zero where all is well. */
export interface Change {
  readonly outputs: readonly NewOutput[];
  readonly missing: bigint;
}

/** Most bytes of a lovelace amount, and of the head of a value with assets. */
const AMOUNT_BYTES = 9;
const HEAD_BYTES = 1 + AMOUNT_BYTES + 3;
const POLICY_BYTES = 2 + 28 + 3;

/** Most of one asset that an output holds. */
const MAX_QUANTITY = (1n << 64n) - 1n;

/**
 * Assets in bundles, none of which is larger than `maxValueSize` with any amount of lovelace beside it, or has more of an asset than an output
 * holds.
 */
export function bundles(assets: Assets, maxValueSize: number): readonly Assets[] {
  const made: Map<AssetId, bigint>[] = [];
  let size = Infinity;
  let policy: string | undefined;
  const add = (asset: AssetId, quantity: bigint) => {
    const bytes = 2 + (asset.length - 56) / 2 + AMOUNT_BYTES;
    let more = bytes + (policyOf(asset) === policy ? 0 : POLICY_BYTES);
    if (size + more > maxValueSize || made.at(-1)!.has(asset)) {
      made.push(new Map());
      size = HEAD_BYTES;
      more = bytes + POLICY_BYTES;
    }
    size += more;
    policy = policyOf(asset);
    made.at(-1)!.set(asset, quantity);
  };
  for (const asset of [...assets.keys()].sort()) {
    let left = assets.get(asset)!;
    for (; left > MAX_QUANTITY; left -= MAX_QUANTITY) add(asset, MAX_QUANTITY);
    add(asset, left);
  }
  return made.length === 0 ? [noAssets] : made;
}

/** Change of a value at an address. Assets are divided over outputs where one cannot hold them; the first gets what lovelace is left. */
export function makeChange(
  parameters: Pick<Parameters, "utxoCostPerByte" | "maxValueSize">,
  address: string,
  left: Value,
): Change {
  const [first, ...others] = bundles(left.assets, parameters.maxValueSize).map((assets) => {
    const output = { address, value: { lovelace: 0n, assets } };
    return { address, value: { assets, lovelace: leastLovelace(parameters, output) } };
  });
  const rest = others.reduce((lovelace, output) => lovelace - output.value.lovelace, left.lovelace);
  const wanted = { address, value: { assets: first!.value.assets, lovelace: rest } };
  if (rest >= first!.value.lovelace && rest >= neededLovelace(parameters, wanted)) {
    return { outputs: [wanted, ...others], missing: 0n };
  }
  return { outputs: [first!, ...others], missing: first!.value.lovelace - rest };
}
