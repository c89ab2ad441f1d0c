import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import {
  asInt,
  CborError,
  decodeAll,
  type Encodable,
  encode,
  Indefinite,
  type Item,
  Tagged,
} from "#src/cardano/cbor.ts";
import { major, Walk } from "#src/cardano/walk.ts";

const any = fc.letrec<{ item: Encodable }>((tie) => ({
  item: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt({ min: -(1n << 80n), max: 1n << 80n }),
    fc.nat(),
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: "grapheme" }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("item"), { maxLength: 30 }),
    fc.array(tie("item"), { maxLength: 4 }).map((list) => new Indefinite(list)),
    fc.array(fc.tuple(tie("item"), tie("item")), { maxLength: 4 }).map((pairs) => new Map(pairs)),
    fc.nat(100_000).chain((tag) => tie("item").map((value) => new Tagged(tag + 4, value))),
  ),
})).item;

/** An item read by a walk, compared with the same item decoded. */
function walked(walk: Walk): unknown {
  switch (walk.major) {
    case major.uint:
    case major.nint:
      return walk.int();
    case major.bytes:
      return toHex(walk.bytes());
    case major.text:
      return `"${walk.text()}`;
    case major.array: {
      const found: unknown[] = [];
      const count = walk.array();
      for (let i = 0; walk.more(i, count); i++) found.push(walked(walk));
      return found;
    }
    case major.map: {
      const found: unknown[] = [];
      const count = walk.map();
      for (let i = 0; walk.more(i, count); i++) found.push([walked(walk), walked(walk)]);
      return { map: found };
    }
    case major.tag:
      if (walk.source[walk.at] === 0xc2 || walk.source[walk.at] === 0xc3) return { big: walk.int() };
      return { tag: walk.tag(), value: walked(walk) };
    default:
      return walk.nil() ? null : walk.bool();
  }
}

function decoded(item: Item): unknown {
  switch (item.type) {
    case "int":
    case "bool":
      return item.value;
    case "bytes":
      return toHex(item.value);
    case "text":
      return `"${item.value}`;
    case "array":
      return item.value.map(decoded);
    case "map":
      return { map: item.value.map(([key, value]) => [decoded(key), decoded(value)]) };
    case "tag":
      if (item.tag === 2n || item.tag === 3n) {
        const magnitude = BigInt("0x0" + decoded(item.value));
        return { big: item.tag === 2n ? magnitude : -1n - magnitude };
      }
      return { tag: Number(item.tag), value: decoded(item.value) };
    default:
      return null;
  }
}

describe("a walk", () => {
  test("reads what the decoder reads, and skips the same number of bytes", () => {
    fc.assert(fc.property(any, (value) => {
      const bytes = encode([value, 7]);
      const walk = new Walk(bytes);
      walk.array();
      expect(walked(walk)).toEqual(decoded((decodeAll(bytes) as Item & { value: Item[] }).value[0]!));
      expect(walk.uint()).toBe(7);
      walk.end();
      const over = new Walk(bytes);
      over.array();
      over.skip();
      expect(over.uint()).toBe(7);
    }));
  });

  test("accepts bytes as well-formed where the decoder does", () => {
    const skips = (bytes: Uint8Array) => {
      const walk = new Walk(bytes);
      walk.skip();
      walk.end();
    };
    const outcome = (work: () => unknown) => {
      try {
        work();
        return "well-formed";
      } catch (error) {
        if (error instanceof CborError) return error.message.includes("UTF-8") ? "well-formed" : "malformed";
        throw error;
      }
    };
    // the decoder stops at the first error, and a text that is not UTF-8 is no error for a walk
    const agree = (bytes: Uint8Array) => {
      const there = outcome(() => decodeAll(bytes));
      const here = outcome(() => skips(bytes));
      if (there === "malformed") expect([toHex(bytes), here]).toEqual([toHex(bytes), "malformed"]);
      return [here, there];
    };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const [here, there] = agree(bytes);
        if (!bytes.some((byte) => byte >> 5 === major.text)) {
          expect([toHex(bytes), here]).toEqual([toHex(bytes), there]);
        }
      }),
      { numRuns: 3_000 },
    );
    fc.assert(fc.property(any, fc.nat(), fc.integer({ min: 0, max: 255 }), (value, at, byte) => {
      const bytes = encode(value);
      bytes[at % bytes.length] = byte;
      agree(bytes);
    }));
  });

  test("refuses every truncated item", () => {
    fc.assert(fc.property(any, fc.nat(), (value, length) => {
      const bytes = encode(value);
      const walk = new Walk(bytes.subarray(0, length % bytes.length));
      expect(() => walk.skip()).toThrow("truncated");
    }));
  });

  test.each([
    ["an array", (walk: Walk) => walk.array(), "01"],
    ["a map", (walk: Walk) => walk.map(), "80"],
    ["a set", (walk: Walk) => walk.set(), "c180"],
    ["a number", (walk: Walk) => walk.uint(), "20"],
    ["an integer", (walk: Walk) => walk.int(), "c400"],
    ["an integer", (walk: Walk) => walk.int(), "40"],
    ["bytes", (walk: Walk) => walk.bytes(), "60"],
    ["a text", (walk: Walk) => walk.text(), "40"],
    ["a text", (walk: Walk) => walk.text(), "61ff"],
    ["a boolean", (walk: Walk) => walk.bool(), "f6"],
    ["a tag", (walk: Walk) => walk.tag(), "00"],
    ["CBOR inside", (walk: Walk) => walk.embedded(), "d81940"],
    ["two elements", (walk: Walk) => walk.tuple("pair", 2), "83010203"],
    ["two elements", (walk: Walk) => walk.tuple("pair", 2), "9f01ff"],
    ["anything", (walk: Walk) => walk.skip(), "ff"],
    ["anything", (walk: Walk) => walk.skip(), "bf00ff"],
    ["anything", (walk: Walk) => walk.skip(), "5f6161ff"],
    ["anything", (walk: Walk) => walk.skip(), "1c"],
    ["anything", (walk: Walk) => walk.skip(), "df00"],
    ["more than there is", (walk: Walk) => walk.skip(), "bb8000000000000000"],
    ["more than there is", (walk: Walk) => walk.skip(), "5bffffffffffffffff"],
    ["more than there is", (walk: Walk) => walk.array(), "9bffffffffffffffff"],
  ])("%s (%#)", (_, read, text) => expect(() => read(new Walk(fromHex(text)))).toThrow(CborError));

  test("numbers past 2^53 are clamped, integers stay exact", () => {
    const most = fromHex("1bffffffffffffffff");
    expect(new Walk(most).uint()).toBe(Number.MAX_SAFE_INTEGER);
    expect(new Walk(most).int()).toBe((1n << 64n) - 1n);
    expect(new Walk(fromHex("3bffffffffffffffff")).int()).toBe(-(1n << 64n));
    expect(new Walk(fromHex("1b0020000000000001")).int()).toBe((1n << 53n) + 1n);
    expect(new Walk(fromHex("c240")).int()).toBe(0n);
  });

  test("reads a number of a megabyte in a short time", () => {
    const bytes = encode(new Tagged(3, new Uint8Array(1_000_000).fill(0xff)));
    const value = new Walk(bytes).int();
    expect(value === -(1n << 8_000_000n)).toBe(true);
    expect(asInt(decodeAll(bytes)) === value).toBe(true);
  });

  test("supports the depth and the number of chunks that bytes can express", () => {
    const deep = concat(new Uint8Array(200_000).fill(0x81), Uint8Array.of(0));
    const walk = new Walk(deep);
    walk.skip();
    walk.end();
    const pieces = concat(Uint8Array.of(0x5f), new Uint8Array(150_000).fill(0x40), Uint8Array.of(0xff));
    expect(new Walk(pieces).bytes().length).toBe(0);
    expect(decodeAll(pieces)).toMatchObject({ type: "bytes" });
  });
});
