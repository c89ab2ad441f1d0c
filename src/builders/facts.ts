/** Facts as they are sent to a thread. */
import { Forestry, type Leaf } from "#src/forestry/trie.ts";

/** All facts of a token: digests of key and value, 64 bytes each in one array, which crosses threads far faster than objects. */
export interface FactsAtHand {
  readonly leaves: Uint8Array;
}

/** Packs facts for a thread. */
export function packFacts(leaves: readonly Leaf[]): FactsAtHand {
  const packed = new Uint8Array(leaves.length * 64);
  leaves.forEach(({ path, value }, i) => {
    packed.set(path, i * 64);
    packed.set(value, i * 64 + 32);
  });
  return { leaves: packed };
}

/** The trie of packed facts. */
export function openFacts({ leaves }: FactsAtHand): Forestry {
  const unpacked: Leaf[] = [];
  for (let at = 0; at < leaves.length; at += 64) {
    unpacked.push({ path: leaves.subarray(at, at + 32), value: leaves.subarray(at + 32, at + 64) });
  }
  return Forestry.from(unpacked);
}
