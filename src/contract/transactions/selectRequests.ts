/**
 * Selects the requests of an update, and measures what they add to its transaction.
 *
 * The ledger orders inputs by transaction hash, which a sender can grind. So that order must not decide which of several
 * requests for one key is applied: the oldest wins, and keeps its precedence even if this transaction has no room for it.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { encodeData } from "#src/cardano/data.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { encodeOutput } from "#src/cardano/transaction.ts";
import { spendData } from "#src/contract/redeemer.ts";
import { supportsTopBranch } from "#src/contract/script.ts";
import { proofBelowTopBranch, TOP_BRANCH_BYTES, topBranchOf } from "#src/forestry/topBranch.ts";
import type { Proof } from "#src/forestry/proof.ts";
import type { Change, Forestry } from "#src/forestry/trie.ts";
import type { OwnedState } from "#src/contract/transactions/state.ts";
import {
  type OpenUtxo,
  payableOf,
  type PayableRequest,
  type Refusal,
  type RequestReason,
  type UnappliedRequest,
  type UpdateInput,
} from "#src/contract/transactions/updateRequests.ts";

/** The result of `selectRequests`. */
export interface SelectedRequests {
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

/** The bytes that refused requests add to a transaction, approximately. */
export function bytesOfRefusals(refusals: readonly Refusal[]): number {
  return refusals.reduce((sum, { refund }) => sum + INPUT_BYTES + REFUSE_BYTES + encodeOutput(refund).length, 0);
}
