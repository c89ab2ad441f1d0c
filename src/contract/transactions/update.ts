/**
 * Updates a token: its owner applies either all named requests or none. `batch.ts` applies as many as fit. From version 3.0.0
 * of the contract on, the update may refuse other requests, whose deposits return.
 *
 * The first output is the next state. Output n refunds the n-th request, in the ledger's order of inputs: an applied one with
 * its lovelace minus its fee, a refused one with all of its lovelace. Requests are applied in that order, one after the other.
 */
import { toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { encodeData } from "#src/cardano/data.ts";
import { compareRefs, refKey } from "#src/cardano/output.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { type Action, spendData, type SpendRedeemer } from "#src/contract/redeemer.ts";
import { contributesByIndex } from "#src/contract/script.ts";
import { proofBelowTopBranch } from "#src/forestry/topBranch.ts";
import type { Proof } from "#src/forestry/proof.ts";
import type { Forestry } from "#src/forestry/trie.ts";
import { type BuildFailure, type Built, finish } from "#src/contract/transactions/common.ts";
import { type SelectedRequests, selectRequests } from "#src/contract/transactions/selectRequests.ts";
import { nextState, type OwnedState, ownedState } from "#src/contract/transactions/state.ts";
import {
  type Refusal,
  type RefusalFailure,
  requestsFail,
  selectRefusals,
  type UpdateInput,
} from "#src/contract/transactions/updateRequests.ts";

export type { UnappliedRequest, UpdateInput } from "#src/contract/transactions/updateRequests.ts";

/** An update, and the root of the facts after it. */
export interface BuiltUpdate extends Built {
  readonly root: string;
  /** `refKey` of the applied requests, in the order of application. */
  readonly applied: readonly string[];
  /** `refKey` of the refused requests, in the ledger's order. */
  readonly refused: readonly string[];
}

/**
 * `requests_fail`: `details.requests` has a `UnappliedRequest` for each request that prevents the update; `state_differs`: the
 * given facts do not have the state's root; `version_without_refusals`: the token's version of the contract has none.
 */
export type UpdateFailure = BuildFailure | RefusalFailure | Failure<"requests_fail" | "state_differs">;

/** Builds the transaction that applies all requests to the current `facts`, which is not changed, and refuses others. */
export function buildUpdate(input: UpdateInput, facts: Forestry, measure: Measure): Result<BuiltUpdate, UpdateFailure> {
  const token = updatableToken(input, facts);
  if (!token.ok) return token;
  const refusals = selectRefusals(input, token.value);
  if (!refusals.ok) return refusals;
  const selected = selectRequests(
    { ...input, requests: input.requests.map(({ ref, output }) => ({ ref, output })) },
    token.value,
    facts,
  );
  return selected.left.length > 0
    ? requestsFail(selected.left)
    : buildSelected(input, token.value, { ...selected, refused: refusals.value }, measure);
}

/** The token's state, if the address owns it and `facts` has its root. */
export function updatableToken(
  input: UpdateInput,
  facts: Forestry,
): Result<OwnedState, BuildFailure | Failure<"state_differs">> {
  const owned = ownedState(input, input.state);
  if (!owned.ok || toHex(facts.root) === owned.value.state.root) return owned;
  return fail("state_differs", "The facts do not match the token's state.");
}

/** A proof of a selection that shares the top branch: `bytesWithTopBranch` is finite only if all proofs begin with it. */
function below(proof: Proof): Proof {
  const rest = proofBelowTopBranch(proof);
  if (!rest) throw new Error("a proof does not begin with the shared top branch");
  return rest;
}

/** Builds the transaction that applies the selected requests and refuses others. */
export function buildSelected(
  input: UpdateInput,
  { owner, token, state }: OwnedState,
  { taken, refused, root, topBranch }: SelectedRequests & { readonly refused: readonly Refusal[] },
  measure: Measure,
): Result<BuiltUpdate, BuildFailure> {
  const contribute = contributesByIndex(input.script)
    ? (index: number) => encodeData(spendData({ type: "contribute", index }))
    : encodeData(spendData({ type: "contribute" }));
  const refuse = (index: number) => encodeData(spendData({ type: "refuse", index }));
  const all: readonly (Refusal & { readonly proof?: Proof })[] = [...taken, ...refused]
    .sort((a, b) => compareRefs(a.utxo.ref, b.utxo.ref));
  const actions = all.map(({ proof }): Action =>
    proof ? { type: "apply", proof: topBranch ? below(proof) : proof } : { type: "refuse" }
  );
  const modify: SpendRedeemer = topBranch ? { type: "modify", actions, crown: topBranch } : { type: "modify", actions };
  const built = finish(input, owner, {
    inputs: [input.state, ...all.map(({ utxo }) => utxo)],
    outputs: [nextState(input, token, { owner: state.owner, root }), ...all.map(({ refund }) => refund)],
    redeemers: [
      { for: { purpose: "spend", ref: input.state.ref }, data: encodeData(spendData(modify)) },
      ...all.map(({ utxo: { ref }, proof }) => ({
        for: { purpose: "spend" as const, ref },
        data: proof ? contribute : refuse,
      })),
    ],
  }, measure);
  if (!built.ok) return built;
  const names = (isApplied: boolean) =>
    all.flatMap(({ utxo, proof }) => (proof !== undefined) === isApplied ? [refKey(utxo.ref)] : []);
  return ok({ ...built.value, root, applied: names(true), refused: names(false) });
}
