/**
 * The Merkle tree of a log (RFC 6962): roots, inclusion and consistency proofs, and their verification.
 *
 * A proof is made from hashes of complete subtrees, which never change once their leaves are there. Sizes and indices are
 * `number`, at most 2^53 − 1; no operation here is limited to 32 bits.
 */
import { equalBytes } from "#src/base/bytes.ts";
import { EMPTY_LOG_ROOT, HASH_BYTES, nodeHash } from "#src/tlog/hash.ts";

/** Hash of the complete subtree over the leaves from `index` × 2^`level` to before (`index` + 1) × 2^`level`. */
export type SubtreeHash = (level: number, index: number) => Uint8Array;

/** Most hashes in a proof. */
export const MAX_PROOF_HASHES = 63;

/** Root of the tree of the first `size` entries. */
export function treeRoot(size: number, hashOf: SubtreeHash): Uint8Array {
  return size === 0 ? EMPTY_LOG_ROOT : rangeHash(0, size, hashOf);
}

/**
 * Hashes from the sibling of the leaf to the child of the root.
 *
 * @throws RangeError where the index is not below the size.
 */
export function inclusionProof(index: number, size: number, hashOf: SubtreeHash): Uint8Array[] {
  if (!(index >= 0 && index < size)) throw new RangeError(`no entry ${index} in a log of ${size}`);
  const proof: Uint8Array[] = [];
  for (let [from, to] = [0, size]; to - from > 1;) {
    const middle = from + split(to - from);
    if (index < middle) {
      proof.push(rangeHash(middle, to, hashOf));
      to = middle;
    } else {
      proof.push(rangeHash(from, middle, hashOf));
      from = middle;
    }
  }
  return proof.reverse();
}

/**
 * Proof that the tree of the first `before` entries is a prefix of that of the first `size` entries. Empty where `before` is
 * 0 or `size`.
 *
 * @throws RangeError where `before` is above `size`.
 */
export function consistencyProof(before: number, size: number, hashOf: SubtreeHash): Uint8Array[] {
  if (!(before >= 0 && before <= size)) throw new RangeError(`a log of ${size} has no prefix of ${before}`);
  if (before === 0 || before === size) return [];
  const proof: Uint8Array[] = [];
  let [from, to] = [0, size];
  while (before !== to) {
    const middle = from + split(to - from);
    if (before <= middle) {
      proof.push(rangeHash(middle, to, hashOf));
      to = middle;
    } else {
      proof.push(rangeHash(from, middle, hashOf));
      from = middle;
    }
  }
  // the verifier has the old root; where the old tree is not a node of the new one, it begins with its last subtree
  if (from !== 0) proof.push(rangeHash(from, to, hashOf));
  return proof.reverse();
}

/** What an inclusion proof is about. */
export interface Inclusion {
  readonly index: number;
  readonly size: number;
  /** `leafHash` of the entry. */
  readonly leaf: Uint8Array;
  readonly proof: readonly Uint8Array[];
  readonly root: Uint8Array;
}

/** Whether the entry with that hash has that index in the tree of that size and root. */
export function verifyInclusion({ index, size, leaf, proof, root }: Inclusion): boolean {
  if (!isSize(index) || !isSize(size) || index >= size || !areHashes([leaf, root, ...proof])) return false;
  let [at, last] = [index, size - 1];
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      hash = nodeHash(sibling, hash);
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else hash = nodeHash(hash, sibling);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && equalBytes(hash, root);
}

/** What a consistency proof is about. */
export interface Consistency {
  readonly before: number;
  readonly size: number;
  readonly beforeRoot: Uint8Array;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** Whether the tree of size `before` is a prefix of the other. The empty tree is a prefix of each, by an empty proof. */
export function verifyConsistency({ before, size, beforeRoot, root, proof }: Consistency): boolean {
  if (!isSize(before) || !isSize(size) || before > size || !areHashes([beforeRoot, root, ...proof])) return false;
  if (before === 0) {
    const isEmpty = (hash: Uint8Array) => equalBytes(hash, EMPTY_LOG_ROOT);
    return proof.length === 0 && isEmpty(beforeRoot) && (size > 0 || isEmpty(root));
  }
  if (before === size) return proof.length === 0 && equalBytes(beforeRoot, root);
  const [first, ...rest] = isPowerOfTwo(before) ? [beforeRoot, ...proof] : proof;
  // a proof between two sizes is never empty
  if (first === undefined || proof.length === 0) return false;
  let [at, last] = [before - 1, size - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  let [old, whole] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      [old, whole] = [nodeHash(sibling, old), nodeHash(sibling, whole)];
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else whole = nodeHash(whole, sibling);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && equalBytes(old, beforeRoot) && equalBytes(whole, root);
}

/** Hash of the node over the leaves from `from` to before `to`, which must be a node of some tree. */
export function rangeHash(from: number, to: number, hashOf: SubtreeHash): Uint8Array {
  const size = to - from;
  if (isPowerOfTwo(size)) return hashOf(Math.round(Math.log2(size)), from / size);
  const middle = from + split(size);
  return nodeHash(rangeHash(from, middle, hashOf), rangeHash(middle, to, hashOf));
}

/** The largest power of two below a number of at least 2. */
export function split(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

const isOdd = (value: number) => value % 2 === 1;
const half = (value: number) => Math.floor(value / 2);
const isPowerOfTwo = (value: number) => value === 1 || split(value) * 2 === value;

/** Whether a number can be the size of a tree. */
export function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.length <= MAX_PROOF_HASHES + 2 && hashes.every(({ length }) => length === HASH_BYTES);
}
