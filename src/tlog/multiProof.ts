/**
 * Proofs that several entries are in one log. A proof of each would repeat the hashes near the root: here each hash is given
 * once, in the order in which the tree is walked from the left, and none that follows from the entries.
 */
import { equalBytes } from "#src/base/bytes.ts";
import { HASH_BYTES, nodeHash } from "#src/tlog/hash.ts";
import { isSize, MAX_PROOF_HASHES, rangeHash, split, type SubtreeHash } from "#src/tlog/tree.ts";

/**
 * Hashes of the largest subtrees that have none of the entries.
 *
 * @throws RangeError where the indices are not ascending or not below the size.
 */
export function multiProof(indices: readonly number[], size: number, hashOf: SubtreeHash): Uint8Array[] {
  if (!areAscending(indices, size)) throw new RangeError(`these are no entries of a log of ${size}`);
  const proof: Uint8Array[] = [];
  const visit = (from: number, to: number, first: number, last: number): void => {
    if (first === last) proof.push(rangeHash(from, to, hashOf));
    else if (to - from > 1) {
      const middle = from + split(to - from);
      const cut = firstFrom(indices, middle, first, last);
      visit(from, middle, first, cut);
      visit(middle, to, cut, last);
    }
  };
  if (indices.length > 0) visit(0, size, 0, indices.length);
  return proof;
}

/** What a proof of several entries is about. */
export interface Inclusions {
  readonly size: number;
  readonly root: Uint8Array;
  /** At least one, by ascending index; `leaf` is the `leafHash` of the entry. */
  readonly entries: readonly { readonly index: number; readonly leaf: Uint8Array }[];
  readonly proof: readonly Uint8Array[];
}

/** Whether all entries have those indices in the tree of that size and root. */
export function verifyInclusions({ size, root, entries, proof }: Inclusions): boolean {
  const indices = entries.map(({ index }) => index);
  if (!isSize(size) || entries.length === 0 || !areAscending(indices, size)) return false;
  if (proof.length > entries.length * MAX_PROOF_HASHES) return false;
  if (![root, ...proof, ...entries.map(({ leaf }) => leaf)].every(({ length }) => length === HASH_BYTES)) return false;
  let used = 0;
  const hash = (from: number, to: number, first: number, last: number): Uint8Array | undefined => {
    if (first === last) return proof[used++];
    if (to - from === 1) return entries[first]?.leaf;
    const middle = from + split(to - from);
    const cut = firstFrom(indices, middle, first, last);
    const left = hash(from, middle, first, cut);
    const right = left && hash(middle, to, cut, last);
    return left && right && nodeHash(left, right);
  };
  const found = hash(0, size, 0, entries.length);
  return found !== undefined && used === proof.length && equalBytes(found, root);
}

/** The first place from `first` to before `last` whose index is at least `least`; `last` where there is none. */
function firstFrom(indices: readonly number[], least: number, first: number, last: number): number {
  let [low, high] = [first, last];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((indices[middle] ?? Infinity) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

function areAscending(indices: readonly number[], size: number): boolean {
  return indices.every((index, i) => isSize(index) && index < size && index > (indices[i - 1] ?? -1));
}
