import { beforeAll, describe, expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { certified, created, paidFee, type ScannedBlock, spent, withdrawn } from "#src/cardano/block.ts";
import { CborError, decode, type Encodable, encode, Encoded, Indefinite, Tagged } from "#src/cardano/cbor.ts";
import { hash256, initHash } from "#src/cardano/hash.ts";
import { readOutput } from "#src/cardano/output.ts";
import { scanBlock, scanTransaction, UnknownEraError } from "#src/cardano/scan.ts";
import { noAssets } from "#src/cardano/value.ts";
import { blockFile, blocksOf, chunks, singles } from "../../support/chain/vectorBlocks.ts";

beforeAll(initHash);

describe("real blocks, Byron to Conway", () => {
  test.each(singles)("$file", (expected) => {
    const block = scanBlock(blockFile(expected.file));
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
    const block = scanBlock(blockFile("single/conway8.cbor"));
    const odd = block.transactions.find(({ hash }) => hash.startsWith("93d27dd059706c95"));
    expect(odd?.certificates).toContainEqual(
      expect.objectContaining({ kind: "delegate", to: { pool: expect.stringMatching(/^[0-9a-f]{112}$/) } }),
    );
  });

  test.each(chunks)("$file is linked", (expected) => {
    const blocks: ScannedBlock[] = blocksOf(expected).map(scanBlock);
    const last = blocks.at(-1)!;
    expect(blocks.length).toBe(expected.blocks);
    expect(blocks[0]!.hash).toBe(expected.firstHash);
    expect([last.hash, last.slot, last.height]).toEqual([expected.lastHash, expected.lastSlot, expected.lastHeight]);
    expect(blocks.reduce((sum, { transactions }) => sum + transactions.length, 0)).toBe(expected.txs);
    for (let i = 1; i < blocks.length; i++) expect(blocks[i]!.previous).toBe(blocks[i - 1]!.hash);
    // If the input was created in the same chunk, its index must exist.
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

/** A body that has every scanned field, its sets encoded as given. */
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

/** A block of an era with one transaction, whose body has these fields in addition to input, output and fee. */
function blockOf(era: number, fields: readonly (readonly [number, Encodable])[], invalid: readonly number[] = []) {
  const header = [[1, 2, null, hash("e"), ...new Array<number>(era < 6 ? 11 : 6).fill(0)], 0];
  const body = new Map<Encodable, Encodable>([[0, [[hash("1"), 0]]], [1, [[address, 5]]], [2, 3], ...fields]);
  return scanBlock(encode([era, [header, [body], [new Map()], new Map(), ...(era < 5 ? [] : [invalid])]]));
}
const only = (block: ScannedBlock) => block.transactions[0]!;

describe("the effect of a transaction", () => {
  const stake: Encodable = [0, [0, address.subarray(1)]];
  const fields: [number, Encodable][] = [
    [4, [stake]],
    [5, new Map([[fromHex("e0" + "cd".repeat(28)), 7]])],
    [9, new Map([[fromHex(policy), new Map([[fromHex("00"), 4]])]])],
    [13, [[hash("2"), 0], [hash("3"), 1]]],
  ];
  const returned: [number, Encodable] = [16, new Map<Encodable, Encodable>([[0, address], [1, 60]])];
  const collateral = [{ lovelace: 50n, assets: noAssets }, { lovelace: 50n, assets: noAssets }];

  test("when it is valid: everything but its collateral", () => {
    const transaction = only(blockOf(6, [...fields, returned]));
    expect(transaction.valid).toBe(true);
    expect(spent(transaction)).toEqual([{ txHash: "1".repeat(64), index: 0 }]);
    expect(created(transaction).map(({ ref, output }) => [ref.index, output.value.lovelace])).toEqual([[0, 5n]]);
    expect(certified(transaction).length).toBe(1);
    expect([...withdrawn(transaction).values()]).toEqual([7n]);
    expect([...transaction.mint.values()]).toEqual([4n]);
    expect(paidFee(transaction)).toBe(3n);
  });

  test("when phase 2 failed: its collateral, and the collateral return", () => {
    const transaction = only(blockOf(6, [...fields, returned, [17, 40]], [0]));
    expect(transaction.valid).toBe(false);
    expect(spent(transaction).map(({ txHash }) => txHash[0])).toEqual(["2", "3"]);
    expect(created(transaction).map(({ ref, output }) => [ref.index, output.value.lovelace])).toEqual([[1, 60n]]);
    expect(certified(transaction)).toEqual([]);
    expect(withdrawn(transaction).size).toBe(0);
    expect(paidFee(transaction)).toBe(40n);
    // its description of itself is kept anyway
    expect([transaction.certificates.length, transaction.withdrawals.size, transaction.mint.size]).toEqual([1, 1, 1]);
  });

  test("when phase 2 failed in Alonzo: the whole collateral is taken", () => {
    const transaction = only(blockOf(5, fields, [0]));
    expect(created(transaction)).toEqual([]);
    expect(paidFee(transaction)).toBeUndefined();
    expect(paidFee(transaction, collateral)).toBe(100n);
    expect(paidFee(only(blockOf(6, [...fields, returned], [0])), collateral)).toBe(40n);
  });
});

describe("eras differ", () => {
  test("in the last slot: Shelley states it, later eras the next slot", () => {
    expect(only(blockOf(2, [[3, 100]])).validTo).toBe(101);
    expect(only(blockOf(3, [[3, 100], [8, 50]]))).toMatchObject({ validFrom: 50, validTo: 100 });
  });
  test("in the list of invalid transactions, since Alonzo", () => {
    for (const era of [2, 3, 4, 5, 6, 7]) expect(only(blockOf(era, [])).valid).toBe(true);
  });
});

test("a validity without end ends at the largest number", () => {
  expect(only(blockOf(7, [[3, (1n << 64n) - 1n]])).validTo).toBe(Number.MAX_SAFE_INTEGER);
  expect(only(blockOf(2, [[3, (1n << 64n) - 1n]])).validTo).toBe(Number.MAX_SAFE_INTEGER);
});

test("a duplicate input counts once", () => {
  const twice: Encodable = [[hash("1"), 0], [hash("2"), 0], [hash("1"), 0]];
  expect(only(blockOf(4, [[0, twice]])).inputs.map(({ txHash }) => txHash[0])).toEqual(["1", "2"]);
});

test("parts that are not requested are not decoded", () => {
  const transaction = only(blockOf(7, [[4, [[99]]], [9, 1]]));
  expect(transaction.outputs.length).toBe(1);
  expect(transaction.outputs).toBe(transaction.outputs);
  expect(() => transaction.certificates).toThrow(CborError);
  expect(() => transaction.mint).toThrow(CborError);
  expect(() => scanTransaction(encode([new Encoded(transaction.body), new Map(), true, null]))).toThrow(CborError);
});

test("an output of Byron can be decoded again from its own bytes", () => {
  const item = encode([[new Tagged(24, fromHex("0102")), 7], 5]);
  const output = readOutput(decode(item));
  expect(output).toMatchObject({ address: "82d81842010207", value: { lovelace: 5n } });
  expect(readOutput(decode(output.raw))).toEqual(output);
});

test("unsupported eras are named", () => {
  expect(() => scanBlock(fromHex("8208" + "80"))).toThrow(UnknownEraError);
  expect(() => scanBlock(fromHex("8208" + "80"))).toThrow("era 8");
});
