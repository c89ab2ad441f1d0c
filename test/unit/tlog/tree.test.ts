import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { EMPTY_LOG_ROOT, HASH_BYTES, leafHash, nodeHash } from "#src/tlog/hash.ts";
import {
  appendedTiles,
  decodeEntries,
  encodeEntries,
  hashesOfTiles,
  hasTile,
  parseTilePath,
  TILE_WIDTH,
  tilePath,
  type TilePlace,
  tilesRead,
} from "#src/tlog/tiles.ts";
import {
  consistencyProof,
  inclusionProof,
  type SubtreeHash,
  treeRoot,
  verifyConsistency,
  verifyInclusion,
} from "#src/tlog/tree.ts";
import { cases, itLong } from "../../support/base/longTests.ts";
import { plainConsistency, plainPath, plainRoot, subtreesOf } from "../../support/tlog/plainTree.ts";

const entriesOf = (count: number) => Array.from({ length: count }, (_, i) => utf8(`entry ${i}`));
const sizes = fc.tuple(fc.integer({ min: 1, max: 70 }), fc.nat(1_000)).map(([size, at]) => ({ size, at: at % size }));

/** Tiles in memory, as a log stores them. */
class Tiles {
  readonly stored = new Map<string, Uint8Array>();
  size = 0;
  readonly read = ({ level, index }: TilePlace) => this.stored.get(`${level}/${index}`) ?? new Uint8Array();

  append(leaves: readonly Uint8Array[]): void {
    for (const { level, index, hashes } of appendedTiles(this.size, leaves, this.read)) {
      this.stored.set(`${level}/${index}`, hashes);
    }
    this.size += leaves.length;
  }
}

describe("the tree", () => {
  it("has the roots and proofs of the RFC", () => {
    fc.assert(
      fc.property(sizes, ({ size, at }) => {
        const entries = entriesOf(size);
        const hashOf = subtreesOf(entries);
        expect(treeRoot(size, hashOf)).toEqual(plainRoot(entries));
        expect(inclusionProof(at, size, hashOf)).toEqual(plainPath(at, entries));
        expect(consistencyProof(at, size, hashOf)).toEqual(plainConsistency(at, entries));
        expect(consistencyProof(size, size, hashOf)).toEqual([]);
      }),
      { numRuns: cases(25, 300) },
    );
  });

  it("verifies proofs, and none of another entry, index, size or root", () => {
    fc.assert(
      fc.property(sizes, fc.nat(), ({ size, at }, other) => {
        const entries = entriesOf(size);
        const [root, proof] = [plainRoot(entries), plainPath(at, entries)];
        const inclusion = { index: at, size, leaf: leafHash(entries[at]!), proof, root };
        expect(verifyInclusion(inclusion)).toBe(true);
        expect(verifyInclusion({ ...inclusion, leaf: leafHash(utf8("another")) })).toBe(false);
        expect(verifyInclusion({ ...inclusion, root: leafHash(root) })).toBe(false);
        expect(verifyInclusion({ ...inclusion, proof: [...proof, root] })).toBe(false);
        if (proof.length > 0) {
          expect(verifyInclusion({ ...inclusion, proof: proof.slice(1) })).toBe(false);
          expect(verifyInclusion({ ...inclusion, proof: proof.with(0, leafHash(root)) })).toBe(false);
        }
        const index = other % (size + 3);
        if (index !== at) expect(verifyInclusion({ ...inclusion, index })).toBe(false);
      }),
      { numRuns: cases(40, 500) },
    );
  });

  it("verifies that one tree begins with another, and finds each forged proof", () => {
    fc.assert(
      fc.property(sizes, fc.nat(), ({ size, at }, place) => {
        const entries = entriesOf(size);
        const consistency = {
          ...{ before: at, size, beforeRoot: plainRoot(entries.slice(0, at)), root: plainRoot(entries) },
          proof: plainConsistency(at, entries),
        };
        expect(verifyConsistency(consistency)).toBe(true);
        expect(verifyConsistency({ ...consistency, proof: [...consistency.proof, consistency.root] })).toBe(false);
        if (at === 0) return;
        const forged = [...entries.slice(0, at - 1), utf8("forged")];
        expect(verifyConsistency({ ...consistency, beforeRoot: plainRoot(forged) })).toBe(false);
        expect(verifyConsistency({ ...consistency, root: plainRoot([...forged, ...entries.slice(at)]) })).toBe(false);
        const changed = place % consistency.proof.length;
        const proof = consistency.proof.with(changed, leafHash(consistency.root));
        expect(verifyConsistency({ ...consistency, proof })).toBe(false);
        expect(verifyConsistency({ ...consistency, proof: consistency.proof.slice(1) })).toBe(false);
      }),
      { numRuns: cases(40, 500) },
    );
  });

  it("accepts the empty tree before each other one, by an empty proof alone", () => {
    const root = plainRoot(entriesOf(3));
    const empty = { before: 0, size: 3, beforeRoot: EMPTY_LOG_ROOT, root, proof: [] };
    expect(verifyConsistency(empty)).toBe(true);
    expect(verifyConsistency({ ...empty, beforeRoot: root })).toBe(false);
    expect(verifyConsistency({ ...empty, proof: [root] })).toBe(false);
    expect(verifyConsistency({ ...empty, size: 0 })).toBe(false);
    expect(verifyConsistency({ ...empty, size: 0, root: EMPTY_LOG_ROOT })).toBe(true);
    expect(treeRoot(0, subtreesOf([]))).toEqual(EMPTY_LOG_ROOT);
  });

  it("proves in a log of 2^53 − 1 entries", () => {
    const size = Number.MAX_SAFE_INTEGER;
    // all entries are equal, so that each level has one hash
    const levels = [leafHash(utf8(""))];
    const hashOf: SubtreeHash = (level) => {
      while (levels.length <= level) levels.push(nodeHash(levels.at(-1)!, levels.at(-1)!));
      return levels[level]!;
    };
    const root = treeRoot(size, hashOf);
    for (const index of [0, 2 ** 52 - 1, 2 ** 52, size - 1]) {
      const proof = inclusionProof(index, size, hashOf);
      expect(verifyInclusion({ index, size, leaf: leafHash(utf8("")), proof, root })).toBe(true);
    }
    const before = 2 ** 40 + 5;
    const beforeRoot = treeRoot(before, hashOf);
    const proof = consistencyProof(before, size, hashOf);
    expect(verifyConsistency({ before, size, beforeRoot, root, proof })).toBe(true);
  });

  it("refuses numbers that are no sizes, and hashes of another length", () => {
    const root = plainRoot(entriesOf(2));
    const inclusion = { index: 0, size: 2, leaf: leafHash(utf8("entry 0")), proof: [leafHash(utf8("entry 1"))], root };
    expect(verifyInclusion(inclusion)).toBe(true);
    for (const size of [NaN, -1, 1.5, 2 ** 53, Infinity]) {
      expect(verifyInclusion({ ...inclusion, size })).toBe(false);
      expect(verifyConsistency({ before: 1, size, beforeRoot: root, root, proof: [] })).toBe(false);
    }
    expect(verifyInclusion({ ...inclusion, proof: [new Uint8Array(31)] })).toBe(false);
    expect(() => inclusionProof(2, 2, subtreesOf(entriesOf(2)))).toThrow(RangeError);
    expect(() => consistencyProof(3, 2, subtreesOf(entriesOf(2)))).toThrow(RangeError);
  });
});

/** The next level of a complete tree. */
function pairs(hashes: readonly Uint8Array[]): Uint8Array[] {
  return Array.from({ length: hashes.length / 2 }, (_, i) => nodeHash(hashes[2 * i]!, hashes[2 * i + 1]!));
}

describe("tiles", () => {
  it("hold the tree's hashes, however it grew", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 }), fc.nat(), (steps, at) => {
        const tiles = new Tiles();
        const entries = entriesOf(steps.reduce((sum, step) => sum + step, 0));
        for (const step of steps) {
          tiles.append(entries.slice(tiles.size, tiles.size + step).map(leafHash));
          expect(treeRoot(tiles.size, hashesOfTiles(tiles.read))).toEqual(plainRoot(entries.slice(0, tiles.size)));
        }
        const index = at % tiles.size;
        expect(inclusionProof(index, tiles.size, hashesOfTiles(tiles.read))).toEqual(plainPath(index, entries));
      }),
      { numRuns: cases(6, 60) },
    );
  });

  itLong("grow past a level", () => {
    const tiles = new Tiles();
    const leaves = Array.from({ length: TILE_WIDTH ** 2 + 1 }, (_, i) => leafHash(utf8(String(i % 7))));
    tiles.append(leaves.slice(0, TILE_WIDTH ** 2 - 1));
    tiles.append(leaves.slice(TILE_WIDTH ** 2 - 1));
    expect(tiles.read({ level: 2, index: 0 })).toHaveLength(HASH_BYTES);
    expect(tiles.read({ level: 1, index: 0 })).toHaveLength(HASH_BYTES * TILE_WIDTH);
    expect(tiles.read({ level: 0, index: TILE_WIDTH })).toHaveLength(HASH_BYTES);
    const full = leaves.slice(0, -1);
    let level: readonly Uint8Array[] = full;
    while (level.length > 1) level = pairs(level);
    const all = nodeHash(level[0]!, leaves.at(-1)!);
    expect(treeRoot(tiles.size, hashesOfTiles(tiles.read))).toEqual(all);
  });

  it("names the tiles that a proof needs, and none that the log has not", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), fc.nat(), (size, at) => {
        const index = at % size;
        const read = tilesRead((
          hashOf,
        ) => [inclusionProof(index, size, hashOf), consistencyProof(index, size, hashOf)]);
        expect(read.length).toBeLessThan(20);
        for (const { level, index } of read) expect(hasTile(size, { level, index, width: 1 })).toBe(true);
      }),
      { numRuns: cases(12, 100) },
    );
  });

  it.each(
    [
      [{ level: 0, index: 0, width: 256 }, "tile/0/000"],
      [{ level: 0, index: 1, width: 44 }, "tile/0/001.p/44"],
      [{ level: 3, index: 1_234_067, width: 256 }, "tile/3/x001/x234/067"],
      [{ level: "entries", index: 1_000, width: 255 }, "tile/entries/x001/000.p/255"],
    ] as const,
  )("has the path of %j", (file, path) => {
    expect(tilePath(file)).toBe(path);
    expect(parseTilePath(path)).toEqual(file);
  });

  it.each([
    ...["", "tile/0", "tile/0/0", "tile/0/0000", "tile/0/x000/001", "tile/7/000", "tile/00/000", "tile/-1/000"],
    ...["tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/257", "tile/0/000.p/01", "tile/0/000.p/", "tile/0/000/"],
    ...["tile/0/000.p/1.p/1", "tile/entries/x999/x999/x999/x999/x999/999", "tile/data/000", "tile/0/001/x001"],
  ])("has no file at %j", (path) => expect(parseTilePath(path)).toBeUndefined());

  it("says which files a log of a size has", () => {
    expect(hasTile(300, { level: 0, index: 0, width: 256 })).toBe(true);
    expect(hasTile(300, { level: 0, index: 1, width: 44 })).toBe(true);
    expect(hasTile(300, { level: 0, index: 1, width: 45 })).toBe(false);
    expect(hasTile(300, { level: 1, index: 0, width: 1 })).toBe(true);
    expect(hasTile(300, { level: 2, index: 0, width: 1 })).toBe(false);
    expect(hasTile(300, { level: "entries", index: 1, width: 44 })).toBe(true);
  });

  it("bundles entries of each possible length, and refuses bytes that are no bundle", () => {
    fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 60 }), (entries) => {
      const decoded = decodeEntries(encodeEntries(entries));
      expect(decoded.ok && decoded.value.map((entry) => [...entry])).toEqual(entries.map((entry) => [...entry]));
    }));
    const long = new Uint8Array(65_535).fill(7);
    expect(decodeEntries(encodeEntries([long]))).toEqual({ ok: true, value: [long] });
    expect(() => encodeEntries([new Uint8Array(65_536)])).toThrow(RangeError);
    expect(decodeEntries(Uint8Array.of(0)).ok).toBe(false);
    expect(decodeEntries(Uint8Array.of(0, 2, 1)).ok).toBe(false);
    expect(decodeEntries(new Uint8Array(2 * 257)).ok).toBe(false);
  });
});
