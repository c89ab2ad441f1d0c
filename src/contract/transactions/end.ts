/** Ends a token: burns it and returns its state's lovelace to the owner. */
import type { Result } from "#src/base/result.ts";
import { encodeData } from "#src/cardano/data.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { mintData, spendData } from "#src/contract/redeemer.ts";
import { type BuildFailure, type BuildInput, type Built, finish } from "#src/contract/transactions/common.ts";
import { ownedState } from "#src/contract/transactions/state.ts";

export interface EndInput extends BuildInput {
  /** The token's state output. */
  readonly state: Utxo;
}

/** Builds the transaction that ends a token; `not_owner` unless the address has the owner's payment key. */
export function buildEnd(input: EndInput, measure: Measure): Result<Built, BuildFailure> {
  const owned = ownedState(input, input.state);
  if (!owned.ok) return owned;
  const { script, state } = input;
  return finish(input, owned.value.owner, {
    inputs: [state],
    outputs: [],
    mint: new Map([[script.hash + owned.value.token, -1n]]),
    redeemers: [
      { for: { purpose: "spend", ref: state.ref }, data: encodeData(spendData({ type: "end" })) },
      { for: { purpose: "mint", policy: script.hash }, data: encodeData(mintData({ type: "burning" })) },
    ],
  }, measure);
}
