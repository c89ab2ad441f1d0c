import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { initHash } from "#src/forestry/hash.ts";
import { type Change, Forestry, type Leaf, leafOf } from "#src/forestry/trie.ts";
import { encodeProof } from "#src/forestry/proof.ts";
import { excludes, includes } from "#src/forestry/verify.ts";
import { compareBytes, toHex, utf8 } from "#src/base/bytes.ts";
import { arbitraryDigest, arbitraryLeaves, arbitraryPath } from "../../support/contract/arbitraryLeaves.ts";
import { modelProof, modelRoot } from "../../support/contract/forestryModel.ts";
import { cases } from "../../support/base/longTests.ts";

const empty = new Uint8Array(32);

const arbitraryChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ type: fc.constant("insert" as const), path: arbitraryPath, value: arbitraryDigest }),
  fc.record({ type: fc.constant("delete" as const), path: arbitraryPath, value: arbitraryDigest }),
  fc.record({
    type: fc.constant("update" as const),
    path: arbitraryPath,
    old: arbitraryDigest,
    value: arbitraryDigest,
  }),
);

/** Directs most changes at present elements and true claims. */
function aimed(change: Change, leaves: ReadonlyMap<string, Leaf>, pick: number): Change {
  const all = [...leaves.values()];
  const leaf = all[pick % (all.length + 1)];
  if (!leaf || change.type === "insert") return change;
  const wrong = pick % 7 === 0;
  if (change.type === "delete") return { ...change, path: leaf.path, value: wrong ? change.value : leaf.value };
  return { ...change, path: leaf.path, old: wrong ? change.old : leaf.value };
}

describe("a trie", () => {
  beforeAll(initHash);

  it("is empty at first", () => {
    const trie = new Forestry();
    expect(trie.root).toEqual(empty);
    expect(trie.proveAbsent(leafOf(utf8("k"), utf8("v")).path)).toEqual({ ok: true, value: [] });
    expect(toHex(encodeProof([]))).toBe("80");
  });

  it("has the root and the proofs of its definition", () => {
    fc.assert(
      fc.property(arbitraryLeaves(25), arbitraryPath, (leaves, absent) => {
        const trie = Forestry.from(leaves);
        expect(trie.root).toEqual(modelRoot(leaves));
        for (const leaf of leaves) {
          const proof = trie.prove(leaf.path);
          expect(proof).toEqual({ ok: true, value: modelProof(leaves, leaf.path) });
          expect(trie.proveAbsent(leaf.path).ok).toBe(false);
          if (proof.ok) expect(includes(trie.root, leaf.path, leaf.value, proof.value)).toBe(true);
          if (proof.ok) expect(excludes(trie.root, leaf.path, proof.value)).toBe(false);
        }
        if (leaves.some((leaf) => compareBytes(leaf.path, absent) === 0)) return;
        const proof = trie.proveAbsent(absent);
        expect(proof).toEqual({ ok: true, value: modelProof([...leaves, { path: absent, value: empty }], absent) });
        expect(trie.prove(absent).ok).toBe(false);
        if (proof.ok) expect(excludes(trie.root, absent, proof.value)).toBe(true);
      }),
      { numRuns: cases(60, 300) },
    );
  });

  it("follows any sequence of changes like a plain map, and a refused change has no effect", () => {
    const runs = fc.array(fc.tuple(arbitraryChange, fc.nat(1000)), { maxLength: 40 });
    fc.assert(
      fc.property(arbitraryLeaves(8), runs, (start, changes) => {
        const trie = Forestry.from(start);
        const model = new Map(start.map((leaf) => [toHex(leaf.path), leaf]));
        for (const [raw, pick] of changes) {
          const change = aimed(raw, model, pick);
          const key = toHex(change.path);
          const held = model.get(key);
          const before = trie.root;
          const top = trie.top;
          const possible = change.type === "insert"
            ? !held
            : held && compareBytes(held.value, change.type === "update" ? change.old : change.value) === 0;
          const done = trie.apply(change);
          expect(done.ok).toBe(Boolean(possible));
          if (!done.ok) {
            expect(done.error.code).toBe(
              change.type === "insert" ? "fact_exists" : held ? "fact_differs" : "fact_missing",
            );
            expect(trie.top).toBe(top);
            expect(trie.root).toEqual(before);
            continue;
          }
          if (change.type === "delete") model.delete(key);
          else model.set(key, { path: change.path, value: change.value });
          expect(trie.root).toEqual(modelRoot([...model.values()]));
          expect(trie.get(change.path)).toEqual(model.get(key)?.value);
        }
      }),
      { numRuns: cases(40, 150) },
    );
  });

  it("does not depend on the order of changes", () => {
    fc.assert(fc.property(arbitraryLeaves(20), (leaves) => {
      const grown = new Forestry();
      for (const { path, value } of leaves) grown.insert(path, value);
      const bulk = Forestry.from([...leaves].reverse());
      expect(grown.root).toEqual(bulk.root);
      for (const { path, value } of leaves) {
        expect(grown.delete(path, value).ok).toBe(true);
        grown.insert(path, value);
        expect(grown.root).toEqual(bulk.root);
      }
      for (const { path, value } of leaves) grown.delete(path, value);
      expect(grown.root).toEqual(empty);
    }));
  });

  it("keeps copies independent, and proofs change nothing", () => {
    const leaves = Array.from({ length: 50 }, (_, i) => leafOf(utf8(`k${i}`), utf8(`v${i}`)));
    const trie = Forestry.from(leaves);
    const { root, top } = trie;
    const copy = trie.copy();
    const fresh = leafOf(utf8("fresh"), utf8("v"));
    copy.insert(fresh.path, fresh.value);
    copy.delete(leaves[3]!.path, leaves[3]!.value);
    expect(trie.root).toEqual(root);
    for (const leaf of leaves) trie.prove(leaf.path);
    trie.proveAbsent(fresh.path);
    expect(trie.top).toBe(top);
    expect(trie.get(leaves[3]!.path)).toEqual(leaves[3]!.value);
    trie.root.fill(1);
    expect(trie.root).toEqual(root);
  });

  it("refuses digests of another length and two elements under one path", () => {
    const { path, value } = leafOf(utf8("k"), utf8("v"));
    expect(() => new Forestry().insert(path.subarray(1), value)).toThrow(RangeError);
    expect(() => Forestry.from([{ path, value: value.subarray(1) }])).toThrow(RangeError);
    expect(() => Forestry.from([{ path, value }, { path, value }])).toThrow(RangeError);
  });
});
