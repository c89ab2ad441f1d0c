/**
 * Updating a token: its owner applies requests, all of those named or none.
 *
 * The first output is the next state; output n refunds the n-th request in the ledger's order of inputs with what it locked
 * but for the fee it offers. Requests are applied in that order, each on what the one before it left.
 */
import { toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { encodeData } from "#src/cardano/data.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { lovelace } from "#src/cardano/value.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import type { Measure } from "#src/balance/balance.ts";
import { atLeast, neededLovelace } from "#src/balance/output.ts";
import { changeOf, decodeDatum, encodeState, type Request } from "#src/cage/datum.ts";
import { keyAddressHex } from "#src/cage/plutus_address.ts";
import { type Action, spendData } from "#src/cage/redeemer.ts";
import type { Forestry, Refusal } from "#src/forestry/trie.ts";
import { type BuildFailure, type BuildInput, type Built, finish } from "#src/cage/transactions/common.ts";
import { ownedState } from "#src/cage/transactions/state.ts";

export interface UpdateInput extends BuildInput {
  /** The token's state output. */
  readonly state: Utxo;
  /** The requests to apply, in any order; one named twice counts once. */
  readonly requests: readonly Utxo[];
}

/** An update, and the root of the facts after it. */
export interface BuiltUpdate extends Built {
  readonly root: string;
}

/**
 * Why one request cannot be applied. `fact_…`: after the requests before it the key is there already, is missing, or has another value;
 * `other_token`: it is no request of this token; `not_applicable`: it holds assets or a script, or less than its fee and refund take.
 */
export type RequestReason = Refusal["code"] | "other_token" | "not_applicable";

/** A request that stops an update. */
export interface RefusedRequest {
  /** `refKey` of its output. */
  readonly request: string;
  readonly code: RequestReason;
  readonly message: string;
}

/** `requests_fail` has `details.requests`, a `RefusedRequest` for each that stops the update; `state_differs`: the facts given are not those of the state. */
export type UpdateFailure = BuildFailure | Failure<"requests_fail" | "state_differs">;

/** Builds the transaction that applies requests to the facts, which `facts` (left as it is) holds as they are now. */
export function buildUpdate(input: UpdateInput, facts: Forestry, measure: Measure): Result<BuiltUpdate, UpdateFailure> {
  const owned = ownedState(input, input.state);
  if (!owned.ok) return owned;
  const { owner, token, state } = owned.value;
  if (toHex(facts.root) !== state.root) {
    return fail("state_differs", "The facts at hand are not those of the token's state.");
  }
  const named = new Map(input.requests.map((request) => [refKey(request.ref), request]));
  const requests = [...named.values()].sort((a, b) => compareRefs(a.ref, b.ref));
  const applied = apply(input, token, facts.copy(), requests);
  if (!applied.ok) return applied;
  const { actions, refunds, root } = applied.value;
  const next = atLeast(input.parameters, {
    address: input.state.output.address,
    value: { ...input.state.output.value, assets: new Map([[input.script.hash + token, 1n]]) },
    datum: encodeState({ owner: state.owner, root }),
  });
  const contribute = encodeData(spendData({ type: "contribute" }));
  const built = finish(input, owner, {
    inputs: [input.state, ...requests],
    outputs: [next, ...refunds],
    redeemers: [
      { for: { purpose: "spend", ref: input.state.ref }, data: encodeData(spendData({ type: "modify", actions })) },
      ...requests.map(({ ref }) => ({ for: { purpose: "spend" as const, ref }, data: contribute })),
    ],
  }, measure);
  return built.ok ? ok({ ...built.value, root }) : built;
}

interface Applied {
  readonly actions: readonly Action[];
  readonly refunds: readonly NewOutput[];
  readonly root: string;
}

function apply(
  input: UpdateInput,
  token: string,
  facts: Forestry,
  requests: readonly Utxo[],
): Result<Applied, Failure<"requests_fail">> {
  const actions: Action[] = [];
  const refunds: NewOutput[] = [];
  const refused: RefusedRequest[] = [];
  for (const utxo of requests) {
    const refuse = ({ code, message }: Failure<RequestReason>) =>
      refused.push({ request: refKey(utxo.ref), code, message });
    const request = requestOf(input, token, utxo);
    if (!request.ok) {
      refuse(request.error);
      continue;
    }
    const refund = refundOf(input, utxo, request.value);
    if (!refund.ok) {
      refuse(refund.error);
      continue;
    }
    const proof = facts.apply(changeOf(request.value.key, request.value.operation));
    if (!proof.ok) {
      refuse(proof.error);
      continue;
    }
    actions.push({ type: "apply", proof: proof.value });
    refunds.push(refund.value);
  }
  if (refused.length === 0) return ok({ actions, refunds, root: toHex(facts.root) });
  const message = refused.length === 1
    ? "A request cannot be applied."
    : `${refused.length} requests cannot be applied.`;
  return fail("requests_fail", message, { requests: refused });
}

function requestOf({ script }: UpdateInput, token: string, { output }: Utxo): Result<Request, Failure<RequestReason>> {
  const datum = output.datum && decodeDatum(output.datum);
  if (datum?.type === "request" && datum.request.policy === script.hash && datum.request.name === token) {
    return ok(datum.request);
  }
  return fail("other_token", "This is no request of the token.");
}

/** The refund that a request is owed; a script it carries would be paid for by the owner of the token, so there is none then. */
function refundOf(
  { parameters, network }: UpdateInput,
  { output }: Utxo,
  { refund, fee }: Request,
): Result<NewOutput, Failure<RequestReason>> {
  const no = (message: string) => fail("not_applicable", message);
  if (output.value.assets.size > 0) return no("The request holds assets; only its owner can take it back.");
  if (output.script) return no("The request carries a script; only its owner can take it back.");
  const back = { address: keyAddressHex(refund, network), value: lovelace(output.value.lovelace - fee) };
  if (back.value.lovelace >= neededLovelace(parameters, back)) return ok(back);
  return no("The request holds too little for the fee it offers and a refund.");
}
