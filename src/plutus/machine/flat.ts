/** Decodes programs from the flat encoding (Plutus Core specification, appendix C), as the ledger's decoder does. */
import { compareBytes, fromUtf8 } from "#src/base/bytes.ts";
import { Assets, isAmount, MAX_KEY, type Tokens } from "#src/plutus/machine/assets.ts";
import { BUILTIN_NAMES } from "#src/plutus/machine/builtins/names.ts";
import { decodeMachineData } from "#src/plutus/machine/dataCbor.ts";
import { Failure } from "#src/plutus/machine/failure.ts";
import { type Int, toInt } from "#src/plutus/machine/integer.ts";
import { listOf } from "#src/plutus/machine/list.ts";
import {
  apply,
  builtin,
  caseOf,
  constant,
  constr,
  delay,
  ERROR,
  force,
  lambda,
  type Program,
  type Term,
  variable,
} from "#src/plutus/machine/term.ts";
import { MAX_TYPE_NODES, simpleType, Type, TypeTag } from "#src/plutus/machine/type.ts";
import { FALSE, NOTHING, TRUE } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { hasBuiltin, type Language } from "#src/plutus/machine/version.ts";

const WORD64 = 1n << 64n;
/** Most fields of a constructor that the ledger's decoder accepts. */
const MAX_FIELDS = 1024;

function malformed(message: string): never {
  throw new Failure("decoding", message);
}

/** Takes the last element off a stack that is not empty. */
function popped<T>(stack: T[]): T {
  const last = stack.pop();
  if (last === undefined) throw new RangeError("an empty stack");
  return last;
}

/**
 * Decodes a program.
 *
 * @throws {Failure} of kind `decoding`, also if it uses a built-in function that the language does not have.
 */
export function decodeProgram(flat: Uint8Array, language: Language, protocolMajor: number): Program {
  return new Decoder(flat, language, protocolMajor).program();
}

/** Remaining work on a term that is being read. */
const Todo = { READ: 0, LAMBDA: 1, DELAY: 2, FORCE: 3, APPLY: 4, FIELDS: 5, BRANCHES: 6 } as const;

class Decoder {
  /** The next byte, and the next bit in it. */
  private at = 0;
  private bit = 0;
  /** Whether a variable is not bound: the program is an open term. */
  private open = false;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly language: Language,
    private readonly protocolMajor: number,
  ) {}

  program(): Program {
    const version = [this.natural(), this.natural(), this.natural()] as const;
    const [major, minor] = version;
    const term = this.term(major > 1 || (major === 1 && minor >= 1));
    this.filler();
    if (this.at !== this.bytes.length) malformed("bytes after the program");
    return { version, term, open: this.open };
  }

  /**
   * Reads a term without recursion: programs may be nested more deeply than the call stack allows. One function over 80
   * lines: it is one loop with a case for each tag, and all cases share its three stacks.
   */
  private term(hasConstr: boolean): Term {
    const todo: number[] = [Todo.READ];
    const done: Term[] = [];
    // for each list being read: the constructor's number, and how many terms were done before its first element
    const tags: Int[] = [];
    const starts: number[] = [];
    let depth = 0;
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      switch (next) {
        case Todo.READ: {
          const tag = this.bits(4);
          switch (tag) {
            case 0: {
              const index = this.word64();
              if (index < 1 || index > depth) this.open = true;
              done.push(variable(Number(index)));
              break;
            }
            case 1:
              todo.push(Todo.DELAY, Todo.READ);
              break;
            case 2:
              depth++;
              todo.push(Todo.LAMBDA, Todo.READ);
              break;
            case 3:
              todo.push(Todo.APPLY, Todo.READ, Todo.READ);
              break;
            case 4:
              done.push(constant(this.constant()));
              break;
            case 5:
              todo.push(Todo.FORCE, Todo.READ);
              break;
            case 6:
              done.push(ERROR);
              break;
            case 7:
              done.push(builtin(this.builtin()));
              break;
            case 8:
              if (!hasConstr) malformed("constr is not in Plutus Core before 1.1.0");
              tags.push(this.word64());
              starts.push(done.length);
              todo.push(Todo.FIELDS);
              break;
            case 9:
              if (!hasConstr) malformed("case is not in Plutus Core before 1.1.0");
              starts.push(done.length + 1);
              todo.push(Todo.BRANCHES, Todo.READ);
              break;
            default:
              malformed(`no term has the tag ${tag}`);
          }
          break;
        }
        case Todo.LAMBDA:
          depth--;
          done.push(lambda(popped(done)));
          break;
        case Todo.DELAY:
          done.push(delay(popped(done)));
          break;
        case Todo.FORCE:
          done.push(force(popped(done)));
          break;
        case Todo.APPLY: {
          const argument = popped(done);
          done.push(apply(popped(done), argument));
          break;
        }
        default: {
          if (this.bits(1) === 1) {
            todo.push(next, Todo.READ);
            break;
          }
          const terms = done.splice(popped(starts));
          if (next === Todo.BRANCHES) done.push(caseOf(popped(done), terms));
          else {
            if (terms.length > MAX_FIELDS) malformed(`a constructor of ${terms.length} fields`);
            done.push(constr(popped(tags), terms));
          }
        }
      }
    }
    return popped(done);
  }

  private builtin(): number {
    const tag = this.bits(7);
    if (tag >= BUILTIN_NAMES.length) malformed(`no built-in function has the tag ${tag}`);
    if (!hasBuiltin(tag, this.language, this.protocolMajor)) {
      malformed(`${BUILTIN_NAMES[tag]} is not in Plutus V${this.language} at protocol version ${this.protocolMajor}`);
    }
    return tag;
  }

  private constant(): Constant {
    const tags: number[] = [];
    while (this.bits(1) === 1) {
      if (tags.length === MAX_TYPE_NODES) malformed("a type is too great");
      tags.push(this.bits(4));
    }
    const type = typeOf(tags);
    if (tags.length > 0) malformed("more than one type");
    const value = this.value(type);
    if (type.tag === TypeTag.BOOL) return value ? TRUE : FALSE;
    return type.tag === TypeTag.UNIT ? NOTHING : new Constant(type, value);
  }

  /** The value of a constant. The size of types bounds the recursion. */
  private value(type: Type | null): unknown {
    switch (type?.tag) {
      case TypeTag.INTEGER:
        return this.integer();
      case TypeTag.BYTES:
        return this.chunks();
      case TypeTag.TEXT:
        return fromUtf8(this.chunks()) ?? malformed("a string is not UTF-8");
      case TypeTag.UNIT:
        return null;
      case TypeTag.BOOL:
        return this.bits(1) === 1;
      case TypeTag.LIST:
        return listOf(this.elements(type.first));
      case TypeTag.ARRAY:
        return this.elements(type.first);
      case TypeTag.PAIR:
        return [this.value(type.first), this.value(type.second)];
      case TypeTag.DATA:
        return decodeMachineData(this.chunks());
      case TypeTag.VALUE:
        return this.assets();
      default:
        return malformed("a constant of a type that has no encoding");
    }
  }

  private elements(type: Type | null): unknown[] {
    const elements: unknown[] = [];
    while (this.bits(1) === 1) elements.push(this.value(type));
    return elements;
  }

  private assets(): Assets {
    return new Assets(this.entries(() => {
      const tokens: Tokens = this.entries(() => {
        const amount = BigInt(this.integer());
        return amount !== 0n && isAmount(amount) ? amount : malformed("an amount is zero or beyond 128 bits");
      });
      return tokens.length > 0 ? tokens : malformed("a policy of a value has no token");
    }));
  }

  private entries<V>(read: () => V): (readonly [Uint8Array, V])[] {
    const entries: (readonly [Uint8Array, V])[] = [];
    while (this.bits(1) === 1) {
      const key = this.chunks();
      if (key.length > MAX_KEY) malformed("a key of a value has more than 32 bytes");
      const before = entries.at(-1)?.[0];
      if (before !== undefined && compareBytes(before, key) >= 0) malformed("keys of a value are not in order");
      entries.push([key, read()]);
    }
    return entries;
  }

  /** Bytes in chunks of up to 255, starting at the next full byte. */
  private chunks(): Uint8Array {
    this.filler();
    const start = this.at;
    let length = 0;
    for (let size = this.byte(); size > 0; size = this.byte()) {
      this.at += size;
      length += size;
    }
    const whole = new Uint8Array(length);
    for (let from = start, to = 0; to < length;) {
      const size = this.bytes[from] ?? malformed("truncated");
      whole.set(this.bytes.subarray(from + 1, from + 1 + size), to);
      from += size + 1;
      to += size;
    }
    return whole;
  }

  /** The next byte; the position must be at the start of a byte. */
  private byte(): number {
    return this.bytes[this.at++] ?? malformed("truncated");
  }

  /** Skips zero bits and the one bit after them, which must end a byte. */
  private filler(): void {
    while (this.bits(1) === 0);
    if (this.bit !== 0) malformed("a filler that does not end a byte");
  }

  /** An unsigned integer of at most 64 bits. */
  private word64(): Int {
    const value = this.natural(10);
    return value < WORD64 ? value : malformed("an integer of more than 64 bits");
  }

  /** An unsigned integer: groups of seven bits, the lowest first; the highest bit of a byte says that another group follows. */
  private natural(most = Infinity): Int {
    const first = this.bits(8);
    if (first < 128) return first;
    const groups = [first & 127];
    for (let group = 128; group >= 128;) {
      group = this.bits(8);
      groups.push(group & 127);
      if (groups.length > most) malformed("an integer of more than 64 bits");
    }
    if (groups.length <= 7) return groups.reduceRight((value, group) => value * 128 + group, 0);
    // converted at once: shifting group by group would take quadratic time
    let digits = "";
    for (const group of groups.reverse()) digits += group.toString(2).padStart(7, "0");
    return toInt(BigInt(`0b${digits}`));
  }

  /** An integer of either sign: 0, -1, 1, -2, … */
  private integer(): Int {
    const value = this.natural();
    if (typeof value === "number") return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    return toInt(value & 1n ? -((value + 1n) >> 1n) : value >> 1n);
  }

  private bits(count: number): number {
    const { bytes } = this;
    const first = bytes[this.at] ?? malformed("truncated");
    const end = this.bit + count;
    let value: number;
    if (end <= 8) value = (first >> (8 - end)) & ((1 << count) - 1);
    else {
      const second = bytes[this.at + 1] ?? malformed("truncated");
      value = (((first << 8) | second) >> (16 - end)) & ((1 << count) - 1);
    }
    this.at += end >> 3;
    this.bit = end & 7;
    return value;
  }
}

/** Removes one type from the front of the tags: 7 is an application, 5 the list, 12 the array, 6 the pair. */
function typeOf(tags: number[]): Type {
  const first = tags.shift();
  if (first === undefined) return malformed("no type");
  const simple = simpleType(first);
  if (simple !== undefined) return simple;
  if (first !== TypeTag.APPLICATION) malformed(`no type has the tag ${first}`);
  const second = tags.shift();
  if (second === TypeTag.LIST) return typeOf(tags).listOf;
  if (second === TypeTag.ARRAY) return typeOf(tags).arrayOf;
  if (second === TypeTag.APPLICATION && tags.shift() === TypeTag.PAIR) {
    const left = typeOf(tags);
    return new Type(TypeTag.PAIR, left, typeOf(tags));
  }
  return malformed("an application of a type that takes none");
}
