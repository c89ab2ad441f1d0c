import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { leafHash } from "#src/tlog/hash.ts";
import { multiProof, verifyInclusions } from "#src/tlog/multiProof.ts";
import { appendedTiles, tilesRead } from "#src/tlog/tiles.ts";
import { inclusionProof } from "#src/tlog/tree.ts";
import { inclusions } from "#src/tokens/builds/inclusions.ts";
import { plainRoot, subtreesOf } from "../../support/tlog/plainTree.ts";

const entriesOf = (count: number) => Array.from({ length: count }, (_, i) => utf8(`entry ${i}`));
const sets = fc.integer({ min: 1, max: 70 }).chain((size) =>
  fc.uniqueArray(fc.nat(size - 1), { minLength: 1 }).map((some) => ({ size, indices: some.sort((a, b) => a - b) }))
);

function provenOf({ size, indices }: { size: number; indices: readonly number[] }) {
  const entries = entriesOf(size);
  return {
    size,
    root: plainRoot(entries),
    entries: indices.map((index) => ({ index, leaf: leafHash(entries[index]!) })),
    proof: multiProof(indices, size, subtreesOf(entries)),
  };
}

describe("a proof of several entries", () => {
  it("verifies, and has the hashes of a single proof where there is one entry", () => {
    fc.assert(fc.property(sets, (set) => {
      const proven = provenOf(set);
      expect(verifyInclusions(proven)).toBe(true);
      const [only, ...more] = set.indices;
      if (only !== undefined && more.length === 0) {
        const single = inclusionProof(only, set.size, subtreesOf(entriesOf(set.size)));
        expect(new Set(proven.proof.map(String))).toEqual(new Set(single.map(String)));
      }
    }));
  });

  it("is computed from the tiles that are named, without the others", () => {
    const size = 1_300;
    const entries = entriesOf(size);
    const all = appendedTiles(0, entries.map(leafHash), () => new Uint8Array());
    for (const indices of [[0], [255, 256, 1_024], [1_299], [3, 700, 1_290]]) {
      const named = tilesRead((hashOf) => multiProof(indices, size, hashOf));
      const tiles = named.map(({ level, index }) => all.find((tile) => tile.level === level && tile.index === index)!);
      expect(tiles.length).toBeLessThan(all.length);
      const made = inclusions({ indices, size, tiles });
      expect(made).toEqual({ ok: true, value: multiProof(indices, size, subtreesOf(entries)) });
      expect(() => inclusions({ indices, size, tiles: tiles.slice(1) })).toThrow(RangeError);
    }
  });

  it("needs no hash where all entries are there", () => {
    const proven = provenOf({ size: 37, indices: Array.from({ length: 37 }, (_, i) => i) });
    expect(proven.proof).toEqual([]);
    expect(verifyInclusions(proven)).toBe(true);
  });

  it("verifies with no entry changed, moved, left out or added, and no other hash", () => {
    fc.assert(fc.property(sets, fc.nat(), (set, at) => {
      const proven = provenOf(set);
      const { entries, proof } = proven;
      const i = at % entries.length;
      const changed = (part: object) => ({ ...proven, ...part });
      const entry = entries[i]!;
      const lies = [
        changed({ entries: entries.with(i, { ...entry, leaf: leafHash(utf8("lie")) }) }),
        changed({ entries: entries.with(i, { ...entry, index: entry.index + 1 }) }),
        changed({ entries: entries.toSpliced(i, 1) }),
        changed({ entries: entries.toSpliced(i, 0, entry) }),
        changed({ proof: [...proof, proven.root] }),
        changed({ root: leafHash(utf8("lie")) }),
        changed({ entries: entries.with(i, { ...entry, leaf: entry.leaf.slice(1) }) }),
        ...proof.length === 0 ? [] : [
          changed({ proof: proof.slice(1) }),
          changed({ proof: proof.with(at % proof.length, leafHash(utf8("lie"))) }),
        ],
        ...entries.length < 2 ? [] : [changed({ entries: entries.toReversed() })],
      ];
      for (const lie of lies) expect(verifyInclusions(lie)).toBe(false);
    }));
  });

  it("is made and verified of no entries that a log cannot have", () => {
    const { root } = provenOf({ size: 3, indices: [0] });
    for (const indices of [[3], [-1], [1, 1], [2, 1], [0.5]]) {
      expect(() => multiProof(indices, 3, subtreesOf(entriesOf(3)))).toThrow(RangeError);
      const entries = indices.map((index) => ({ index, leaf: root }));
      expect(verifyInclusions({ size: 3, root, entries, proof: [] })).toBe(false);
    }
    expect(multiProof([], 3, subtreesOf(entriesOf(3)))).toEqual([]);
  });
});
