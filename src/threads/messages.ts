/**
 * Bytes in messages between threads. On Deno 2.9, `node:worker_threads` looks at every element of a typed array that a
 * message holds, in search of ports, which takes 30 ms for 700 kB; it does not look into buffers. So long arrays travel
 * as their buffers.
 */

const BOXED = "boxed array";
/** Shorter arrays travel as they are, in bytes. */
const LONG = 1_024;
const KINDS = { Uint8Array, Uint32Array, Float64Array };
type Kind = keyof typeof KINDS;

interface Boxed {
  readonly [BOXED]: Kind;
  readonly buffer: ArrayBuffer;
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const kindOf = (value: ArrayBufferView): Kind | undefined =>
  (Object.keys(KINDS) as Kind[]).find((kind) => value instanceof KINDS[kind]);

/** A message with the long arrays in its objects, at any depth, as buffers. What lists and maps hold stays as it is. */
export function box(message: unknown): unknown {
  if (ArrayBuffer.isView(message)) {
    const kind = message.byteLength < LONG ? undefined : kindOf(message);
    if (kind === undefined) return message;
    const { buffer, byteOffset, byteLength } = message;
    return { [BOXED]: kind, buffer: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer } satisfies Boxed;
  }
  return isPlain(message) ? mapped(message, box) : message;
}

/** The message that was boxed. */
export function unbox(message: unknown): unknown {
  if (!isPlain(message)) return message;
  const { [BOXED]: kind, buffer } = message;
  // what a request brings may have any names, and never a buffer
  const isBoxed = typeof kind === "string" && Object.hasOwn(KINDS, kind) && buffer instanceof ArrayBuffer;
  return isBoxed ? new KINDS[kind as Kind](buffer) : mapped(message, unbox);
}

function mapped(object: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
