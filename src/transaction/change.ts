/** Change outputs: what inputs hold beyond payments and fee goes back, in as few outputs as the ledger allows. */
import { elementAt } from "#src/base/present.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { type AssetId, type Assets, noAssets, policyOf, type Value } from "#src/cardano/value.ts";
import type { OutputCost } from "#src/transaction/output.ts";

/** Most bytes of a lovelace amount, of the head of a value with assets, and of a policy. */
const AMOUNT_BYTES = 9;
const HEAD_BYTES = 1 + AMOUNT_BYTES + 3;
const POLICY_BYTES = 2 + 28 + 3;

/** Most of one asset that an output can hold. */
export const MAX_QUANTITY = (1n << 64n) - 1n;

/**
 * Divides assets so that each part fits into one output with any amount of lovelace (`maxValueSize` and
 * `MAX_QUANTITY`).
 */
export function bundles(assets: Assets, maxValueSize: number): readonly Assets[] {
  const made: Map<AssetId, bigint>[] = [];
  let last: Map<AssetId, bigint> | undefined;
  let size = 0;
  let policy: string | undefined;
  const add = (asset: AssetId, quantity: bigint) => {
    const bytes = 2 + (asset.length - 56) / 2 + AMOUNT_BYTES;
    let more = bytes + (policyOf(asset) === policy ? 0 : POLICY_BYTES);
    if (!last || size + more > maxValueSize || last.has(asset)) {
      last = new Map();
      made.push(last);
      size = HEAD_BYTES;
      more = bytes + POLICY_BYTES;
    }
    size += more;
    policy = policyOf(asset);
    last.set(asset, quantity);
  };
  for (const [asset, quantity] of [...assets].sort(([a], [b]) => a < b ? -1 : 1)) {
    let left = quantity;
    for (; left > MAX_QUANTITY; left -= MAX_QUANTITY) add(asset, MAX_QUANTITY);
    add(asset, left);
  }
  return made.length === 0 ? [noAssets] : made;
}

/** Change of one group of coins: its assets, divided, and the least lovelace of each output. */
interface ChangeShare {
  readonly lovelace: bigint;
  readonly bundles: readonly { readonly assets: Assets; readonly least: bigint }[];
  readonly least: bigint;
}

/** Change before the fee is known. */
export interface ChangePlan {
  readonly shares: readonly ChangeShare[];
  /** Addresses of the outputs, in their order; the last one repeats. */
  readonly addresses: readonly string[];
  /** Lovelace of all shares and of what belongs to none, before the fee. */
  readonly total: bigint;
  /** Lovelace that the outputs need together. */
  readonly least: bigint;
}

/** What change outputs follow. */
export interface ChangeRules {
  readonly parameters: OutputCost & Pick<Parameters, "maxValueSize">;
  /** Least lovelace of an output: `leastLovelace` or `stableMinimum`. */
  readonly minimum: (parameters: OutputCost, output: NewOutput) => bigint;
}

function cycle(addresses: readonly string[]): () => string {
  let place = 0;
  return () => elementAt(addresses, Math.min(place++, addresses.length - 1));
}

/**
 * Plans the change of groups. A group with nothing left gets no output, but there is always at least one output.
 * `shared` is lovelace that comes in (or goes out) beside all groups.
 */
export function planChange(
  { parameters, minimum }: ChangeRules,
  left: readonly Value[],
  shared: bigint,
  addresses: readonly string[],
): ChangePlan {
  const nextAddress = cycle(addresses);
  const isEmpty = ({ lovelace, assets }: Value) => lovelace === 0n && assets.size === 0;
  const shares = left
    .filter(({ lovelace, assets }, i) => lovelace > 0n || assets.size > 0 || (i === 0 && left.every(isEmpty)))
    .map(({ lovelace, assets }): ChangeShare => {
      const parts = bundles(assets, parameters.maxValueSize).map((bundle) => {
        const output = { address: nextAddress(), value: { lovelace: 0n, assets: bundle } };
        return { assets: bundle, least: minimum(parameters, output) };
      });
      return { lovelace, bundles: parts, least: parts.reduce((sum, { least }) => sum + least, 0n) };
    });
  return {
    shares,
    addresses,
    total: shares.reduce((sum, { lovelace }) => sum + lovelace, shared),
    least: shares.reduce((sum, { least }) => sum + least, 0n),
  };
}

/**
 * Change outputs after a fee. Fee and shared lovelace are divided evenly over the shares; a share that would get too
 * little takes the rest from the largest. Where all of it is too little, each output gets its least, and the sum is
 * more than there is.
 */
export function changeOutputs({ shares, addresses, total, least }: ChangePlan, fee: bigint): readonly NewOutput[] {
  const isEnough = total - fee >= least;
  const paid = shares.map((share) => ({ ...share, lovelace: isEnough ? share.lovelace : share.least }));
  if (isEnough) divide(paid, total - fee);
  const nextAddress = cycle(addresses);
  return paid.flatMap(({ lovelace, bundles, least }) =>
    bundles.map(({ assets, least: own }, nth) => ({
      address: nextAddress(),
      value: { assets, lovelace: nth === 0 ? lovelace - (least - own) : own },
    }))
  );
}

/** Changes shares evenly until they come to `sum`, none below its least; `sum` is at least the sum of all leasts. */
function divide(shares: readonly { lovelace: bigint; readonly least: bigint }[], sum: bigint): void {
  const before = shares.reduce((total, { lovelace }) => total + lovelace, 0n);
  const count = BigInt(shares.length);
  const each = (sum - before) / count;
  const spare = ({ lovelace, least }: (typeof shares)[number]) => lovelace - least;
  const largest = () => shares.reduce((best, share) => spare(share) > spare(best) ? share : best);
  for (const share of shares) share.lovelace += each;
  largest().lovelace += sum - before - each * count;
  for (const share of shares) {
    while (spare(share) < 0n) {
      const from = largest();
      const moved = spare(from) < -spare(share) ? spare(from) : -spare(share);
      from.lovelace -= moved;
      share.lovelace += moved;
    }
  }
}
