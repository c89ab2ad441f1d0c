/**
 * Bytes to be found in any case of their letters, where the database compares bytes: no text function takes bytes that are
 * no UTF-8.
 */
import { fromUtf8, toHex, utf8 } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";

export interface FoldedBytes {
  /** Regular expression of PostgreSQL for hexadecimal digits of bytes that have these within. */
  readonly expression: string;
  /**
   * Text that such bytes have within their form `encode(…, 'escape')` in lower case: the longest part in ASCII. Empty where
   * there is none.
   */
  readonly part: string;
}

/** How bytes are found whose letters may be in any case; letters beyond ASCII are those of UTF-8. */
export function foldedBytes(bytes: Uint8Array): FoldedBytes {
  const text = fromUtf8(bytes);
  // of bytes that are no UTF-8 only letters in ASCII have a case
  const forms = text === undefined ? [...bytes].map(formsOfByte) : [...text].map(formsOfCharacter);
  const digits = forms.map((all) => [...new Set(all.map(toHex))]);
  const groups = digits.map((all) => all.length === 1 ? all.join() : `(?:${all.join("|")})`);
  const parts = forms.map((all) => all.every(isPlain) ? escaped(elementAt(elementAt(all, 0), 0)) : "\0").join("").split(
    "\0",
  );
  return {
    // pairs of digits before it: half a byte is no match
    expression: `^(?:..)*?${groups.join("")}`,
    part: parts.reduce((longest, one) => one.length > longest.length ? one : longest),
  };
}

const formsOfByte = (byte: number): Uint8Array[] =>
  byte < 0x80 ? formsOfCharacter(String.fromCharCode(byte)) : [Uint8Array.of(byte)];

const formsOfCharacter = (character: string): Uint8Array[] =>
  [character.toLowerCase(), character, character.toUpperCase()].map(utf8);

/** Whether bytes are one character in ASCII that the form has as it is, but for a backslash, which it doubles. */
const isPlain = (bytes: Uint8Array): boolean => bytes.length === 1 && bytes.every((byte) => byte > 0 && byte < 0x80);

const escaped = (byte: number): string => byte === 0x5c ? "\\\\" : String.fromCharCode(byte);
