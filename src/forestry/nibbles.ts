/** Paths as half bytes: a 32-byte path has 64 nibbles, the high half of a byte first. */

/** Nibbles of a path. */
export const PATH_LENGTH = 64;

/** Nibble `i` of a path, which has it. There is no check, because every step of a search reads one. */
export function nibble(path: Uint8Array, i: number): number {
  const byte = path[i >> 1]!;
  return i & 1 ? byte & 15 : byte >> 4;
}

/** Nibbles `from` (inclusive) to `to` (exclusive) of a path, one in each byte. */
export function nibbles(path: Uint8Array, from: number, to: number): Uint8Array {
  const out = new Uint8Array(Math.max(0, to - from));
  for (let i = 0; i < out.length; i++) out[i] = nibble(path, from + i);
  return out;
}

/** The first nibble at or after `from` in which two paths differ, at most `end`. */
export function divergence(a: Uint8Array, b: Uint8Array, from: number, end: number): number {
  let i = from;
  while (i < end && nibble(a, i) === nibble(b, i)) i++;
  return i;
}

/**
 * What a leaf hashes for the rest of its path from nibble `from` on: whole bytes behind 0xff, or, where the rest begins
 * with a low half, 0x00 and that half before the whole bytes.
 */
export function suffix(path: Uint8Array, from: number): Uint8Array {
  const odd = from & 1;
  const rest = path.subarray((from + 1) >> 1);
  const out = new Uint8Array(1 + odd + rest.length);
  if (odd) out[1] = nibble(path, from);
  else out[0] = 0xff;
  out.set(rest, 1 + odd);
  return out;
}
