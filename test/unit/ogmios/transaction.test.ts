import { toHex } from "#src/base/bytes.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { votersIn } from "#src/cardano/governed.ts";
import { compareRefs, type Output } from "#src/cardano/output.ts";
import { pointJson, ratioText } from "#src/ogmios/values.ts";
import { blockFile, blocksOf, capturedBlocks, chunks, singles } from "../../support/chain/vectorBlocks.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";
import { hash256, initHash } from "#src/cardano/hash.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { blockJson, ERA_TEXTS } from "#src/ogmios/block.ts";
import type { JsonObject } from "#src/ogmios/form.ts";
import { readBlock, readStep } from "#src/ogmios/readBlock.ts";
import { readTransaction } from "#src/ogmios/readTransaction.ts";
import { transactionJson } from "#src/ogmios/transaction.ts";
import { golden } from "../../support/ogmios/golden.ts";

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

  it("has steps of a chain", () => {
    let [forward, backward] = [0, 0];
    for (const message of golden("NextBlockResponse")) {
      const { result } = message as { result: JsonObject };
      const step = readStep(result, { slot: 30_000, hash: "" });
      if (step.direction === "backward") {
        backward++;
        expect(pointJson(step.point)).toEqual(result.point);
        continue;
      }
      forward++;
      const { id, height, slot, transactions, era, ancestor } = result.block as JsonObject;
      expect(step.block).toMatchObject({ hash: id, height: expect.any(Number), slot: expect.any(Number) });
      if (Number(height) < 2 ** 53) expect(step.block.height).toBe(height);
      // a boundary block has none: it opens the next epoch
      if (Number(slot) < 2 ** 53) expect(step.block.slot).toBe(slot);
      else if (slot === undefined) expect(step.block).toMatchObject({ slot: 43_200, era: 0 });
      expect(step.block.previous).toBe(ancestor === "genesis" ? undefined : ancestor);
      expect(ERA_TEXTS[step.block.era]).toBe(era);
      expect(step.block.transactions.length).toBe(((transactions ?? []) as Json[]).length);
    }
    expect([forward, backward]).toEqual([40, 10]);
  });
});

/** Blocks of the vectors, each era with several. */
const blocks = [
  ...singles.map(({ file }) => blockFile(file)),
  ...capturedBlocks().map(({ bytes }) => bytes),
  ...chunks.flatMap(blocksOf).filter((_, index) => index % 7 === 0),
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
    expect(count).toBeGreaterThan(300);
  });
});

/** The bytes of a transaction, and its place. */
function wholeOf({ index, hash, valid, body, witnesses, auxiliaryData }: ScannedTransaction) {
  return [index, hash, valid, toHex(body), toHex(witnesses), auxiliaryData && toHex(auxiliaryData)];
}

/** What projections read. */
function membersOf(transaction: ScannedTransaction) {
  const { hash, valid, collateralReturn, totalCollateral, fee, mint, validFrom, validTo } = transaction;
  const { certificates, withdrawals, governs, proposals, donation, requiredSigners } = transaction;
  return {
    ...{ hash, valid, totalCollateral, fee, mint, validFrom, validTo, donation },
    inputs: [...transaction.inputs].sort(compareRefs),
    references: [...transaction.references].sort(compareRefs),
    collateral: [...transaction.collateral].sort(compareRefs),
    outputs: transaction.outputs.map(contentOf),
    collateralReturn: collateralReturn && contentOf(collateralReturn),
    withdrawals: new Map([...withdrawals].sort()),
    // a move of rewards stands among the proposals
    certificates: [...certificates.filter(isNoMove), ...certificates.filter((one) => !isNoMove(one))].flatMap(told),
    requiredSigners: [...requiredSigners].sort(),
    ...{ governs: governs ?? false, proposals: proposals ?? [] },
    voters: votersIn(transaction),
  };
}

/** An output without its encoding. */
const contentOf = ({ raw: _, ...content }: Output) => content;

const isNoMove = ({ kind }: Certificate) => kind !== "move rewards";

/** What the JSON tells of a certificate: a registration that delegates stands there as two. */
function told(certificate: Certificate): object[] {
  switch (certificate.kind) {
    case "register": {
      const { to, ...rest } = certificate;
      return to ? [rest, { kind: "delegate", credential: rest.credential, to }] : [rest];
    }
    case "register pool":
      return [{
        ...certificate,
        margin: ratioText(certificate.margin),
        // a name without a port
        relays: certificate.relays.map((relay) =>
          relay.kind === "host" && relay.port === undefined ? { kind: "service", name: relay.name } : relay
        ),
      }];
    case "move rewards":
      return [{
        kind: certificate.kind,
        to: typeof certificate.to === "bigint" ? certificate.to : certificate.to.length,
      }];
    default:
      return [certificate];
  }
}
