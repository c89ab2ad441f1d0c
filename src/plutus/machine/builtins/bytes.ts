/** Built-in functions on byte strings, and between them and integers. */
import { compareBytes, concat, equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { refuse } from "#src/plutus/machine/failure.ts";
import { bitLength, type Int, toInt } from "#src/plutus/machine/integer.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { BYTES, INTEGER } from "#src/plutus/machine/type.ts";
import { bool, bounds, byte, bytes, int64, integer } from "#src/plutus/machine/unlift.ts";
import { FALSE, TRUE, type Value } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import type { Variant } from "#src/plutus/machine/version.ts";

const TWO = [Measure.BYTES, Measure.BYTES] as const;

/** Most bytes that `integerToByteString` and `replicateByte` produce. */
export const MAX_OUTPUT = 8192;

function clamp(value: number, most: number): number {
  return value < 0 ? 0 : value > most ? most : value;
}

/** The low byte of an integer, for the variants A, B and D of `consByteString`. */
function lowByte(value: Int): number {
  return Number(BigInt.asUintN(8, BigInt(value)));
}

function toBytes(bigEndian: boolean, width: Int, value: Int): Uint8Array {
  if (width < 0 || width > MAX_OUTPUT) refuse("integerToByteString: the width is out of bounds");
  if (value < 0) refuse("integerToByteString: the integer is negative");
  const whole = BigInt(value);
  const needed = Math.ceil(bitLength(whole) / 8);
  const length = width === 0 ? needed : Number(width);
  if (needed > length || length > MAX_OUTPUT) refuse("integerToByteString: the integer needs more bytes");
  if (length === 0) return new Uint8Array();
  const bytes = fromHex(whole.toString(16).padStart(2 * length, "0"));
  return bigEndian ? bytes : bytes.reverse();
}

function fromBytes(bigEndian: boolean, value: Uint8Array): Int {
  if (value.length === 0) return 0;
  return toInt(BigInt(`0x${toHex(bigEndian ? value : value.toReversed())}`));
}

export function byteBuiltins(variant: Variant) {
  const bounded = bounds(variant);
  const firstByte = variant === "C" || variant === "E" ? byte : (value: Value) => lowByte(bounded.integer(value));
  const comparison = (compare: (a: Uint8Array, b: Uint8Array) => boolean): Definition => ({
    takes: TWO,
    run: (a, b) => compare(bounded.bytes(a), bounded.bytes(b)) ? TRUE : FALSE,
  });
  return {
    appendByteString: { takes: TWO, run: (a, b) => new Constant(BYTES, concat(bounded.bytes(a), bounded.bytes(b))) },
    consByteString: {
      takes: [Measure.INTEGER, Measure.BYTES],
      run: (a, b) => new Constant(BYTES, concat(Uint8Array.of(firstByte(a)), bounded.bytes(b))),
    },
    sliceByteString: {
      takes: [Measure.ONE, Measure.ONE, Measure.BYTES],
      run: (from, count, value) => {
        const [start, length, whole] = [int64(from), int64(count), bounded.bytes(value)];
        const first = clamp(start, whole.length);
        return new Constant(BYTES, whole.subarray(first, first + clamp(length, whole.length - first)));
      },
    },
    lengthOfByteString: { takes: [Measure.BYTES], run: (a) => new Constant(INTEGER, bytes(a).length) },
    indexByteString: {
      takes: [Measure.BYTES, Measure.ONE],
      run: (a, i) => new Constant(INTEGER, bounded.bytes(a)[int64(i)] ?? refuse("indexByteString: no such byte")),
    },
    equalsByteString: comparison(equalBytes),
    lessThanByteString: comparison((a, b) => compareBytes(a, b) < 0),
    lessThanEqualsByteString: comparison((a, b) => compareBytes(a, b) <= 0),
    integerToByteString: {
      takes: [Measure.ONE, Measure.BYTE_COUNT, Measure.INTEGER],
      run: (bigEndian, width, value) => new Constant(BYTES, toBytes(bool(bigEndian), integer(width), integer(value))),
    },
    byteStringToInteger: {
      takes: [Measure.ONE, Measure.BYTES],
      run: (bigEndian, value) => new Constant(INTEGER, fromBytes(bool(bigEndian), bounded.bytes(value))),
    },
  } satisfies Record<string, Definition>;
}
