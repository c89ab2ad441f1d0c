/** Random elements whose paths share long prefixes, which digests rarely do. */
import fc from "fast-check";
import type { Leaf } from "#src/forestry/trie.ts";

/** A path: a few nibbles from a small set, repeated to 64, with a tail that makes it unique. */
export const arbitraryPath: fc.Arbitrary<Uint8Array> = fc.tuple(
  fc.array(fc.constantFrom(0, 1, 7, 15), { minLength: 1, maxLength: 6 }),
  fc.array(fc.constantFrom(0, 1, 2, 8, 15), { minLength: 0, maxLength: 6 }),
  fc.integer({ min: 0, max: 4 }),
).map(([head, tail, zeros]) => {
  const nibbles = new Array(64).fill(0);
  head.forEach((n, i) => nibbles[i] = n);
  tail.forEach((n, i) => nibbles[zeros * 12 + i + 6] = n);
  return Uint8Array.from({ length: 32 }, (_, i) => nibbles[2 * i] * 16 + nibbles[2 * i + 1]);
});

export const arbitraryDigest: fc.Arbitrary<Uint8Array> = fc.uint8Array({ minLength: 32, maxLength: 32 });

/** Elements with different paths, some with shared prefixes, some without. */
export function arbitraryLeaves(maxLength: number): fc.Arbitrary<Leaf[]> {
  return fc.uniqueArray(
    fc.record({ path: fc.oneof(arbitraryPath, arbitraryDigest), value: arbitraryDigest }),
    { maxLength, selector: (leaf) => leaf.path.join() },
  );
}
