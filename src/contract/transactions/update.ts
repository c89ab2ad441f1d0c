/**
 * Updates a token: its owner applies either all named requests or none. `batch.ts` applies as many as fit. From version 3.0.0
 * of the contract on, the update may refuse other requests, whose deposits return.
 *
 * The first output is the next state. Output n refunds the n-th request, in the ledger's order of inputs: an applied one with
 * its lovelace minus its fee, a refused one with all of its lovelace. Requests are applied in that order, one after the other.
 *
 * The ledger orders inputs by transaction hash, which a sender can grind. So that order must not decide which of several
 * requests for one key is applied: the oldest wins, and keeps its precedence even if this transaction has no room for it.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { encodeData } from "#src/cardano/data.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { lovelace, type Value } from "#src/cardano/value.ts";
import { encodeOutput, type NewOutput } from "#src/cardano/transaction.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { neededLovelace } from "#src/transaction/output.ts";
import { changeOf, decodeDatum, type Request } from "#src/contract/datum.ts";
import { keyAddressHex } from "#src/contract/plutusAddress.ts";
import { type Action, spendData, type SpendRedeemer } from "#src/contract/redeemer.ts";
import { contributesByIndex, refusesRequests, supportsTopBranch } from "#src/contract/script.ts";
import { proofBelowTopBranch, TOP_BRANCH_BYTES, topBranchOf } from "#src/forestry/topBranch.ts";
import type { Proof } from "#src/forestry/proof.ts";
import type { Change, Forestry, Refusal as FactRefusal } from "#src/forestry/trie.ts";
import { type BuildFailure, type BuildInput, type Built, finish } from "#src/contract/transactions/common.ts";
import { nextState, type OwnedState, ownedState } from "#src/contract/transactions/state.ts";

export interface UpdateInput extends BuildInput {
  /** The token's state output. */
  readonly state: Utxo;
  /** The requests to apply, in any order; duplicates count once. */
  readonly requests: readonly OpenUtxo[];
  /** Requests to refuse, in any order, none of them among `requests`; duplicates count once. */
  readonly refuse?: readonly Utxo[] | undefined;
}

/** A request's output, and where it was made. Requests without `made` count as made in the ledger's order of inputs. */
export interface OpenUtxo extends Utxo {
  readonly made?: {
    readonly slot: number;
    /** In the slot's block: 65536 × the transaction's index + the output's index. */
    readonly position: number;
  };
}

/** An update, and the root of the facts after it. */
export interface BuiltUpdate extends Built {
  readonly root: string;
  /** `refKey` of the applied requests, in the order of application. */
  readonly applied: readonly string[];
  /** `refKey` of the refused requests, in the ledger's order. */
  readonly refused: readonly string[];
}

/**
 * Why a request cannot be applied, or (the second and third) refused.
 * - `fact_…`: after the previous requests the key already exists, is missing, or has another value
 * - `other_token`: not a request of this token
 * - `not_applicable`: it holds assets (which return if it is refused) or a script, or too little lovelace for its fee and refund
 * - `no_room`: it does not fit into the transaction with the requests already selected
 * - `out_of_order`: the ledger would apply it before an older request for its key
 * - `older_waits`: an older request for its key has no room or is out of order
 */
type RequestReason =
  | FactRefusal["code"]
  | "other_token"
  | "not_applicable"
  | "no_room"
  | "out_of_order"
  | "older_waits";

/** A request that an update does not apply. */
export interface UnappliedRequest {
  /** `refKey` of its output. */
  readonly request: string;
  readonly code: RequestReason;
  readonly message: string;
  /** `refKey` of the older request that prevents it: without that one it could be applied now. */
  readonly lostTo?: string;
}

/**
 * `requests_fail`: `details.requests` has a `UnappliedRequest` for each request that prevents the update; `state_differs`: the
 * given facts do not have the state's root; `version_without_refusals`: the token's version of the contract has none.
 */
export type UpdateFailure = BuildFailure | RefusalFailure | Failure<"requests_fail" | "state_differs">;

type RefusalFailure = Failure<"version_without_refusals" | "requests_fail">;

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

/** A `requests_fail` failure with the reason for each request. */
export function requestsFail(requests: readonly UnappliedRequest[]): Result<never, Failure<"requests_fail">> {
  const message = requests.length === 1
    ? "A request cannot be applied."
    : `${requests.length} requests cannot be applied.`;
  return fail("requests_fail", message, { requests });
}

/** A request that an update refuses, with its refund. */
interface Refusal {
  readonly utxo: Utxo;
  readonly refund: NewOutput;
}

/** The requests to refuse, with their refunds; fails if one of them cannot be refused. */
export function selectRefusals(
  input: UpdateInput,
  { token }: Pick<OwnedState, "token">,
): Result<readonly Refusal[], RefusalFailure> {
  const named = new Map((input.refuse ?? []).map(({ ref, output }) => [refKey(ref), { ref, output }]));
  if (named.size > 0 && !refusesRequests(input.script)) {
    return fail(
      "version_without_refusals",
      `Version ${input.script.version} of the contract has no refusals: only its requester can take a request back.`,
      { version: input.script.version },
    );
  }
  const refusals: Refusal[] = [];
  const failures: UnappliedRequest[] = [];
  for (const [name, utxo] of named) {
    const refusal = refusalOf(input, token, utxo);
    if (refusal.ok) refusals.push(refusal.value);
    else failures.push({ request: name, code: refusal.error.code, message: refusal.error.message });
  }
  return failures.length > 0 ? requestsFail(failures) : ok(refusals);
}

function refusalOf(input: UpdateInput, token: string, utxo: Utxo): Result<Refusal, Failure<RequestReason>> {
  const request = requestOf(input, token, utxo);
  if (!request.ok) return request;
  const refund = refundOf(input, utxo, request.value, utxo.output.value);
  return refund.ok ? ok({ utxo, refund: refund.value }) : refund;
}

/** The bytes that refused requests add to a transaction, approximately. */
export function bytesOfRefusals(refusals: readonly Refusal[]): number {
  return refusals.reduce((sum, { refund }) => sum + INPUT_BYTES + REFUSE_BYTES + encodeOutput(refund).length, 0);
}

/** The result of `selectRequests`. */
interface SelectedRequests {
  readonly taken: readonly SelectedRequest[];
  readonly left: readonly UnappliedRequest[];
  /** Root of the facts after all selected requests. */
  readonly root: string;
  /** Approximate size of the selected requests in a transaction, in bytes. */
  readonly bytes: number;
  /** The facts' top branch if sharing it makes the transaction smaller; proofs then omit their first step. */
  readonly topBranch?: Uint8Array;
}

interface SelectedRequest extends PayableRequest {
  readonly proof: Proof;
}

/** A request with its refund: one that can be applied if the facts allow it. */
interface PayableRequest {
  readonly utxo: Utxo;
  readonly change: Change;
  readonly refund: NewOutput;
}

/** The requests for one key during the selection. */
interface KeyTurn {
  /** Selected requests in the ledger's order, each with the digest of the value before it. */
  readonly taken: { readonly utxo: Utxo; readonly found: Uint8Array | undefined }[];
  /** Requests that the facts did not allow at their turn, oldest first. */
  readonly waiting: PayableRequest[];
  /** The next request for the key, if it is not in this transaction: no younger one may overtake it. */
  next?: string;
}

/**
 * Selects the requests to apply, oldest first, each on the facts that the previous ones leave, while they fit into `room`
 * bytes. Requests for one key are selected only if the ledger applies them in the same order. A request that the facts do
 * not allow at its turn is tried again after each younger request for its key. Requests that are not selected have no effect.
 */
export function selectRequests(
  input: UpdateInput,
  { token }: Pick<OwnedState, "token">,
  facts: Forestry,
  room = Infinity,
): SelectedRequests {
  const named = new Map(input.requests.map((request) => [refKey(request.ref), request]));
  const taken: SelectedRequest[] = [];
  const left = new Map<string, UnappliedRequest>();
  const turns = new Map<string, KeyTurn>();
  const topBranch = supportsTopBranch(input.script) ? topBranchOf(facts) : undefined;
  let [now, plain, shared] = [facts.copy(), 0, topBranch ? TOP_BRANCH_ITEM_BYTES : Infinity];

  const take = (one: PayableRequest, turn: KeyTurn): Result<void, Failure<RequestReason>> => {
    if (isBefore(one.utxo, turn) && allows(now.get(one.change.path), one.change)) return OUT_OF_ORDER;
    const next = now.copy();
    const proof = next.apply(one.change);
    if (!proof.ok) return proof;
    const done = { ...one, proof: proof.value };
    const [more, moreShared] = [plain + bytesOf(done), shared + bytesWithTopBranch(done, next)];
    if (Math.min(more, moreShared) > room) return NO_ROOM;
    taken.push(done);
    turn.taken.push({ utxo: one.utxo, found: now.get(one.change.path) });
    [now, plain, shared] = [next, more, moreShared];
    return ok(undefined);
  };

  /** Leaves a request out; the next one for its key keeps its precedence. */
  const leave = (one: Utxo, { code, message }: Failure<RequestReason>, turn?: KeyTurn, lostTo?: string): void => {
    const request = refKey(one.ref);
    if (turn && (code === "no_room" || code === "out_of_order")) turn.next = request;
    left.set(request, { request, code, message, ...(lostTo === undefined ? {} : { lostTo }) });
  };

  /** After a selection: tries the key's waiting requests again, oldest first. */
  const retry = (turn: KeyTurn): void => {
    while (turn.next === undefined) {
      const one = turn.waiting.find(({ utxo, change }) =>
        allows(now.get(change.path), change) && !isBefore(utxo, turn)
      );
      if (!one) return;
      turn.waiting.splice(turn.waiting.indexOf(one), 1);
      const done = take(one, turn);
      if (done.ok) left.delete(refKey(one.utxo.ref));
      else leave(one.utxo, done.error, turn);
    }
  };

  const oldestFirst = [...named.values()].sort(byAge);
  for (const utxo of oldestFirst) {
    const payable = payableOf(input, token, utxo);
    if (!payable.ok) {
      leave(utxo, payable.error);
      continue;
    }
    const { change } = payable.value;
    const turn = turns.get(toHex(change.path)) ?? { taken: [], waiting: [] };
    turns.set(toHex(change.path), turn);
    if (turn.next !== undefined) {
      leave(utxo, OLDER_WAITS.error, undefined, turn.next);
      continue;
    }
    const done = take(payable.value, turn);
    if (done.ok) {
      retry(turn);
      continue;
    }
    const winner = done.error.code === "out_of_order"
      ? turn.taken.at(-1)
      : turn.taken.findLast(({ found }) => allows(found, change));
    leave(utxo, done.error, turn, winner && refKey(winner.utxo.ref));
    if (turn.next === undefined) turn.waiting.push(payable.value);
  }
  return {
    ...inLedgerOrder(taken, facts, topBranch),
    left: oldestFirst.flatMap(({ ref }) => left.get(refKey(ref)) ?? []),
    bytes: Math.min(plain, shared),
  };
}

/** Whether the ledger applies a request before one that is already selected for its key. */
function isBefore({ ref }: Utxo, { taken }: KeyTurn): boolean {
  const last = taken.at(-1);
  return last !== undefined && compareRefs(ref, last.utxo.ref) < 0;
}

/** Oldest first: by slot, then position in the block, then the ledger's order of inputs. */
function byAge(a: OpenUtxo, b: OpenUtxo): number {
  const [one, other] = [a.made ?? UNPLACED, b.made ?? UNPLACED];
  return one.slot - other.slot || one.position - other.position || compareRefs(a.ref, b.ref);
}

const UNPLACED = { slot: 0, position: 0 };

/** Whether a key's value (its digest; undefined if the key has none) allows a change. */
function allows(value: Uint8Array | undefined, change: Change): boolean {
  if (change.type === "insert") return value === undefined;
  return value !== undefined && equalBytes(value, change.type === "update" ? change.old : change.value);
}

/** The selected requests in the ledger's order, with proofs for that order and the top branch if it saves bytes. */
function inLedgerOrder(
  taken: readonly SelectedRequest[],
  facts: Forestry,
  topBranch: Uint8Array | undefined,
): Pick<SelectedRequests, "taken" | "root" | "topBranch"> {
  const now = facts.copy();
  let [plain, shared] = [0, topBranch ? TOP_BRANCH_ITEM_BYTES : Infinity];
  const ordered = [...taken].sort((a, b) => compareRefs(a.utxo.ref, b.utxo.ref)).map((one) => {
    const proof = now.apply(one.change);
    if (!proof.ok) throw new Error(`a request that was taken cannot be applied: ${proof.error.code}`);
    const done = { ...one, proof: proof.value };
    plain += bytesOf(done);
    shared += bytesWithTopBranch(done, now);
    return done;
  });
  return { taken: ordered, root: toHex(now.root), ...(topBranch && shared < plain ? { topBranch } : {}) };
}

const NO_ROOM = fail("no_room", "The request does not fit into this transaction.");
const OUT_OF_ORDER = fail(
  "out_of_order",
  "The ledger would apply it before an older request of its key: the next update may apply it.",
);
const OLDER_WAITS = fail(
  "older_waits",
  "An older request for its key must be applied first and is not in this transaction.",
);

/** A request with its change and refund, or the reason why it cannot be applied. */
function payableOf(input: UpdateInput, token: string, utxo: Utxo): Result<PayableRequest, Failure<RequestReason>> {
  const request = requestOf(input, token, utxo);
  if (!request.ok) return request;
  const { value } = utxo.output;
  if (value.assets.size > 0) return notApplicable("The request holds assets; it can only be refused or taken back.");
  const refund = refundOf(input, utxo, request.value, lovelace(value.lovelace - request.value.fee));
  if (!refund.ok) return refund;
  return ok({ utxo, change: changeOf(request.value.key, request.value.operation), refund: refund.value });
}

/** Approximate size of a request's input and of its redeemer with execution units. */
const INPUT_BYTES = 37 + 22;

/** Size of the action that refuses a request. */
const REFUSE_BYTES = encodeData(spendData({ type: "modify", actions: [{ type: "refuse" }] })).length;

/** Size of a top branch in a redeemer, which has it in chunks of 64 bytes. */
const TOP_BRANCH_ITEM_BYTES = TOP_BRANCH_BYTES + 18;

/** The bytes that a request adds to a transaction. */
function bytesOf({ proof, refund }: Pick<SelectedRequest, "proof" | "refund">): number {
  return INPUT_BYTES + encodeData(spendData({ type: "modify", actions: [{ type: "apply", proof }] })).length +
    encodeOutput(refund).length;
}

/** As `bytesOf`, in an update that shares the top branch; infinite if the facts afterwards have none. */
function bytesWithTopBranch({ proof, refund }: Pick<SelectedRequest, "proof" | "refund">, after: Forestry): number {
  const behind = topBranchOf(after) && proofBelowTopBranch(proof);
  return behind ? bytesOf({ proof: behind, refund }) : Infinity;
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

function requestOf({ script }: UpdateInput, token: string, { output }: Utxo): Result<Request, Failure<RequestReason>> {
  const datum = output.datum && decodeDatum(output.datum);
  if (datum?.type === "request" && datum.request.policy === script.hash && datum.request.name === token) {
    return ok(datum.request);
  }
  return fail("other_token", "This is not a request for the token.");
}

/**
 * A request's refund, which holds `value`. A request with a script can be neither applied nor refused: the token's owner would
 * pay the fee for that script.
 */
function refundOf(
  { parameters, network }: UpdateInput,
  { output }: Utxo,
  { refund }: Request,
  value: Value,
): Result<NewOutput, Failure<RequestReason>> {
  if (output.script) return notApplicable("The request carries a script; only its owner can take it back.");
  const back = { address: keyAddressHex(refund, network), value };
  if (value.lovelace >= neededLovelace(parameters, back)) return ok(back);
  return notApplicable("The request holds too little for a refund, after the fee that it offers.");
}

const notApplicable = (message: string) => fail("not_applicable", message);
