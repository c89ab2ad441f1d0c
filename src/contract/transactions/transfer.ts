/** Transfers a token to another owner: its facts do not change, and the contract requires both signatures. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { encodeData } from "#src/cardano/data.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { spendData } from "#src/contract/redeemer.ts";
import {
  type BuildFailure,
  type BuildInput,
  type Built,
  finish,
  keyAddressOf,
} from "#src/contract/transactions/common.ts";
import { nextState, ownedState } from "#src/contract/transactions/state.ts";

/** What a transfer is built from; `address` is that of the current owner. */
export interface TransferInput extends BuildInput {
  /** The token's state output. */
  readonly state: Utxo;
  /** Address of the next owner, its bytes in hexadecimal: base or enterprise, of a key. */
  readonly to: string;
}

/** A transaction that the current and the next owner sign. */
export interface BuiltTransfer extends Built {
  /** Key hash of the next owner. */
  readonly owner: string;
  /** Key hashes of the required signers: the owner, who pays, and the next owner. */
  readonly signers: readonly string[];
}

/** `owner_unchanged`: `to` has the payment key of the current owner. `bad_address`: of `address` or `to`. */
export type TransferFailure = BuildFailure | Failure<"owner_unchanged">;

/**
 * Builds the transaction that transfers a token; the current owner pays.
 *
 * @throws {TypeError} where `state` is not a state output of the contract.
 */
export function buildTransfer(input: TransferInput, measure: Measure): Result<BuiltTransfer, TransferFailure> {
  const owned = ownedState(input, input.state);
  if (!owned.ok) return owned;
  const next = keyAddressOf({ address: input.to, network: input.network });
  if (!next.ok) return next;
  const { owner, token, state } = owned.value;
  const { payment } = next.value;
  if (payment === state.owner) return fail("owner_unchanged", "The token already has this owner.");
  const signers = [owner.payment, payment];
  const built = finish(input, owner, {
    inputs: [input.state],
    outputs: [nextState(input, token, { ...state, owner: payment })],
    requiredSigners: signers,
    redeemers: [{
      for: { purpose: "spend", ref: input.state.ref },
      data: encodeData(spendData({ type: "modify", actions: [] })),
    }],
  }, measure);
  return built.ok ? ok({ ...built.value, owner: payment, signers }) : built;
}
