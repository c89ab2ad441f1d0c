/** Roots of sets of elements, without a trie. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { EMPTY, initHash } from "#src/forestry/hash.ts";
import { LeafSet } from "#src/forestry/leafSet.ts";
import { Forestry, type Leaf, leafOf } from "#src/forestry/trie.ts";
import { arbitraryLeaves } from "../../support/contract/arbitraryLeaves.ts";
import { modelRoot } from "../../support/contract/forestryModel.ts";
import { vectors } from "../../support/base/vectors.ts";

beforeAll(initHash);

const facts = (n: number) => Array.from({ length: n }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`value-${i}`)));

function setOf(leaves: readonly Leaf[]): LeafSet {
  const set = new LeafSet();
  for (const leaf of leaves) set.add(leaf);
  return set;
}

describe("the root of a set", () => {
  it.each([1, 10, 100, 1000])("is that of the reference library for %i elements, in any order", (n) => {
    const { root } = JSON.parse(readFileSync(`${vectors("forestry")}/fx-${n}.json`, "utf8"));
    const set = setOf(facts(n).reverse());
    expect(set.size).toBe(n);
    expect(set.root()).toEqual({ ok: true, value: Forestry.from(facts(n)).root });
    expect(toHex(Forestry.from(facts(n)).root)).toBe(root);
  });

  it("is all zero for no elements, and a copy of that constant", () => {
    const root = new LeafSet().root();
    expect(root).toEqual({ ok: true, value: new Uint8Array(32) });
    if (root.ok) root.value.fill(1);
    expect(EMPTY).toEqual(new Uint8Array(32));
  });

  it("follows from the definition of the trie, also for paths with long common prefixes", () => {
    fc.assert(fc.property(arbitraryLeaves(40), (leaves) => {
      expect(setOf(leaves).root()).toEqual({ ok: true, value: modelRoot(leaves) });
    }));
  });

  it("is current after each element that is added", () => {
    const set = new LeafSet();
    const leaves = facts(200);
    for (const [i, leaf] of leaves.entries()) {
      set.add(leaf);
      expect(set.root()).toEqual({ ok: true, value: Forestry.from(leaves.slice(0, i + 1)).root });
    }
  });

  it("does not exist where two elements have the same path, with equal values or others", () => {
    const [first, ...rest] = facts(100) as [Leaf, ...Leaf[]];
    for (const again of [first, { ...first, value: rest[0]!.value }]) {
      expect(setOf([first, ...rest, again]).root()).toMatchObject({
        ok: false,
        error: { code: "repeated_path", details: { path: first.path } },
      });
    }
  });

  it("has only digests", () => {
    const digest = new Uint8Array(32);
    for (const length of [0, 31, 33]) {
      expect(() => new LeafSet().add({ path: new Uint8Array(length), value: digest })).toThrow(RangeError);
      expect(() => new LeafSet().add({ path: digest, value: new Uint8Array(length) })).toThrow(RangeError);
    }
  });
});
