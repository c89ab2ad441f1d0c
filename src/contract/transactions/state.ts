/** Reads and makes a token's state outputs for its owner's transactions. */
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import { atLeast } from "#src/transaction/output.ts";
import { decodeDatum, encodeState, type State } from "#src/contract/datum.ts";
import type { KeyAddress } from "#src/contract/plutusAddress.ts";
import { type BuildFailure, type BuildInput, keyAddressOf } from "#src/contract/transactions/common.ts";

/** The owner's address, the token's name and its state. */
export interface OwnedState {
  readonly owner: KeyAddress;
  readonly token: string;
  readonly state: State;
}

/** Failure: the address does not own the token. */
export const NOT_OWNER = fail("not_owner", "The token does not belong to this address.");

/**
 * Reads a state output; `not_owner` unless `address` has the payment key of the token's owner.
 *
 * @throws {TypeError} if the output is not a state of this contract; the index has no such outputs
 */
export function ownedState(input: BuildInput, utxo: Utxo): Result<OwnedState, BuildFailure> {
  const owner = keyAddressOf(input);
  if (!owner.ok) return owner;
  const datum = utxo.output.datum && decodeDatum(utxo.output.datum);
  const asset = [...utxo.output.value.assets.keys()].find((id) => policyOf(id) === input.script.hash);
  if (datum?.type !== "state" || asset === undefined) throw new TypeError("an output that is no token's state");
  if (datum.state.owner !== owner.value.payment) return NOT_OWNER;
  return ok({ owner: owner.value, token: nameOf(asset), state: datum.state });
}

/** The output of a token's next state. */
export function nextState(
  { parameters, script, state: { output } }: BuildInput & { readonly state: Utxo },
  token: string,
  state: State,
): NewOutput {
  return atLeast(parameters, {
    address: output.address,
    value: { ...output.value, assets: new Map([[script.hash + token, 1n]]) },
    datum: encodeState(state),
  });
}
