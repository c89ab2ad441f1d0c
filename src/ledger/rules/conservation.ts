/**
 * Value is conserved: consumed equals produced (rule UTXO, `validateValueNotConservedUTxO`).
 *
 * A transaction's size bounds the produced value but not the consumed one: 16 kB of inputs can hold 400,000 assets.
 */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { type Assets, lovelace, sameValue, sumValues, type Value } from "#src/cardano/value.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { deposits, refunds } from "#src/ledger/deposits.ts";
import type { Input } from "#src/ledger/inputs.ts";
import { boundedSum } from "#src/ledger/rules/sums.ts";
import type { LedgerState } from "#src/ledger/state.ts";

/** Checks that consumed and produced value are the same, reckoned against the state before the transaction. */
export async function checkConservation(
  body: Body,
  inputs: readonly Input[],
  state: LedgerState,
): Promise<LedgerFailure[]> {
  const { parameters } = state;
  const withdrawn = body.withdrawals.reduce((sum, { amount }) => sum + amount, 0n);
  const beside = { lovelace: withdrawn + refunds(parameters, body, state), assets: signed(body.mint, 1n) };
  const taken: Value = {
    ...lovelace(body.fee + deposits(parameters, body, state.pools) + body.donation),
    assets: signed(body.mint, -1n),
  };
  const produced = sumValues([...body.outputs.map(({ output }) => output.value), taken]);
  const consumed = await boundedSum([...inputs.map(({ output }) => output.value), beside], produced.assets);
  return sameValue(consumed, produced) ? [] : [{ name: "ValueNotConservedUTxO", consumed, produced }];
}

/** Absolute quantities of one sign: the minted or the burned assets. */
function signed(mint: Assets, sign: 1n | -1n): Assets {
  return new Map([...mint].filter(([, quantity]) => quantity * sign > 0n).map(([asset, q]) => [asset, q * sign]));
}
