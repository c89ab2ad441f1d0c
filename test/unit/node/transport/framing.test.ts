/** Splitting a stream into messages. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, equalBytes, fromHex } from "#src/base/bytes.ts";
import { decode, type Encodable, encode, Encoded, Indefinite, Tagged } from "#src/cardano/cbor.ts";
import { NodeError } from "#src/node/errors.ts";
import { Framer } from "#src/node/transport/framing.ts";

const value: fc.Arbitrary<Encodable> = fc.letrec<{ value: Encodable }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    fc.uint8Array({ maxLength: 400 }),
    fc.string({ unit: "grapheme" }),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom(
      ...["5f42010243030405ff", "7f61616162ff", "5fff", "f97e00", "fb3ff199999999999a", "f820", "bfff", "9fff"]
        .map((hex) => new Encoded(fromHex(hex))),
    ),
    fc.array(tie("value"), { maxLength: 30 }),
    fc.array(tie("value"), { maxLength: 30 }).map((elements) => new Indefinite(elements)),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 5 }).map((entries) => new Map(entries)),
    fc.tuple(fc.nat({ max: 70_000 }), tie("value")).map(([tag, inner]) => new Tagged(tag, inner)),
  ),
})).value;

function cut(stream: Uint8Array, cuts: readonly number[], limit = 1 << 20): Uint8Array[] {
  const framer = new Framer(limit);
  const messages: Uint8Array[] = [];
  const sorted = [0, ...[...cuts].map((at) => at % (stream.length + 1)).sort((a, b) => a - b), stream.length];
  for (let i = 1; i < sorted.length; i++) {
    framer.push(stream.subarray(sorted[i - 1], sorted[i]), (message) => messages.push(message.slice()));
  }
  return messages;
}

describe("framing", () => {
  it("gives the joined items, wherever the stream was cut", () => {
    fc.assert(fc.property(fc.array(value, { maxLength: 8 }), fc.array(fc.nat()), (values, cuts) => {
      const items = values.map(encode);
      for (const item of items) decode(item);
      expect(cut(concat(...items), cuts)).toEqual(items);
    }));
  });

  it("splits a stream that arrives byte by byte", () => {
    const items = [encode([1, new Indefinite([new Map([[1, "two"]]), new Uint8Array(300)])]), encode(0), encode([])];
    const stream = concat(...items);
    expect(cut(stream, [...stream.keys()])).toEqual(items);
  });

  it("stores a long message that arrives in single bytes in about its own size", () => {
    const long = encode(new Uint8Array(200_000).fill(7));
    const chunk = new Uint8Array(65_536);
    const framer = new Framer(1 << 20);
    let message: Uint8Array | undefined;
    for (const byte of long) {
      chunk[9] = byte;
      framer.push(chunk.subarray(9, 10), (whole) => message = whole);
      // what was taken is the framer's own
      chunk[9] = 0;
    }
    expect(equalBytes(message!, long)).toBe(true);
    expect(message!.buffer.byteLength).toBe(long.length);
  });

  it("gives a slice if the message is in one chunk, and copies nothing", () => {
    const piece = concat(encode([1]), encode(new Uint8Array(100)));
    const framer = new Framer(1000);
    const buffers: ArrayBufferLike[] = [];
    framer.push(piece, (message) => buffers.push(message.buffer));
    expect(buffers).toEqual([piece.buffer, piece.buffer]);
    expect(buffers.every((buffer) => buffer === piece.buffer)).toBe(true);
  });

  const code = (hex: string, limit = 100) => {
    try {
      cut(fromHex(hex), [], limit);
      return undefined;
    } catch (error) {
      return (error as NodeError).code;
    }
  };

  it("refuses a message over the limit as soon as its size is announced", () => {
    expect(code("5903e8", 100)).toBe("too_large");
    expect(code("5b7fffffffffffffff", 100)).toBe("too_large");
    expect(code("9b7fffffffffffffff", 100)).toBe("too_large");
    expect(code("9f" + "00".repeat(101), 100)).toBe("too_large");
    expect(code("5864" + "00".repeat(100), 102)).toBeUndefined();
    expect(code("5864" + "00".repeat(100), 101)).toBe("too_large");
  });

  it("refuses bytes that start no item", () => {
    for (const hex of ["ff", "82ff", "1c", "3f", "df", "fc", "ff00"]) expect(code(hex), hex).toBe("protocol_violation");
    expect(code("81".repeat(257), 1000)).toBe("protocol_violation");
  });

  it("never throws anything but a NodeError on garbage", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), fc.array(fc.nat()), (bytes, cuts) => {
      try {
        const messages = cut(bytes, cuts, 200);
        expect(concat(...messages)).toEqual(bytes.slice(0, messages.reduce((sum, { length }) => sum + length, 0)));
      } catch (error) {
        expect(error).toBeInstanceOf(NodeError);
      }
    }));
  });
});
