/**
 * Keys and values are text for clients and bytes on the ledger, where anyone may write any bytes. UTF-8 is decoded; every
 * other byte becomes a lone surrogate U+DC80 to U+DCFF, in both directions (as in Python's PEP 383). So two different keys
 * never look equal, and every fact can be named in a request.
 */
import { isWellFormed, joined, utf8 } from "#src/base/bytes.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text for some bytes. */
export function bytesText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    return escaped(bytes);
  }
}

/** The inverse of `bytesText`; undefined for a text that it never gives. */
export function bytesOf(text: string): Uint8Array | undefined {
  if (isWellFormed(text)) return utf8(text);
  const parts = Array.from(text, (character) => {
    const code = character.charCodeAt(0);
    return code >= 0xdc80 && code <= 0xdcff ? Uint8Array.of(code - 0xdc00) : utf8(character);
  });
  const bytes = joined(parts);
  return bytesText(bytes) === text ? bytes : undefined;
}

function escaped(bytes: Uint8Array): string {
  let text = "";
  let i = 0;
  for (let first = bytes[i]; first !== undefined; first = bytes[i]) {
    const length = sequenceLength(bytes, i);
    text += length === 0 ? String.fromCharCode(0xdc00 + first) : decoder.decode(bytes.subarray(i, i + length));
    i += length || 1;
  }
  return text;
}

/** Length of the well-formed UTF-8 sequence at `at`, or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0xff;
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length < 2) return length;
  try {
    decoder.decode(bytes.subarray(at, at + length));
    return at + length <= bytes.length ? length : 0;
  } catch {
    return 0;
  }
}
