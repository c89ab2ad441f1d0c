/** Items nested more deeply than a recursive decoder supports. */
import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { concat, toHex } from "#src/base/bytes.ts";
import {
  as,
  CborError,
  decode,
  decodeAll,
  encode,
  Encoded,
  Indefinite,
  type Item,
  raw,
  Tagged,
} from "#src/cardano/cbor.ts";

const DEEP = 300;

/** An item inside this many arrays of one element. */
function within(levels: number, inner: Uint8Array): Uint8Array {
  return concat(new Uint8Array(levels).fill(0x81), inner);
}
function unwrapped(item: Item): Item {
  let inner = item;
  while (inner.type === "array" && inner.value.length === 1) inner = inner.value[0]!;
  return inner;
}

describe("items nested deeply", () => {
  const small = fc.letrec((tie) => ({
    item: fc.oneof(
      { maxDepth: 4 },
      fc.bigInt({ min: -(1n << 64n), max: (1n << 64n) - 1n }),
      fc.uint8Array({ maxLength: 70 }),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("item"), { maxLength: 3 }),
      fc.array(tie("item"), { maxLength: 3 }).map((list) => new Indefinite(list as never)),
      fc.array(fc.tuple(tie("item"), tie("item")), { maxLength: 3 }).map((pairs) => new Map(pairs)),
      fc.nat(2000).chain((tag) => tie("item").map((value) => new Tagged(tag, value as never))),
    ),
  })).item;

  it("are kept complete, and the following item is decoded", () => {
    fc.assert(
      fc.property(small, (value) => {
        const inner = encode(value as never);
        const bytes = encode([new Encoded(within(DEEP, inner)), 7]);
        expect(() => decode(bytes)).toThrow(CborError);
        const [deep, after] = as(decodeAll(bytes), "array").value;
        expect(after).toMatchObject({ type: "int", value: 7n });
        const left = unwrapped(deep!);
        expect(left.type).toBe("deep");
        expect(toHex(raw(left)).endsWith(toHex(inner))).toBe(true);
        expect(left.end).toBe(deep!.end);
      }),
      { numRuns: 200 },
    );
  });
  it("are refused if truncated", () => {
    for (
      const bytes of [
        within(DEEP, new Uint8Array()),
        within(DEEP, Uint8Array.of(0x9f, 1)),
        within(DEEP, Uint8Array.of(0x82, 1)),
      ]
    ) {
      expect(() => decodeAll(bytes)).toThrow(CborError);
    }
    expect(() => decodeAll(within(DEEP, Uint8Array.of(1, 1)))).toThrow(CborError);
  });
  it("may be as deep as a block is long", () => {
    expect(unwrapped(decodeAll(within(90_000, encode(1)))).type).toBe("deep");
    const open = concat(new Uint8Array(45_000).fill(0x9f), encode(1), new Uint8Array(45_000).fill(0xff));
    expect(decodeAll(open).end).toBe(open.length);
  });
  it("are decoded as usual if they are not deep", () => {
    fc.assert(fc.property(small, (value) => {
      const bytes = encode(value as never);
      expect(decodeAll(bytes)).toEqual(decode(bytes));
    }));
  });
});
