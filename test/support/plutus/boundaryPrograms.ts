/**
 * Calls of built-in functions at the limits of their arguments: one program for each call, in every language and
 * version that has the function.
 */
import { Constr, type Data, DataMap } from "#src/cardano/data.ts";
import { Assets } from "#src/plutus/machine/assets.ts";
import { BUILTIN_NAMES, type BuiltinName } from "#src/plutus/machine/builtins/names.ts";
import { definitions } from "#src/plutus/machine/builtins/table.ts";
import { toInt } from "#src/plutus/machine/integer.ts";
import { EMPTY, listOf } from "#src/plutus/machine/list.ts";
import { apply, builtin, constant, force, type Term } from "#src/plutus/machine/term.ts";
import {
  BOOL,
  BYTES,
  DATA,
  DATA_LIST,
  G1,
  G2,
  INTEGER,
  TEXT,
  type Type,
  UNIT,
  VALUE,
} from "#src/plutus/machine/type.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { hasBuiltin, type Language } from "#src/plutus/machine/version.ts";
import { encodeProgram } from "./flatWriter.ts";

const of = (type: Type, value: unknown) => constant(new Constant(type, value));
const int = (value: bigint | number) => of(INTEGER, toInt(BigInt(value)));
const bytes = (length: number, filler = 1) => of(BYTES, new Uint8Array(length).fill(filler));
const data = (value: Data) => of(DATA, value);
const bool = (value: boolean) => of(BOOL, value);
const ints = (...values: (bigint | number)[]) =>
  of(INTEGER.listOf, listOf(values.map((value) => toInt(BigInt(value)))));
const value = (...tokens: [policy: number, name: number, amount: bigint][]) =>
  of(VALUE, new Assets(tokens.map(([policy, name, amount]) => [key(policy), [[key(name), amount]]])));
const key = (byte: number) => new Uint8Array(28).fill(byte);
const call = (name: BuiltinName, ...args: Term[]) => {
  let fun = builtin(BUILTIN_NAMES.indexOf(name));
  for (let i = definitions("E")[name].forces ?? 0; i > 0; i--) fun = force(fun);
  return args.reduce(apply, fun);
};
/** Both sides of a power of two, positive and negative. */
const around = (bits: number) => {
  const power = 1n << BigInt(bits);
  return [power - 1n, power, -power, -power - 1n];
};
const WORDS = [...around(63), ...around(64), ...around(200)];
const SMALL = [-1n, 0n, 1n, 2n, 3n];

/** The generator, or the zero element, of a group. */
const point = (group: "G1" | "G2", zero = false) => {
  const form = new Uint8Array(group === "G1" ? 48 : 96);
  form[0] = 0xc0;
  const name = `bls12_381_${group}_${zero ? "uncompress" : "hashToGroup"}` as const;
  return zero ? call(name, of(BYTES, form)) : call(name, bytes(3), bytes(2));
};
const pointsOf = (group: "G1" | "G2", count: number) => {
  const type = group === "G1" ? G1 : G2;
  return Array.from({ length: count }).reduce<Term>(
    (rest, _, i) => call("mkCons", point(group, i === 1), rest),
    of(type.listOf, EMPTY),
  );
};

function* calls(): Generator<readonly [BuiltinName, Term]> {
  const one = (name: BuiltinName, ...args: Term[]) => [name, call(name, ...args)] as const;
  for (const base of [...SMALL, ...around(8191)]) {
    for (const exponent of [...SMALL, ...around(8191)]) {
      for (const modulus of [-5n, 0n, 1n, 5n, 6n, ...around(8191).slice(0, 2)]) {
        yield one("expModInteger", int(base), int(exponent), int(modulus));
      }
    }
  }
  for (const count of [...SMALL, ...WORDS]) {
    yield one("dropList", int(count), ints(7, 8));
    yield one("indexArray", call("listToArray", ints(7, 8)), int(count));
    yield one("indexByteString", bytes(2), int(count));
    yield one("readBit", bytes(1), int(count));
    yield one("sliceByteString", int(count), int(1), bytes(3));
    yield one("sliceByteString", int(1), int(count), bytes(3));
    yield one("shiftByteString", bytes(2), int(count));
    yield one("rotateByteString", bytes(2), int(count));
    yield one("shiftByteString", bytes(0), int(count));
    yield one("writeBits", bytes(1), ints(0, count), bool(false));
    yield one("replicateByte", int(count), int(7));
    yield one("replicateByte", int(2), int(count));
    yield one("consByteString", int(count), bytes(1));
    yield one("constrData", int(count), of(DATA_LIST, EMPTY));
    yield one("integerToByteString", bool(true), int(0), int(count));
    yield one("integerToByteString", bool(false), int(count), int(5));
    yield one("scaleValue", int(count), value([1, 1, 3n]));
  }
  for (const byte of [255, 256, 257]) {
    yield one("consByteString", int(byte), bytes(1));
    yield one("replicateByte", int(1), int(byte));
  }
  for (const length of [8191, 8192, 8193]) {
    yield one("replicateByte", int(length), int(1));
    yield one("integerToByteString", bool(true), int(length), int(1));
    yield one("integerToByteString", bool(false), int(0), int((1n << BigInt(8 * length)) - 1n));
  }
  for (const length of [4096, 4097]) yield one("writeBits", bytes(length), ints(3), bool(true));
  for (const scalar of [...around(255), ...around(4095)]) {
    for (const group of ["G1", "G2"] as const) {
      yield one(`bls12_381_${group}_scalarMul`, int(scalar), point(group));
      yield one(`bls12_381_${group}_multiScalarMul`, ints(scalar, 2), pointsOf(group, 2));
      // one scalar or one point more than the other list
      yield one(`bls12_381_${group}_multiScalarMul`, ints(2, scalar), pointsOf(group, 1));
    }
  }
  for (const group of ["G1", "G2"] as const) {
    yield one(`bls12_381_${group}_multiScalarMul`, ints(), pointsOf(group, 0));
    yield one(`bls12_381_${group}_multiScalarMul`, ints(2), pointsOf(group, 3));
    for (const length of [0, 255, 256]) yield one(`bls12_381_${group}_hashToGroup`, bytes(3), bytes(length));
    for (const length of [65_536, 65_537]) yield one(`bls12_381_${group}_hashToGroup`, bytes(length), bytes(3));
  }
  // decoding each takes a tenth of a second in a peer
  const operations = ["add", "subtract", "multiply", "divide", "quotient", "remainder", "mod", "equals"] as const;
  for (const great of around(262_143)) {
    yield one("lessThanInteger", int(great), int(3));
    yield one("iData", int(great));
  }
  for (const great of around(262_143).slice(0, 2)) {
    for (const operation of operations) yield one(`${operation}Integer`, int(3), int(great));
    yield one("lessThanEqualsInteger", int(3), int(great));
    yield one("integerToByteString", bool(true), int(0), int(great));
  }
  for (const length of [65_536, 65_537]) {
    const great = bytes(length);
    for (
      const name of [
        "sha2_256",
        "sha3_256",
        "blake2b_256",
        "blake2b_224",
        "keccak_256",
        "ripemd_160",
        "decodeUtf8",
        "lengthOfByteString",
        "complementByteString",
        "countSetBits",
        "findFirstSetBit",
        "bData",
      ] as const
    ) yield one(name, great);
    for (const name of ["appendByteString", "equalsByteString", "lessThanByteString"] as const) {
      yield one(name, great, bytes(1));
      yield one(name, bytes(1), great);
    }
    for (const name of ["andByteString", "orByteString", "xorByteString"] as const) {
      yield one(name, bool(true), great, bytes(1));
    }
    yield one("byteStringToInteger", bool(true), great);
    yield one("shiftByteString", great, int(3));
    yield one("rotateByteString", great, int(3));
    yield one("sliceByteString", int(1), int(2), great);
    yield one("consByteString", int(1), great);
    yield one("indexByteString", great, int(1));
    yield one("readBit", great, int(1));
    yield one("verifyEd25519Signature", bytes(32), great, bytes(64));
    yield one("encodeUtf8", of(TEXT, "é".repeat(length >> 1)));
  }
  for (const length of [32, 33]) {
    for (const amount of [0n, 1n, ...around(127)]) {
      yield one("insertCoin", bytes(length), bytes(0), int(amount), value());
      yield one("insertCoin", bytes(0), bytes(length), int(amount), value());
      yield one("insertCoin", bytes(28), bytes(28), int(amount), value([1, 1, 5n]));
      yield one("unValueData", data(new DataMap([[new Uint8Array(length), new DataMap([[key(1), amount]])]])));
      yield one("unValueData", data(new DataMap([[key(1), new DataMap([[new Uint8Array(length), amount]])]])));
    }
    yield one("lookupCoin", bytes(length), bytes(0), value());
    yield one("lookupCoin", bytes(0), bytes(length), value());
  }
  const most = (1n << 127n) - 1n;
  for (const [a, b] of [[most, 1n], [most, -1n], [-most, -1n], [-most, -2n], [5n, -5n]] as const) {
    yield one("unionValue", value([1, 1, a]), value([1, 1, b]));
    yield one("unionValue", value([1, 1, a]), value([2, 1, b]));
    yield one("valueContains", value([1, 1, a]), value([1, 1, b]));
    yield one("scaleValue", int(b), value([1, 1, a]));
  }
  for (
    const odd of [
      new DataMap([]),
      new DataMap([[key(1), new DataMap([])]]),
      new DataMap([[key(2), new DataMap([[key(1), 1n]])], [key(1), new DataMap([[key(1), 1n]])]]),
      new DataMap([[key(1), new DataMap([[key(1), 1n]])], [key(1), new DataMap([[key(2), 1n]])]]),
      new DataMap([[key(1), new DataMap([[key(1), 1n], [key(1), 2n]])]]),
      new DataMap([[1n, new DataMap([[key(1), 1n]])]]),
      new DataMap([[key(1), 1n]]),
      new Constr(0, []),
    ]
  ) yield one("unValueData", data(odd));
  for (const count of [40_000, 40_001]) {
    const tokens = Array.from({ length: count }, (_, i) => [Uint8Array.of(i >> 16, i >> 8, i), 1n] as const);
    yield one("valueData", of(VALUE, new Assets([[key(1), tokens]])));
  }
  yield one("mkNilData", of(UNIT, null));
}

/** A call and the language and version that it runs under. */
export interface BoundaryProgram {
  readonly name: BuiltinName;
  readonly flat: Uint8Array;
  readonly language: Language;
  readonly protocolMajor: number;
}

/** All calls. */
export function* boundaryPrograms(): Generator<BoundaryProgram> {
  for (const [name, term] of calls()) {
    const flat = encodeProgram({ version: [1, 0, 0], term, open: false });
    for (const language of [1, 2, 3] as readonly Language[]) {
      for (const protocolMajor of [10, 11]) {
        if (hasBuiltin(BUILTIN_NAMES.indexOf(name), language, protocolMajor)) {
          yield { name, flat, language, protocolMajor };
        }
      }
    }
  }
}
