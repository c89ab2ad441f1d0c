import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { bucketOf, BUCKETS, changedBuckets, CUT_BYTES, cutOf, neededBuckets, openCut } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { MissingSubtrie } from "#src/forestry/node.ts";
import { type Change, Forestry, type Leaf, leafOf } from "#src/forestry/trie.ts";
import { equalBytes, utf8 } from "#src/base/bytes.ts";
import { arbitraryDigest } from "../../support/contract/arbitraryLeaves.ts";
import { cases } from "../../support/base/longTests.ts";

/** The answer of a database: the elements of the requested buckets. */
function read(leaves: readonly Leaf[], buckets: readonly number[]): Map<number, Leaf[]> {
  return new Map(buckets.map((bucket) => [bucket, leaves.filter((leaf) => bucketOf(leaf.path) === bucket)]));
}

function open(cut: Uint8Array, leaves: readonly Leaf[], buckets: readonly number[]): Forestry {
  const opened = openCut(cut, read(leaves, buckets));
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

/** Applies changes to the whole trie and to one opened from its cut, and compares the two at every step. */
function sideBySide(leaves: readonly Leaf[], changes: readonly Change[]): number {
  const whole = Forestry.from(leaves);
  const cut = cutOf(whole);
  const paths = changes.map((change) => change.path);
  const needed = neededBuckets(cut, paths);
  const part = open(cut, leaves, needed);
  expect(part.root).toEqual(whole.root);
  expect(equalBytes(cutOf(part), cut)).toBe(true);
  for (const change of changes) {
    for (const path of paths) {
      expect(part.prove(path)).toEqual(whole.prove(path));
      expect(part.proveAbsent(path)).toEqual(whole.proveAbsent(path));
      expect(part.get(path)).toEqual(whole.get(path));
    }
    expect(part.apply(change)).toEqual(whole.apply(change));
    expect(part.root).toEqual(whole.root);
  }
  const after = cutOf(part);
  expect(equalBytes(after, cutOf(whole))).toBe(true);
  const changed = changedBuckets(cut, after);
  expect(changed.filter((bucket) => !needed.includes(bucket))).toEqual([]);
  return needed.length;
}

/** Paths that crowd around the cut: few values of the first nibbles, sometimes equal far below it. */
const crowded: fc.Arbitrary<Uint8Array> = fc.tuple(
  fc.array(fc.constantFrom(0, 1, 15), { minLength: 5, maxLength: 5 }),
  fc.nat(3),
).map(([n, tail]) => {
  const path = new Uint8Array(32).fill(7);
  path.set([n[0]! * 16 + n[1]!, n[2]! * 16 + n[3]!, n[4]! * 16], 0);
  path[31] = tail;
  return path;
});
const leaf = (path: fc.Arbitrary<Uint8Array>) => fc.record({ path, value: arbitraryDigest });

function scenario(path: fc.Arbitrary<Uint8Array>, maxLeaves: number): fc.Arbitrary<[Leaf[], Change[]]> {
  const leaves = fc.uniqueArray(leaf(path), { maxLength: maxLeaves, selector: (l) => l.path.join() });
  const pick = fc.record({ which: fc.nat(), fresh: path, value: arbitraryDigest, kind: fc.nat(5) });
  return fc.tuple(leaves, fc.array(pick, { minLength: 1, maxLength: 8 })).map(([leaves, picks]) => {
    const held = new Map(leaves.map((l) => [l.path.join(), l]));
    const changes = picks.map(({ which, fresh, value, kind }): Change => {
      const all = [...held.values()];
      const target = all[which % Math.max(1, all.length)];
      if (kind <= 1 || !target) {
        if (!held.has(fresh.join())) held.set(fresh.join(), { path: fresh, value });
        return { type: "insert", path: fresh, value };
      }
      if (kind === 2) {
        held.set(target.path.join(), { path: target.path, value });
        return { type: "update", path: target.path, old: target.value, value };
      }
      held.delete(target.path.join());
      return { type: "delete", path: target.path, value: target.value };
    });
    return [leaves, changes];
  });
}

describe("a cut", () => {
  beforeAll(initHash);

  it("of an empty trie is empty and opens", () => {
    const cut = cutOf(new Forestry());
    expect(equalBytes(cut, new Uint8Array(CUT_BYTES))).toBe(true);
    const { path, value } = leafOf(utf8("k"), utf8("v"));
    expect(neededBuckets(cut, [path])).toEqual([bucketOf(path)]);
    sideBySide([], [{ type: "insert", path, value }, { type: "delete", path, value }]);
  });

  it("gives the roots and proofs of the whole trie: 0 to 20 elements close together", () => {
    fc.assert(
      fc.property(scenario(crowded, 20), ([leaves, changes]) => {
        expect(sideBySide(leaves, changes)).toBeLessThanOrEqual(4 * changes.length);
      }),
      { numRuns: cases(50, 200) },
    );
  });

  it("gives the roots and proofs of the whole trie: elements anywhere", () => {
    fc.assert(
      fc.property(scenario(fc.oneof(crowded, arbitraryDigest), 60), ([leaves, changes]) => {
        sideBySide(leaves, changes);
      }),
      { numRuns: cases(15, 60) },
    );
  });

  it("gives the roots and proofs of the whole trie: 4,097 elements, even or in few buckets", () => {
    const even = Array.from({ length: 4097 }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`v${i}`)));
    const skewed = even.map(({ path, value }, i) => {
      const moved = path.slice();
      moved[0] = 0xab;
      moved[1] = (i % 3 === 0 ? 0xc0 : 0xd0) | (moved[1]! & 15);
      return { path: moved, value };
    });
    const fresh = leafOf(utf8("fresh"), utf8("v"));
    for (const leaves of [even, skewed]) {
      const [a, b, c] = [leaves[0]!, leaves[100]!, leaves[4096]!];
      sideBySide(leaves, [
        { type: "delete", ...a },
        { type: "insert", ...fresh },
        { type: "update", path: b.path, old: b.value, value: fresh.value },
        { type: "delete", ...c },
        { type: "insert", ...a },
      ]);
    }
    const everyOther = even.slice(0, 300).map((l): Change => ({ type: "delete", ...l }));
    sideBySide(even.slice(0, 310), everyOther.slice(0, 12));
  });

  it("requests little of a large trie", () => {
    const leaves = Array.from({ length: 20_000 }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`v${i}`)));
    const cut = cutOf(Forestry.from(leaves));
    const paths = leaves.slice(0, 20).map((l) => l.path);
    expect(neededBuckets(cut, paths)).toEqual([...new Set(paths.map(bucketOf))].sort((a, b) => a - b));
  });

  it("refuses elements of another root", () => {
    const leaves = Array.from({ length: 50 }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`v${i}`)));
    const cut = cutOf(Forestry.from(leaves));
    const bucket = bucketOf(leaves[7]!.path);
    const good = read(leaves, [bucket]);
    expect(openCut(cut, good).ok).toBe(true);
    const changed = good.get(bucket)!.map((l) => ({ ...l, value: new Uint8Array(32) }));
    const empty = Array.from({ length: BUCKETS }, (_, b) => b).find((b) => cut[32 * b] === 0 && cut[32 * b + 1] === 0)!;
    for (
      const [at, wrong] of [[bucket, changed], [bucket, []], [bucket, [leaves[8]!]], [empty, [leaves[7]!]]] as [
        number,
        Leaf[],
      ][]
    ) {
      const opened = openCut(cut, new Map([[at, wrong]]));
      expect(opened).toMatchObject({ ok: false, error: { code: "cut_mismatch", details: { bucket: at } } });
    }
    expect(() => openCut(cut.subarray(32), good)).toThrow(RangeError);
  });

  it("reports a query for an element that was not read, and stays unchanged", () => {
    const leaves = Array.from({ length: 50 }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`v${i}`)));
    const part = open(cutOf(Forestry.from(leaves)), leaves, []);
    const { root, top } = part;
    expect(() => part.prove(leaves[3]!.path)).toThrow(MissingSubtrie);
    expect(() => part.delete(leaves[3]!.path, leaves[3]!.value)).toThrow(MissingSubtrie);
    expect(() => part.insert(leaves[3]!.path, leaves[3]!.value)).toThrow(MissingSubtrie);
    expect(part.top).toBe(top);
    expect(part.root).toEqual(root);
  });
});
