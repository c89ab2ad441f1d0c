/**
 * A third Plutus machine, for very many runs: a term is compiled to JavaScript once, with variables and functions of
 * JavaScript itself. It keeps the order of evaluation and every way to fail, and counts no units. It has only the
 * built-in functions that this project's scripts use; tests compare it with the product's machine.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { compareBytes, concat, equalBytes } from "#src/base/bytes.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { Constr, type Data, DataMap } from "#src/cardano/data.ts";
import type { BuiltinName } from "#src/contract/uplc/builtinTable.ts";
import { type BuildOptions, program } from "#src/contract/uplc/program.ts";
import type { Expr, Term, Variable } from "#src/contract/uplc/term.ts";

/** The failure of a script, with its last trace. */
export class Failed extends Error {
  override readonly name = "Failed";
}

/** A list: an array from some position on. */
class List {
  constructor(readonly array: readonly unknown[], readonly at: number) {}
}
type Pair = readonly [unknown, unknown];
type Value = unknown;

function fail(message: string): never {
  throw new Failed(message);
}
function int(value: Value): bigint {
  return typeof value === "bigint" ? value : fail("no integer");
}
function bytes(value: Value): Uint8Array {
  return value instanceof Uint8Array ? value : fail("no bytes");
}
function list(value: Value): List {
  return value instanceof List ? value : fail("no list");
}
function pair(value: Value): Pair {
  return Array.isArray(value) && value.length === 2 ? value as unknown as Pair : fail("no pair");
}

/** A list of data or of pairs as data again. */
function arrayOf(value: Value): readonly unknown[] {
  const { array, at } = list(value);
  return at === 0 ? array : array.slice(at);
}
function clamp(value: bigint, most: number): number {
  return value < 0n ? 0 : value > BigInt(most) ? most : Number(value);
}
function floorDiv(a: bigint, b: bigint): bigint {
  if (b === 0n) fail("division by zero");
  const quotient = a / b;
  return a % b !== 0n && (a < 0n) !== (b < 0n) ? quotient - 1n : quotient;
}
function isByte(value: bigint): number {
  return value >= 0n && value < 256n ? Number(value) : fail("no byte");
}
/** A width of 0, which means as many bytes as needed, does not occur. */
function toBytes(bigEndian: boolean, width: bigint, value: bigint): Uint8Array {
  if (width <= 0n || width > 8192n || value < 0n) return fail("integerToByteString");
  const out = new Uint8Array(Number(width));
  let rest = value;
  for (let i = 0; i < out.length; i++, rest >>= 8n) out[bigEndian ? out.length - 1 - i : i] = Number(rest & 255n);
  return rest === 0n ? out : fail("integerToByteString");
}

/** Whether two data are equal. */
export function sameData(a: Data, b: Data): boolean {
  if (a === b) return true;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b);
  if (a instanceof Constr) return b instanceof Constr && a.tag === b.tag && sameList(a.fields, b.fields);
  if (a instanceof DataMap) {
    return b instanceof DataMap && a.entries.length === b.entries.length &&
      a.entries.every(([k, v], i) => sameData(k, b.entries[i]![0]) && sameData(v, b.entries[i]![1]));
  }
  return Array.isArray(a) && Array.isArray(b) && sameList(a as Data[], b as Data[]);
}
function sameList(a: readonly Data[], b: readonly Data[]): boolean {
  return a.length === b.length && a.every((one, i) => sameData(one, b[i]!));
}

let traced = "";

type Curried = (a: Value) => Value;
const one = (f: (a: Value) => Value): Curried => f;
const two = (f: (a: Value, b: Value) => Value): Curried => (a) => (b: Value) => f(a, b);
const three = (f: (a: Value, b: Value, c: Value) => Value): Curried => (a) => (b: Value) => (c: Value) => f(a, b, c);

const BUILTINS: { readonly [name in BuiltinName]: Curried } = {
  addInteger: two((a, b) => int(a) + int(b)),
  subtractInteger: two((a, b) => int(a) - int(b)),
  divideInteger: two((a, b) => floorDiv(int(a), int(b))),
  modInteger: two((a, b) => int(a) - floorDiv(int(a), int(b)) * int(b)),
  equalsInteger: two((a, b) => int(a) === int(b)),
  lessThanInteger: two((a, b) => int(a) < int(b)),
  lessThanEqualsInteger: two((a, b) => int(a) <= int(b)),
  appendByteString: two((a, b) => concat(bytes(a), bytes(b))),
  consByteString: two((a, b) => concat(Uint8Array.of(isByte(int(a))), bytes(b))),
  sliceByteString: three((from, count, from_) => {
    const whole = bytes(from_);
    const start = clamp(int(from), whole.length);
    return whole.subarray(start, start + clamp(int(count), whole.length - start));
  }),
  lengthOfByteString: one((a) => BigInt(bytes(a).length)),
  indexByteString: two((a, i) => {
    const at = int(i);
    return at >= 0n && at < BigInt(bytes(a).length) ? BigInt(bytes(a)[Number(at)]!) : fail("no such byte");
  }),
  equalsByteString: two((a, b) => equalBytes(bytes(a), bytes(b))),
  lessThanByteString: two((a, b) => compareBytes(bytes(a), bytes(b)) < 0),
  sha2_256: one((a) => sha256(bytes(a))),
  blake2b_256: one((a) => blake2b256(bytes(a))),
  ifThenElse: three((c, a, b) => typeof c === "boolean" ? (c ? a : b) : fail("no condition")),
  trace: two((message, value) => {
    traced = String(message);
    return value;
  }),
  fstPair: one((a) => pair(a)[0]),
  sndPair: one((a) => pair(a)[1]),
  chooseList: three((l, a, b) => list(l).at >= list(l).array.length ? a : b),
  mkCons: two((a, l) => new List([a, ...arrayOf(l)], 0)),
  headList: one((l) => list(l).at < list(l).array.length ? list(l).array[list(l).at] : fail("head of nothing")),
  tailList: one((l) =>
    list(l).at < list(l).array.length ? new List(list(l).array, list(l).at + 1) : fail("tail of nothing")
  ),
  nullList: one((l) => list(l).at >= list(l).array.length),
  constrData: two((tag, fields) => new Constr(Number(int(tag)), arrayOf(fields) as Data[])),
  mapData: one((entries) => new DataMap(arrayOf(entries) as [Data, Data][])),
  iData: one((a) => int(a)),
  bData: one((a) => bytes(a)),
  unConstrData: one((d) => d instanceof Constr ? [BigInt(d.tag), new List(d.fields, 0)] : fail("no constructor")),
  unMapData: one((d) => d instanceof DataMap ? new List(d.entries, 0) : fail("no map")),
  unListData: one((d) => Array.isArray(d) ? new List(d, 0) : fail("no list")),
  unIData: one((d) => int(d)),
  unBData: one((d) => bytes(d)),
  equalsData: two((a, b) => sameData(a as Data, b as Data)),
  mkPairData: two((a, b) => [a, b]),
  mkNilData: one(() => new List([], 0)),
  mkNilPairData: one(() => new List([], 0)),
  integerToByteString: three((big, width, value) => toBytes(big === true, int(width), int(value))),
  dropList: two((n, l) => {
    const { array, at } = list(l);
    return new List(array, at + clamp(int(n), array.length - at));
  }),
};
interface Packed {
  readonly tag: number;
  readonly fields: readonly Value[];
}

const tools = {
  force: (value: Value): Value => typeof value === "function" ? value() : fail("forced what is not delayed"),
  error: (): never => fail(traced || "an error"),
  unpack: (from: Value, branches: readonly (() => Value)[]): Value => {
    const { tag, fields } = packed(from, branches.length);
    let f = (branches[tag] ?? fail("no such branch"))();
    for (const field of fields) f = (f as Curried)(field);
    return f;
  },
};

/** The branch that `case` selects for a value: a constructor, or a constant (from protocol version 11 on). */
function packed(from: Value, branches: number): Packed {
  if (typeof from === "boolean") return branches <= 2 ? { tag: from ? 1 : 0, fields: [] } : fail("no such branch");
  if (typeof from === "bigint") return { tag: Number(from), fields: [] };
  if (from instanceof List) {
    const { array, at } = from;
    if (branches > 2) return fail("no such branch");
    return at < array.length ? { tag: 0, fields: [array[at], new List(array, at + 1)] } : { tag: 1, fields: [] };
  }
  if (Array.isArray(from)) return branches === 1 ? { tag: 0, fields: from } : fail("no such branch");
  return from as Packed;
}

function isBuiltin(term: Term): boolean {
  return term.kind === "builtin" || (term.kind === "force" && isBuiltin(term.body));
}

/** The source of a term; constants go into a pool. */
function source(term: Term, names: ReadonlyMap<Variable, string>, pool: Value[]): string {
  const again = (t: Term) => source(t, names, pool);
  const pooled = (value: Value) => `k[${pool.push(value) - 1}]`;
  switch (term.kind) {
    case "variable":
      return names.get(term.variable) ?? fail("an unbound variable");
    case "lambda": {
      const name = `v${names.size}`;
      return `((${name})=>${source(term.body, new Map([...names, [term.variable, name]]), pool)})`;
    }
    case "apply":
      return `${again(term.fun)}(${again(term.argument)})`;
    case "constant": {
      const { constant } = term;
      return pooled(constant.type === "unit" ? null : constant.value);
    }
    case "builtin":
      return `b.${term.name}`;
    case "delay":
      return `(()=>${again(term.body)})`;
    case "force":
      // a polymorphic built-in function is forced for each of its types, which has no effect here
      return isBuiltin(term.body) ? again(term.body) : `t.force(${again(term.body)})`;
    case "forms":
      return fail("a part in two forms");
    case "error":
      return "t.error()";
    case "constr":
      return `({tag:${term.tag},fields:[${term.fields.map(again).join()}]})`;
    case "case":
      return `t.unpack(${again(term.scrutinee)},[${term.branches.map((one) => `()=>${again(one)}`).join()}])`;
  }
}

/** A function of data as a JavaScript function, built with traces; it throws `Failed` where the script fails. */
export function machine(script: Expr<unknown>, options: BuildOptions = {}): (...args: Data[]) => unknown {
  const pool: Value[] = [];
  const text = source(program(script, { ...options, traces: true }), new Map(), pool);
  const compiled = new Function("b", "t", "k", `return ${text}`)(BUILTINS, tools, pool) as Curried;
  return (...args) => {
    traced = "";
    return args.reduce<Value>((f, argument) => (f as Curried)(argument), compiled);
  };
}
