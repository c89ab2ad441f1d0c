/**
 * Updating a token: its owner applies requests, all of those named or none; or as many as there are and as fit (`batch.ts`).
 *
 * The first output is the next state; output n refunds the n-th request in the ledger's order of inputs with what it locked
 * but for the fee it offers. Requests are applied in that order, each on what the one before it left.
 */
import { toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { encodeData } from "#src/cardano/data.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { lovelace } from "#src/cardano/value.ts";
import { encodeOutput, type NewOutput } from "#src/cardano/transaction.ts";
import type { Measure } from "#src/balance/balance.ts";
import { neededLovelace } from "#src/balance/output.ts";
import { changeOf, decodeDatum, type Request } from "#src/cage/datum.ts";
import { keyAddressHex } from "#src/cage/plutus_address.ts";
import { type Action, spendData, type SpendRedeemer } from "#src/cage/redeemer.ts";
import { takesCrowns } from "#src/cage/script.ts";
import { behindCrown, CROWN_BYTES, crownOf } from "#src/forestry/crown.ts";
import type { Proof } from "#src/forestry/proof.ts";
import type { Forestry, Refusal } from "#src/forestry/trie.ts";
import {
  type BuildFailure,
  type BuildInput,
  type Built,
  finish,
  unreadableOutputs,
} from "#src/cage/transactions/common.ts";
import { nextState, type OwnedState, ownedState } from "#src/cage/transactions/state.ts";

export interface UpdateInput extends BuildInput {
  /** The token's state output. */
  readonly state: Utxo;
  /** The requests to apply, in any order; one named twice counts once. */
  readonly requests: readonly Utxo[];
}

/** An update, and the root of the facts after it. */
export interface BuiltUpdate extends Built {
  readonly root: string;
  /** `refKey` of the requests that it applies, in the order in which it does. */
  readonly applied: readonly string[];
}

/**
 * Why one request cannot be applied. `fact_…`: after the requests before it the key is there already, is missing, or has another value;
 * `other_token`: it is no request of this token; `not_applicable`: it holds assets or a script, or less than its fee and refund take;
 * `no_room`: what the transaction applies already leaves too little of it.
 */
export type RequestReason = Refusal["code"] | "other_token" | "not_applicable" | "no_room";

/** A request that an update leaves where it is. */
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
  const token = updatable(input, facts);
  if (!token.ok) return token;
  const walked = walk(input, token.value, facts);
  return walked.left.length > 0 ? requestsFail(walked.left) : buildWalked(input, token.value, walked, measure);
}

/** A token that its owner may update, with the facts at hand. */
export function updatable(
  input: UpdateInput,
  facts: Forestry,
): Result<OwnedState, BuildFailure | Failure<"state_differs">> {
  const owned = ownedState(input, input.state);
  if (!owned.ok || toHex(facts.root) === owned.value.state.root) return owned;
  return fail("state_differs", "The facts at hand are not those of the token's state.");
}

/** `requests_fail`, with a reason for each of them. */
export function requestsFail(requests: readonly RefusedRequest[]): Result<never, Failure<"requests_fail">> {
  const message = requests.length === 1
    ? "A request cannot be applied."
    : `${requests.length} requests cannot be applied.`;
  return fail("requests_fail", message, { requests });
}

/** What came of requests, each at its turn. */
export interface Walked {
  readonly taken: readonly Taken[];
  readonly left: readonly RefusedRequest[];
  /** Of the facts after all that are taken. */
  readonly root: string;
  /** Bytes that those take in a transaction: about. */
  readonly bytes: number;
  /** The crown of the facts, where it makes the transaction smaller: proofs then begin behind it. */
  readonly crown?: Uint8Array;
}

interface Taken {
  readonly utxo: Utxo;
  readonly proof: Proof;
  readonly refund: NewOutput;
}

/**
 * Takes requests in the ledger's order, each on what those before it left, as long as there is room for what it adds; `room` is in bytes.
 * What is left leaves no trace: a request after it is looked at as if it were not there.
 */
export function walk(
  input: UpdateInput,
  { token }: Pick<OwnedState, "token">,
  facts: Forestry,
  room = Infinity,
): Walked {
  const named = new Map(input.requests.map((request) => [refKey(request.ref), request]));
  const taken: Taken[] = [];
  const left: RefusedRequest[] = [];
  const crown = takesCrowns(input.script) ? crownOf(facts) : undefined;
  let [now, plain, crowned] = [facts.copy(), 0, crown ? CROWN_ITEM_BYTES : Infinity];
  for (const utxo of [...named.values()].sort((a, b) => compareRefs(a.ref, b.ref))) {
    const next = now.copy();
    const done = taking(input, token, next, utxo);
    const more = done.ok ? plain + bytesOf(done.value) : plain;
    const moreCrowned = done.ok ? crowned + crownedBytesOf(done.value, next) : crowned;
    const refused = !done.ok ? done.error : Math.min(more, moreCrowned) > room ? NO_ROOM.error : undefined;
    if (refused) {
      left.push({ request: refKey(utxo.ref), code: refused.code, message: refused.message });
    } else if (done.ok) {
      taken.push(done.value);
      [now, plain, crowned] = [next, more, moreCrowned];
    }
  }
  const walked = { taken, left, root: toHex(now.root) };
  return crown && crowned < plain ? { ...walked, bytes: crowned, crown } : { ...walked, bytes: plain };
}

const NO_ROOM = fail("no_room", "The transaction has no room left for it: the next one may have.");

/** A request's part in an update; the facts are changed by it. */
function taking(input: UpdateInput, token: string, facts: Forestry, utxo: Utxo): Result<Taken, Failure<RequestReason>> {
  const request = requestOf(input, token, utxo);
  if (!request.ok) return request;
  const refund = refundOf(input, utxo, request.value);
  if (!refund.ok) return refund;
  const proof = facts.apply(changeOf(request.value.key, request.value.operation));
  if (!proof.ok) return proof;
  return ok({ utxo, proof: proof.value, refund: refund.value });
}

/** Of a request's input and of its own redeemer with its units, about. */
const INPUT_BYTES = 37 + 22;

/** Of a crown in a redeemer: it stands in pieces of 64 bytes. */
const CROWN_ITEM_BYTES = CROWN_BYTES + 18;

/** What taking a request adds to a transaction. */
function bytesOf({ proof, refund }: Pick<Taken, "proof" | "refund">): number {
  return INPUT_BYTES + encodeData(spendData({ type: "modify", actions: [{ type: "apply", proof }] })).length +
    encodeOutput(refund).length;
}

/** The same in an update with a crown: as long as the facts, which are given as they are after it, have one. */
function crownedBytesOf({ proof, refund }: Taken, after: Forestry): number {
  const behind = crownOf(after) && behindCrown(proof);
  return behind ? bytesOf({ proof: behind, refund }) : Infinity;
}

/** The transaction that applies what is taken. */
export function buildWalked(
  input: UpdateInput,
  { owner, token, state }: OwnedState,
  { taken, root, crown }: Walked,
  measure: Measure,
): Result<BuiltUpdate, BuildFailure | Failure<"requests_fail">> {
  const contribute = encodeData(spendData({ type: "contribute" }));
  const actions = taken.map(({ proof }): Action => ({
    type: "apply",
    proof: crown ? behindCrown(proof)! : proof,
  }));
  const modify: SpendRedeemer = crown ? { type: "modify", actions, crown } : { type: "modify", actions };
  const built = finish(input, owner, {
    inputs: [input.state, ...taken.map(({ utxo }) => utxo)],
    outputs: [nextState(input, token, { owner: state.owner, root }), ...taken.map(({ refund }) => refund)],
    redeemers: [
      { for: { purpose: "spend", ref: input.state.ref }, data: encodeData(spendData(modify)) },
      ...taken.map(({ utxo: { ref } }) => ({ for: { purpose: "spend" as const, ref }, data: contribute })),
    ],
  }, measure);
  if (built.ok) return ok({ ...built.value, root, applied: taken.map(({ utxo }) => refKey(utxo.ref)) });
  const unreadable = unreadableOutputs(built.error);
  const culprits = taken.map(({ utxo }) => refKey(utxo.ref)).filter((request) => unreadable.has(request));
  return culprits.length === 0 ? built : requestsFail(culprits.map((request) => ({ request, ...UNREADABLE.error })));
}

const UNREADABLE = fail(
  "not_applicable",
  "The machine for scripts cannot read the request's output; only its owner can take it back.",
);

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
