/** Blocks of Byron according to its CDDL, made here. */
import { describe, expect, test } from "vitest";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { created, spent } from "#src/cardano/block.ts";
import { CborError, type Encodable, encode, Encoded, Indefinite, Tagged } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { readWhole } from "#src/cardano/scanBody.ts";
import { scanBlock } from "#src/cardano/scan.ts";

const hash = (digit: string) => fromHex(digit.repeat(64));
const MAGIC = 764_824_073;
const address: Encodable = [new Tagged(24, fromHex("83581c" + "ab".repeat(28) + "a000")), 123];

function transaction(inputs: readonly Encodable[]): Encoded {
  return new Encoded(encode([new Indefinite(inputs), new Indefinite([[address, 40], [address, 2]]), new Map()]));
}
const input = (digit: string, index: number): Encodable => [0, new Tagged(24, encode([hash(digit), index]))];

function mainBlock(transactions: readonly Encoded[], epoch = 3, slot = 5) {
  const consensus = [[epoch, slot], new Uint8Array(64).fill(7), [900], [0, new Uint8Array(64)]];
  const header = encode([MAGIC, hash("1"), [0, 0, 0, 0], consensus, [[0, 1, 0], ["name", 1], new Map(), hash("2")]]);
  const payload = new Indefinite(transactions.map((one) => [one, [[0, new Tagged(24, new Uint8Array(3))]]]));
  const body = [payload, [3, new Tagged(258, [])], new Indefinite([]), [[], new Indefinite([])]];
  return { header, bytes: encode([1, [new Encoded(header), body, [new Map()]]]) };
}

describe("a main block", () => {
  const one = transaction([input("a", 1), input("b", 0)]);
  const { header, bytes } = mainBlock([one, transaction([input("c", 2)])]);
  const block = scanBlock(bytes);

  test("counts its slots from the first epoch on", () => {
    expect(block).toMatchObject({ era: 1, slot: 3 * 21_600 + 5, height: 900, previous: "1".repeat(64) });
    expect(block.issuer).toBe("07".repeat(64));
    expect(block.size).toBe(bytes.length - 2);
  });

  test("is identified by its header, hashed as one of two kinds", () => {
    expect(toHex(block.header)).toBe(toHex(header));
    expect(block.hash).toBe(hash256(concat(fromHex("8201"), header)));
  });

  test("has transactions with inputs and outputs and nothing else", () => {
    const [first, second] = block.transactions;
    expect(block.transactions.map(({ index }) => index)).toEqual([0, 1]);
    expect(first!.hash).toBe(hash256(one.bytes));
    expect(spent(first!)).toEqual([{ txHash: "a".repeat(64), index: 1 }, { txHash: "b".repeat(64), index: 0 }]);
    expect(spent(second!)).toEqual([{ txHash: "c".repeat(64), index: 2 }]);
    expect(created(first!).map(({ ref, output }) => [ref.txHash, ref.index, output.value.lovelace]))
      .toEqual([[first!.hash, 0, 40n], [first!.hash, 1, 2n]]);
    expect(created(first!)[0]!.output.address).toBe(toHex(encode(address)));
    expect(toHex(first!.witnesses)).toBe("818200d81843000000");
    expect(readWhole(first!).fee).toBeUndefined();
  });

  test("with an input of an unknown kind is refused when the inputs are decoded", () => {
    const odd = scanBlock(mainBlock([transaction([[1, new Tagged(24, new Uint8Array(1))]])]).bytes);
    expect(odd.transactions[0]!.outputs.length).toBe(2);
    expect(() => odd.transactions[0]!.inputs).toThrow(CborError);
  });
});

test("a boundary block opens its epoch at the height of the previous block", () => {
  const header = encode([MAGIC, hash("1"), hash("2"), [4, [900]], [new Map()]]);
  const bytes = encode([0, [new Encoded(header), new Indefinite([hash("3")]), [new Map()]]]);
  expect(scanBlock(bytes)).toEqual({
    era: 0,
    slot: 4 * 21_600,
    height: 900,
    hash: hash256(concat(fromHex("8200"), header)),
    previous: "1".repeat(64),
    size: bytes.length - 2,
    header,
    transactions: [],
  });
});

test("the first main block of an epoch has the boundary block's slot", () => {
  expect(scanBlock(mainBlock([], 4, 0).bytes).slot).toBe(4 * 21_600);
});
