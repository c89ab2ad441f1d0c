/**
 * Programs in the textual form of Untyped Plutus Core: parsed, and written in a canonical form so that equal programs
 * have equal texts.
 */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { Assets, isAmount } from "#src/plutus/machine/assets.ts";
import { compressedPoint, pointOf } from "./blsPoints.ts";
import { BUILTIN_NAMES } from "#src/plutus/machine/builtins/names.ts";
import {
  Built,
  DataKind,
  entriesOf,
  integerOf,
  itemsOf,
  kindOf,
  type MachineData,
  tagOf,
} from "#src/plutus/machine/data.ts";
import { type Int, toInt } from "#src/plutus/machine/integer.ts";
import { type List, listOf } from "#src/plutus/machine/list.ts";
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
  TermKind,
  variable,
} from "#src/plutus/machine/term.ts";
import {
  BOOL,
  BYTES,
  DATA,
  G1,
  G2,
  INTEGER,
  MILLER_LOOP,
  TEXT,
  Type,
  TypeTag,
  UNIT,
  VALUE,
} from "#src/plutus/machine/type.ts";
import { Constant } from "#src/plutus/machine/constant.ts";

/** A text that is not a program. */
export class SyntaxProblem extends Error {
  override readonly name = "SyntaxProblem";
}

function wrong(message: string): never {
  throw new SyntaxProblem(message);
}

const TYPES: Readonly<Record<string, Type>> = {
  integer: INTEGER,
  bytestring: BYTES,
  string: TEXT,
  unit: UNIT,
  bool: BOOL,
  data: DATA,
  value: VALUE,
  bls12_381_G1_element: G1,
  bls12_381_G2_element: G2,
  bls12_381_mlresult: MILLER_LOOP,
};

const TOKEN =
  /\s+|--[^\n]*|\{-[\s\S]*?-\}|([()[\],])|("(?:[^"\\]|\\[\s\S])*")|(#[0-9a-zA-Z]*|[-+]?[0-9][0-9a-zA-Z.]*|[A-Za-z_`][^\s()[\],"]*)/gy;

function tokensOf(source: string): string[] {
  const tokens: string[] = [];
  let at = 0;
  for (const match of source.matchAll(TOKEN)) {
    if (match.index !== at) break;
    at += match[0].length;
    const token = match[1] ?? match[2] ?? match[3];
    if (token !== undefined) tokens.push(token);
  }
  return at === source.length ? tokens : wrong(`cannot read ${source.slice(at, at + 20)}`);
}

/**
 * Parses a program.
 * @throws SyntaxProblem if the text is not a program
 */
export function parseProgram(source: string): Program {
  const parser = new Parser(tokensOf(source));
  return parser.program();
}

class Parser {
  private at = 0;
  private open = false;
  private hasConstr = false;
  constructor(private readonly tokens: readonly string[]) {}

  program(): Program {
    this.take("(");
    this.take("program");
    const version = this.next().split(".").map((part) =>
      /^\d+$/.test(part) ? toInt(BigInt(part)) : wrong("no version")
    );
    const [major, minor, patch] = version;
    if (version.length !== 3) wrong("no version");
    this.hasConstr = major! > 1 || (major === 1 && minor! >= 1);
    const term = this.term([]);
    this.take(")");
    if (this.at !== this.tokens.length) wrong("more than a program");
    return { version: [major!, minor!, patch!], term, open: this.open };
  }

  private next(): string {
    return this.tokens[this.at++] ?? wrong("the text ends");
  }

  private peek(): string | undefined {
    return this.tokens[this.at];
  }

  private take(token: string): void {
    const found = this.next();
    if (found !== token) wrong(`expected ${token}, found ${found}`);
  }

  private took(token: string): boolean {
    if (this.peek() !== token) return false;
    this.at++;
    return true;
  }

  private name(): string {
    const name = this.next();
    return /^[A-Za-z_`]/.test(name) ? name : wrong(`${name} is no name`);
  }

  private terms(scope: readonly string[], end: string): Term[] {
    const terms: Term[] = [];
    while (!this.took(end)) terms.push(this.term(scope));
    return terms;
  }

  private term(scope: readonly string[]): Term {
    if (this.took("[")) {
      const terms = this.terms(scope, "]");
      return terms.length >= 2 ? terms.reduce(apply) : wrong("an application of nothing");
    }
    if (!this.took("(")) {
      const index = scope.indexOf(this.name());
      if (index < 0) this.open = true;
      return variable(index < 0 ? scope.length + 1 : index + 1);
    }
    const term = this.form(this.next(), scope);
    this.take(")");
    return term;
  }

  private form(keyword: string, scope: readonly string[]): Term {
    switch (keyword) {
      case "lam":
        return lambda(this.term([this.name(), ...scope]));
      case "delay":
        return delay(this.term(scope));
      case "force":
        return force(this.term(scope));
      case "error":
        return ERROR;
      case "builtin": {
        const tag = (BUILTIN_NAMES as readonly string[]).indexOf(this.next());
        return tag >= 0 ? builtin(tag) : wrong("no built-in function");
      }
      case "con":
        return constant(this.constant());
      case "constr": {
        if (!this.hasConstr) wrong("constr is not in this version");
        const tag = BigInt(this.integer());
        if (tag < 0n || tag >= 1n << 64n) wrong("a constructor's number is beyond 64 bits");
        return constr(toInt(tag), this.rest(scope));
      }
      case "case": {
        if (!this.hasConstr) wrong("case is not in this version");
        const scrutinee = this.term(scope);
        return caseOf(scrutinee, this.rest(scope));
      }
      default:
        return wrong(`no term begins with ${keyword}`);
    }
  }

  /** Terms up to the end of a form. */
  private rest(scope: readonly string[]): Term[] {
    const terms: Term[] = [];
    while (this.peek() !== ")") terms.push(this.term(scope));
    return terms;
  }

  private type(): Type {
    if (!this.took("(")) return TYPES[this.next()] ?? wrong("no type");
    const keyword = this.next();
    let type: Type;
    if (keyword === "list") type = this.type().listOf;
    else if (keyword === "array") type = this.type().arrayOf;
    else if (keyword === "pair") {
      const first = this.type();
      type = new Type(TypeTag.PAIR, first, this.type());
    } else return wrong("no type");
    this.take(")");
    return type;
  }

  private constant(): Constant {
    const type = this.type();
    return new Constant(type, this.value(type));
  }

  private integer(): Int {
    const token = this.next();
    return /^[-+]?\d+$/.test(token) ? toInt(BigInt(token.replace(/^\+/, ""))) : wrong(`${token} is no integer`);
  }

  private bytes(): Uint8Array {
    const token = this.next();
    return /^#([0-9a-fA-F]{2})*$/.test(token) ? fromHex(token.slice(1)) : wrong(`${token} is no byte string`);
  }

  private value(type: Type): unknown {
    switch (type.tag) {
      case TypeTag.INTEGER:
        return this.integer();
      case TypeTag.BYTES:
        return this.bytes();
      case TypeTag.TEXT: {
        const token = this.next();
        return token.startsWith('"') ? unescaped(token.slice(1, -1)) : wrong(`${token} is no string`);
      }
      case TypeTag.UNIT:
        this.take("(");
        this.take(")");
        return null;
      case TypeTag.BOOL: {
        const token = this.next();
        return token === "True" ? true : token === "False" ? false : wrong(`${token} is no boolean`);
      }
      case TypeTag.LIST:
        return listOf(this.elements(() => this.value(type.first!)));
      case TypeTag.ARRAY:
        return this.elements(() => this.value(type.first!));
      case TypeTag.PAIR: {
        this.take("(");
        const first = this.value(type.first!);
        this.take(",");
        const second = this.value(type.second!);
        this.take(")");
        return [first, second];
      }
      case TypeTag.DATA: {
        const outer = this.took("(");
        const data = this.data();
        if (outer) this.take(")");
        return data;
      }
      case TypeTag.VALUE:
        return new Assets(this.entries(() => {
          const tokens = this.entries(() => {
            const amount = BigInt(this.integer());
            return amount !== 0n && isAmount(amount) ? amount : wrong("no amount");
          });
          return tokens.length > 0 ? tokens : wrong("a policy without tokens");
        }));
      case TypeTag.G1:
      case TypeTag.G2: {
        const token = this.next();
        if (!/^0x([0-9a-fA-F]{2})*$/.test(token)) wrong(`${token} is no point`);
        return pointOf(type, fromHex(token.slice(2)));
      }
      default:
        return wrong("a constant of a type that has no text");
    }
  }

  private elements<E>(read: () => E): E[] {
    this.take("[");
    const elements: E[] = [];
    if (this.took("]")) return elements;
    do elements.push(read()); while (this.took(","));
    this.take("]");
    return elements;
  }

  private entries<V>(read: () => V): (readonly [Uint8Array, V])[] {
    const entries = this.elements(() => {
      this.take("(");
      const key = this.bytes();
      if (key.length > 32) wrong("a key of more than 32 bytes");
      this.take(",");
      const value = read();
      this.take(")");
      return [key, value] as const;
    });
    const keys = entries.map(([key]) => toHex(key));
    return keys.every((key, i) => i === 0 || keys[i - 1]! < key) ? entries : wrong("keys are not in order");
  }

  private data(): MachineData {
    switch (this.next()) {
      case "I":
        return this.integer();
      case "B":
        return this.bytes();
      case "List":
        return new Built(DataKind.LIST, 0, listOf(this.elements(() => this.data())));
      case "Map":
        return new Built(
          DataKind.MAP,
          0,
          listOf(this.elements(() => {
            this.take("(");
            const key = this.data();
            this.take(",");
            const value = this.data();
            this.take(")");
            return [key, value] as const;
          })),
        );
      case "Constr": {
        const tag = this.integer();
        return new Built(DataKind.CONSTR, tag, listOf(this.elements(() => this.data())));
      }
      default:
        return wrong("no data");
    }
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  '"': '"',
  "'": "'",
  "\\": "\\",
  "&": "",
};

/** Names of control characters in strings of Haskell. */
const CONTROLS = (
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US SP"
).split(" ");

function unescaped(text: string): string {
  return text.replace(
    /\\(?:(\d+)|x([0-9a-fA-F]+)|o([0-7]+)|(NUL|SOH|STX|ETX|EOT|ENQ|ACK|BEL|BS|HT|LF|VT|FF|CR|SO|SI|DLE|DC[1-4]|NAK|SYN|ETB|CAN|EM|SUB|ESC|FS|GS|RS|US|SP|DEL)|([\s\S]))/g,
    (_, decimal, hexadecimal, octal, control, single) => {
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      if (hexadecimal !== undefined) return String.fromCodePoint(parseInt(hexadecimal, 16));
      if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8));
      if (control !== undefined) return String.fromCodePoint(control === "DEL" ? 127 : CONTROLS.indexOf(control));
      return ESCAPES[single as string] ?? wrong(`\\${single} is no character`);
    },
  );
}

/** A program in canonical form: variables by index, constants in one notation. */
export function showProgram({ version, term }: Program): string {
  return `(program ${version.join(".")} ${showTerm(term)})`;
}

/** A term in canonical form. */
export function showTerm(term: Term): string {
  const several = (terms: readonly Term[]) => terms.map((one) => ` ${showTerm(one)}`).join("");
  switch (term.kind) {
    case TermKind.VARIABLE:
      return `${term.number}`;
    case TermKind.CONSTANT:
      return `(con ${showType(term.constant.type)} ${showValue(term.constant.type, term.constant.value)})`;
    case TermKind.LAMBDA:
      return `(lam ${showTerm(term.first!)})`;
    case TermKind.DELAY:
      return `(delay ${showTerm(term.first!)})`;
    case TermKind.FORCE:
      return `(force ${showTerm(term.first!)})`;
    case TermKind.BUILTIN:
      return `(builtin ${BUILTIN_NAMES[term.number as number]})`;
    case TermKind.APPLY:
      return `[${showTerm(term.first!)} ${showTerm(term.second!)}]`;
    case TermKind.CASE:
      return `(case ${showTerm(term.first!)}${several(term.terms)})`;
    case TermKind.CONSTR:
      return `(constr ${term.number}${several(term.terms)})`;
    default:
      return "(error)";
  }
}

function showType(type: Type): string {
  switch (type.tag) {
    case TypeTag.LIST:
      return `(list ${showType(type.first!)})`;
    case TypeTag.ARRAY:
      return `(array ${showType(type.first!)})`;
    case TypeTag.PAIR:
      return `(pair ${showType(type.first!)} ${showType(type.second!)})`;
    default:
      return Object.keys(TYPES).find((name) => TYPES[name] === type)!;
  }
}

function showValue(type: Type, value: unknown): string {
  switch (type.tag) {
    case TypeTag.BYTES:
      return `#${toHex(value as Uint8Array)}`;
    case TypeTag.TEXT:
      return JSON.stringify(value);
    case TypeTag.LIST:
      return `[${(value as List).toArray().map((element) => showValue(type.first!, element)).join(", ")}]`;
    case TypeTag.ARRAY:
      return `[${(value as readonly unknown[]).map((element) => showValue(type.first!, element)).join(", ")}]`;
    case TypeTag.PAIR: {
      const [first, second] = value as readonly [unknown, unknown];
      return `(${showValue(type.first!, first)}, ${showValue(type.second!, second)})`;
    }
    case TypeTag.DATA:
      return showData(value as MachineData);
    case TypeTag.VALUE:
      return (value as Assets).policies.map(([policy, tokens]) =>
        `${toHex(policy)}: ${tokens.map(([token, amount]) => `${toHex(token)} ${amount}`).join(", ")}`
      ).join("; ");
    case TypeTag.G1:
    case TypeTag.G2:
      return `0x${toHex(compressedPoint(type, value))}`;
    case TypeTag.MILLER_LOOP:
      // has no canonical form
      return "_";
    default:
      return String(value);
  }
}

function showData(data: MachineData): string {
  const kind = kindOf(data);
  if (kind === DataKind.INTEGER) return `I ${integerOf(data)}`;
  if (data instanceof Uint8Array) return `B #${toHex(data)}`;
  if (kind === DataKind.MAP) {
    return `Map [${entriesOf(data).map(([k, v]) => `(${showData(k)}, ${showData(v)})`).join(", ")}]`;
  }
  const shown = itemsOf(data).map(showData).join(", ");
  return kind === DataKind.LIST ? `List [${shown}]` : `Constr ${tagOf(data)} [${shown}]`;
}
