import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { concat, equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import { as, asInt, decode, encode, raw } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { scanBlock, scanTransaction } from "#src/cardano/scan.ts";
import { type BlockFields, encodeBlock } from "#src/devnet/blocks/block.ts";
import { vectors } from "../../../support/base/vectors.ts";

const ref = (digit: string) => [fromHex(digit.repeat(64)), 0];
const output = [fromHex("60" + "cd".repeat(28)), 5];
const transaction = (digit: string, valid: boolean, auxiliary: string | null) =>
  scanTransaction(encode([
    new Map<number, number | (Uint8Array | number)[][]>([[0, [ref(digit)]], [1, [output]], [2, 7], [13, [ref("f")]]]),
    new Map(),
    valid,
    auxiliary,
  ]));

const fields: BlockFields = {
  height: 3,
  slot: 70,
  fork: 0,
  previous: "ab".repeat(32),
  issuer: fromHex("11".repeat(32)),
  protocolVersion: { major: 10, minor: 0 },
  transactions: [transaction("1", true, null), transaction("2", false, "x"), transaction("3", true, "y")],
};

test("a scan of a block gives its fields", () => {
  const { bytes, hash } = encodeBlock(fields);
  const block = scanBlock(bytes);
  expect(block).toMatchObject({ era: 7, height: 3, slot: 70, previous: fields.previous, hash });
  expect(block.issuer).toBe("11".repeat(32));
  expect(block.transactions.map(({ hash, valid, auxiliaryData }) => ({ hash, valid, auxiliaryData }))).toEqual(
    fields.transactions.map((each, index) => ({
      hash: (each as typeof block.transactions[0]).hash,
      valid: index !== 1,
      auxiliaryData: each.auxiliaryData,
    })),
  );
});

test("the first block has no previous one", () => {
  expect(scanBlock(encodeBlock({ ...fields, previous: undefined, transactions: [] }).bytes).previous).toBeUndefined();
});

test("blocks of two forks differ in nothing but the VRF output", () => {
  const [before, after] = [0, 1].map((fork) => encodeBlock({ ...fields, fork }));
  expect(after!.hash).not.toBe(before!.hash);
  const differing = [...before!.bytes].flatMap((byte, at) =>
    byte === after!.bytes[at] ? [] : [after!.bytes[at]! - byte]
  );
  expect(differing).toEqual([1]);
  expect(scanBlock(after!.bytes)).toMatchObject({ slot: 70, height: 3, previous: fields.previous });
});

test("the header has the fields and lengths of the CDDL", () => {
  const { bytes, hash } = encodeBlock(fields);
  const [header, ...parts] = as(as(decode(bytes), "array").value[1], "array").value;
  expect(toHex(blake2b256(raw(header!)))).toBe(hash);
  const [body, signature] = as(header, "array").value;
  const field = as(body, "array").value;
  const length = (item: typeof body) => as(item, "bytes").value.length;
  expect(field.length).toBe(10);
  expect([length(signature), length(field[3]), length(field[4])]).toEqual([448, 32, 32]);
  expect(as(field[5], "array").value.map(length)).toEqual([64, 80]);
  expect(Number(asInt(field[6]))).toBe(parts.reduce((size, part) => size + raw(part).length, 0));
  const [hot, , , sigma] = as(field[8], "array").value;
  expect([length(hot), length(sigma)]).toEqual([32, 64]);
});

describe("real Conway blocks", () => {
  // the body hash is the only field of a header computed from the rest: compare it with blocks that nodes accepted
  test.each(["conway1", "conway4", "conway-gouroboros-mainnet", "conway-preprod-2667660"])(
    "body hash of %s",
    (name) => {
      const bytes = new Uint8Array(readFileSync(vectors(`blocks/single/${name}.cbor`)));
      const [header, ...parts] = as(as(decode(bytes), "array").value[1], "array").value;
      const stated = as(as(as(header, "array").value[0], "array").value[7], "bytes").value;
      const reckoned = blake2b256(concat(...parts.map((part) => blake2b256(raw(part)))));
      expect(equalBytes(stated, reckoned)).toBe(true);
      // encoded again from the scan, the parts have the same hash wherever the original uses our plain encoding
      const rebuilt = encodeBlock({ ...fields, transactions: scanBlock(bytes).transactions });
      const again = as(as(decode(rebuilt.bytes), "array").value[1], "array").value.slice(1);
      expect(again.map((part) => decode(raw(part)).type)).toEqual(parts.map((part) => part.type));
      expect(scanBlock(rebuilt.bytes).transactions).toMatchObject(
        scanBlock(bytes).transactions.map(({ hash, valid }) => ({ hash, valid })),
      );
    },
  );
});
