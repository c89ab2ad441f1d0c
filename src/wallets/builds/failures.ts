/** Failures of wallet builds, with the details that clients of cardano-wallet expect in `info`. */
import { fail, type Failure } from "#src/base/result.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { type AssetId, nameOf, policyOf } from "#src/cardano/value.ts";
import { lackingAssets } from "#src/transaction/coinPool.ts";
import type { FeeBalanceFailure } from "#src/transaction/feeBalance.ts";
import type { SelectionFailure } from "#src/wallets/builds/types.ts";

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

/** Why an output is refused that has less than the ledger's minimum. */
export const TOO_LITTLE_ADA =
  "One of the outputs you've specified has an ada quantity that is below the minimum required. Either increase the ada quantity to at least " +
  "the minimum, or specify an ada quantity of zero, in which case the wallet will automatically assign the correct minimum ada quantity to " +
  "the output.";

/** The wallet has less than the payments need; the fee is not counted. */
function notEnoughMoney(lovelace: bigint, assets: Iterable<readonly [AssetId, bigint]>): SelectionFailure {
  const lacking = [...assets].map(([asset, quantity]) => ({
    policy_id: policyOf(asset),
    asset_name: nameOf(asset),
    quantity,
  }));
  return refusal(
    "not_enough_money",
    "I can't process this payment as there are not enough funds available in the wallet.",
    { shortfall: { ada: ada(lovelace), assets: lacking } },
  );
}

const noUtxos: SelectionFailure = refusal(
  "no_utxos_available",
  "Unable to create a transaction because the wallet has no unspent transaction outputs (UTxOs) available. A transaction must spend at " +
    "least one UTxO in order to be accepted for inclusion on the Cardano blockchain.",
);

const cannotCoverFee: SelectionFailure = refusal(
  "cannot_cover_fee",
  "I am unable to finalize the transaction, as there is not enough ada available to pay for the fee and also pay for the minimum ada " +
    "quantities of all change outputs. Try increasing your wallet balance or sending a smaller amount.",
);

const depleted: SelectionFailure = refusal(
  "inputs_depleted",
  "The wallet has enough money, but it is not fragmented enough: each payment needs unspent outputs of its own, and there are too few. " +
    "Try fewer payments, first send yourself several smaller outputs, or let a wallet of your own take several payments from one " +
    'output with the selection "round-robin": PUT /v2/wallets/{walletId} with {"selection": "round-robin"}.',
);

export const tooBig: SelectionFailure = refusal(
  "transaction_is_too_big",
  "I was not able to balance the transaction without exceeding the maximum transaction size.",
);

/** Why an output that a transaction must spend cannot be spent. */
export interface UnavailableInput {
  readonly ref: OutRef;
  /** `spent`: it was the wallet's; `unknown`: it never was, as far as the chain is read; `not_spendable`: its script is unknown. */
  readonly reason: "spent" | "unknown" | "not_spendable";
}

/** The refusal of inputs to spend that are not unspent outputs of the wallet. */
export function inputsNotAvailable(inputs: readonly UnavailableInput[]): Failure<"inputs_not_available"> {
  const listed = inputs.map(({ ref, reason }) => `${refKey(ref)} (${reason})`).join(", ");
  return refusal(
    "inputs_not_available",
    `Some of the inputs that the transaction must spend are not unspent outputs of the wallet: ${listed}.`,
    { inputs: inputs.map(({ ref: { txHash, index }, reason }) => ({ id: txHash, index, reason })) },
  );
}

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
        "I'm unable to create this transaction because the balance of pure ada UTxOs in your wallet is insufficient to cover the minimum " +
          `amount of collateral required. I need ${failure.missing} lovelace more. To fix this, you'll need to add one or more pure ada ` +
          "UTxOs to your wallet that can cover the minimum amount required.",
      );
  }
}
