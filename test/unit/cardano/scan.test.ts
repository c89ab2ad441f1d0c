import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { created, type ScannedBlock, spent } from "#src/cardano/block.ts";
import { CborError, decodeAt, encode, Encoded, Indefinite, Tagged } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { scanBlock, scanTransaction, UnknownEraError } from "#src/cardano/scan.ts";
import { vectors } from "../../support/vectors.ts";

interface Single {
  file: string;
  era: number;
  slot: number;
  height: number;
  txs: number;
  size: number;
  hash: string;
  prev: string | null;
}

interface Chunk {
  file: string;
  blocks: number;
  txs: number;
  firstHash: string;
  lastHash: string;
  lastSlot: number;
  lastHeight: number;
}

const folder = vectors("blocks");
const json = <T>(path: string): T[] => folder ? JSON.parse(readFileSync(`${folder}/${path}`, "utf8")) as T[] : [];
const bytes = (path: string) => new Uint8Array(readFileSync(`${folder}/${path}`));
const singles = json<Single>("single/index.json").filter(({ era }) => era <= 7);

describe.skipIf(!folder)("real blocks, Byron to Conway", () => {
  test.each(singles)("$file", (expected) => {
    const block = scanBlock(bytes(expected.file));
    expect({
      era: block.era,
      slot: block.slot,
      height: block.height,
      txs: block.transactions.length,
      size: block.size,
      hash: block.hash,
      prev: block.previous,
    }).toEqual({
      era: expected.era,
      slot: expected.slot,
      height: expected.height,
      txs: expected.txs,
      size: expected.size - 2,
      hash: expected.hash,
      prev: expected.prev ?? undefined,
    });
    expect(block.issuer ?? "").toMatch(block.era === 0 ? /^$/ : block.era === 1 ? /^[0-9a-f]{128}$/ : /^[0-9a-f]{64}$/);
    block.transactions.forEach((transaction, index) => {
      expect(transaction.index).toBe(index);
      expect(transaction.hash).toBe(hash256(transaction.body));
    });
  });

  test("a 56-byte pool hash in a certificate does not stop the scan", () => {
    const block = scanBlock(bytes("single/conway8.cbor"));
    const odd = block.transactions.find(({ hash }) => hash.startsWith("93d27dd059706c95"));
    expect(odd?.certificates.length).toBeGreaterThan(0);
  });

  test.each(json<Chunk>("chain/index.json"))("$file links up", (expected) => {
    const chunk = bytes(expected.file);
    const blocks: ScannedBlock[] = [];
    for (let at = 0; at < chunk.length;) {
      const { end } = decodeAt(chunk, at);
      blocks.push(scanBlock(chunk.subarray(at, end)));
      at = end;
    }
    const last = blocks.at(-1)!;
    expect(blocks.length).toBe(expected.blocks);
    expect(blocks[0]!.hash).toBe(expected.firstHash);
    expect([last.hash, last.slot, last.height]).toEqual([expected.lastHash, expected.lastSlot, expected.lastHeight]);
    expect(blocks.reduce((sum, { transactions }) => sum + transactions.length, 0)).toBe(expected.txs);
    for (let i = 1; i < blocks.length; i++) expect(blocks[i]!.previous).toBe(blocks[i - 1]!.hash);
    // Where an input was created in the same chunk, the index it names must have been created.
    const outputs = new Map<string, Set<number>>();
    for (const transaction of blocks.flatMap(({ transactions }) => transactions)) {
      for (const { txHash, index } of spent(transaction)) {
        if (outputs.has(txHash)) expect(outputs.get(txHash)!.delete(index)).toBe(true);
      }
      outputs.set(transaction.hash, new Set(created(transaction).map(({ ref }) => ref.index)));
    }
  });
});

const policy = "ab".repeat(28);
const address = fromHex("60" + "cd".repeat(28));
const hash = (digit: string) => fromHex(digit.repeat(64));

/** A body that has every field that is read, its sets written as given. */
function everyField(set: (elements: (Encoded | Uint8Array)[]) => Encoded): Encoded {
  const ref = (digit: string, index: number) => new Encoded(encode([hash(digit), index]));
  const output = new Map<number, number | Uint8Array>([[0, address], [1, 7]]);
  return new Encoded(encode(
    new Map<number, bigint | number | Encoded | Map<Uint8Array, unknown> | unknown>([
      [0, set([ref("2", 1), ref("1", 0)])],
      [1, [[address, 5]]],
      [2, 11],
      [3, 900],
      [4, set([new Encoded(encode([7, [0, hash("a").subarray(0, 28)], 2]))])],
      [5, new Map([[fromHex("e0" + "cd".repeat(28)), 3]])],
      [8, 100],
      [9, new Map([[fromHex(policy), new Map([[fromHex("00"), -4]])]])],
      [13, set([ref("3", 2)])],
      [16, output],
      [18, set([ref("4", 3)])],
    ]) as ReadonlyMap<number, Encoded>,
  ));
}

const setForms: [string, (elements: (Encoded | Uint8Array)[]) => Encoded][] = [
  ["plain arrays", (elements) => new Encoded(encode(elements))],
  ["tag 258", (elements) => new Encoded(encode(new Tagged(258, elements)))],
  ["indefinite arrays", (elements) => new Encoded(encode(new Indefinite(elements)))],
  ["tag 258 over indefinite arrays", (elements) => new Encoded(encode(new Tagged(258, new Indefinite(elements))))],
];

describe("transactions", () => {
  test.each(setForms)("every field, sets as %s", (_, set) => {
    const body = everyField(set);
    const scanned = scanTransaction(encode([body, new Map(), false, null]));
    expect(scanned.hash).toBe(hash256(body.bytes));
    expect(scanned.valid).toBe(false);
    expect(scanned.inputs.map(({ index }) => index)).toEqual([1, 0]);
    expect(scanned.collateral.map(({ index }) => index)).toEqual([2]);
    expect(scanned.references.map(({ index }) => index)).toEqual([3]);
    expect(scanned.outputs.map(({ value }) => value.lovelace)).toEqual([5n]);
    expect([scanned.fee, scanned.validFrom, scanned.validTo]).toEqual([11n, 100, 900]);
    expect(scanned.mint).toEqual(new Map([[policy + "00", -4n]]));
    expect(scanned.withdrawals).toEqual(new Map([["e0" + "cd".repeat(28), 3n]]));
    expect(scanned.certificates.length).toBe(1);
    expect(scanned.auxiliaryData).toBeUndefined();
    expect(spent(scanned).map(({ index }) => index)).toEqual([2]);
    expect(created(scanned)).toMatchObject([{ ref: { index: 1 }, output: { value: { lovelace: 7n } } }]);
  });

  test("auxiliary data keeps its bytes", () => {
    const auxiliary = fromHex("a11901f4826161187b");
    const scanned = scanTransaction(encode([everyField(setForms[0]![1]), new Map(), true, new Encoded(auxiliary)]));
    expect(toHex(scanned.auxiliaryData!)).toBe(toHex(auxiliary));
  });

  test.each(["", "00", "80", "83a0a0f6", "84a0a0f5", "84a0a0f5f600", "84a10080a0f5f6", "84a300800180020080f5f6"])(
    "%s is no transaction",
    (text) => expect(() => scanTransaction(fromHex(text))).toThrow(CborError),
  );
});

test("eras that are not read are named", () => {
  expect(() => scanBlock(fromHex("8208" + "80"))).toThrow(UnknownEraError);
  expect(() => scanBlock(fromHex("8208" + "80"))).toThrow("era 8");
});
