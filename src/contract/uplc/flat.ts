/** The flat encoding of programs (Plutus Core specification, appendix C). */
import { encodeData } from "#src/cardano/data.ts";
import { utf8 } from "#src/base/bytes.ts";
import type { Constant, Term, Variable } from "#src/contract/uplc/term.ts";
import { BUILTINS } from "#src/contract/uplc/builtinTable.ts";

const VERSION = [1, 1, 0];
/** Tags of terms. */
export const TERMS = {
  variable: 0,
  delay: 1,
  lambda: 2,
  apply: 3,
  constant: 4,
  force: 5,
  error: 6,
  builtin: 7,
  constr: 8,
  case: 9,
} as const;
const TYPES = { integer: 0, bytestring: 1, string: 2, unit: 3, bool: 4, data: 8 } as const;

/**
 * Flat bytes of a program: the version and a closed term.
 *
 * @throws {TypeError} if a variable is not bound.
 */
export function flat(term: Term): Uint8Array {
  const out = new Bits();
  for (const part of VERSION) out.natural(BigInt(part));
  write(out, term, new Map(), 0);
  out.pad();
  return out.bytes();
}

function write(out: Bits, term: Term, levels: Map<Variable, number>, depth: number): void {
  if (term.kind === "forms") throw new TypeError("a part in two forms, of which no build has taken one");
  out.bits(TERMS[term.kind], 4);
  const inner = (t: Term) => write(out, t, levels, depth);
  switch (term.kind) {
    case "variable": {
      const level = levels.get(term.variable);
      if (level === undefined) throw new TypeError("a variable that is not bound");
      return out.natural(BigInt(depth - level));
    }
    case "lambda": {
      const outer = levels.get(term.variable);
      levels.set(term.variable, depth);
      write(out, term.body, levels, depth + 1);
      if (outer === undefined) levels.delete(term.variable);
      else levels.set(term.variable, outer);
      return;
    }
    case "apply":
      inner(term.fun);
      return inner(term.argument);
    case "force":
    case "delay":
      return inner(term.body);
    case "constant":
      return writeConstant(out, term.constant);
    case "builtin":
      return out.bits(BUILTINS[term.name][0], 7);
    case "constr":
      out.natural(BigInt(term.tag));
      return out.list(term.fields, inner);
    case "case":
      inner(term.scrutinee);
      return out.list(term.branches, inner);
    case "error":
      return;
  }
}

function writeConstant(out: Bits, constant: Constant): void {
  out.list([TYPES[constant.type]], (type) => out.bits(type, 4));
  switch (constant.type) {
    case "integer":
      return out.integer(constant.value);
    case "bytestring":
      return out.byteString(constant.value);
    case "string":
      return out.byteString(utf8(constant.value));
    case "bool":
      return out.bit(constant.value ? 1 : 0);
    case "data":
      return out.byteString(encodeData(constant.value));
    case "unit":
      return;
  }
}

/** A bit writer; the first bit is the highest one of its byte. */
export class Bits {
  private readonly out: number[] = [];
  private current = 0;
  private count = 0;

  bit(bit: number): void {
    this.current = (this.current << 1) | bit;
    if (++this.count === 8) {
      this.out.push(this.current);
      this.current = 0;
      this.count = 0;
    }
  }

  bits(value: number, width: number): void {
    for (let i = width - 1; i >= 0; i--) this.bit((value >> i) & 1);
  }

  /** Fills the byte: zeros, then a one. */
  pad(): void {
    while (this.count !== 7) this.bit(0);
    this.bit(1);
  }

  /** Seven bits in each byte, the lowest first; the highest bit says that more follow. Takes linear time. */
  natural(value: bigint): void {
    const digits = value.toString(2);
    for (let end = digits.length; end > 0; end -= 7) {
      const low = parseInt(digits.slice(Math.max(0, end - 7), end), 2);
      this.bits(end > 7 ? low | 128 : low, 8);
    }
  }

  /** Zigzag: 0, −1, 1, −2, … */
  integer(value: bigint): void {
    this.natural(value >= 0n ? value << 1n : (-value << 1n) - 1n);
  }

  byteString(bytes: Uint8Array): void {
    this.pad();
    for (let i = 0; i < bytes.length; i += 255) {
      const chunk = bytes.subarray(i, i + 255);
      this.bits(chunk.length, 8);
      for (const byte of chunk) this.bits(byte, 8);
    }
    this.bits(0, 8);
  }

  list<A>(elements: readonly A[], one: (element: A) => void): void {
    for (const element of elements) {
      this.bit(1);
      one(element);
    }
    this.bit(0);
  }

  bytes(): Uint8Array {
    if (this.count !== 0) throw new RangeError("not at the end of a byte");
    return Uint8Array.from(this.out);
  }
}
