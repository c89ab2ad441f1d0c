import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";
import { encodeNative } from "#src/cardano/nativeScript.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import { pointJson, ratioText, readPoint, readRatio, readTip, tipJson } from "#src/ogmios/values.ts";
import { readAdditionalUtxos, readUtxo, utxoJson } from "#src/ogmios/outputs.ts";
import { scriptJson } from "#src/ogmios/scripts.ts";
import { OgmiosFormError } from "#src/ogmios/form.ts";
import { nativeScript } from "../../support/ogmios/transactions.ts";
import { cases } from "../../support/base/longTests.ts";
import { golden, replaced, schemaFault } from "../../support/ogmios/golden.ts";

/** The members of messages' results. */
const results = (directory: string, name?: string): Json[] =>
  golden(directory).flatMap((message) => {
    const result = isObject(message) ? message.result : undefined;
    const one = name === undefined ? result : isObject(result) ? result[name] : undefined;
    return one === undefined ? [] : [one];
  });

describe("messages of Ogmios", () => {
  it("has every output of a UTxO set", () => {
    const items = results("QueryLedgerStateUtxo").flatMap((list) => list as Json[]);
    expect(items.length).toBeGreaterThan(100);
    for (const item of items) expect(utxoJson(readUtxo(item))).toEqual(item);
  });

  it("has every point and tip", () => {
    const points = [
      ...results("QueryNetworkTip"),
      ...results("QueryLedgerStateTip"),
      ...results("FindIntersectionResponse", "intersection"),
    ];
    const tips = [...results("FindIntersectionResponse", "tip"), ...results("NextBlockResponse", "tip")];
    expect(points.length).toBeGreaterThan(20);
    expect(tips.length).toBeGreaterThan(50);
    for (const point of points) expect(pointJson(readPoint(point))).toEqual(point);
    for (const tip of tips) expect(tipJson(readTip(tip))).toEqual(tip);
  });
});

const address = "addr_test1vzpwq95z3xyum8vqndgdd9mdnmafh3djcxnc6jemlgdmswcve6tkw";
const id = "cd".repeat(32);
const item = { transaction: { id }, index: 3, address, value: { ada: { lovelace: 5 } } };
const scriptOf = (script: Json) => toJson(utxoJson(readUtxo({ ...item, script })));

describe("values", () => {
  it("has native scripts, with and without their CBOR", () => {
    fc.assert(fc.property(nativeScript, (script) => {
      const cbor = encodeNative(script);
      const json = parseJson(toJson(scriptJson(encode([0, new Encoded(cbor)]))));
      expect(schemaFault("cardano/Script", json)).toBeUndefined();
      expect(parseJson(scriptOf(json))).toMatchObject({ script: json });
      const { cbor: _, ...clauses } = json as { [name: string]: Json };
      expect(parseJson(scriptOf(clauses))).toMatchObject({ script: json });
    }));
  });

  it("tells CBOR of 28 bytes from the hash of a key", () => {
    const cbor = "82018382018082041b000000010000000082041b0000000100000000";
    expect(parseJson(scriptOf({ language: "native", cbor }))).toMatchObject({ script: { cbor } });
    expect(parseJson(scriptOf({ native: cbor }))).toMatchObject({
      script: { json: { clause: "signature", from: cbor } },
    });
  });

  it("writes a native script that is as deep as a transaction allows", () => {
    const depth = 5_000;
    const cbor = new Uint8Array([...Array(depth).fill([0x82, 1, 0x81]).flat(), 0x82, 4, 7]);
    const text = toJson(scriptJson(encode([0, new Encoded(cbor)])));
    expect(text.startsWith(`{"language":"native","json":{"clause":"all","from":[{"clause":"all"`)).toBe(true);
    expect(text.split("[").length - 1).toBe(depth);
  });

  it("has fractions in their lowest terms", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(1n << 64n), max: 1n << 64n }), fc.bigInt({ min: 1n, max: 1n << 64n }), (a, b) => {
        const read = readRatio(ratioText({ numerator: a, denominator: b }));
        expect(read.numerator * b).toBe(a * read.denominator);
        expect(ratioText(read)).toBe(ratioText({ numerator: a, denominator: b }));
      }),
    );
    expect(ratioText({ numerator: 0n, denominator: 7n })).toBe("0/1");
    expect(ratioText({ numerator: 4n, denominator: 2n })).toBe("2/1");
  });

  it("reads the forms of version 5", () => {
    const value = { coins: "9007199254740993", assets: { [`${"aa".repeat(28)}.beef`]: 3, ["bb".repeat(28)]: "4" } };
    const script = { any: ["0b".repeat(28), { "2": [{ startsAt: 7 }, { expiresAt: 9 }] }] };
    const read = readAdditionalUtxos([
      [{ txId: id, index: 3 }, { address, value, datum_hash: "0c".repeat(32) }],
      [{ txId: id, index: 4 }, { address, value: { coins: 1 }, datum: "d87980", script: { native: script } }],
      [{ txId: id, index: 5 }, { address, value: { coins: 1 }, datum: null, script: { "plutus:v2": "4101" } }],
    ]);
    expect(read.ok && read.value.map(utxoJson)).toEqual([
      {
        ...item,
        value: { ada: { lovelace: 9007199254740993n }, ["aa".repeat(28)]: { beef: 3 }, ["bb".repeat(28)]: { "": 4 } },
        datumHash: "0c".repeat(32),
      },
      {
        ...item,
        index: 4,
        value: { ada: { lovelace: 1 } },
        datum: "d87980",
        script: {
          language: "native",
          json: {
            clause: "any",
            from: [
              { clause: "signature", from: "0b".repeat(28) },
              { clause: "some", atLeast: 2, from: [{ clause: "after", slot: 7 }, { clause: "before", slot: 9 }] },
            ],
          },
          cbor: expect.any(String),
        },
      },
      { ...item, index: 5, value: { ada: { lovelace: 1 } }, script: { language: "plutus:v2", cbor: "4101" } },
    ]);
  });

  it("refuses everything else with a reason", () => {
    const bad: Json[] = [
      {},
      [],
      "text",
      { ...item, transaction: { id: "ab" } },
      { ...item, index: -1 },
      { ...item, index: 1.5 },
      { ...item, address: "x" },
      { ...item, value: 5 },
      { ...item, value: { ada: { lovelace: -1 } } },
      { ...item, value: { ada: { lovelace: 1 }, policy: { "": 1 } } },
      { ...item, value: { ada: { lovelace: 1 }, ["aa".repeat(28)]: { xyz: 1 } } },
      { ...item, datum: "ff" },
      { ...item, datum: "0" },
      { ...item, script: { language: "plutus:v9", cbor: "00" } },
      { ...item, script: { language: "native", json: { clause: "some", from: [] } } },
    ];
    for (const one of bad) {
      const read = readAdditionalUtxos([item, one]);
      expect(read.ok ? toJson(one) : read.error.message).toMatch(/^1: \w/);
    }
    const [items = []] = results("QueryLedgerStateUtxo") as Json[][];
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.bigInt(),
      fc.constantFrom("", "ff", "00".repeat(32), -1, null),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...items),
        fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
        odd,
        (of, path, value) => {
          const read = readAdditionalUtxos([replaced(of, path, value as Json)]);
          if (read.ok) read.value.map(utxoJson);
        },
      ),
      { numRuns: cases(200, 20_000) },
    );
    expect(() => readPoint({ slot: 1, id: "ab" })).toThrow(OgmiosFormError);
    expect(readAdditionalUtxos(item).ok).toBe(false);
    expect(readAdditionalUtxos(Array(1001).fill(item)).ok).toBe(false);
  });
});
