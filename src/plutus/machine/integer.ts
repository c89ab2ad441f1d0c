/**
 * Integers: a `number` if it is a safe integer, which needs no allocation, otherwise a `bigint`. Each integer has exactly one
 * form, so `===` compares integers.
 */
export type Int = number | bigint;

const LEAST = BigInt(Number.MIN_SAFE_INTEGER);
const MOST = BigInt(Number.MAX_SAFE_INTEGER);
const WORD = 1n << 64n;

/** The form that an integer has here. */
export function toInt(value: bigint): Int {
  return value >= LEAST && value <= MOST ? Number(value) : value;
}

export function add(a: Int, b: Int): Int {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return toInt(BigInt(a) + BigInt(b));
}

export function subtract(a: Int, b: Int): Int {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return toInt(BigInt(a) - BigInt(b));
}

export function multiply(a: Int, b: Int): Int {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    // `+ 0` turns a negative zero into zero
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return toInt(BigInt(a) * BigInt(b));
}

/** Quotient rounded towards zero. `b` is not zero. */
export function quotient(a: Int, b: Int): Int {
  if (typeof a === "number" && typeof b === "number") return Math.trunc(a / b) + 0 === a / b ? a / b + 0 : exact(a, b);
  return toInt(BigInt(a) / BigInt(b));
}

/** The quotient by way of the remainder: a division of safe integers may round to the next integer. */
function exact(a: number, b: number): number {
  return (a - a % b) / b + 0;
}

/** Remainder of `quotient`, with the sign of `a`. `b` is not zero. */
export function remainder(a: Int, b: Int): Int {
  if (typeof a === "number" && typeof b === "number") return a % b + 0;
  return toInt(BigInt(a) % BigInt(b));
}

/** Quotient rounded down. `b` is not zero. */
export function divide(a: Int, b: Int): Int {
  const rest = remainder(a, b);
  const whole = quotient(a, b);
  return rest !== 0 && (rest < 0) !== (b < 0) ? subtract(whole, 1) : whole;
}

/** Remainder of `divide`, with the sign of `b`. `b` is not zero. */
export function modulo(a: Int, b: Int): Int {
  const rest = remainder(a, b);
  return rest !== 0 && (rest < 0) !== (b < 0) ? add(rest, b) : rest;
}

/** Number of bits in an integer's magnitude; 0 for zero. */
export function bitLength(value: bigint): number {
  const digits = (value < 0n ? -value : value).toString(16);
  return digits === "0" ? 0 : 4 * digits.length - Math.clz32(parseInt(digits.slice(0, 1), 16)) + 28;
}

/** Size of an integer for costing, in 64-bit words; 1 for zero. */
export function words(value: Int): number {
  if (typeof value === "number") return 1;
  if (value > -WORD && value < WORD) return 1;
  return Math.ceil(bitLength(value) / 64);
}

/** `base` to the power `exponent` modulo `modulus`, all non-negative, the modulus above 1. */
export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  const bits = exponent.toString(2);
  const reduced = base % modulus;
  for (const bit of bits) {
    result = result * result % modulus;
    if (bit === "1") result = result * reduced % modulus;
  }
  return result;
}

/** The inverse of `value` modulo `modulus` (above 1); undefined if there is none. */
export function inverse(value: bigint, modulus: bigint): bigint | undefined {
  let [a, b] = [((value % modulus) + modulus) % modulus, modulus];
  let [x, y] = [1n, 0n];
  while (b !== 0n) {
    const whole = a / b;
    [a, b] = [b, a - whole * b];
    [x, y] = [y, x - whole * y];
  }
  return a === 1n ? ((x % modulus) + modulus) % modulus : undefined;
}
