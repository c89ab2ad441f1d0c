/** On-chain metadata of assets: CIP-25 against Blockfrost's own reader, CIP-68 against its validator and known results. */
import { getOnchainMetadata, validateCIP68Metadata } from "@blockfrost/openapi";
import { describe, expect, test } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import { constr, type Data, DataMap, encodeData } from "#src/cardano/data.ts";
import { onchainMetadata } from "#src/devnet/serve/blockfrost/assetMetadata.ts";
import { cborOfMetadata, jsonOfMetadata } from "#src/devnet/serve/blockfrost/metadataValue.ts";

const policy = "ab".repeat(28);
const name = toHex(utf8("token"));
const valid = { name: "Token", image: "ipfs://one" };
const map = (entries: Record<string, unknown>): Encodable =>
  new Map(
    Object.entries(entries).map(([key, value]) => [
      key,
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? map(value as Record<string, unknown>)
        : Array.isArray(value)
        ? value.map((one) => typeof one === "object" ? map(one as Record<string, unknown>) : one as Encodable)
        : value as Encodable,
    ]),
  );

describe("CIP-25", () => {
  const versionTwo = (asset: Encodable) =>
    new Map<Encodable, Encodable>([
      [fromHex(policy), new Map([[fromHex(name), asset]])],
      ["version", 2],
    ]);
  const cases: Readonly<Record<string, Encodable>> = {
    "version 1": map({ [policy]: { token: valid } }),
    "version 1, stated as a text": map({ [policy]: { token: valid }, version: "1.0" }),
    "version 1 by the name in hexadecimal": map({ [policy]: { [name]: valid } }),
    "an image in pieces": map({ [policy]: { token: { ...valid, image: ["ipfs://", "one"] } } }),
    "files": map({
      [policy]: { token: { ...valid, files: [{ mediaType: "image/png", src: ["a", "b"], name: "x" }] } },
    }),
    "files without a media type": map({ [policy]: { token: { ...valid, files: [{ src: "a" }] } } }),
    "no image": map({ [policy]: { token: { name: "Token" } } }),
    "a name that is a number": map({ [policy]: { token: { ...valid, name: 1 } } }),
    "a description of another type": map({ [policy]: { token: { ...valid, description: 7 } } }),
    "a media type of another type": map({ [policy]: { token: { ...valid, mediaType: ["a"] } } }),
    "another asset": map({ [policy]: { other: valid } }),
    "another policy": map({ ["cd".repeat(28)]: { token: valid } }),
    "version 2": versionTwo(map(valid)),
    "version 2 that is invalid": versionTwo(map({ name: "Token" })),
    "version 2 with texts": map({ [policy]: { token: valid }, version: 2 }),
    "version 1 with bytes": new Map<Encodable, Encodable>([[fromHex(policy), new Map([[fromHex(name), map(valid)]])]]),
    "version 3": map({ [policy]: { token: valid }, version: 3 }),
    "no map": "nothing",
  };

  test.each(Object.entries(cases))("%s", (_, content) => {
    const cbor = encode(content);
    const value = { label: "721", cbor };
    const expected = getOnchainMetadata(
      jsonOfMetadata(value) as never,
      name,
      policy,
      toHex(cborOfMetadata(value)) as never,
    );
    expect(onchainMetadata(policy + name, { minting: cbor, reference: null })).toEqual({
      metadata: expected.onchainMetadata,
      standard: expected.validCIPversion,
      extra: null,
      decimals: null,
    });
  });

  test("an asset without metadata has none", () => {
    expect(onchainMetadata(policy + name, { minting: null, reference: null }))
      .toEqual({ metadata: null, standard: null, extra: null, decimals: null });
  });
});

describe("CIP-68", () => {
  const [nft, ft, rft] = ["000de140", "0014df10", "001bc280"].map((label) => policy + label + name) as [
    string,
    string,
    string,
  ];
  const text = (of: string): Data => utf8(of);
  const fields = (of: Readonly<Record<string, Data>>) =>
    new DataMap(Object.entries(of).map(([key, value]) => [text(key), value] as const));
  const read = (unit: string, ...datum: Data[]) =>
    onchainMetadata(unit, { minting: null, reference: encodeData(constr(0, ...datum)) });

  test("a token with an image", () => {
    const content = fields({ name: text("Token"), image: text("ipfs://one"), colour: text("red") });
    const metadata = { ...valid, colour: toHex(encodeData(text("red"))) };
    const found = read(nft, content, 1n, constr(0));
    expect(found).toEqual({ metadata, standard: "CIP68v1", extra: toHex(encodeData(constr(0))), decimals: null });
    expect(validateCIP68Metadata({ metadata, version: 1, extra: undefined } as never, "nft")).toMatchObject({
      metadata,
    });
    expect(read(rft, content, 2n)).toMatchObject({ metadata, standard: "CIP68v2" });
    expect(read(policy + name, content, 1n)).toMatchObject({ metadata: null, standard: null });
  });

  test("a fungible token has decimals", () => {
    const content = fields({ name: text("Coin"), description: text("A coin"), decimals: 6n, ticker: text("COIN") });
    const metadata = { name: "Coin", description: "A coin", decimals: 6, ticker: "COIN" };
    expect(read(ft, content, 1n)).toEqual({ metadata, standard: "CIP68v1", extra: null, decimals: 6 });
    expect(validateCIP68Metadata({ metadata, version: 1, extra: undefined } as never, "ft")).toMatchObject({
      metadata,
    });
  });

  test("files, and an image in pieces", () => {
    const files = [fields({ mediaType: text("image/png"), src: text("ipfs://two") })];
    const content = fields({ name: text("Token"), image: [text("ipfs://"), text("one")], files });
    expect(read(nft, content, 3n)).toMatchObject({
      metadata: { ...valid, files: [{ mediaType: "image/png", src: "ipfs://two" }] },
      standard: "CIP68v3",
    });
  });

  const content = fields({ name: text("Token"), image: text("ipfs://one") });
  test.each<[string, string, Data[]]>([
    ["a version after 3", nft, [content, 4n]],
    ["version 0", nft, [content, 0n]],
    ["no version", nft, [content]],
    ["a version that is no integer", nft, [content, text("1")]],
    ["no map", nft, [text("Token"), 1n]],
    ["nothing", nft, []],
    ["an NFT without an image", nft, [fields({ name: text("Token") }), 1n]],
    ["a coin without a description", ft, [fields({ name: text("Coin") }), 1n]],
    ["decimals that are no number", ft, [
      fields({ name: text("Coin"), description: text("A coin"), decimals: text("6") }),
      1n,
    ]],
    ["files that are no list", nft, [fields({ name: text("Token"), image: text("i"), files: text("f") }), 1n]],
  ])("%s does not satisfy the standard", (_, unit, datum) => {
    expect(read(unit, ...datum)).toEqual({ metadata: null, standard: null, extra: null, decimals: null });
  });

  test("a datum that is not the reference's leaves the metadata of the minting", () => {
    const minting = encode(map({ [policy]: { [nft.slice(56)]: valid } }));
    expect(onchainMetadata(nft, { minting, reference: encodeData(7n) })).toMatchObject({
      metadata: valid,
      standard: "CIP25v1",
    });
  });
});
