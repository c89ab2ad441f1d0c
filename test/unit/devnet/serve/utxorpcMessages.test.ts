/** The messages of UTxO RPC: their versions, and values at the edges of what they can say. */
import type { AnyMessage, MessageType, ServiceType } from "@bufbuild/protobuf";
import { cardano } from "@utxorpc/spec/lib/index.mjs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { Constr, type Data, DataMap } from "#src/cardano/data.ts";
import type { NativeScript } from "#src/cardano/nativeScript.ts";
import { alphaWithIntegers, beta } from "#src/devnet/serve/utxorpc/messages/versions.ts";
import { asBigIntegers, asOneQuantity, bigInteger } from "#src/devnet/serve/utxorpc/messages/form.ts";
import { dataMessage, metadatumMessage, nativeMessage } from "#src/devnet/serve/utxorpc/messages/nested.ts";
import { ratioMessage } from "#src/devnet/serve/utxorpc/messages/values.ts";
import { RecentBlocks } from "#src/devnet/serve/utxorpc/recentBlocks.ts";

type AnyType = MessageType<AnyMessage>;

/** The fields of all messages that a service's methods reach, by message and number. */
function fieldsOf(services: readonly ServiceType[]): Map<string, string> {
  const fields = new Map<string, string>();
  const seen = new Set<string>();
  const visit = (type: AnyType) => {
    if (seen.has(type.typeName)) return;
    seen.add(type.typeName);
    for (const field of type.fields.list()) {
      const { no, kind, repeated } = field;
      const value = field.kind === "map" ? field.V : field;
      const of = value.kind === "message" || value.kind === "enum" ? (value.T as AnyType).typeName : value.T;
      fields.set(`${type.typeName} ${no}`, [field.name, kind, of, repeated, field.oneof?.name ?? ""].join(" "));
      if (value.kind === "message") visit(value.T as AnyType);
    }
  };
  for (const { typeName, methods } of services) {
    for (const [name, { I, O, kind }] of Object.entries(methods)) {
      fields.set(`${typeName} ${name}`, `${I.typeName} ${O.typeName} ${kind}`);
      visit(I as AnyType);
      visit(O as AnyType);
    }
  }
  return fields;
}

test("the form with integers is that of @utxorpc/spec 0.17", () => {
  const require = createRequire(createRequire(import.meta.url).resolve("@utxorpc/sdk"));
  const { queryConnect, submitConnect, syncConnect, watchConnect } = require("@utxorpc/spec");
  const published = fieldsOf([
    queryConnect.QueryService,
    submitConnect.SubmitService,
    syncConnect.SyncService,
    watchConnect.WatchService,
  ]);
  const ours = fieldsOf(Object.values(alphaWithIntegers()));
  const missing = [...published].filter(([key, field]) => ours.get(key) !== field);
  expect(missing.map(([key, field]) => [key, field, ours.get(key)])).toEqual([]);
  expect(published.size).toBeGreaterThan(300);
});

test("v1beta differs from v1alpha in the quantity of an asset and the CBOR of an output", () => {
  const { query: { typeName, methods } } = beta();
  expect(typeName).toBe("utxorpc.v1beta.query.QueryService");
  const { O: Answer } = methods.readUtxos!;
  const quantity = { name: new Uint8Array([1]), quantity: bigInteger(7n) };
  const item = {
    parsedState: {
      case: "cardano",
      value: { originalCbor: new Uint8Array([2]), assets: [{ policyId: new Uint8Array(28), assets: [quantity] }] },
    },
  };
  const bytes = new Answer({ items: [item] }).toBinary();
  expect(JSON.parse(Answer.fromBinary(bytes).toJsonString())).toEqual({
    items: [{
      cardano: {
        originalCbor: "Ag==",
        assets: [{ policyId: btoa("\0".repeat(28)), assets: [{ name: "AQ==", quantity: { int: "7" } }] }],
      },
    }],
  });
  expect(asOneQuantity.asset(new Uint8Array([1]), 7n, "minted")).toEqual(quantity);
  expect(asBigIntegers.asset(new Uint8Array([1]), -7n, "minted").quantity).toMatchObject({ case: "mintCoin" });
});

test("integers of any size", () => {
  const cases: [bigint, object][] = [
    [0n, { case: "int", value: 0n }],
    [2n ** 63n - 1n, { case: "int", value: 2n ** 63n - 1n }],
    [-(2n ** 63n), { case: "int", value: -(2n ** 63n) }],
    [2n ** 63n, { case: "bigUInt", value: new Uint8Array([0x80, 0, 0, 0, 0, 0, 0, 0]) }],
    [-(2n ** 63n) - 1n, { case: "bigNInt", value: new Uint8Array([0x80, 0, 0, 0, 0, 0, 0, 0]) }],
    [2n ** 64n, { case: "bigUInt", value: new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0, 0]) }],
  ];
  for (const [value, bigInt] of cases) expect(bigInteger(value)).toEqual({ bigInt });
});

test("fractions that do not fit are reduced, or approximated", () => {
  expect(ratioMessage({ numerator: 1n, denominator: 3n })).toEqual({ numerator: 1, denominator: 3 });
  expect(ratioMessage({ numerator: 2n ** 40n, denominator: 2n ** 42n })).toEqual({ numerator: 1, denominator: 4 });
  const { numerator = 0, denominator = 0 } = ratioMessage({ numerator: 2n ** 62n - 1n, denominator: 2n ** 63n - 25n });
  expect(numerator / denominator).toBeCloseTo(0.5, 9);
  expect(ratioMessage({ numerator: 1n, denominator: 2n ** 63n })).toEqual({ numerator: 0, denominator: 2 ** 31 });
});

test("constructors by their tags in CBOR", () => {
  const constr = (tag: number | bigint) => dataMessage(new Constr(tag, []))?.plutusData?.value;
  expect(constr(0)).toEqual({ tag: 121, fields: [] });
  expect(constr(6)).toEqual({ tag: 127, fields: [] });
  expect(constr(7)).toEqual({ tag: 1280, fields: [] });
  expect(constr(127)).toEqual({ tag: 1400, fields: [] });
  expect(constr(128)).toEqual({ tag: 102, anyConstructor: 128n, fields: [] });
  expect(constr(2n ** 64n)).toBeUndefined();
});

test("what is nested too deeply for a decoder is left out", () => {
  const deep = <T>(levels: number, inside: T, around: (one: T) => T) =>
    Array.from({ length: levels }).reduce((one: T) => around(one), inside);
  const list = (levels: number) => deep<Data>(levels, 1n, (one) => [one]);
  expect(dataMessage(list(24))).toBeDefined();
  expect(dataMessage(list(25))).toBeUndefined();
  expect(dataMessage(new DataMap([[1n, list(25)]]))).toBeUndefined();
  const all = (levels: number) =>
    deep<NativeScript>(levels, { kind: "from", slot: 1n }, (one) => ({ kind: "all", scripts: [one] }));
  expect(nativeMessage(all(24))).toBeDefined();
  expect(nativeMessage(all(2_000))).toBeUndefined();
  expect(metadatumMessage([[[1n]]])).toBeDefined();
  expect(metadatumMessage(2n ** 63n)).toBeUndefined();
  // a decoder with the usual limit of a hundred levels reads what is written
  const bytes = new cardano.PlutusData(dataMessage(list(24)) as cardano.PlutusData).toBinary();
  expect(cardano.PlutusData.fromBinary(bytes).plutusData.case).toBe("array");
});

test("a script that any number of signatures satisfies", () => {
  const script = { kind: "at least", count: -3n, scripts: [] } as const;
  expect(nativeMessage(script)).toEqual({ nativeScript: { case: "scriptNOfK", value: { k: 0, scripts: [] } } });
  expect(nativeMessage({ ...script, count: 2n ** 40n })).toBeUndefined();
});

test("recent blocks are forgotten, the oldest first, when they are too many, and all when the last client leaves", () => {
  const recent = new RecentBlocks(10);
  const [first, second] = [recent.use(), recent.use()];
  recent.add("a", new Uint8Array(4));
  recent.add("b", new Uint8Array(4));
  recent.add("b", new Uint8Array(4));
  recent.add("c", new Uint8Array(4));
  expect([recent.get("a"), recent.get("b")?.length, recent.get("c")?.length]).toEqual([undefined, 4, 4]);
  first();
  expect(recent.get("c")).toBeDefined();
  second();
  expect(recent.get("c")).toBeUndefined();
});
