/**
 * Encodes programs of the machine in the flat format: the inverse of the decoder, to pass programs to the decoder or to
 * another machine.
 */
import { utf8 } from "#src/base/bytes.ts";
import { Bits, TERMS } from "#src/contract/uplc/flat.ts";
import type { Assets } from "#src/plutus/machine/assets.ts";
import type { MachineData } from "#src/plutus/machine/data.ts";
import { encodeMachineData } from "#src/plutus/machine/dataCbor.ts";
import type { Int } from "#src/plutus/machine/integer.ts";
import type { List } from "#src/plutus/machine/list.ts";
import { type Program, type Term, TermKind } from "#src/plutus/machine/term.ts";
import { type Type, TypeTag } from "#src/plutus/machine/type.ts";

/**
 * Flat bytes of a program.
 * @throws TypeError if it has a point of a curve as a constant
 */
export function encodeProgram({ version, term }: Program): Uint8Array {
  const out = new Bits();
  for (const part of version) out.natural(BigInt(part));
  // stack of what is still to be written: a term, the bit before an element of a list, or the bit after the last
  // element
  const todo: (Term | 0 | 1)[] = [term];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (typeof next === "number") out.bits(next, 1);
    else open(out, next, todo);
  }
  out.pad();
  return out.bytes();
}

function open(out: Bits, term: Term, todo: (Term | 0 | 1)[]): void {
  const elements = () => {
    todo.push(0);
    for (let i = term.terms.length - 1; i >= 0; i--) todo.push(term.terms[i]!, 1);
  };
  switch (term.kind) {
    case TermKind.VARIABLE:
      out.bits(TERMS.variable, 4);
      return out.natural(BigInt(term.number));
    case TermKind.CONSTANT:
      out.bits(TERMS.constant, 4);
      out.list(typeTags(term.constant.type), (tag) => out.bits(tag, 4));
      return constant(out, term.constant.type, term.constant.value);
    case TermKind.BUILTIN:
      out.bits(TERMS.builtin, 4);
      return out.bits(term.number as number, 7);
    case TermKind.ERROR:
      return out.bits(TERMS.error, 4);
    case TermKind.APPLY:
      out.bits(TERMS.apply, 4);
      todo.push(term.second!, term.first!);
      return;
    case TermKind.CONSTR:
      out.bits(TERMS.constr, 4);
      out.natural(BigInt(term.number));
      return elements();
    case TermKind.CASE:
      out.bits(TERMS.case, 4);
      elements();
      todo.push(term.first!);
      return;
    default:
      out.bits(
        term.kind === TermKind.LAMBDA ? TERMS.lambda : term.kind === TermKind.DELAY ? TERMS.delay : TERMS.force,
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
      return out.integer(BigInt(value as Int));
    case TypeTag.BYTES:
      return out.byteString(value as Uint8Array);
    case TypeTag.TEXT:
      return out.byteString(utf8(value as string));
    case TypeTag.UNIT:
      return;
    case TypeTag.BOOL:
      return out.bits(value ? 1 : 0, 1);
    case TypeTag.DATA:
      return out.byteString(encodeMachineData(value as MachineData));
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
        out.byteString(policy);
        out.list(tokens, ([token, amount]) => {
          out.byteString(token);
          out.integer(amount);
        });
      });
    default:
      throw new TypeError("a constant without an encoding");
  }
}
