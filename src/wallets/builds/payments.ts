/** Payments of an intent as outputs. */
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import { MAX_QUANTITY } from "#src/transaction/change.ts";
import { neededLovelace, stableMinimum, valueSize } from "#src/transaction/output.ts";
import { ada, textOf, TOO_LITTLE_ADA } from "#src/wallets/builds/failures.ts";
import type { Payment, SelectionFailure } from "#src/wallets/builds/types.ts";

type OutputParameters = Pick<Parameters, "utxoCostPerByte" | "maxValueSize">;

/** A payment as an output, with the least lovelace where it states none; or why the ledger would refuse it. */
function outputOf(
  parameters: OutputParameters,
  payment: Payment,
  index: number,
): Result<NewOutput, SelectionFailure> {
  const { address, lovelace } = payment;
  const assets = new Map(payment.assets?.filter(([, quantity]) => quantity !== 0n));
  const output: NewOutput = { address, value: { lovelace, assets } };
  for (const [asset, quantity] of assets) {
    if (quantity <= MAX_QUANTITY) continue;
    return fail(
      "output_token_quantity_exceeds_limit",
      "One of the token quantities you've specified is greater than the maximum quantity allowed in a single transaction output. Try " +
        "splitting this quantity across two or more outputs. " +
        `Destination address: ${textOf(address)}. Token policy identifier: ${policyOf(asset)}. Asset name: ${
          nameOf(asset)
        }. ` +
        `Token quantity specified: ${quantity}. Maximum allowable token quantity: ${MAX_QUANTITY}.`,
      {
        address: textOf(address),
        policy_id: policyOf(asset),
        asset_name: nameOf(asset),
        quantity,
        max_quantity: MAX_QUANTITY,
      },
    );
  }
  const least = stableMinimum(parameters, output);
  const complete = lovelace === 0n ? { address, value: { lovelace: least, assets } } : output;
  if (valueSize(complete.value) > parameters.maxValueSize) {
    return fail(
      "output_token_bundle_size_exceeds_limit",
      "One of the outputs you've specified contains too many assets. Try splitting these assets across two or more outputs. " +
        `Destination address: ${textOf(address)}. Asset count: ${assets.size}.`,
      { address: textOf(address), bundle_size: assets.size },
    );
  }
  if (complete.value.lovelace < neededLovelace(parameters, complete)) {
    return fail(
      "utxo_too_small",
      TOO_LITTLE_ADA,
      {
        tx_output_index: index,
        tx_output_lovelace_specified: ada(lovelace),
        tx_output_lovelace_required_minimum: ada(least),
      },
    );
  }
  return ok(complete);
}

/** All payments as outputs, in order; the first that the ledger would refuse fails. */
export function outputsOf(
  parameters: OutputParameters,
  payments: readonly Payment[],
): Result<readonly NewOutput[], SelectionFailure> {
  const outputs: NewOutput[] = [];
  for (const [index, payment] of payments.entries()) {
    const output = outputOf(parameters, payment, index);
    if (!output.ok) return output;
    outputs.push(output.value);
  }
  return ok(outputs);
}
