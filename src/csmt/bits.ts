/** Bits of byte strings: bit 0 is the most significant bit of the first byte. */
import { byteAt } from "#src/base/bytes.ts";

/** A bit. @throws RangeError past the end */
export function bitAt(bytes: Uint8Array, at: number): 0 | 1 {
  return (byteAt(bytes, at >> 3) >> (7 - (at & 7))) & 1 ? 1 : 0;
}

/** The first bit from `from` to before `to` in which two byte strings differ; `to` if they do not. Both reach so far. */
export function firstDifference(a: Uint8Array, b: Uint8Array, from: number, to: number): number {
  const last = (to - 1) >> 3;
  if (last >= a.length || last >= b.length) throw new RangeError("bits past the end of a byte string");
  // the indices are below the lengths; a check of each would take longer than the rest
  for (let i = from >> 3, mask = 0xff >> (from & 7); i <= last; i++, mask = 0xff) {
    const difference = (a[i]! ^ b[i]!) & mask;
    if (difference !== 0) return Math.min(to, i * 8 + Math.clz32(difference) - 24);
  }
  return to;
}

/** Writes bits `from` to before `to`, packed from the first bit on, the rest of the last byte zero; gives where it ended. */
export function writeBits(bytes: Uint8Array, from: number, to: number, target: Uint8Array, at: number): number {
  const length = (to - from + 7) >> 3;
  const start = from >> 3;
  const shift = from & 7;
  const end = at + length;
  if (end > target.length || start + length > bytes.length) throw new RangeError("bits past the end of a byte string");
  // the indices are below the lengths; a check of each would take longer than the rest
  for (let i = 0; i < length; i++) {
    const pair = (bytes[start + i]! << 8) | (bytes[start + i + 1] ?? 0);
    target[at + i] = (pair >> (8 - shift)) & 0xff;
  }
  const rest = (to - from) & 7;
  if (rest !== 0) target[end - 1]! &= 0xff << (8 - rest);
  return end;
}

/** Bits `from` to before `to`, one in each byte. */
export function spreadBits(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const bits = new Uint8Array(to - from);
  for (let i = 0; i < bits.length; i++) bits[i] = bitAt(bytes, from + i);
  return bits;
}

/** Bytes of bits that are one in each byte; the rest of the last byte is zero. */
export function gatherBits(bits: Uint8Array): Uint8Array {
  const bytes = new Uint8Array((bits.length + 7) >> 3);
  for (const [i, bit] of bits.entries()) bytes[i >> 3]! |= bit << (7 - (i & 7));
  return bytes;
}
