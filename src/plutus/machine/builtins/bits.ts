/** Built-in functions on the bits of byte strings (CIP-122, CIP-123). Bit 0 is the lowest of the last byte. */
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { MAX_OUTPUT } from "#src/plutus/machine/builtins/bytes.ts";
import { refuse } from "#src/plutus/machine/failure.ts";
import type { Int } from "#src/plutus/machine/integer.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { BYTES, INTEGER } from "#src/plutus/machine/type.ts";
import { bool, bounds, byte, bytes, int64, integer, listOfType } from "#src/plutus/machine/unlift.ts";
import { FALSE, TRUE, type Value } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { hasBounds, type Variant } from "#src/plutus/machine/version.ts";

/** Shifts bits towards the front by `count` (below the number of bits); zeros fill the end. */
function shiftedLeft(value: Uint8Array, count: number): Uint8Array {
  const [whole, bits] = [count >> 3, count & 7];
  const out = new Uint8Array(value.length);
  for (let i = 0; i + whole < value.length; i++) {
    out[i] = ((value[i + whole] ?? 0) << bits) | ((value[i + whole + 1] ?? 0) >> (8 - bits));
  }
  return out;
}

function shiftedRight(value: Uint8Array, count: number): Uint8Array {
  const [whole, bits] = [count >> 3, count & 7];
  const out = new Uint8Array(value.length);
  for (let i = value.length - 1; i >= whole; i--) {
    out[i] = ((value[i - whole] ?? 0) >> bits) | ((value[i - whole - 1] ?? 0) << (8 - bits));
  }
  return out;
}

function shifted(value: Uint8Array, by: Int): Uint8Array {
  const bits = 8 * value.length;
  if (by >= bits || by <= -bits) return new Uint8Array(value.length);
  return by >= 0 ? shiftedLeft(value, Number(by)) : shiftedRight(value, -Number(by));
}

function rotated(value: Uint8Array, by: Int): Uint8Array {
  const bits = 8 * value.length;
  if (bits === 0) return value;
  const rest = typeof by === "number" ? by % bits : Number(by % BigInt(bits));
  const count = rest < 0 ? rest + bits : rest;
  if (count === 0) return value;
  const wrapped = shiftedRight(value, bits - count);
  return shiftedLeft(value, count).map((byte, i) => byte | (wrapped[i] ?? 0));
}

function setBits(byte: number): number {
  let count = 0;
  for (let rest = byte; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Place of the lowest bit that is set; -1 where there is none. */
function lowestSetBit(value: Uint8Array): number {
  const at = value.findLastIndex((byte) => byte !== 0);
  const byte = value[at] ?? 0;
  return at < 0 ? -1 : 8 * (value.length - 1 - at) + 31 - Math.clz32(byte & -byte);
}

/** Greatest input of `writeBits` where arguments are bounded. */
const MAX_INPUT = 4096;

export function bitBuiltins(variant: Variant) {
  const bounded = bounds(variant);
  const distance = (value: Value): Int => {
    // `int64` checks the range; its number would not be exact for all 64 bits
    if (hasBounds(variant)) int64(value);
    return integer(value);
  };
  /** Combines two byte strings; bytes that only the longer one has are dropped, or kept if `padded`. */
  const logical = (operate: (a: number, b: number) => number): Definition => ({
    takes: [Measure.ONE, Measure.BYTES, Measure.BYTES],
    run: (padded, first, second) => {
      const [a, b] = [bounded.bytes(first), bounded.bytes(second)];
      const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
      const out = bool(padded) ? longer.slice() : longer.slice(0, shorter.length);
      shorter.forEach((byte, i) => out[i] = operate(byte, out[i] ?? 0));
      return new Constant(BYTES, out);
    },
  });
  return {
    andByteString: logical((a, b) => a & b),
    orByteString: logical((a, b) => a | b),
    xorByteString: logical((a, b) => a ^ b),
    complementByteString: {
      takes: [Measure.BYTES],
      run: (a) => new Constant(BYTES, bounded.bytes(a).map((byte) => ~byte)),
    },
    readBit: {
      takes: [Measure.BYTES, Measure.ONE],
      run: (a, i) => {
        const [value, index] = [bounded.bytes(a), int64(i)];
        if (index < 0 || index >= 8 * value.length) refuse("readBit: no such bit");
        return ((value.at(-1 - (index >> 3)) ?? 0) >> (index & 7)) & 1 ? TRUE : FALSE;
      },
    },
    writeBits: {
      takes: [Measure.BYTES, Measure.LIST, Measure.ONE],
      run: (a, indices, bit) => {
        const [out, set] = [bytes(a).slice(), bool(bit)];
        if (hasBounds(variant) && out.length > MAX_INPUT) refuse("writeBits: the byte string has more than 4 kB");
        for (const index of listOfType(indices, INTEGER.listOf).toArray()) {
          if (typeof index !== "number" || index < 0 || index >= 8 * out.length) {
            return refuse("writeBits: no such bit");
          }
          const at = out.length - 1 - (index >> 3);
          const [before = 0, mask] = [out[at], 1 << (index & 7)];
          out[at] = set ? before | mask : before & ~mask;
        }
        return new Constant(BYTES, out);
      },
    },
    replicateByte: {
      takes: [Measure.BYTE_COUNT, Measure.ONE],
      run: (count, value) => {
        const [length, filler] = [integer(count), byte(value)];
        if (length < 0 || length > MAX_OUTPUT) refuse("replicateByte: the length is out of bounds");
        return new Constant(BYTES, new Uint8Array(Number(length)).fill(filler));
      },
    },
    shiftByteString: {
      takes: [Measure.BYTES, Measure.LITERAL],
      run: (a, by) => new Constant(BYTES, shifted(bytes(a), distance(by))),
    },
    rotateByteString: {
      takes: [Measure.BYTES, Measure.LITERAL],
      run: (a, by) => new Constant(BYTES, rotated(bytes(a), distance(by))),
    },
    countSetBits: {
      takes: [Measure.BYTES],
      run: (a) => new Constant(INTEGER, bounded.bytes(a).reduce((count, byte) => count + setBits(byte), 0)),
    },
    findFirstSetBit: {
      takes: [Measure.BYTES],
      run: (a) => new Constant(INTEGER, lowestSetBit(bounded.bytes(a))),
    },
  } satisfies Record<string, Definition>;
}
