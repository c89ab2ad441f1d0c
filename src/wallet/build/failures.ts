/** Failures of wallet builds, with the details that clients of cardano-wallet expect in `info`. */
import { fail, type Failure } from "#src/base/result.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { type AssetId, nameOf, policyOf } from "#src/cardano/value.ts";
import { lackingAssets } from "#src/transaction/coinPool.ts";
import type { FeeBalanceFailure } from "#src/transaction/feeBalance.ts";
import type { SelectionFailure } from "#src/wallet/build/types.ts";

/** A failure by itself, not wrapped in a result. */
export function refusal<Code extends string>(code: Code, message: string, details?: unknown): Failure<Code> {
  return fail(code, message, details).error;
}

/** Lovelace in the form of the API. */
export function ada(quantity: bigint) {
  return { quantity, unit: "lovelace" as const };
}

/** Text of an address given by its bytes; the bytes where they are not an address. */
export function textOf(address: string): string {
  const read = readAddressHex(address);
  return read.ok ? addressText(read.value) : address;
}

/** The wallet has less than the payments need; the fee is not counted. */
function notEnoughMoney(lovelace: bigint, assets: Iterable<readonly [AssetId, bigint]>): SelectionFailure {
  const lacking = [...assets].map(([asset, quantity]) => ({
    policy_id: policyOf(asset),
    asset_name: nameOf(asset),
    quantity,
  }));
  const what = [
    ...(lovelace > 0n ? [`${lovelace} lovelace`] : []),
    ...(lacking.length > 0 ? [`${lacking.length === 1 ? "an asset" : `${lacking.length} assets`}`] : []),
  ];
  return refusal("not_enough_money", `The wallet has too little for this: it lacks ${what.join(" and ")}.`, {
    shortfall: { ada: ada(lovelace), assets: lacking },
  });
}

const noUtxos: SelectionFailure = refusal(
  "no_utxos_available",
  "The wallet has no unspent output to spend, and every transaction requires one.",
);

const cannotCoverFee: SelectionFailure = refusal(
  "cannot_cover_fee",
  "The remainder of the wallet's outputs does not cover the fee and a change output. Try a lower amount, or wait for incoming payments.",
);

const depleted: SelectionFailure = refusal(
  "inputs_depleted",
  "The wallet has enough money, but it is not fragmented enough: each payment needs unspent outputs of its own, and there are too few. " +
    "Try fewer payments, or first send yourself several smaller outputs.",
);

export const tooBig: SelectionFailure = refusal(
  "transaction_is_too_big",
  "The transaction would be larger than the network takes. Try fewer payments, less metadata, or a lower amount where the wallet's outputs are small.",
);

/** Why coins, change and fee cannot be brought into agreement. */
export function balanceRefusal(failure: FeeBalanceFailure): SelectionFailure {
  switch (failure.reason) {
    case "not_enough": {
      const { lovelace } = failure.missing;
      return notEnoughMoney(lovelace < 0n ? -lovelace : 0n, lackingAssets(failure.missing));
    }
    case "no_coins":
      return noUtxos;
    case "depleted":
      return depleted;
    case "fee":
      return cannotCoverFee;
    case "crowded":
    case "too_large":
      return tooBig;
    case "collateral":
      return refusal(
        "insufficient_collateral",
        `The wallet has too little for the collateral that scripts ask for: ${failure.missing} lovelace more, best in one output without assets.`,
      );
  }
}
