import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blake2b256 } from "#src/cardano/hash.ts";
import { constr, decodeData, encodeData } from "#src/cardano/data.ts";
import {
  changeOf,
  type Datum,
  datumData,
  decodeDatum,
  EMPTY_ROOT,
  encodeDatum,
  MAX_FACT_BYTES,
  type Operation,
  readDatum,
  tokenName,
} from "#src/contract/datum.ts";
import { mintData, readMint, readSpend, spendData, type SpendRedeemer } from "#src/contract/redeemer.ts";
import {
  type KeyAddress,
  keyAddress,
  keyAddressData,
  keyAddressHex,
  readKeyAddress,
} from "#src/contract/plutusAddress.ts";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { malformedVariants } from "../../support/plutus/malformedData.ts";

const hex = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex);
const bytes = fc.uint8Array({ maxLength: 200 });
const address: fc.Arbitrary<KeyAddress> = fc.oneof(
  fc.record({ payment: hex(28) }),
  fc.record({
    payment: hex(28),
    stake: fc.record({ kind: fc.constantFrom("key" as const, "script" as const), hash: hex(28) }),
  }),
);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ type: fc.constant("insert" as const), value: bytes }),
  fc.record({ type: fc.constant("delete" as const), value: bytes }),
  fc.record({ type: fc.constant("update" as const), old: bytes, value: bytes }),
);
const datum: fc.Arbitrary<Datum> = fc.oneof(
  fc.record({ type: fc.constant("state" as const), state: fc.record({ owner: hex(28), root: hex(32) }) }),
  fc.record({
    type: fc.constant("request" as const),
    request: fc.record({
      policy: hex(28),
      name: hex(32),
      refund: address,
      fee: fc.bigInt(0n, 45_000_000_000_000_000n),
      key: bytes,
      operation,
    }),
  }),
);

const request = (over: Partial<Extract<Datum, { type: "request" }>["request"]> = {}): Datum => ({
  type: "request",
  request: {
    policy: "01".repeat(28),
    name: "02".repeat(32),
    refund: { payment: "03".repeat(28), stake: { kind: "key", hash: "04".repeat(28) } },
    fee: 1_000n,
    key: utf8("key"),
    operation: { type: "update", old: utf8("old"), value: utf8("new") },
    ...over,
  },
});

describe("datums", () => {
  it("are decoded as encoded", () => {
    fc.assert(fc.property(datum, (given) => {
      expect(decodeDatum(encodeDatum(given))).toEqual(given);
    }));
  });

  it("have the form that the contract accepts", () => {
    expect(toHex(encodeDatum({ type: "state", state: { owner: "01".repeat(28), root: EMPTY_ROOT } })))
      .toBe(`d87a9fd8799f581c${"01".repeat(28)}5820${"00".repeat(32)}ffff`);
    expect(toHex(encodeDatum(request()))).toBe(
      `d8799fd8799fd8799f581c${"01".repeat(28)}5820${"02".repeat(32)}ff` +
        `d8799fd8799f581c${"03".repeat(28)}ffd8799fd8799fd8799f581c${"04".repeat(28)}ffffffff` +
        `1903e8436b6579d87b9f436f6c64436e6577ffffff`,
    );
  });

  it("are refused in any other form", () => {
    const insert = request({ operation: { type: "insert", value: utf8("v") }, refund: { payment: "03".repeat(28) } });
    const state: Datum = { type: "state", state: { owner: "01".repeat(28), root: EMPTY_ROOT } };
    for (const good of [request(), insert, state]) {
      for (const bad of malformedVariants(datumData(good))) {
        const again = readDatum(bad);
        expect(again === undefined ? undefined : toHex(encodeData(datumData(again)))).toBe(
          again === undefined ? undefined : toHex(encodeData(bad)),
        );
      }
      expect(malformedVariants(datumData(good)).filter((bad) => readDatum(bad) !== undefined)).toEqual([]);
    }
  });

  it("have bounds", () => {
    expect(decodeDatum(encodeDatum(request({ fee: -1n })))).toBeUndefined();
    expect(decodeDatum(encodeDatum(request({ fee: 45_000_000_000_000_001n })))).toBeUndefined();
    expect(decodeDatum(encodeDatum(request({ key: new Uint8Array(MAX_FACT_BYTES) })))).toBeDefined();
    expect(decodeDatum(encodeDatum(request({ key: new Uint8Array(MAX_FACT_BYTES + 1) })))).toBeUndefined();
    expect(decodeDatum(encodeDatum(request({ policy: "01" })))).toBeUndefined();
    expect(decodeDatum(encodeDatum(request({ name: "01" })))).toBeUndefined();
    expect(decodeDatum(encodeDatum({ type: "state", state: { owner: "01", root: EMPTY_ROOT } }))).toBeUndefined();
    expect(decodeDatum(encodeDatum({ type: "state", state: { owner: "01".repeat(28), root: "" } }))).toBeUndefined();
    expect(decodeDatum(Uint8Array.of(0x9f))).toBeUndefined();
    expect(decodeDatum(new Uint8Array(1000).fill(0x81))).toBeUndefined();
  });

  it("state the change of the trie", () => {
    const [key, old, value] = ["k", "a", "b"].map(utf8) as [Uint8Array, Uint8Array, Uint8Array];
    expect(changeOf(key, { type: "update", old, value })).toEqual({
      type: "update",
      path: blake2b256(key),
      old: blake2b256(old),
      value: blake2b256(value),
    });
    expect(changeOf(key, { type: "delete", value })).toEqual({
      type: "delete",
      path: blake2b256(key),
      value: blake2b256(value),
    });
  });
});

describe("key addresses", () => {
  it("are decoded as encoded, as bytes and as data", () => {
    fc.assert(fc.property(address, fc.constantFrom(0 as const, 1 as const), (given, network) => {
      expect(keyAddress(keyAddressHex(given, network))).toEqual(given);
      expect(readKeyAddress(decodeData(encodeData(keyAddressData(given))))).toEqual(given);
    }));
  });

  it("have no other form", () => {
    const hash = "05".repeat(28);
    for (
      const bad of [
        "",
        "60",
        `60${hash}00`,
        `70${hash}`,
        `00${hash}`,
        `10${hash}${hash}`,
        `40${hash}010203`,
        `e0${hash}`,
      ]
    ) {
      expect(keyAddress(bad)).toBeUndefined();
    }
    expect(keyAddress("zz" + hash)).toBeUndefined();
    const pointer = constr(0, constr(0, fromHex(hash)), constr(0, constr(1, 1n, 2n, 3n)));
    expect(readKeyAddress(pointer)).toBeUndefined();
    expect(readKeyAddress(constr(0, constr(1, fromHex(hash)), constr(1)))).toBeUndefined();
  });
});

describe("redeemers", () => {
  it("are decoded as encoded", () => {
    const spends: SpendRedeemer[] = [
      { type: "end" },
      { type: "contribute" },
      { type: "contribute", index: 0 },
      { type: "contribute", index: 65_535 },
      { type: "refuse", index: 0 },
      { type: "refuse", index: 65_535 },
      { type: "retract" },
      { type: "modify", actions: [] },
      {
        type: "modify",
        actions: [{ type: "skip" }, { type: "refuse" }, { type: "apply", proof: [] }, {
          type: "apply",
          proof: [{ type: "leaf", skip: 3, key: new Uint8Array(32), value: new Uint8Array(32) }],
        }],
      },
    ];
    for (const given of spends) expect(readSpend(spendData(given))).toEqual(given);
    for (const given of spends) {
      const data = spendData(given);
      const malformed = typeof data !== "bigint" ? malformedVariants(data) : data < 0n ? [] : [65_536n + data];
      for (const bad of malformed) expect(readSpend(bad)).toBeUndefined();
    }
    // the contract does not look at the number of a refused request that is the first input
    for (const far of [-65_537n, -(1n << 64n)]) expect(readSpend(far)).toEqual({ type: "refuse", index: 65_535 });
    const seed = { txHash: "07".repeat(32), index: 258 };
    expect(readMint(mintData({ type: "minting", seed }))).toEqual({ type: "minting", seed });
    expect(readMint(mintData({ type: "burning" }))).toEqual({ type: "burning" });
    for (const bad of malformedVariants(mintData({ type: "minting", seed }))) expect(readMint(bad)).toBeUndefined();
  });

  it("name a token after its seed", () => {
    // sha2-256 of 32 zero bytes and 0001
    expect(tokenName({ txHash: "00".repeat(32), index: 1 })).toBe(
      "53fa9028d8683c41a19cfc6e9c457cc7591e9baa15e668156d930e47d88ab956",
    );
  });
});
