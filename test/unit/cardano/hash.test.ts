import fc from "fast-check";
import { blake2b } from "@noble/hashes/blake2.js";
import { expect, test } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { blake2b224, blake2b256, hash224, hash256, initHash } from "#src/cardano/hash.ts";

const KNOWN: readonly (readonly [string, string, string])[] = [
  [
    "",
    "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",
    "836cc68931c2e4e3e838602eca1902591d216837bafddfe6f0c8cb07",
  ],
  [
    "abc",
    "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319",
    "9bd237b02a29e43bdd6738afa5b53ff0eee178d6210b618e4511aec8",
  ],
];
const known = () => KNOWN.map(([text]) => [text, hash256(utf8(text)), hash224(utf8(text))]);

test("hashes are the same before the fast implementation is loaded and after", async () => {
  expect(known()).toEqual(KNOWN);
  await initHash();
  expect(known()).toEqual(KNOWN);
  // lengths beyond blake2b's blocks, and beyond the chunks in which bytes go to WebAssembly
  fc.assert(
    fc.property(fc.oneof(fc.nat(400), fc.integer({ min: 16_300, max: 33_000 })), fc.nat(255), (length, first) => {
      const bytes = Uint8Array.from({ length }, (_, i) => first + i * 7);
      expect(toHex(blake2b256(bytes))).toBe(toHex(blake2b(bytes, { dkLen: 32 })));
      expect(toHex(blake2b224(bytes))).toBe(toHex(blake2b(bytes, { dkLen: 28 })));
    }),
    { numRuns: 40 },
  );
});
