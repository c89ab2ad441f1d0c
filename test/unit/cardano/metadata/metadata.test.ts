/** Metadata in both forms of JSON and as CBOR, plain and encrypted. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { parseJson, toJson } from "#src/base/json.ts";
import { decryptMetadata, encryptMetadata } from "#src/cardano/metadata/encryption.ts";
import { metadataJson, readMetadata } from "#src/cardano/metadata/json.ts";
import {
  decodeMetadata,
  encodeMetadata,
  type Metadata,
  type Metadatum,
  MetadatumMap,
} from "#src/cardano/metadata/metadatum.ts";
import { walletVectors } from "../../../support/wallets/walletVectors.ts";

function read(json: unknown): Metadata {
  const result = readMetadata(parseJson(typeof json === "string" ? json : toJson(json)));
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

function refusal(json: unknown): string {
  const result = readMetadata(parseJson(typeof json === "string" ? json : toJson(json)));
  if (result.ok) throw new Error("a refusal was expected");
  return result.error.message;
}

const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((one) => !one.startsWith("0x"));
const { value: anyValue } = fc.letrec<{ value: Metadatum }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.bigInt(-((1n << 64n) - 1n), (1n << 64n) - 1n),
    text,
    fc.uint8Array({ maxLength: 64 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 4 }).map((pairs) => new MetadatumMap(pairs)),
  ),
}));
const anyMetadata = fc.uniqueArray(fc.tuple(fc.bigInt(0n, (1n << 64n) - 1n), anyValue), {
  maxLength: 4,
  selector: ([label]) => label,
}).map((list) => new Map(list));

describe("metadata", () => {
  it("keeps every digit from JSON to CBOR and back", () => {
    const json = '{"0":{"int":18446744073709551615},"18446744073709551615":{"int":-18446744073709551615}}';
    const metadata = read(json);
    expect(toJson(metadataJson(decodeMetadata(encodeMetadata(metadata))))).toBe(json);
  });

  it("is decoded as encoded, in the tagged form and as CBOR", () => {
    fc.assert(
      fc.property(anyMetadata, (metadata) => {
        const bytes = encodeMetadata(metadata);
        expect(toHex(encodeMetadata(decodeMetadata(bytes)))).toBe(toHex(bytes));
        expect(toHex(encodeMetadata(read(metadataJson(metadata))))).toBe(toHex(bytes));
        const theirs = csl.GeneralTransactionMetadata.from_bytes(bytes);
        expect(theirs.len()).toBe(metadata.size);
      }),
      { numRuns: 200, seed: 5 },
    );
  });

  it("keeps every entry of a map, also several of one key", () => {
    const json = (key: string) =>
      `{"1":{"map":[{"k":${key},"v":{"int":1}},{"k":{"int":2},"v":{"int":2}},{"k":${key},"v":{"int":3}}]}}`;
    for (const [key, cbor] of [['{"int":7}', "07"], ['{"string":"a"}', "6161"], ['{"bytes":"aa"}', "41aa"]] as const) {
      const bytes = encodeMetadata(read(json(key)));
      expect(toHex(bytes)).toBe(`a101a3${cbor}010202${cbor}03`);
      expect(toJson(metadataJson(decodeMetadata(bytes)))).toBe(json(key));
    }
  });

  it("is the same as other implementations make of the same JSON", () => {
    const tagged = { map: [{ k: { string: "a" }, v: { list: [{ int: 5 }, { bytes: "00ff" }] } }] };
    const theirs = csl.encode_json_str_to_metadatum(
      JSON.stringify(tagged),
      csl.MetadataJsonSchema.DetailedSchema,
    );
    expect(toHex(encodeMetadata(read({ "7": tagged }))).slice(4)).toBe(theirs.to_hex());
    const plain = { a: [5, "0x00ff", "text"], "12": -3 };
    const same = csl.encode_json_str_to_metadatum(JSON.stringify(plain), csl.MetadataJsonSchema.BasicConversions);
    expect(csl.decode_metadatum_to_json_str(
      csl.TransactionMetadatum.from_bytes(encodeMetadata(read({ "7": plain })).slice(2)),
      csl.MetadataJsonSchema.BasicConversions,
    )).toBe(csl.decode_metadatum_to_json_str(same, csl.MetadataJsonSchema.BasicConversions));
  });

  it("is decoded however deeply others nested it: a value that is too deep is given as CBOR", () => {
    const bytes = Uint8Array.from([0xa1, 0x00, ...new Array(2_000).fill(0x81), 0x05]);
    const [value] = decodeMetadata(bytes).values();
    const json = toJson(metadataJson(new Map([[0n, value!]])));
    expect(json).toMatch(/^\{"0":\{"list":\[\{"list":/);
    expect(json).toMatch(/\{"bytes":"(81)+05"\}/);
  });

  it("is plain if values have no tags, and decoded as encoded in that form", () => {
    const json = { "674": { msg: ["one", "two"], "5": "0xbeef", list: [1, -1] } };
    expect(metadataJson(read(json), "plain")).toEqual(json);
    expect(read(json).get(674n)).toBeInstanceOf(MetadatumMap);
  });

  it("allows 64 bytes of a text or of bytes, and no more", () => {
    const long = "é".repeat(32);
    expect(read({ "0": { string: long } }).get(0n)).toBe(long);
    expect(refusal({ "0": { string: `${long}x` } })).toContain("65 bytes");
    expect(refusal({ "0": `${long}x` })).toContain("65 bytes");
    expect(read({ "0": { bytes: "ab".repeat(64) } }).size).toBe(1);
    expect(refusal({ "0": { bytes: "ab".repeat(65) } })).toContain("65 bytes");
  });

  it.each([
    ["a label that is no number", { "abc": { int: 1 } }],
    ["a label below zero", { "-1": { int: 1 } }],
    ["a label past 2^64 - 1", { "18446744073709551616": { int: 1 } }],
    ["an integer past 2^64 - 1", '{"0":{"int":18446744073709551616}}'],
    ["an integer below -(2^64 - 1)", '{"0":{"int":-18446744073709551616}}'],
    ["a fraction", { "0": { int: 1.5 } }],
    ["null", { "0": null }],
    ["truth", { "0": { list: [true] } }],
    ["bytes that are not hexadecimal", { "0": { bytes: "zz" } }],
    ["values nested too deeply", `{"0":${"[".repeat(1_000)}${"]".repeat(1_000)}}`],
    ["a list instead of an object", []],
  ])("refuses %s", (_, json) => {
    expect(refusal(json)).not.toBe("");
  });
});

describe("an encrypted message", () => {
  const entry = { k: { string: "msg" }, v: { list: [{ string: "a" }] } };
  const TWICE = { "674": { map: [entry, entry] } };
  const vectors = walletVectors("cip83-encrypt");

  it.each(vectors)(
    "is what other wallets encode: $id",
    async ({ input, expected }) => {
      const metadata = read(input.metadata);
      const salt = input.salt === null ? new Uint8Array() : fromHex(input.salt);
      const encrypted = await encryptMetadata(metadata, input.passphrase, salt);
      if (!encrypted.ok) throw new Error(encrypted.error.message);
      expect(metadataJson(encrypted.value, "plain")).toEqual(parseJson(JSON.stringify(expected.metadata)));
      const decrypted = await decryptMetadata(encrypted.value, input.passphrase);
      expect(decrypted.ok).toBe(expected.decrypts);
      if (decrypted.ok) expect(metadataJson(decrypted.value, "plain")).toEqual(input.metadata);
      else expect(decrypted.error.message).toContain("salt is missing");
    },
  );

  it("is decrypted with its passphrase only, everything else unchanged", async () => {
    const metadata = read({
      "1": { int: 2 },
      "674": { map: [{ k: { string: "msg" }, v: { list: [{ string: 'ä"\\' }] } }, { k: { int: 1 }, v: { int: 2 } }] },
    });
    const encrypted = await encryptMetadata(metadata, "secret");
    if (!encrypted.ok) throw new Error(encrypted.error.message);
    const decrypted = await decryptMetadata(encrypted.value, "secret");
    expect(decrypted.ok && toHex(encodeMetadata(decrypted.value))).toBe(toHex(encodeMetadata(metadata)));
    expect(await decryptMetadata(encrypted.value, "Secret")).toMatchObject({
      ok: false,
      error: { code: "invalid_metadata_decryption" },
    });
  });

  it("requires a message", async () => {
    for (const json of [{ "0": 1 }, { "674": "x" }, { "674": { msg: "x" } }, { "674": { msg: [1] } }, TWICE]) {
      expect(await encryptMetadata(read(json), "x")).toMatchObject({
        ok: false,
        error: { code: "invalid_metadata_encryption" },
      });
      expect(await decryptMetadata(read(json), "x")).toMatchObject({
        ok: false,
        error: { code: "invalid_metadata_decryption" },
      });
    }
  });
});
