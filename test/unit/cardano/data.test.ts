/** Plutus data: encoded values are data, and values that script languages would refuse are not. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { concat, fromHex } from "#src/base/bytes.ts";
import { Constr, type Data, DataMap, decodeData, encodeData, isData } from "#src/cardano/data.ts";

const { data } = fc.letrec<{ data: Data }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt(-(2n ** 80n), 2n ** 80n),
    fc.uint8Array({ maxLength: 150 }),
    fc.array(tie("data"), { maxLength: 4 }),
    fc.tuple(fc.nat(200), fc.array(tie("data"), { maxLength: 3 })).map(([tag, fields]) => new Constr(tag, fields)),
    fc.array(fc.tuple(tie("data"), tie("data")), { maxLength: 3 }).map((entries) => new DataMap(entries)),
  ),
}));

test("data is decoded as encoded", () => {
  fc.assert(
    fc.property(data, (one) => {
      const bytes = encodeData(one);
      expect(isData(bytes)).toBe(true);
      expect(encodeData(decodeData(bytes))).toEqual(bytes);
      expect(isData(bytes.subarray(0, -1))).toBe(false);
      expect(isData(concat(bytes, Uint8Array.of(0)))).toBe(false);
    }),
    { numRuns: 300 },
  );
});

const long = (length: number) => "aa".repeat(length);

test.each([
  ["an integer", "1b00000000ffffffff", true],
  ["a large integer in chunks", `c25f5840${long(64)}5840${long(64)}ff`, true],
  ["a large integer in one long chunk", `c25841${long(65)}`, false],
  ["bytes of 64", `5840${long(64)}`, true],
  ["bytes of 65 in one chunk", `5841${long(65)}`, false],
  ["bytes of 65 in two", `5f5840${long(64)}41aaff`, true],
  ["bytes with a chunk of 65", `5f5841${long(65)}ff`, false],
  ["bytes with a chunk of 300", `5f59012c${long(300)}ff`, false],
  ["bytes without a chunk", "5fff", true],
  ["a constructor of any number", "d8668218ff80", true],
  ["one whose fields are missing", "d86681187f", false],
  ["one whose fields are no list", "d87901", false],
  ["one with something more", "d866831880800a", false],
  ["another tag", "d81e820102", false],
  ["a text", "6161", false],
  ["a boolean", "f5", false],
  ["nothing", "f6", false],
  ["a float", "fb3ff8000000000000", false],
  ["a text within", "9f0161ffff", false],
  ["a text as a key", "a1616101", false],
  ["lists in lists, a thousand deep", "81".repeat(1000) + "80", true],
  ["no bytes", "", false],
])("%s", (_, hex, is) => {
  expect(isData(fromHex(hex))).toBe(is);
});

test("a constructor may have any number of 64 bits", () => {
  const most = new Constr(2n ** 64n - 1n, [1n]);
  expect(decodeData(fromHex("d86682" + "1bffffffffffffffff" + "8101"))).toEqual(most);
  expect(decodeData(encodeData(most))).toEqual(most);
  expect(decodeData(fromHex("d86682" + "1b001fffffffffffff" + "80"))).toEqual(new Constr(2 ** 53 - 1, []));
  expect(isData(fromHex("d86682" + "20" + "80"))).toBe(false);
  expect(isData(fromHex("d86682" + "c24101" + "80"))).toBe(false);
});

test("data is decoded and encoded at any depth, in time proportional to its length", () => {
  const deep = (open: string, inner: string, close: string, levels: number) =>
    fromHex(open.repeat(levels) + inner + close.repeat(levels));
  for (
    const bytes of [
      deep("81", "80", "", 90_000),
      deep("d866" + "9f" + "00" + "9f", "80", "ffff", 15_000),
      deep("9f", "80", "ff", 45_000),
      deep("a1" + "00", "80", "", 45_000),
    ]
  ) {
    const data = decodeData(bytes);
    expect(isData(encodeData(data))).toBe(true);
    expect(isData(bytes.subarray(0, -1))).toBe(false);
  }
});

test("a map keeps duplicate keys", () => {
  const twice = new DataMap([[1n, 2n], [1n, 3n]]);
  expect(decodeData(encodeData(twice))).toEqual(twice);
});

test.each([
  ["fields of an odd number in a map", "bf0001" + "02ff", false],
  ["a large integer under a longer head of its tag", "d802" + "4101", false],
  ["a constructor by number in lists of unknown length", "d866" + "9f00" + "9f01ff" + "ff", true],
  ["one whose outer list continues", "d866" + "9f00" + "80" + "00" + "ff", false],
  ["a large integer without bytes", "c240", true],
])("%s", (_, hex, is) => {
  expect(isData(fromHex(hex))).toBe(is);
});
