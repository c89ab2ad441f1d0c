/** A token's state output, read for a transaction of its owner. */
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import { atLeast } from "#src/transaction/output.ts";
import { decodeDatum, encodeState, type State } from "#src/cage/datum.ts";
import type { KeyAddress } from "#src/cage/plutus_address.ts";
import { type BuildFailure, type BuildInput, requester } from "#src/cage/transactions/common.ts";

/** The owner, the token's name, and what its state says. */
export interface OwnedState {
  readonly owner: KeyAddress;
  readonly token: string;
  readonly state: State;
}

/** Why an address may not do what is the owner's to do. */
export const NOT_OWNER = fail("not_owner", "The token is not one of this address.");

/** Reads a state output whose owner asks. Throws a `TypeError` for an output that is no state of this contract: the index holds none. */
export function ownedState(input: BuildInput, utxo: Utxo): Result<OwnedState, BuildFailure> {
  const owner = requester(input);
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
