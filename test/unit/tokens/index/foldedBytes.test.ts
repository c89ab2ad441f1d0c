/** Bytes that are found in any case of their letters: the expression and the part that the database compares. */
import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { foldedBytes } from "#src/tokens/index/foldedBytes.ts";

/** `encode(…, 'escape')` of PostgreSQL, in lower case. */
const escapeForm = (bytes: Uint8Array) =>
  [...bytes].map((byte) =>
    byte === 0 || byte > 0x7f
      ? `\\${byte.toString(8).padStart(3, "0")}`
      : byte === 0x5c
      ? "\\\\"
      : String.fromCharCode(byte).toLowerCase()
  ).join("");

const bytesOf = (text: string | Uint8Array) => typeof text === "string" ? utf8(text) : text;

function finds(wanted: string | Uint8Array, within: string | Uint8Array): boolean {
  const { expression, part } = foldedBytes(bytesOf(wanted));
  const found = new RegExp(expression).test(toHex(bytesOf(within)));
  // the part may be in more, and must be in all that is found
  if (found) expect(escapeForm(bytesOf(within))).toContain(part);
  return found;
}

describe("bytes in any case", () => {
  it.each<[string | Uint8Array, string | Uint8Array, boolean]>([
    ["alice", "Alice", true],
    ["ALICE", '{"name": "alice"}', true],
    ["alice", "Alic", false],
    ["änne", "Marie-ÄNNE", true],
    ["Ö", "ö", true],
    ["ß", "SS", true],
    ["303", "Ã", false],
    ["\\", "a\\b", true],
    ["\\3", Uint8Array.of(0x5c, 0xc3), false],
    ["C:\\TEMP", "c:\\temp\\x", true],
    ["a.b", "axb", false],
    ["(a|b)*", "(A|B)*", true],
    [Uint8Array.of(0xff, 0x61), Uint8Array.of(1, 0xff, 0x41), true],
    [Uint8Array.of(0xff, 0x61), Uint8Array.of(0x0f, 0xf6, 0x10), false],
    [Uint8Array.of(0, 0x61), Uint8Array.of(0, 0x41), true],
    ["日本", "東京、日本", true],
  ])("%j in %j: %s", (wanted, within, found) => {
    expect(finds(wanted, within)).toBe(found);
  });

  it("have a part in ASCII that is as long as can be", () => {
    expect(foldedBytes(utf8("Ä Name ö")).part).toBe(" name ");
    expect(foldedBytes(utf8("日本")).part).toBe("");
  });
});
