/** The root of a set by its definition: over texts of bits, from scratch, with a hash of its own. */
import { blake2b } from "@noble/hashes/blake2.js";

/** Elements of a tree: a key as a text of the digits 0 and 1, and a value. */
export type ModelElements = readonly (readonly [key: string, value: Uint8Array])[];

/** A key or another byte string as a text of bits. */
export function bitText(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
}

/** The root; null for no elements. */
export function modelRoot(elements: ModelElements): Uint8Array | null {
  return elements.length === 0 ? null : hash(encoded(elements, 0));
}

/** The encoding of the sub-tree of elements that agree in the first bits. */
function encoded(elements: ModelElements, from: number): number[] {
  const keys = elements.map(([key]) => key);
  let end = from;
  while (keys.every((key) => end < key.length && key[end] === keys[0]![end])) end++;
  const jump = keys[0]!.slice(from, end);
  if (elements.length === 1) return encode(jump, elements[0]![1]);
  const of = (bit: string) => encoded(elements.filter(([key]) => key[end] === bit), end + 1);
  return encode(jump, hash([...of("0"), ...of("1")]));
}

function encode(jump: string, value: Uint8Array): number[] {
  const bytes = (jump.match(/.{1,8}/g) ?? []).map((bits) => parseInt(bits.padEnd(8, "0"), 2));
  return [jump.length >> 8, jump.length & 255, ...bytes, 0, 32, ...value];
}

function hash(bytes: readonly number[]): Uint8Array {
  return blake2b(Uint8Array.from(bytes), { dkLen: 32 });
}
