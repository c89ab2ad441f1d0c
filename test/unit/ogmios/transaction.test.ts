import { toHex } from "#src/base/bytes.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { blockFile, blocksOf, capturedBlocks, chunks, singles } from "../../support/chain/vectorBlocks.ts";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";
import { hash256, initHash } from "#src/cardano/hash.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { blockJson, ERA_TEXTS } from "#src/ogmios/block.ts";
import { type JsonObject, OgmiosFormError } from "#src/ogmios/form.ts";
import { readBlock } from "#src/ogmios/readBlock.ts";
import { readTransaction } from "#src/ogmios/readTransaction.ts";
import { transactionJson } from "#src/ogmios/transaction.ts";
import { cases } from "../../support/base/longTests.ts";
import { golden, replaced, schemaFault } from "../../support/ogmios/golden.ts";
import { anyTransaction, membersOf } from "../../support/ogmios/transactions.ts";

beforeAll(initHash);

/** Every transaction in the messages, with its era. */
const transactions: readonly {
  readonly era: number;
  readonly json: JsonObject;
  readonly detailedMetadata?: boolean;
}[] = [
  ...golden("NextBlockResponse").flatMap((message) => {
    const result = (message as { result: JsonObject }).result;
    if (!isObject(result.block)) return [];
    const era = ERA_TEXTS.lastIndexOf(result.block.era as (typeof ERA_TEXTS)[number]);
    return ((result.block.transactions ?? []) as JsonObject[]).map((json) => ({ era, json }));
  }),
  ...golden("NextTransactionResponse").flatMap((message) => {
    const { result } = message as { result?: JsonObject };
    const transaction = result?.transaction;
    return isObject(transaction) && transaction.inputs ? [{ era: 7, json: transaction, detailedMetadata: true }] : [];
  }),
];

describe("messages of Ogmios", () => {
  it("has transactions that are the same after reading and writing", () => {
    expect(transactions.length).toBeGreaterThan(80);
    for (const { era, json, detailedMetadata } of transactions) {
      expect(transactionJson(readTransaction(json, 0, era), { version: 7, detailedMetadata }, era)).toEqual(json);
    }
  });

  it("has blocks, with their transactions", () => {
    let count = 0;
    for (const message of golden("NextBlockResponse")) {
      const { block: json } = (message as { result: JsonObject }).result;
      if (!isObject(json)) continue;
      count++;
      const block = readBlock(json, { slot: 30_000, hash: "" });
      const { id, height, slot, transactions = [], era, ancestor } = json;
      expect(block.hash).toBe(id);
      expect(block.height).toBe(Math.min(Number(height), Number.MAX_SAFE_INTEGER));
      // a boundary block has none: it opens the next epoch
      expect(block.slot).toBe(slot === undefined ? 43_200 : Math.min(Number(slot), Number.MAX_SAFE_INTEGER));
      expect(block.previous).toBe(ancestor === "genesis" ? undefined : ancestor);
      expect(ERA_TEXTS[block.era]).toBe(era);
      expect(block.transactions.length).toBe((transactions as Json[]).length);
    }
    expect(count).toBe(40);
  });
});

/** Blocks of the vectors, each era with several. */
const blocks = [
  ...singles.map(({ file }) => blockFile(file)),
  ...capturedBlocks().map(({ bytes }) => bytes),
  ...chunks.flatMap(blocksOf).filter((_, index) => index % 29 === 0),
];

describe("blocks of the chain", () => {
  it("are exact after reading where they have their CBOR", () => {
    for (const bytes of blocks) {
      const scanned = scanBlock(bytes);
      const json = parseJson(toJson(blockJson(bytes, { version: 6, cbor: true })));
      const read = readBlock(json, { slot: scanned.slot - 1, hash: "" });
      const { hash, height, slot, previous, era, issuer } = scanned;
      expect(read).toMatchObject({ hash, height, slot, era });
      expect([read.previous, read.issuer]).toEqual([previous, issuer]);
      expect(read.transactions.map(wholeOf)).toEqual(scanned.transactions.map(wholeOf));
    }
  });

  it.each([6, 7] as const)("say the same after reading without their CBOR (version %i)", (version) => {
    let count = 0;
    for (const bytes of blocks) {
      const { era, transactions } = scanBlock(bytes);
      for (const transaction of transactions) {
        const json = parseJson(toJson(transactionJson(transaction, { version }, era)));
        const read = readTransaction(json, transaction.index, era);
        count++;
        if (era === 1) expect(hash256(read.body)).toBe(transaction.hash);
        expect(membersOf(read)).toEqual(membersOf(transaction));
      }
    }
    expect(count).toBeGreaterThan(200);
  });
});

describe("random transactions", () => {
  it.each([6, 7] as const)("keep the schema and say the same after reading (version %i)", (version) => {
    fc.assert(
      fc.property(anyTransaction, (transaction) => {
        const json = parseJson(toJson(transactionJson(transaction, { version })));
        if (version === 7) expect(schemaFault("cardano/Transaction", json)).toBeUndefined();
        const read = readTransaction(json);
        expect(membersOf(read)).toEqual(membersOf(transaction));
        expect(parseJson(toJson(transactionJson(read, { version })))).toEqual(json);
      }),
      { numRuns: cases(20, 2_000) },
    );
  });

  it("are exact with their CBOR", () => {
    fc.assert(fc.property(anyTransaction, (transaction) => {
      const json = parseJson(toJson(transactionJson(transaction, { version: 7, cbor: true })));
      expect(schemaFault("cardano/Transaction", json)).toBeUndefined();
      expect(wholeOf(readTransaction(json))).toEqual(wholeOf(transaction));
    }));
  });
});

describe("answers of a faulty server", () => {
  const blocks = golden("NextBlockResponse").flatMap((message) => {
    const { block } = (message as { result: { [name: string]: Json } }).result;
    return block === undefined ? [] : [block];
  });
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.bigInt(),
    fc.constantFrom("", "ff", "00".repeat(32), -1, null),
  );

  it("are read, or refused with a reason", () => {
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...blocks),
        fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
        odd,
        (message, path, value) => {
          try {
            readBlock(replaced(message, path, value as Json)).transactions.forEach(membersOf);
          } catch (error) {
            expect(error).toBeInstanceOf(OgmiosFormError);
            refused++;
          }
        },
      ),
      { numRuns: cases(150, 20_000) },
    );
    expect(refused).toBeGreaterThan(10);
  });
});

/** The bytes of a transaction, and its place. */
function wholeOf({ index, hash, valid, body, witnesses, auxiliaryData }: ScannedTransaction) {
  return [index, hash, valid, toHex(body), toHex(witnesses), auxiliaryData && toHex(auxiliaryData)];
}
