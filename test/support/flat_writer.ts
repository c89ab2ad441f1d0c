/** The flat encoding of programs of the machine: the other way than the decoder, so that a test or another machine can be given them. */
import { utf8 } from "#src/base/bytes.ts";
import type { Assets } from "#src/plutus/machine/assets.ts";
import type { MachineData } from "#src/plutus/machine/data.ts";
import { encodeMachineData } from "#src/plutus/machine/data_cbor.ts";
import type { Int } from "#src/plutus/machine/integer.ts";
import type { List } from "#src/plutus/machine/list.ts";
import { type Program, type Term, TermKind } from "#src/plutus/machine/term.ts";
import { type Type, TypeTag } from "#src/plutus/machine/type.ts";

/** Bits, the first one the highest of its byte. */
class Bits {
  private readonly out: number[] = [];
  private current = 0;
  private count = 0;

  bits(value: number, width: number): void {
    for (let i = width - 1; i >= 0; i--) {
      this.current = (this.current << 1) | ((value >> i) & 1);
      if (++this.count === 8) {
        this.out.push(this.current);
        this.current = this.count = 0;
      }
    }
  }

  filler(): void {
    while (this.count !== 7) this.bits(0, 1);
    this.bits(1, 1);
  }

  natural(value: Int): void {
    let rest = BigInt(value);
    do {
      const low = Number(rest & 127n);
      rest >>= 7n;
      this.bits(rest > 0n ? low | 128 : low, 8);
    } while (rest > 0n);
  }

  integer(value: Int): void {
    const whole = BigInt(value);
    this.natural(whole >= 0n ? whole << 1n : (-whole << 1n) - 1n);
  }

  bytes(bytes: Uint8Array): void {
    this.filler();
    for (let i = 0; i < bytes.length; i += 255) {
      const chunk = bytes.subarray(i, i + 255);
      this.bits(chunk.length, 8);
      for (const byte of chunk) this.bits(byte, 8);
    }
    this.bits(0, 8);
  }

  list<E>(elements: readonly E[], write: (element: E) => void): void {
    for (const element of elements) {
      this.bits(1, 1);
      write(element);
    }
    this.bits(0, 1);
  }

  whole(): Uint8Array {
    return Uint8Array.from(this.out);
  }
}

/** Tags of terms; kinds of the machine that are missing have parts of their own. */
const TAGS = {
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
};

/** Flat bytes of a program. Throws a `TypeError` where it has a point of a curve as a constant. */
export function encodeProgram({ version, term }: Program): Uint8Array {
  const out = new Bits();
  for (const part of version) out.natural(part);
  // what is still to be written, the next last: a term, the bit before an element of a list, or that after the last one
  const todo: (Term | 0 | 1)[] = [term];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (typeof next === "number") out.bits(next, 1);
    else open(out, next, todo);
  }
  out.filler();
  return out.whole();
}

function open(out: Bits, term: Term, todo: (Term | 0 | 1)[]): void {
  const elements = () => {
    todo.push(0);
    for (let i = term.terms.length - 1; i >= 0; i--) todo.push(term.terms[i]!, 1);
  };
  switch (term.kind) {
    case TermKind.VARIABLE:
      out.bits(TAGS.variable, 4);
      return out.natural(term.number);
    case TermKind.CONSTANT:
      out.bits(TAGS.constant, 4);
      out.list(typeTags(term.constant.type), (tag) => out.bits(tag, 4));
      return constant(out, term.constant.type, term.constant.value);
    case TermKind.BUILTIN:
      out.bits(TAGS.builtin, 4);
      return out.bits(term.number as number, 7);
    case TermKind.ERROR:
      return out.bits(TAGS.error, 4);
    case TermKind.APPLY:
      out.bits(TAGS.apply, 4);
      todo.push(term.second!, term.first!);
      return;
    case TermKind.CONSTR:
      out.bits(TAGS.constr, 4);
      out.natural(term.number);
      return elements();
    case TermKind.CASE:
      out.bits(TAGS.case, 4);
      elements();
      todo.push(term.first!);
      return;
    default:
      out.bits(
        term.kind === TermKind.LAMBDA ? TAGS.lambda : term.kind === TermKind.DELAY ? TAGS.delay : TAGS.force,
        4,
      );
      todo.push(term.first!);
  }
}

function typeTags(type: Type): number[] {
  if (type.tag === TypeTag.PAIR) {
    return [
      TypeTag.APPLICATION,
      TypeTag.APPLICATION,
      TypeTag.PAIR,
      ...typeTags(type.first!),
      ...typeTags(type.second!),
    ];
  }
  return type.first === null ? [type.tag] : [TypeTag.APPLICATION, type.tag, ...typeTags(type.first)];
}

function constant(out: Bits, type: Type, value: unknown): void {
  switch (type.tag) {
    case TypeTag.INTEGER:
      return out.integer(value as Int);
    case TypeTag.BYTES:
      return out.bytes(value as Uint8Array);
    case TypeTag.TEXT:
      return out.bytes(utf8(value as string));
    case TypeTag.UNIT:
      return;
    case TypeTag.BOOL:
      return out.bits(value ? 1 : 0, 1);
    case TypeTag.DATA:
      return out.bytes(encodeMachineData(value as MachineData));
    case TypeTag.LIST:
      return out.list((value as List).toArray(), (element) => constant(out, type.first!, element));
    case TypeTag.ARRAY:
      return out.list(value as readonly unknown[], (element) => constant(out, type.first!, element));
    case TypeTag.PAIR: {
      const [first, second] = value as readonly [unknown, unknown];
      constant(out, type.first!, first);
      return constant(out, type.second!, second);
    }
    case TypeTag.VALUE:
      return out.list((value as Assets).policies, ([policy, tokens]) => {
        out.bytes(policy);
        out.list(tokens, ([token, amount]) => {
          out.bytes(token);
          out.integer(amount);
        });
      });
    default:
      throw new TypeError("a constant that has no encoding");
  }
}
