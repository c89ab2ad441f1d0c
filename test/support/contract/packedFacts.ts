/** Facts in the form that builder threads receive. */
import type { PackedFacts } from "#src/tokens/builds/packedFacts.ts";
import type { Leaf } from "#src/forestry/trie.ts";

/** Packs facts for a thread. */
export function packFacts(leaves: readonly Leaf[], cut?: PackedFacts["cut"]): PackedFacts {
  const packed = new Uint8Array(leaves.length * 64);
  leaves.forEach(({ path, value }, i) => {
    packed.set(path, i * 64);
    packed.set(value, i * 64 + 32);
  });
  return { leaves: packed, cut };
}
