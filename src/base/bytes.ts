/** Byte strings, and their lower-case hexadecimal form, which hashes and identifiers have throughout the code. */

const DIGITS = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));

// ES2026; Node has it from version 25 on
const nativeToHex: (() => string) | undefined = Uint8Array.prototype.toHex;

/** Bytes as lower-case hexadecimal. */
export const toHex: (bytes: Uint8Array) => string = nativeToHex ? (bytes) => nativeToHex.call(bytes) : (bytes) => {
  let text = "";
  for (const byte of bytes) text += DIGITS[byte];
  return text;
};

/** Whether a text is an even number of hexadecimal digits (of `length` bytes, where given). */
export function isHex(text: string, length?: number): boolean {
  return text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text) && (length === undefined || text.length === length * 2);
}

const nativeFromHex: ((text: string) => Uint8Array) | undefined = Uint8Array.fromHex?.bind(Uint8Array);

/** Bytes of a hexadecimal text. @throws TypeError when it is not hexadecimal. */
export function fromHex(text: string): Uint8Array {
  if (nativeFromHex) {
    try {
      return nativeFromHex(text);
    } catch {
      throw new TypeError("not hexadecimal");
    }
  }
  if (!isHex(text)) throw new TypeError("not hexadecimal");
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** Concatenates its arguments. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return joined(parts);
}

/** Concatenates a list of any length; `concat` overflows the stack at some ten thousand arguments. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Order of two byte strings: negative, zero or positive, shorter prefix first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    // Both indices are below `length`; a check would slow down every comparison of keys.
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The byte at an index. @throws RangeError where there is none: an error of the program. */
export function byteAt(bytes: Uint8Array, index: number): number {
  const byte = bytes[index];
  if (byte === undefined) throw new RangeError(`no byte ${index} of ${bytes.length}`);
  return byte;
}

/** Whether two byte strings are equal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A text as UTF-8. Lone surrogates, which UTF-8 cannot encode, must have been refused before (`isWellFormed`). */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text of UTF-8 bytes, exactly (including a byte order mark); `undefined` when they are not UTF-8. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether a text has no lone surrogate, so that UTF-8 can encode it. */
export function isWellFormed(text: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text);
}

/** Whether PostgreSQL stores a text: it has no NUL and no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && isWellFormed(text);
}
