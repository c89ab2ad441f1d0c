/** What goes in is what comes out (rule UTXO, `validateValueNotConservedUTxO`). */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { addValues, type Assets, lovelace, sameValue, sumValues } from "#src/cardano/value.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { deposits, refunds } from "#src/ledger/deposits.ts";
import type { Input } from "#src/ledger/inputs.ts";
import type { LedgerState } from "#src/ledger/state.ts";

/** Checks that consumed and produced value are the same, reckoned against the state before the transaction. */
export function checkConservation(body: Body, inputs: readonly Input[], state: LedgerState): LedgerFailure[] {
  const { parameters } = state;
  const withdrawn = body.withdrawals.reduce((sum, { amount }) => sum + amount, 0n);
  const consumed = sumValues([
    ...inputs.map(({ output }) => output.value),
    { lovelace: withdrawn + refunds(parameters, body, state), assets: signed(body.mint, 1n) },
  ]);
  const produced = addValues(sumValues(body.outputs.map(({ output }) => output.value)), {
    ...lovelace(body.fee + deposits(parameters, body, state.pools) + body.donation),
    assets: signed(body.mint, -1n),
  });
  return sameValue(consumed, produced) ? [] : [{ name: "ValueNotConservedUTxO", consumed, produced }];
}

/** Quantities of one sign, without it: what is minted, or what is burned. */
function signed(mint: Assets, sign: 1n | -1n): Assets {
  return new Map([...mint].filter(([, quantity]) => quantity * sign > 0n).map(([asset, q]) => [asset, q * sign]));
}
