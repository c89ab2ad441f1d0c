/**
 * Random changes of proofs. A changed proof that still leads to the root must lead to the honest next root, otherwise a
 * fact could be moved or hidden; and the contract and the verifier must agree about it.
 */
import { constr } from "#src/cardano/data.ts";
import { type Proof, proofData, type Step } from "#src/forestry/proof.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { rootWith, rootWithout } from "#src/forestry/verify.ts";
import { concat, equalBytes, utf8 } from "#src/base/bytes.ts";
import { scriptFollows } from "./scriptProof.ts";

/** Result of a run. */
export interface Tally {
  tried: number;
  /** Changed proofs that still lead to the old root; those that also give another new root would be violations. */
  believed: number;
  readonly violations: string[];
}

/** A random number generator with a seed, the same everywhere (mulberry32). */
export function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  };
}

/** Keys whose paths share a prefix, so that proofs have forks and skips. */
export function crowds(): string[][] {
  const groups = new Map<number, string[]>();
  for (let i = 0; i < 30_000; i++) {
    const path = leafOf(utf8(`k${i}`), utf8("")).path;
    const prefix = (path[0]! << 4) | (path[1]! >> 4);
    const group = groups.get(prefix) ?? [];
    group.push(`k${i}`);
    groups.set(prefix, group);
  }
  return [...groups.values()];
}

const SKIPS = [1, -1, 2, -2, 5, -5, 62, 64];
const SLOTS = [0, 1, 7, 15, 16, 17, 31, 255, -1, -16];
export type Roll = (sides: number) => number;

/** Bytes with one bit flipped. */
export function flip(bytes: Uint8Array, roll: Roll): Uint8Array {
  const out = bytes.slice();
  if (out.length > 0) out[roll(out.length)]! ^= 1 << roll(8);
  return out;
}

/** Bytes truncated or padded to another length. */
export function resize(bytes: Uint8Array, roll: Roll): Uint8Array {
  const length = [0, 1, 31, 32, 33, 64, 96, 127, 128, 160][roll(10)]!;
  return concat(bytes, new Uint8Array(160)).subarray(0, length);
}

function parts(step: Step): [Uint8Array, Uint8Array] {
  if (step.type === "branch") return [step.neighbors, new Uint8Array(0)];
  return step.type === "fork" ? [step.prefix, step.root] : [step.key, step.value];
}

function whole(type: Step["type"], skip: number, nibble: number, a: Uint8Array, b: Uint8Array): Step {
  if (type === "branch") return { type, skip, neighbors: concat(a, b) };
  return type === "fork" ? { type, skip, nibble, prefix: a, root: b } : { type, skip, key: a, value: b };
}

function bendStep(step: Step, roll: Roll): Step {
  const [a, b] = parts(step);
  const nibble = step.type === "fork" ? step.nibble : SLOTS[roll(SLOTS.length)]!;
  switch (roll(9)) {
    case 0:
      return { ...step, skip: step.skip + SKIPS[roll(SKIPS.length)]! };
    case 1:
      return whole(step.type, step.skip, SLOTS[roll(SLOTS.length)]!, a, b);
    case 2:
      return whole(step.type, step.skip, nibble, flip(a, roll), b);
    case 3:
      return whole(step.type, step.skip, nibble, a, flip(b, roll));
    case 4:
      return whole(step.type, step.skip, nibble, resize(a, roll), b);
    case 5:
      return whole(step.type, step.skip, nibble, a, resize(b, roll));
    case 6: {
      // the same bytes, split elsewhere
      const all = concat(a, b);
      const at = roll(all.length + 1);
      return whole(step.type, step.skip, nibble, all.subarray(0, at), all.subarray(at));
    }
    case 7: {
      // another kind of step: a leaf's mark as a fork's slot, a fork's nibbles as a leaf's path, and so on
      const to = (["branch", "fork", "leaf"] as const)[roll(3)]!;
      const mark = step.type === "fork" ? Uint8Array.of(step.nibble & 255) : new Uint8Array(0);
      const first = roll(2) === 0 ? concat(mark, a) : a.subarray(roll(2));
      return whole(to, step.skip, [255, 0, (a[0] ?? 0) >> 4, (a[0] ?? 0) & 15][roll(4)]!, first, b);
    }
    default:
      return step.type === "leaf" ? { ...step, skip: roll(8) } : { ...step, skip: 0 };
  }
}

/** A proof with one change. */
export function bend(proof: Proof, roll: Roll): Step[] {
  const out = [...proof];
  const at = roll(out.length);
  const step = out[at]!;
  switch (roll(8)) {
    case 0:
      out.splice(at, 1);
      return out;
    case 1:
      out.splice(at, 0, step);
      return out;
    case 2:
      return out.slice(0, at + 1);
    case 3: {
      // a nibble moved from one step to the next
      const next = out[at + 1];
      if (!next) return out.slice(0, at);
      const by = [1, -1, 2][roll(3)]!;
      out[at] = { ...step, skip: step.skip + by };
      out[at + 1] = { ...next, skip: next.skip - by };
      return out;
    }
    default:
      out[at] = bendStep(step, roll);
      return out;
  }
}

/** Changes proofs until `until` returns true. */
export function fuzzProofs(seed: number, until: (tally: Tally) => boolean): Tally {
  const roll = dice(seed);
  const groups = crowds();
  const tally: Tally = { tried: 0, believed: 0, violations: [] };
  while (!until(tally)) {
    const keys = Array.from({ length: 1 + roll(4) }, () => groups[roll(groups.length)]!).flatMap((g) =>
      g.slice(0, 2 + roll(5))
    );
    const all = [...new Set(keys)];
    const key = all.pop()!;
    const inserting = roll(2) === 0 || all.length === 0;
    const trie = Forestry.from((inserting ? all : [...all, key]).map((k) => leafOf(utf8(k), utf8("v"))));
    const { path, value } = leafOf(utf8(key), utf8("v"));
    const before = trie.root;
    const proof = trie.apply({ type: inserting ? "insert" : "delete", path, value });
    if (!proof.ok || proof.value.length === 0) continue;
    const after = trie.root;
    for (let i = 0; i < 8 && !until(tally); i++) {
      let mutated = bend(proof.value, roll);
      while (mutated.length > 0 && roll(3) === 0) mutated = bend(mutated, roll);
      tally.tried++;
      judge(tally, { key, path, value, inserting, before, after, mutated: mutated, honest: proof.value });
    }
  }
  return tally;
}

interface Case {
  readonly key: string;
  readonly path: Uint8Array;
  readonly value: Uint8Array;
  readonly inserting: boolean;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly mutated: Proof;
  readonly honest: Proof;
}

function judge(tally: Tally, { key, path, value, inserting, before, after, mutated: mutated, honest }: Case): void {
  const [without, present] = [rootWithout(path, mutated), rootWith(path, value, mutated)];
  const [from, to] = inserting ? [without, present] : [present, without];
  const claim = from && to && equalBytes(from, before) ? to : undefined;
  const operation = constr(inserting ? 0 : 1, utf8("v"));
  // the contract is run for the honest next root, and for the verifier's result
  const script = scriptFollows(before, utf8(key), operation, proofData(mutated), claim ?? after);
  const report = (what: string) =>
    tally.violations.push(
      `${what}: ${inserting ? "insert" : "delete"} ${key}, ${describe(honest)} bent to ${describe(mutated)}`,
    );
  if (claim) tally.believed++;
  if (claim && !equalBytes(claim, after)) report("another root");
  if (script.ok !== (claim !== undefined) || script.message === "another root") {
    report(`the contract says ${script.message}`);
  }
}

function describe(proof: Proof): string {
  return JSON.stringify(
    proof.map((s) => [s.type, s.skip, s.type === "fork" ? s.nibble : 0, ...parts(s).map((p) => p.length)]),
  );
}
