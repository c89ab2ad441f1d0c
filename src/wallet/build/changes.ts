/** Change: what groups of coins hold beyond what they pay for, as outputs. */
import type { Parameters } from "#src/cardano/parameters.ts";
import { encodeOutput, type NewOutput } from "#src/cardano/transaction.ts";
import type { Assets } from "#src/cardano/value.ts";
import { bundles } from "#src/transaction/change.ts";
import { minUtxo } from "#src/transaction/minUtxo.ts";
import type { Group } from "#src/wallet/build/coinSelection.ts";
import type { OwnAddress } from "#src/wallet/build/types.ts";

const LARGEST_COIN = (1n << 64n) - 1n;

/**
 * Least lovelace of an output whatever amount it then gets: reckoned with the largest amount, so that no amount needs another minimum.
 * What wallets of the field ask for, a little more than the ledger does.
 */
export function stableMinimum(parameters: Pick<Parameters, "utxoCostPerByte">, output: NewOutput): bigint {
  return minUtxo(parameters, encodeOutput({ ...output, value: { ...output.value, lovelace: LARGEST_COIN } }).length);
}

/** Change of one group: its assets in bundles that outputs can hold, and the least lovelace of each. */
interface Share {
  readonly lovelace: bigint;
  readonly bundles: readonly { readonly assets: Assets; readonly least: bigint }[];
  readonly least: bigint;
}

/** What is left over, ready to be divided at any fee. */
export interface Shares {
  readonly shares: readonly Share[];
  /** Lovelace of all of them and what is shared, before the fee. */
  readonly total: bigint;
  /** Lovelace that the outputs need together. */
  readonly least: bigint;
}

/** Makes shares of groups. A group that has nothing left gets none, but one there is in any case. */
export function sharesOf(
  parameters: Pick<Parameters, "utxoCostPerByte" | "maxValueSize">,
  groups: readonly Group[],
  shared: bigint,
  to: readonly OwnAddress[],
): Shares {
  let place = 0;
  const addressAt = () => to[Math.min(place++, to.length - 1)]!.address;
  const shares = groups.map(({ left }) => ({ lovelace: left.lovelace, assets: left.held() }))
    .filter(({ lovelace, assets }, i, all) =>
      lovelace > 0n || assets.size > 0 || (i === 0 && all.every((one) => one.lovelace === 0n && one.assets.size === 0))
    )
    .map(({ lovelace, assets }): Share => {
      const parts = bundles(assets, parameters.maxValueSize).map((bundle) => {
        const output = { address: addressAt(), value: { lovelace: 0n, assets: bundle } };
        return { assets: bundle, least: stableMinimum(parameters, output) };
      });
      return { lovelace, bundles: parts, least: parts.reduce((sum, { least }) => sum + least, 0n) };
    });
  return {
    shares,
    total: shares.reduce((sum, { lovelace }) => sum + lovelace, shared),
    least: shares.reduce((sum, { least }) => sum + least, 0n),
  };
}

/**
 * Outputs of change once the fee is paid: fee and what is shared are divided evenly over the shares; one that would come to too little gets
 * the rest from the largest. Where all of it is too little, each output gets its least.
 */
export function changeAt(
  { shares, total, least }: Shares,
  fee: bigint,
  to: readonly OwnAddress[],
): readonly NewOutput[] {
  const amounts = shares.map(({ lovelace, least }) => total - fee < least ? least : lovelace);
  if (total - fee < least) amounts.forEach((_, i) => amounts[i] = shares[i]!.least);
  else divide(amounts, shares, total - fee);
  let place = 0;
  return shares.flatMap(({ bundles, least }, i) =>
    bundles.map(({ assets, least: own }, nth) => ({
      address: to[Math.min(place++, to.length - 1)]!.address,
      value: { assets, lovelace: nth === 0 ? amounts[i]! - (least - own) : own },
    }))
  );
}

/** Moves amounts to a sum, evenly, none below its least; the sum is enough for that. */
function divide(amounts: bigint[], shares: readonly Share[], sum: bigint): void {
  const before = amounts.reduce((a, b) => a + b, 0n);
  const each = (sum - before) / BigInt(amounts.length);
  const largest = () =>
    amounts.reduce((best, amount, i) => amount - shares[i]!.least > amounts[best]! - shares[best]!.least ? i : best, 0);
  for (let i = 0; i < amounts.length; i++) amounts[i]! += each;
  amounts[largest()]! += sum - before - each * BigInt(amounts.length);
  for (let i = 0; i < amounts.length; i++) {
    while (amounts[i]! < shares[i]!.least) {
      const from = largest();
      const lacking = shares[i]!.least - amounts[i]!;
      const spare = amounts[from]! - shares[from]!.least;
      const moved = spare < lacking ? spare : lacking;
      amounts[from]! -= moved;
      amounts[i]! += moved;
    }
  }
}
