/**
 * Malformed proofs that lead to a true root in a verifier that omits a check, each with the root that such a verifier
 * would compute next. The letters name the kinds of forgery in this project.
 */
import { blake2b } from "@noble/hashes/blake2.js";
import type { Step } from "#src/forestry/proof.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { utf8 } from "#src/base/bytes.ts";

export interface Forgery {
  readonly title: string;
  readonly facts: Forestry;
  readonly key: string;
  readonly value: string;
  /** The proof that the trie gives. */
  readonly honest: readonly Step[];
  readonly forged: readonly Step[];
  /** Root that the forgery is for. */
  readonly after: Uint8Array;
  /** The contract's verdict. */
  readonly refusal: RegExp;
}

type Bits = ArrayLike<number>;
function hash(...parts: Bits[]): Uint8Array {
  return blake2b(Uint8Array.from(parts.flatMap((part) => Array.from(part))), { dkLen: 32 });
}
const pathOf = (key: string) => hash(utf8(key));
const nibble = (path: Uint8Array, i: number) => i % 2 ? path[i >> 1]! & 15 : path[i >> 1]! >> 4;
const run = (path: Uint8Array, from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => nibble(path, from + i));
const suffix = (path: Uint8Array, from: number) =>
  from % 2 === 0 ? [255, ...path.slice(from / 2)] : [0, nibble(path, from), ...path.slice((from + 1) / 2)];
const leafHash = (path: Uint8Array, from: number, value: Uint8Array) => hash(suffix(path, from), value);

function merkle(kids: ReadonlyMap<number, Uint8Array>): Uint8Array {
  let level = Array.from({ length: 16 }, (_, i) => kids.get(i) ?? new Uint8Array(32));
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, i) => hash(level[2 * i]!, level[2 * i + 1]!));
  }
  return level[0]!;
}

function up(hashed: Uint8Array, siblings: Uint8Array, slot: number): Uint8Array {
  let h = hashed;
  for (let level = 0; level < 4; level++) {
    const sibling = siblings.subarray(96 - 32 * level, 128 - 32 * level);
    h = (slot >> level) & 1 ? hash(sibling, h) : hash(h, sibling);
  }
  return hash(h);
}

/** The first key `prefix0`, `prefix1`, … from a number on whose path satisfies a condition. */
function find(prefix: string, will: (path: Uint8Array) => boolean, from = 0): string {
  for (let i = from;; i++) if (will(pathOf(prefix + i))) return prefix + i;
}

function trie(keys: readonly string[]): Forestry {
  return Forestry.from(keys.map((key) => leafOf(utf8(key), utf8("v"))));
}

function forgery(
  title: string,
  facts: Forestry,
  key: string,
  refusal: RegExp,
  make: (honest: readonly Step[]) => [Step[], Uint8Array],
): Forgery {
  const proof = facts.proveAbsent(pathOf(key));
  if (!proof.ok) throw new Error(proof.error.message);
  const [forged, after] = make(proof.value);
  return { title, facts, key, value: "x", honest: proof.value, forged, after, refusal };
}

const V = hash(utf8("v"));
const X = hash(utf8("x"));

/** A: a neighbour leaf that claims to share more of the path than it does; it ends up where no lookup finds it. */
function movedLeaf(): Forgery {
  const victim = "victim";
  const pk = pathOf(victim);
  const key = find("a", (p) => nibble(p, 0) !== nibble(pk, 0) && nibble(p, 3) !== nibble(pk, 3));
  const p = pathOf(key);
  return forgery("A: a leaf on another path", trie([victim]), key, /a leaf of another path/, () => [
    [{ type: "leaf", skip: 3, key: pk, value: V }],
    hash(run(p, 0, 3), merkle(new Map([[nibble(p, 3), leafHash(p, 4, X)], [nibble(pk, 3), leafHash(pk, 4, V)]]))),
  ]);
}

/** B: a leaf in the form of a branch, whose mark 0xff is read as a slot. */
function leafAsFork(): Forgery {
  const victim = "victim";
  const pk = pathOf(victim);
  const key = find("b", (p) => nibble(p, 0) < 8 && nibble(p, 0) !== nibble(pk, 0));
  const p = pathOf(key);
  return forgery("B: a leaf as a branch", trie([victim]), key, /prefix is not nibbles|no such slot/, () => [
    [{ type: "fork", skip: 0, nibble: 255, prefix: pk, root: V }],
    hash(merkle(new Map([[nibble(p, 0), leafHash(p, 1, X)], [15, hash(pk, V)]]))),
  ]);
}

/** C: a negative skip, so that the second branch uses the slot of the first nibble again. */
function negativeSkip(): Forgery {
  const facts = trie(Array.from({ length: 300 }, (_, i) => `f${i}`));
  const key = find("c", (p) => {
    const proof = facts.proveAbsent(p);
    if (!proof.ok || proof.value.length !== 2 || proof.value.some((s) => s.type !== "branch" || s.skip !== 0)) {
      return false;
    }
    const second = proof.value[1]!;
    const a = nibble(p, 0);
    // the slot of the first nibble is free in the second branch too, and its siblings are known from the facts
    if (second.type !== "branch" || a === nibble(p, 1)) return false;
    const other = p.slice();
    other[0] = a * 16 + a;
    const there = facts.proveAbsent(other);
    return there.ok && there.value.length === 2 && there.value[1]!.type === "branch";
  });
  const p = pathOf(key);
  const a = nibble(p, 0);
  const other = p.slice();
  other[0] = a * 16 + a;
  return forgery("C: a negative skip", facts, key, /negative skip/, (honest) => {
    const there = facts.proveAbsent(other);
    const [top] = honest;
    const second = there.ok ? there.value[1] : undefined;
    if (top?.type !== "branch" || second?.type !== "branch") throw new Error("not the case that was looked for");
    // after the first step the cursor is 1; one step back, it is 0 again
    const leaf = leafHash(p, 1, X);
    return [[top, { ...second, skip: -1 }], up(up(leaf, second.neighbors, a), top.neighbors, a)];
  });
}

/**
 * G: a branch whose shared nibbles begin with 0, in the form of a leaf with a short path; everything below it is lost.
 */
function branchAsLeaf(): Forgery {
  const [a, n] = [7, 5];
  const under = (last: number) => (p: Uint8Array) => p[0] === a * 16 && nibble(p, 2) === n && nibble(p, 3) === last;
  const others = [0, 1, 2, 3].map((i) => find("o", (p) => nibble(p, 0) === i));
  // of 65,536 keys one has such a path: the search begins at those known
  const facts = trie([find("g", under(1), 120_553), find("g", under(2), 3_021), ...others]);
  const key = find("g", (p) => nibble(p, 0) === a && nibble(p, 1) === 9);
  const p = pathOf(key);
  return forgery("G: a branch as a leaf", facts, key, /a leaf's path is not 32 bytes/, (honest) => {
    const [top, fork] = honest;
    if (top?.type !== "branch" || fork?.type !== "fork") throw new Error("not the case that was looked for");
    const short = Uint8Array.of(n);
    const kids = new Map([[9, leafHash(p, 2, X)], [n, hash(suffix(short, 2), fork.root)]]);
    return [[top, { type: "leaf", skip: 0, key: short, value: fork.root }], up(hash(merkle(kids)), top.neighbors, a)];
  });
}

let made: readonly Forgery[] | undefined;

/** All forgeries, made once in a process; their facts are not to be changed. */
export function forgeries(): readonly Forgery[] {
  return made ??= [movedLeaf(), leafAsFork(), negativeSkip(), branchAsLeaf()];
}

/** Roots without and with an element, as computed by a verifier that accepts any form of a proof. */
export function rootsWithoutChecks(key: string, value: string, steps: readonly Step[]): [Uint8Array, Uint8Array] {
  const path = pathOf(key);
  const walk = (i: number, cursor: number, present: boolean): Uint8Array => {
    const step = steps[i];
    if (!step) return present ? leafHash(path, cursor, hash(utf8(value))) : new Uint8Array(32);
    const at = cursor + step.skip;
    const shared = at > cursor ? run(path, cursor, at) : [];
    const slot = nibble(path, at);
    const below = () => walk(i + 1, at + 1, present);
    const last = !present && i === steps.length - 1;
    if (step.type === "branch") {
      const top = up(below(), step.neighbors, slot);
      return shared.length === 0 ? top : new Uint8Array(32);
    }
    if (step.type === "fork") {
      if (last) return hash(shared, [step.nibble], step.prefix, step.root);
      const kids = new Map([[slot, below()], [Math.min(step.nibble, 15), hash(step.prefix, step.root)]]);
      return hash(shared, merkle(kids));
    }
    if (last) return leafHash(step.key, cursor, step.value);
    const other = step.key.length === 32 ? nibble(step.key, at) : step.key[0]!;
    const kid = hash(suffix(step.key, at + 1), step.value);
    return hash(shared, merkle(new Map([[slot, below()], [other, kid]])));
  };
  return [walk(0, 0, false), walk(0, 0, true)];
}
