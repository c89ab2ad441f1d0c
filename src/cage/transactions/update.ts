/**
 * Updating a token: its owner applies requests, all of those named or none; or as many as there are and as fit (`batch.ts`).
 *
 * The first output is the next state; output n refunds the n-th request in the ledger's order of inputs with what it locked
 * but for the fee it offers. Requests are applied in that order, each on what the one before it left.
 *
 * The ledger orders inputs by transaction hash, which the sender can choose by trying. So the order of application does not decide which
 * of the requests for one key are taken: the oldest is, and it keeps its claim when this transaction cannot hold it.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { encodeData } from "#src/cardano/data.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { lovelace } from "#src/cardano/value.ts";
import { encodeOutput, type NewOutput } from "#src/cardano/transaction.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { neededLovelace } from "#src/transaction/output.ts";
import { changeOf, decodeDatum, type Request } from "#src/cage/datum.ts";
import { keyAddressHex } from "#src/cage/plutus_address.ts";
import { type Action, spendData, type SpendRedeemer } from "#src/cage/redeemer.ts";
import { takesCrowns } from "#src/cage/script.ts";
import { behindCrown, CROWN_BYTES, crownOf } from "#src/forestry/crown.ts";
import type { Proof } from "#src/forestry/proof.ts";
import type { Change, Forestry, Refusal } from "#src/forestry/trie.ts";
import { type BuildFailure, type BuildInput, type Built, finish } from "#src/cage/transactions/common.ts";
import { nextState, type OwnedState, ownedState } from "#src/cage/transactions/state.ts";

export interface UpdateInput extends BuildInput {
  /** The token's state output. */
  readonly state: Utxo;
  /** The requests to apply, in any order; one named twice counts once. */
  readonly requests: readonly OpenUtxo[];
}

/** A request's output, and where in the chain it was made; requests without a place count as made in the ledger's order of inputs. */
export interface OpenUtxo extends Utxo {
  readonly made?: {
    readonly slot: number;
    /** In the slot's block: 65536 times the transaction's index, and the output's. */
    readonly position: number;
  };
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
 * `no_room`: what the transaction applies already leaves too little of it; `out_of_order`: the
 * ledger would apply it before an older request of its key; `older_waits`: an older request of its key has no room or is out of order.
 */
export type RequestReason =
  | Refusal["code"]
  | "other_token"
  | "not_applicable"
  | "no_room"
  | "out_of_order"
  | "older_waits";

/** A request that an update leaves where it is. */
export interface RefusedRequest {
  /** `refKey` of its output. */
  readonly request: string;
  readonly code: RequestReason;
  readonly message: string;
  /** `refKey` of the older request that it lost to: without that one it could be applied now. */
  readonly lostTo?: string;
}

/** `requests_fail` has `details.requests`, a `RefusedRequest` for each that stops the update; `state_differs`: the facts given are not those of the state. */
export type UpdateFailure = BuildFailure | Failure<"requests_fail" | "state_differs">;

/** Builds the transaction that applies requests to the facts, which `facts` (left as it is) holds as they are now. */
export function buildUpdate(input: UpdateInput, facts: Forestry, measure: Measure): Result<BuiltUpdate, UpdateFailure> {
  const token = updatable(input, facts);
  if (!token.ok) return token;
  const walked = walk(
    { ...input, requests: input.requests.map(({ ref, output }) => ({ ref, output })) },
    token.value,
    facts,
  );
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

interface Taken extends Payable {
  readonly proof: Proof;
}

/** A request that the transaction can pay for, whatever the facts are. */
interface Payable {
  readonly utxo: Utxo;
  readonly change: Change;
  readonly refund: NewOutput;
}

/** What became of the requests of one key so far. */
interface KeyTurn {
  /** Taken, the last in the ledger's order last, each with the digest of the value that it found. */
  readonly taken: { readonly utxo: Utxo; readonly found: Uint8Array | undefined }[];
  /** Those whose turn came while the facts did not allow them, oldest first. */
  readonly waiting: Payable[];
  /** The request that is next, but not in this transaction: no younger one may overtake it. */
  next?: string;
}

/**
 * Takes requests, the oldest first, each on what those before it left, as long as there is room for what it adds; `room` is in bytes. Those
 * of one key are taken only as far as the ledger applies them in the same order. A request that the facts do not allow at its turn
 * has another chance after each younger one of its key that is taken. What is left leaves no trace.
 */
export function walk(
  input: UpdateInput,
  { token }: Pick<OwnedState, "token">,
  facts: Forestry,
  room = Infinity,
): Walked {
  const named = new Map(input.requests.map((request) => [refKey(request.ref), request]));
  const taken: Taken[] = [];
  const left = new Map<string, RefusedRequest>();
  const turns = new Map<string, KeyTurn>();
  const crown = takesCrowns(input.script) ? crownOf(facts) : undefined;
  let [now, plain, crowned] = [facts.copy(), 0, crown ? CROWN_ITEM_BYTES : Infinity];

  const take = (one: Payable, turn: KeyTurn): Result<void, Failure<RequestReason>> => {
    if (isBefore(one.utxo, turn) && allows(now.get(one.change.path), one.change)) return OUT_OF_ORDER;
    const next = now.copy();
    const proof = next.apply(one.change);
    if (!proof.ok) return proof;
    const done = { ...one, proof: proof.value };
    const [more, moreCrowned] = [plain + bytesOf(done), crowned + crownedBytesOf(done, next)];
    if (Math.min(more, moreCrowned) > room) return NO_ROOM;
    taken.push(done);
    turn.taken.push({ utxo: one.utxo, found: now.get(one.change.path) });
    [now, plain, crowned] = [next, more, moreCrowned];
    return ok(undefined);
  };

  /** Leaves a request; one that is next keeps its claim to the key. */
  const leave = (one: Utxo, { code, message }: Failure<RequestReason>, turn?: KeyTurn, lostTo?: string): void => {
    const request = refKey(one.ref);
    if (turn && (code === "no_room" || code === "out_of_order")) turn.next = request;
    left.set(request, { request, code, message, ...(lostTo === undefined ? {} : { lostTo }) });
  };

  /** After one of a key was taken: those that waited for that, oldest first, as far as this transaction can apply them. */
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
    ...inLedgerOrder(taken, facts, crown),
    left: oldestFirst.flatMap(({ ref }) => left.get(refKey(ref)) ?? []),
    bytes: Math.min(plain, crowned),
  };
}

/** Whether the ledger applies a request before one of its key that is taken. */
function isBefore({ ref }: Utxo, { taken }: KeyTurn): boolean {
  const last = taken.at(-1);
  return last !== undefined && compareRefs(ref, last.utxo.ref) < 0;
}

/** Oldest first: by slot, place in the block, and the ledger's order of inputs where those are unknown or equal. */
function byAge(a: OpenUtxo, b: OpenUtxo): number {
  const [one, other] = [a.made ?? UNPLACED, b.made ?? UNPLACED];
  return one.slot - other.slot || one.position - other.position || compareRefs(a.ref, b.ref);
}

const UNPLACED = { slot: 0, position: 0 };

/** Whether a key that has a value (its digest), or none, allows a change. */
function allows(value: Uint8Array | undefined, change: Change): boolean {
  if (change.type === "insert") return value === undefined;
  return value !== undefined && equalBytes(value, change.type === "update" ? change.old : change.value);
}

/** What is taken, as the ledger applies it: proofs in that order, and the crown where it makes the transaction smaller. */
function inLedgerOrder(
  taken: readonly Taken[],
  facts: Forestry,
  crown: Uint8Array | undefined,
): Pick<Walked, "taken" | "root" | "crown"> {
  const now = facts.copy();
  let [plain, crowned] = [0, crown ? CROWN_ITEM_BYTES : Infinity];
  const ordered = [...taken].sort((a, b) => compareRefs(a.utxo.ref, b.utxo.ref)).map((one) => {
    const proof = now.apply(one.change);
    if (!proof.ok) throw new Error(`a request that was taken cannot be applied: ${proof.error.code}`);
    const done = { ...one, proof: proof.value };
    plain += bytesOf(done);
    crowned += crownedBytesOf(done, now);
    return done;
  });
  return { taken: ordered, root: toHex(now.root), ...(crown && crowned < plain ? { crown } : {}) };
}

const NO_ROOM = fail("no_room", "The transaction has no room left for it: the next one may have.");
const OUT_OF_ORDER = fail(
  "out_of_order",
  "The ledger would apply it before an older request of its key: the next update may apply it.",
);
const OLDER_WAITS = fail("older_waits", "An older request of its key is next, and not in this transaction.");

/** A request as the transaction pays for it, or why it cannot. */
function payableOf(input: UpdateInput, token: string, utxo: Utxo): Result<Payable, Failure<RequestReason>> {
  const request = requestOf(input, token, utxo);
  if (!request.ok) return request;
  const refund = refundOf(input, utxo, request.value);
  if (!refund.ok) return refund;
  return ok({ utxo, change: changeOf(request.value.key, request.value.operation), refund: refund.value });
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
function crownedBytesOf({ proof, refund }: Pick<Taken, "proof" | "refund">, after: Forestry): number {
  const behind = crownOf(after) && behindCrown(proof);
  return behind ? bytesOf({ proof: behind, refund }) : Infinity;
}

/** The transaction that applies what is taken. */
export function buildWalked(
  input: UpdateInput,
  { owner, token, state }: OwnedState,
  { taken, root, crown }: Walked,
  measure: Measure,
): Result<BuiltUpdate, BuildFailure> {
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
  return built.ok ? ok({ ...built.value, root, applied: taken.map(({ utxo }) => refKey(utxo.ref)) }) : built;
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
