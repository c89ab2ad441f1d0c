/**
 * A token's life anew, out of what the ledger's own bytes say: its states in order, and the requests that were applied between them. What
 * comes out are the rows that the index would have, had it never gone wrong.
 *
 * Hypotheses: states of one block that no request tells apart (owners that change) leave the root as it is, so that any order in which each
 * is explained gives the same facts; rows change with blocks, counts of facts with states, as the projection writes them.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { changeOf, EMPTY_ROOT, type Operation } from "#src/cage/datum.ts";
import { bucketKeyOf } from "#src/cage/index/trie.ts";
import { changedBuckets, CUT_BYTES, cutOf } from "#src/forestry/cut.ts";
import { EMPTY } from "#src/forestry/hash.ts";
import { Forestry } from "#src/forestry/trie.ts";

/** A state that the token once had. */
export interface ReplayState {
  /** `<hash>#<index>`; the transaction of the hash made it. */
  readonly ref: string;
  readonly owner: string;
  readonly root: string;
  /** Of its block. */
  readonly slot: number;
}

/** A request that was applied. */
export interface ReplayChange {
  readonly ref: string;
  /** Hash of the transaction that applied it; undefined where the index does not know it any more. */
  readonly tx: string | undefined;
  readonly slot: number;
  /** Order within its block. */
  readonly position: bigint;
  readonly key: Uint8Array;
  readonly operation: Operation;
}

/** A row of `fact`. */
export interface FactLine {
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
export interface BucketLine {
  readonly token: string;
  readonly bucket: number;
  readonly hash: Uint8Array;
  readonly from_slot: number;
  readonly to_slot: number | null;
}

/** What `token_state` says of a state. */
export interface StateLine {
  readonly ref: string;
  readonly owner: string;
  readonly root: string;
  readonly facts: number;
  readonly cut: boolean;
}

/** What the index should say of a token. */
export interface Replayed {
  readonly root: string;
  readonly facts: readonly FactLine[];
  readonly buckets: readonly BucketLine[];
  readonly states: readonly StateLine[];
}

/** Why a replay does not lead to the states that the ledger has. */
export type Unexplained = Failure<"not_explained">;

type Open<T> = { -readonly [K in keyof T]: T[K] };

/** Facts and the hashes of their sub-trees on their way through the blocks. */
class Life {
  trie = new Forestry();
  count = 0;
  /** Whether hashes were kept after the block before, and which. */
  private kept: Uint8Array | undefined;
  private readonly now = new Map<string, Open<FactLine>>();
  private readonly before = new Map<string, Open<FactLine> | undefined>();
  readonly facts: Open<FactLine>[] = [];
  readonly buckets: Open<BucketLine>[] = [];
  private readonly liveBuckets = new Map<number, Open<BucketLine>>();
  private changed = false;

  constructor(private readonly token: string, private readonly cutAbove: number) {}

  get cut(): boolean {
    return this.kept !== undefined || this.count > this.cutAbove;
  }

  /** Applies requests if they lead to a root; else says what is wrong. */
  apply(changes: readonly ReplayChange[], root: string): string | undefined {
    const trie = this.trie.copy();
    const made = changes.map(({ key, operation }) => changeOf(key, operation));
    for (const [i, change] of made.entries()) {
      const done = change.type === "update"
        ? trie.update(change.path, change.old, change.value)
        : trie[change.type](change.path, change.value);
      if (!done.ok) return `request ${changes[i]!.ref} cannot have been applied: ${done.error.message}`;
    }
    if (toHex(trie.root) !== root) return "its root is not the one that the requests applied with it give";
    this.trie = trie;
    for (const [i, { key, operation, slot }] of changes.entries()) {
      const { path: digest, value } = made[i]!;
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

  /** Ends a block: what changed in it becomes rows. */
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

/** Lists by a key, in the order in which they came. */
function grouped<K, T>(list: Iterable<T>, keyOf: (one: T) => K): Map<K, T[]> {
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
 * Replays a token whose states are given by slots, and its applied requests by slots and positions. `pause` is awaited between blocks, for the
 * sake of whoever shares the loop. The last state's root is what the result stands on.
 */
export async function replay(
  token: string,
  states: readonly ReplayState[],
  changes: readonly ReplayChange[],
  { cutAbove, pause }: { readonly cutAbove: number; readonly pause: () => Promise<void> },
): Promise<Result<Replayed, Unexplained>> {
  const life = new Life(token, cutAbove);
  const lines: StateLine[] = [];
  const changesBySlot = grouped(changes, ({ slot }) => slot);
  let root = EMPTY_ROOT;
  for (const [slot, made] of grouped(states, (state) => state.slot)) {
    const mine = changesBySlot.get(slot) ?? [];
    changesBySlot.delete(slot);
    const byTransaction = grouped(mine, ({ tx }) => tx ?? (made.length === 1 ? made[0]!.ref.slice(0, 64) : ""));
    const rest = [...made];
    while (rest.length > 0) {
      const next = nextState(rest, byTransaction, root);
      rest.splice(rest.indexOf(next), 1);
      const hash = next.ref.slice(0, 64);
      const problem = life.apply(byTransaction.get(hash) ?? [], next.root);
      if (problem !== undefined) return unexplained(`State ${next.ref} at slot ${slot} is not explained: ${problem}.`);
      byTransaction.delete(hash);
      root = next.root;
      lines.push({ ref: next.ref, owner: next.owner, root, facts: life.count, cut: life.cut });
    }
    const [stray] = [...byTransaction.values()].flat();
    if (stray) return unexplained(`Request ${stray.ref} was applied at slot ${slot} by no transaction that is known.`);
    life.endBlock(slot);
    await pause();
  }
  const [stray] = [...changesBySlot.values()].flat();
  if (stray) {
    return unexplained(`Request ${stray.ref} was applied at slot ${stray.slot}, where the token has no state.`);
  }
  return ok({ root: toHex(life.trie.root), facts: life.facts, buckets: life.buckets, states: lines });
}

/** Of the states of one block the next: one that leaves the root as it is, else that of the first transaction with requests. */
function nextState(
  states: readonly ReplayState[],
  changes: ReadonlyMap<string, readonly ReplayChange[]>,
  root: string,
): ReplayState {
  const first = (state: ReplayState) => changes.get(state.ref.slice(0, 64))?.[0]?.position;
  const still = states.find((state) => first(state) === undefined && state.root === root);
  if (still) return still;
  return [...states].sort((a, b) => {
    const [x, y] = [first(a), first(b)];
    return x === undefined || y === undefined ? Number(x === undefined) - Number(y === undefined) : x < y ? -1 : 1;
  })[0]!;
}

/** `not_explained`. */
export function unexplained(message: string): { readonly ok: false; readonly error: Unexplained } {
  return fail("not_explained", message);
}
