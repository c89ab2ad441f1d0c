/**
 * Replays a token's history from the ledger's own bytes: its states in order, and the requests applied between them. The
 * result is the rows that a correct index has.
 *
 * Assumptions:
 * - Within one block, states without applied requests (changes of owner) keep the root. Every order that explains each
 *   state therefore gives the same facts.
 * - As in the projection, fact rows change once per block, and counts of facts once per state.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { changeOf, EMPTY_ROOT, type Operation } from "#src/contract/datum.ts";
import { bucketKeyOf } from "#src/tokens/index/trie.ts";
import { changedBuckets, CUT_BYTES, cutOf } from "#src/forestry/cut.ts";
import { EMPTY } from "#src/forestry/hash.ts";
import { Forestry } from "#src/forestry/trie.ts";

/** A state of the token, current or past. */
export interface ReplayState {
  /** `<hash>#<index>`; the transaction of the hash made it. */
  readonly ref: string;
  readonly owner: string;
  readonly root: string;
  /** Slot of its block. */
  readonly slot: number;
}

/** A request that was applied. */
export interface ReplayChange {
  readonly ref: string;
  /** Hash of the transaction that applied it; undefined if the index does not know it. */
  readonly tx: string | undefined;
  readonly slot: number;
  /** Order within its block. */
  readonly position: bigint;
  readonly key: Uint8Array;
  readonly operation: Operation;
}

/** A row of `fact`. */
export interface ReplayedFact {
  readonly entry: string;
  readonly token: string;
  readonly bucket: string;
  readonly path: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly digest: Uint8Array;
  readonly from_slot: number;
  readonly to_slot: number | null;
}

/** A row of `token_bucket`. */
export interface ReplayedBucket {
  readonly token: string;
  readonly bucket: number;
  readonly hash: Uint8Array;
  readonly from_slot: number;
  readonly to_slot: number | null;
}

/** Columns of a row of `token_state`. */
export interface ReplayedState {
  readonly ref: string;
  readonly owner: string;
  readonly root: string;
  readonly facts: number;
  readonly cut: boolean;
}

/** The rows that the index should have for a token. */
export interface ReplayResult {
  readonly root: string;
  readonly facts: readonly ReplayedFact[];
  readonly buckets: readonly ReplayedBucket[];
  readonly states: readonly ReplayedState[];
}

/** Why a replay does not lead to the ledger's states. */
export type UnexplainedReplay = Failure<"not_explained">;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Facts and their cut during a replay, block by block. */
class TokenReplay {
  trie = new Forestry();
  count = 0;
  /** The cut stored after the previous block, if any. */
  private kept: Uint8Array | undefined;
  private readonly now = new Map<string, Mutable<ReplayedFact>>();
  private readonly before = new Map<string, Mutable<ReplayedFact> | undefined>();
  readonly facts: Mutable<ReplayedFact>[] = [];
  readonly buckets: Mutable<ReplayedBucket>[] = [];
  private readonly liveBuckets = new Map<number, Mutable<ReplayedBucket>>();
  private changed = false;

  constructor(private readonly token: string, private readonly cutAbove: number) {}

  get cut(): boolean {
    return this.kept !== undefined || this.count > this.cutAbove;
  }

  /** Applies requests if they lead to `root`; otherwise gives the reason. */
  apply(changes: readonly ReplayChange[], root: string): string | undefined {
    const trie = this.trie.copy();
    const made = changes.map((change) => ({ ...change, made: changeOf(change.key, change.operation) }));
    for (const { ref, made: change } of made) {
      const done = trie.change(change);
      if (!done.ok) return `request ${ref} cannot have been applied: ${done.error.message}`;
    }
    if (toHex(trie.root) !== root) return "its root is not the one that the requests applied with it give";
    this.trie = trie;
    for (const { key, operation, slot, made: { path: digest, value } } of made) {
      const path = toHex(digest);
      if (!this.before.has(path)) this.before.set(path, this.now.get(path));
      if (operation.type === "insert") this.count++;
      if (operation.type !== "delete") {
        this.now.set(path, {
          entry: `${this.token}:${path}`,
          token: this.token,
          bucket: bucketKeyOf(this.token, digest),
          path,
          key,
          value: operation.value,
          digest: value,
          from_slot: slot,
          to_slot: null,
        });
      } else {
        this.count--;
        this.now.delete(path);
      }
    }
    if (changes.length > 0) this.changed = true;
    return undefined;
  }

  /** Ends a block: its changes become rows. */
  endBlock(slot: number): void {
    for (const [path, before] of this.before) {
      if (before) before.to_slot = slot;
      const after = this.now.get(path);
      if (after) this.facts.push(after);
    }
    this.before.clear();
    if (this.changed && this.cut) this.keep(slot);
    this.changed = false;
  }

  private keep(slot: number): void {
    const after = cutOf(this.trie);
    for (const bucket of changedBuckets(this.kept ?? new Uint8Array(CUT_BYTES), after)) {
      const hash = after.slice(32 * bucket, 32 * bucket + 32);
      const before = this.liveBuckets.get(bucket);
      if (before) before.to_slot = slot;
      this.liveBuckets.delete(bucket);
      if (equalBytes(hash, EMPTY)) continue;
      const row = { token: this.token, bucket, hash, from_slot: slot, to_slot: null };
      this.liveBuckets.set(bucket, row);
      this.buckets.push(row);
    }
    this.kept = after;
  }
}

/** Groups a list by key; order is kept. */
function groupBy<K, T>(list: Iterable<T>, keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of list) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

/**
 * Replays a token. States must be ordered by slot, applied requests by slot and position. `pause` is awaited between blocks
 * to yield to the event loop. The result belongs to the last state.
 */
export async function replay(
  token: string,
  states: readonly ReplayState[],
  changes: readonly ReplayChange[],
  { cutAbove, pause }: { readonly cutAbove: number; readonly pause: () => Promise<void> },
): Promise<Result<ReplayResult, UnexplainedReplay>> {
  const replaying = new TokenReplay(token, cutAbove);
  const lines: ReplayedState[] = [];
  const changesBySlot = groupBy(changes, ({ slot }) => slot);
  let root = EMPTY_ROOT;
  for (const [slot, made] of groupBy(states, (state) => state.slot)) {
    const mine = changesBySlot.get(slot) ?? [];
    changesBySlot.delete(slot);
    const [only, ...others] = made;
    const byTransaction = groupBy(mine, ({ tx }) => tx ?? (only && others.length === 0 ? only.ref.slice(0, 64) : ""));
    const rest = [...made];
    while (rest.length > 0) {
      const next = nextState(rest, byTransaction, root);
      rest.splice(rest.indexOf(next), 1);
      const hash = next.ref.slice(0, 64);
      const problem = replaying.apply(byTransaction.get(hash) ?? [], next.root);
      if (problem !== undefined) {
        return unexplainedReplay(`State ${next.ref} at slot ${slot} is not explained: ${problem}.`);
      }
      byTransaction.delete(hash);
      root = next.root;
      lines.push({ ref: next.ref, owner: next.owner, root, facts: replaying.count, cut: replaying.cut });
    }
    const [stray] = [...byTransaction.values()].flat();
    if (stray) {
      return unexplainedReplay(`Request ${stray.ref} was applied at slot ${slot} by no transaction that is known.`);
    }
    replaying.endBlock(slot);
    await pause();
  }
  const [stray] = [...changesBySlot.values()].flat();
  if (stray) {
    return unexplainedReplay(`Request ${stray.ref} was applied at slot ${stray.slot}, where the token has no state.`);
  }
  return ok({ root: toHex(replaying.trie.root), facts: replaying.facts, buckets: replaying.buckets, states: lines });
}

/** The next of a block's states: one that keeps the root, otherwise that of the first transaction with requests. */
function nextState(
  states: readonly ReplayState[],
  changes: ReadonlyMap<string, readonly ReplayChange[]>,
  root: string,
): ReplayState {
  const first = (state: ReplayState) => changes.get(state.ref.slice(0, 64))?.[0]?.position;
  const still = states.find((state) => first(state) === undefined && state.root === root);
  if (still) return still;
  const [next] = [...states].sort((a, b) => {
    const [x, y] = [first(a), first(b)];
    return x === undefined || y === undefined ? Number(x === undefined) - Number(y === undefined) : x < y ? -1 : 1;
  });
  if (!next) throw new Error("a block has no further state");
  return next;
}

/** A failed replay, `not_explained`. */
export function unexplainedReplay(message: string): { readonly ok: false; readonly error: UnexplainedReplay } {
  return fail("not_explained", message);
}
