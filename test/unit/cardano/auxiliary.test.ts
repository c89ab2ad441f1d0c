import { describe, expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { CborError, type Encodable, encode, Indefinite, Tagged } from "#src/cardano/cbor.ts";

const metadata = new Map<Encodable, Encodable>([[721, ["a", 1]], [(1n << 64n) - 1n, new Indefinite(["b"])]]);
const theMetadata = [[721n, "82616101"], [(1n << 64n) - 1n, "9f6162ff"]];
const native = [[0, fromHex("aa".repeat(28))], [4, 5]];
const theNative = ["8200581c" + "aa".repeat(28), "820405"];

const read = (item: Encodable) => {
  const { metadata, native, plutus } = readAuxiliaryData(encode(item));
  return {
    metadata: [...metadata].map(([label, cbor]) => [label, toHex(cbor)]),
    native: native.map(toHex),
    plutus: plutus.map(({ language, bytes }) => [language, toHex(bytes)]),
  };
};

describe("auxiliary data", () => {
  test("of Shelley is metadata", () => {
    expect(read(metadata)).toEqual({ metadata: theMetadata, native: [], plutus: [] });
    expect(read(new Map())).toEqual({ metadata: [], native: [], plutus: [] });
  });
  test("of Allegra has native scripts too", () => {
    expect(read([metadata, native])).toEqual({ metadata: theMetadata, native: theNative, plutus: [] });
    expect(read(new Indefinite([metadata, new Indefinite(native)])).native).toEqual(theNative);
  });
  test("since Alonzo is a map under a tag", () => {
    const whole = new Tagged(
      259,
      new Map<Encodable, Encodable>([
        [0, metadata],
        [1, native],
        [2, [fromHex("01")]],
        [3, [fromHex("02"), fromHex("03")]],
        [4, [fromHex("04")]],
      ]),
    );
    expect(read(whole)).toEqual({
      metadata: theMetadata,
      native: theNative,
      plutus: [[1, "01"], [2, "02"], [2, "03"], [3, "04"]],
    });
    expect(read(new Tagged(259, new Map()))).toEqual({ metadata: [], native: [], plutus: [] });
  });
  test.each<[string, Encodable]>([
    ["a number", 1],
    ["another tag", new Tagged(258, new Map())],
    ["a field that there is not", new Tagged(259, new Map([[5, []]]))],
    ["three elements", [new Map(), [], []]],
    ["a label that is no number", new Map([["a", 1]])],
  ])("%s is none", (_, item) => expect(() => readAuxiliaryData(encode(item))).toThrow(CborError));
  test("bytes after it are refused", () => expect(() => readAuxiliaryData(fromHex("a000"))).toThrow(CborError));
});
