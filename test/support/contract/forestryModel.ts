/** The trie computed directly from its definition: every root and proof from the whole set of elements. */
import { blake2b } from "@noble/hashes/blake2.js";
import type { Leaf } from "#src/forestry/trie.ts";
import type { Step } from "#src/forestry/proof.ts";

type Entry = { nibbles: number[]; leaf: Leaf };
const ZERO = new Uint8Array(32);

function hash(...parts: ArrayLike<number>[]): Uint8Array {
  return blake2b(Uint8Array.from(parts.flatMap((part) => Array.from(part))), { dkLen: 32 });
}

function entries(leaves: readonly Leaf[]): Entry[] {
  return leaves.map((leaf) => ({ leaf, nibbles: [...leaf.path].flatMap((byte) => [byte >> 4, byte & 15]) }));
}

function rest(nibbles: number[], from: number): number[] {
  const odd = (nibbles.length - from) % 2 === 1;
  const out = odd ? [0, nibbles[from]!] : [255];
  for (let i = from + (odd ? 1 : 0); i < nibbles.length; i += 2) out.push(nibbles[i]! * 16 + nibbles[i + 1]!);
  return out;
}

function shared(set: Entry[], from: number): number {
  let at = from;
  while (set.every((entry) => entry.nibbles[at] === set[0]!.nibbles[at])) at++;
  return at;
}

function slots(set: Entry[], at: number): Entry[][] {
  return Array.from({ length: 16 }, (_, slot) => set.filter((entry) => entry.nibbles[at] === slot));
}

function merkle(hashes: Uint8Array[]): Uint8Array {
  if (hashes.length === 1) return hashes[0]!;
  const half = hashes.length / 2;
  return hash(merkle(hashes.slice(0, half)), merkle(hashes.slice(half)));
}

function node(set: Entry[], from: number): Uint8Array {
  if (set.length === 0) return ZERO;
  if (set.length === 1) return hash(rest(set[0]!.nibbles, from), set[0]!.leaf.value);
  const at = shared(set, from);
  return hash(set[0]!.nibbles.slice(from, at), merkle(slots(set, at).map((slot) => node(slot, at + 1))));
}

/** Root of a set of elements. */
export function modelRoot(leaves: readonly Leaf[]): Uint8Array {
  return node(entries(leaves), 0);
}

/** Proof of one element of the set. */
export function modelProof(leaves: readonly Leaf[], path: Uint8Array): Step[] {
  const steps: Step[] = [];
  const own = entries([{ path, value: ZERO }])[0]!.nibbles;
  let set = entries(leaves);
  let from = 0;
  while (set.length > 1) {
    const at = shared(set, from);
    const groups = slots(set, at);
    const others = groups.map((group, slot) => ({ group, slot })).filter((g) => g.slot !== own[at] && g.group.length);
    const skip = at - from;
    const [only] = others;
    if (others.length > 1) {
      const hashes = groups.map((group) => node(group, at + 1));
      const neighbors = new Uint8Array(128);
      let lo = 0;
      for (let level = 3; level >= 0; level--) {
        const half = 1 << level;
        const right = own[at]! >= lo + half;
        const other = right ? lo : lo + half;
        neighbors.set(merkle(hashes.slice(other, other + half)), 32 * (3 - level));
        if (right) lo += half;
      }
      steps.push({ type: "branch", skip, neighbors });
    } else if (only!.group.length === 1) {
      steps.push({ type: "leaf", skip, key: only!.group[0]!.leaf.path, value: only!.group[0]!.leaf.value });
    } else {
      const end = shared(only!.group, at + 1);
      const root = merkle(slots(only!.group, end).map((slot) => node(slot, end + 1)));
      const prefix = Uint8Array.from(only!.group[0]!.nibbles.slice(at + 1, end));
      steps.push({ type: "fork", skip, nibble: only!.slot, prefix, root });
    }
    set = groups[own[at]!]!;
    from = at + 1;
  }
  return steps;
}

/** Root of a set of facts, from their keys and values. */
export function rootOfFacts(facts: readonly (readonly [key: Uint8Array, value: Uint8Array])[]): Uint8Array {
  return modelRoot(facts.map(([key, value]) => ({ path: hash(key), value: hash(value) })));
}
