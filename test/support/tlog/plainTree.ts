/** The model of a log's tree: RFC 6962 as it is written, over the whole list of entries. */
import { EMPTY_LOG_ROOT, leafHash, nodeHash } from "#src/tlog/hash.ts";
import type { SubtreeHash } from "#src/tlog/tree.ts";

/** The largest power of two below n. */
function half(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** MTH of the RFC. */
export function plainRoot(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.length === 0) return EMPTY_LOG_ROOT;
  if (entries.length === 1) return leafHash(entries[0]!);
  const k = half(entries.length);
  return nodeHash(plainRoot(entries.slice(0, k)), plainRoot(entries.slice(k)));
}

/** PATH of the RFC. */
export function plainPath(m: number, entries: readonly Uint8Array[]): Uint8Array[] {
  if (entries.length === 1) return [];
  const k = half(entries.length);
  return m < k
    ? [...plainPath(m, entries.slice(0, k)), plainRoot(entries.slice(k))]
    : [...plainPath(m - k, entries.slice(k)), plainRoot(entries.slice(0, k))];
}

/** PROOF of the RFC; empty where the prefix is empty. */
export function plainConsistency(m: number, entries: readonly Uint8Array[]): Uint8Array[] {
  return m === 0 ? [] : subProof(m, entries, true);
}

function subProof(m: number, entries: readonly Uint8Array[], whole: boolean): Uint8Array[] {
  if (m === entries.length) return whole ? [] : [plainRoot(entries)];
  const k = half(entries.length);
  return m <= k
    ? [...subProof(m, entries.slice(0, k), whole), plainRoot(entries.slice(k))]
    : [...subProof(m - k, entries.slice(k), false), plainRoot(entries.slice(0, k))];
}

/** Hashes of the complete subtrees of a list of entries. */
export function subtreesOf(entries: readonly Uint8Array[]): SubtreeHash {
  return (level, index) => plainRoot(entries.slice(index * 2 ** level, (index + 1) * 2 ** level));
}
