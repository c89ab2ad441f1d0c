import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { leafBytes, leafText, type LogLeaf, parseLeaf } from "#src/contract/logLeaf.ts";

const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => all.toHex());
const leaf: fc.Arbitrary<LogLeaf> = fc.oneof(
  fc.record({
    v: fc.constant(1 as const),
    net: fc.nat(),
    kind: fc.constantFrom("boot" as const, "update" as const, "end" as const),
    policy: hex(28),
    token: fc.oneof(hex(32), hex(0), hex(3)),
    seq: fc.nat(),
    slot: fc.maxSafeNat(),
    ref: fc.tuple(hex(32), fc.nat(65_535)).map(([hash, index]) => `${hash}#${index}`),
    root: hex(32),
  }),
  fc.record({
    v: fc.constant(1 as const),
    net: fc.nat(),
    kind: fc.constant("rollback" as const),
    policy: hex(28),
    token: hex(32),
    seq: fc.integer({ min: 10, max: 20 }),
    first: fc.nat(9),
    slot: fc.integer({ min: -1 }),
  }),
  fc.record({
    v: fc.constant(1 as const),
    net: fc.nat(),
    kind: fc.constant("snapshot" as const),
    seq: fc.nat(),
    slot: fc.maxSafeNat(),
    block: hex(32),
    utxo_root: hex(32),
  }),
  fc.record({
    v: fc.constant(1 as const),
    net: fc.nat(),
    kind: fc.constant("rollback" as const),
    seq: fc.integer({ min: 10, max: 20 }),
    first: fc.nat(9),
    slot: fc.integer({ min: -1 }),
  }),
  // of an earlier build
  fc.record({
    v: fc.constant(1 as const),
    net: fc.nat(),
    kind: fc.constant("rollback" as const),
    first: fc.nat(),
    slot: fc.integer({ min: -1 }),
  }),
);
const one: LogLeaf = {
  ...{ v: 1, net: 42, kind: "boot", policy: "ab".repeat(28), token: "cd".repeat(32), seq: 0, slot: 7 },
  ...{ ref: `${"ef".repeat(32)}#0`, root: "00".repeat(32) },
};

describe("entries of a log", () => {
  it("are read as they are written, with sorted members and without spaces", () => {
    expect(leafText(one)).toMatch(
      /^\{"kind":"boot","net":42,"policy":"[^"]*","ref":"[^"]*","root":"[^"]*","seq":0,"slot":7,"token":"[^"]*","v":1\}$/,
    );
    fc.assert(fc.property(leaf, (value) => {
      expect(parseLeaf(leafBytes(value))).toEqual(value);
    }));
  });

  it("have one text alone", () => {
    const text = leafText(one);
    const others = [
      ` ${text}`,
      `${text}\n`,
      text.replace(":42", ": 42"),
      text.replace("42", "42.0"),
      text.replace("42", "-1"),
      text.replace("42", "1e400"),
      text.replace('"v":1', '"v":2'),
      text.replace('"v":1', '"v":1,"w":1'),
      text.replace("ab", "AB"),
      text.replace("#0", "#00"),
      text.replace("boot", "snapshot"),
      text.replace('"seq":0,', ""),
      text.replace('"net":42', '"net":"42"'),
      text.replace('"net":42,', '"net":42,"net":42,'),
      "",
      "null",
      "[]",
      "{}",
      '{"first":1,"kind":"rollback","net":1,"slot":-2,"v":1}',
      `"${"a".repeat(2_000)}"`,
    ];
    for (const other of others) expect(parseLeaf(utf8(other)), other).toBeUndefined();
    expect(parseLeaf(Uint8Array.of(0xff))).toBeUndefined();
  });

  it("are not read from nonsense", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json().map(utf8), fc.uint8Array()), (bytes) => {
        expect(parseLeaf(bytes)).toBeUndefined();
      }),
    );
  });
});
