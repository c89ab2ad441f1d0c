/** Real blocks with random changes: the result is always a block or a `CborError`. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { concat, fromHex } from "#src/base/bytes.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { created, type ScannedBlock, spent } from "#src/cardano/block.ts";
import { CborError, encode, Encoded, head } from "#src/cardano/cbor.ts";
import { initHash } from "#src/cardano/hash.ts";
import { readWhole } from "#src/cardano/scanBody.ts";
import { scanBlock, scanTransaction } from "#src/cardano/scan.ts";
import { blockFile, singles } from "../../support/chain/vectorBlocks.ts";
import { cases } from "../../support/base/longTests.ts";

beforeAll(initHash);

const small = singles.filter(({ size }) => size < 20_000);
const blocks = small.map(({ file }) => blockFile(file));

/** Reads every part of a block. */
function readAll(bytes: Uint8Array): ScannedBlock {
  const block = scanBlock(bytes);
  for (const transaction of block.transactions) {
    readWhole(transaction);
    spent(transaction);
    created(transaction);
    if (transaction.auxiliaryData) readAuxiliaryData(transaction.auxiliaryData);
  }
  return block;
}

/** Whether bytes are a block; rethrows every error that is not a `CborError`. */
function survives(bytes: Uint8Array): boolean {
  try {
    readAll(bytes);
    return true;
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return false;
  }
}

describe("changed blocks", () => {
  const place = fc.tuple(
    fc.nat(Math.max(0, blocks.length - 1)),
    fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  );

  test("all are valid before", () => expect(blocks.map(survives)).not.toContain(false));

  test("truncated anywhere: refused", () => {
    fc.assert(
      fc.property(place, ([which, share]) => {
        const bytes = blocks[which]!;
        expect(survives(bytes.subarray(0, Math.floor(share * bytes.length)))).toBe(false);
      }),
      { numRuns: 1_500 },
    );
  });

  test("bytes changed: a block or an error", () => {
    let refused = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1, maxLength: 3 }), (changes) => {
        const bytes = blocks[changes[0]![0][0]]!.slice();
        for (const [[, share], byte] of changes) bytes[Math.floor(share * bytes.length)] = byte;
        if (!survives(bytes)) refused++;
      }),
      { numRuns: cases(1_000, 4_000) },
    );
    expect(refused).toBeGreaterThan(0);
  });

  test("the structure changed: heads with large or small counts", () => {
    const heads = [
      "9f",
      "bf",
      "5f",
      "7f",
      "ff",
      "9bffffffffffffffff",
      "bb7fffffffffffffff",
      "5b00000001ffffffff",
      "1c",
      "f8",
    ]
      .map(fromHex);
    fc.assert(
      fc.property(place, fc.constantFrom(...heads), ([which, share], inserted) => {
        const bytes = blocks[which]!;
        const at = Math.floor(share * bytes.length);
        survives(concat(bytes.subarray(0, at), inserted, bytes.subarray(at)));
        survives(concat(bytes.subarray(0, at), inserted, bytes.subarray(at + inserted.length)));
      }),
      { numRuns: 1_500 },
    );
  });
});

test("any bytes: an error", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    survives(bytes);
    survives(concat(fromHex("8207"), bytes));
    try {
      scanTransaction(bytes);
    } catch (error) {
      if (!(error instanceof CborError)) throw error;
    }
  }));
});

const MANY = 200_000;
const long = (type: number, element: string) => {
  const one = fromHex(element);
  const elements = new Uint8Array(MANY * one.length);
  for (let i = 0; i < MANY; i++) elements.set(one, i * one.length);
  return new Encoded(concat(head(type, MANY), elements));
};
const nested = (inner: string) => new Encoded(concat(new Uint8Array(MANY).fill(0x81), fromHex(inner)));

test.each([
  ["a list of outputs", 1, long(4, "824000")],
  ["a set of inputs", 0, long(4, "824000")],
  ["a list of certificates", 4, long(4, "82008200" + "40")],
  ["a map of withdrawals", 5, long(5, "4000")],
  ["assets", 9, long(5, "40a0")],
  ["a deep proposal", 20, nested("00")],
  ["a deep output", 1, nested("00")],
])("%s as long as a message can be", (_, field, value) => {
  const body = new Map<number, Encoded | number | readonly never[]>([[0, []], [1, []], [2, 0]]);
  body.set(field, value);
  const bytes = encode([new Encoded(encode(body)), new Map(), true, null]);
  const deepOutput = field === 1 && value.bytes[0] === 0x81;
  if (deepOutput) expect(() => scanTransaction(bytes)).toThrow(CborError);
  else expect(scanTransaction(bytes).body.length).toBeGreaterThan(MANY);
});
