/**
 * Random programs of Untyped Plutus Core from a seed: closed, with every built-in function of their language, mostly
 * well-typed and occasionally not.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { utf8 } from "#src/base/bytes.ts";
import { Constr, type Data, DataMap } from "#src/cardano/data.ts";
import { Assets, assetsData } from "#src/plutus/machine/assets.ts";
import { compressedPoint } from "./blsPoints.ts";
import { BUILTIN_NAMES, type BuiltinName } from "#src/plutus/machine/builtins/names.ts";
import { definitions } from "#src/plutus/machine/builtins/table.ts";
import type { Language, Rules } from "#src/plutus/machine/evaluate.ts";
import { toInt } from "#src/plutus/machine/integer.ts";
import { EMPTY, listOf } from "#src/plutus/machine/list.ts";
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
import {
  BOOL,
  BYTES,
  CONSTR_PAIR,
  DATA,
  DATA_LIST,
  DATA_PAIR,
  DATA_PAIRS,
  G1,
  G2,
  INTEGER,
  MILLER_LOOP,
  sameType,
  TEXT,
  Type,
  TypeTag,
  UNIT,
  VALUE,
} from "#src/plutus/machine/type.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { hasBuiltin, hasCaseOnConstants, hasCoreVersion } from "#src/plutus/machine/version.ts";
import { dice, type Roll } from "../contract/proofFuzz.ts";

/** Type variables in the types of built-in functions. */
const A = new Type(TypeTag.APPLICATION);
const B = new Type(TypeTag.APPLICATION);
const PAIR = new Type(TypeTag.PAIR, A, B);

const [I, X, S, U, T, D] = [INTEGER, BYTES, TEXT, UNIT, BOOL, DATA];

/** Types of the arguments, then the result type. */
const TYPES: Readonly<Record<BuiltinName, readonly Type[]>> = {
  addInteger: [I, I, I],
  subtractInteger: [I, I, I],
  multiplyInteger: [I, I, I],
  divideInteger: [I, I, I],
  quotientInteger: [I, I, I],
  remainderInteger: [I, I, I],
  modInteger: [I, I, I],
  equalsInteger: [I, I, T],
  lessThanInteger: [I, I, T],
  lessThanEqualsInteger: [I, I, T],
  appendByteString: [X, X, X],
  consByteString: [I, X, X],
  sliceByteString: [I, I, X, X],
  lengthOfByteString: [X, I],
  indexByteString: [X, I, I],
  equalsByteString: [X, X, T],
  lessThanByteString: [X, X, T],
  lessThanEqualsByteString: [X, X, T],
  sha2_256: [X, X],
  sha3_256: [X, X],
  blake2b_256: [X, X],
  verifyEd25519Signature: [X, X, X, T],
  appendString: [S, S, S],
  equalsString: [S, S, T],
  encodeUtf8: [S, X],
  decodeUtf8: [X, S],
  ifThenElse: [T, A, A, A],
  chooseUnit: [U, A, A],
  trace: [S, A, A],
  fstPair: [PAIR, A],
  sndPair: [PAIR, B],
  chooseList: [A.listOf, B, B, B],
  mkCons: [A, A.listOf, A.listOf],
  headList: [A.listOf, A],
  tailList: [A.listOf, A.listOf],
  nullList: [A.listOf, T],
  chooseData: [D, A, A, A, A, A, A],
  constrData: [I, DATA_LIST, D],
  mapData: [DATA_PAIRS, D],
  listData: [DATA_LIST, D],
  iData: [I, D],
  bData: [X, D],
  unConstrData: [D, CONSTR_PAIR],
  unMapData: [D, DATA_PAIRS],
  unListData: [D, DATA_LIST],
  unIData: [D, I],
  unBData: [D, X],
  equalsData: [D, D, T],
  mkPairData: [D, D, DATA_PAIR],
  mkNilData: [U, DATA_LIST],
  mkNilPairData: [U, DATA_PAIRS],
  serialiseData: [D, X],
  verifyEcdsaSecp256k1Signature: [X, X, X, T],
  verifySchnorrSecp256k1Signature: [X, X, X, T],
  bls12_381_G1_add: [G1, G1, G1],
  bls12_381_G1_neg: [G1, G1],
  bls12_381_G1_scalarMul: [I, G1, G1],
  bls12_381_G1_equal: [G1, G1, T],
  bls12_381_G1_compress: [G1, X],
  bls12_381_G1_uncompress: [X, G1],
  bls12_381_G1_hashToGroup: [X, X, G1],
  bls12_381_G2_add: [G2, G2, G2],
  bls12_381_G2_neg: [G2, G2],
  bls12_381_G2_scalarMul: [I, G2, G2],
  bls12_381_G2_equal: [G2, G2, T],
  bls12_381_G2_compress: [G2, X],
  bls12_381_G2_uncompress: [X, G2],
  bls12_381_G2_hashToGroup: [X, X, G2],
  bls12_381_millerLoop: [G1, G2, MILLER_LOOP],
  bls12_381_mulMlResult: [MILLER_LOOP, MILLER_LOOP, MILLER_LOOP],
  bls12_381_finalVerify: [MILLER_LOOP, MILLER_LOOP, T],
  keccak_256: [X, X],
  blake2b_224: [X, X],
  integerToByteString: [T, I, I, X],
  byteStringToInteger: [T, X, I],
  andByteString: [T, X, X, X],
  orByteString: [T, X, X, X],
  xorByteString: [T, X, X, X],
  complementByteString: [X, X],
  readBit: [X, I, T],
  writeBits: [X, I.listOf, T, X],
  replicateByte: [I, I, X],
  shiftByteString: [X, I, X],
  rotateByteString: [X, I, X],
  countSetBits: [X, I],
  findFirstSetBit: [X, I],
  ripemd_160: [X, X],
  expModInteger: [I, I, I, I],
  dropList: [I, A.listOf, A.listOf],
  lengthOfArray: [A.arrayOf, I],
  listToArray: [A.listOf, A.arrayOf],
  indexArray: [A.arrayOf, I, A],
  bls12_381_G1_multiScalarMul: [I.listOf, G1.listOf, G1],
  bls12_381_G2_multiScalarMul: [I.listOf, G2.listOf, G2],
  insertCoin: [X, X, I, VALUE, VALUE],
  lookupCoin: [X, X, VALUE, I],
  unionValue: [VALUE, VALUE, VALUE],
  valueContains: [VALUE, VALUE, T],
  valueData: [VALUE, D],
  unValueData: [D, VALUE],
  scaleValue: [I, VALUE, VALUE],
};

const FORCES = BUILTIN_NAMES.map((name) => definitions("E")[name].forces ?? 0);

/** The types of `A` and `B`. */
type Bound = Map<Type, Type>;

function fits(pattern: Type, type: Type, bound: Bound): boolean {
  if (pattern === A || pattern === B) {
    const known = bound.get(pattern);
    bound.set(pattern, known ?? type);
    return known === undefined || sameType(known, type);
  }
  if (pattern.tag !== type.tag) return false;
  return pattern.first === null || (fits(pattern.first, type.first!, bound) &&
    (pattern.second === null || fits(pattern.second, type.second!, bound)));
}

function filled(pattern: Type, bound: Bound): Type {
  const known = bound.get(pattern);
  if (known || pattern.first === null) return known ?? pattern;
  const first = filled(pattern.first, bound);
  if (pattern.tag === TypeTag.LIST) return first.listOf;
  return pattern.tag === TypeTag.ARRAY ? first.arrayOf : new Type(TypeTag.PAIR, first, filled(pattern.second!, bound));
}

/** Integers at boundaries: words, machine integers, limits of built-in functions. */
const EDGES: readonly bigint[] = [31n, 53n, 63n, 64n, 127n, 128n, 255n, 512n, 4095n, 8191n].flatMap((bits) => {
  const power = 1n << bits;
  return [power - 1n, power, power + 1n, 1n - power, -power, -power - 1n];
});
const ORDER = bls12_381.fields.Fr.ORDER;

const G1_POINTS = [1n, 2n, 5n, ORDER - 1n].map((n) => bls12_381.G1.Point.BASE.multiply(n));
const G2_POINTS = [1n, 2n, 5n, ORDER - 1n].map((n) => bls12_381.G2.Point.BASE.multiply(n));
const FORMS = {
  [TypeTag.G1]: [...G1_POINTS, bls12_381.G1.Point.ZERO].map((point) => compressedPoint(G1, point)),
  [TypeTag.G2]: [...G2_POINTS, bls12_381.G2.Point.ZERO].map((point) => compressedPoint(G2, point)),
} as const;

const SECRET = new Uint8Array(32).fill(7);
const HASH = new Uint8Array(32).map((_, i) => 3 * i);
/** A valid key, message and signature. */
const SIGNED: Readonly<Partial<Record<BuiltinName, readonly [Uint8Array, Uint8Array, Uint8Array]>>> = {
  verifyEd25519Signature: [ed25519.getPublicKey(SECRET), HASH, ed25519.sign(HASH, SECRET)],
  verifyEcdsaSecp256k1Signature: [
    secp256k1.getPublicKey(SECRET),
    HASH,
    secp256k1.sign(HASH, SECRET, { prehash: false, lowS: true }),
  ],
  verifySchnorrSecp256k1Signature: [
    schnorr.getPublicKey(SECRET),
    HASH,
    schnorr.sign(HASH, SECRET, new Uint8Array(32)),
  ],
};

const TEXTS = ["", "a", "Ola", "não", "€uro", "😀", "a\u0000b", "ключ", "日本語の文字列", "x".repeat(70)];
const LENGTHS = [0, 0, 1, 2, 3, 4, 7, 8, 9, 16, 20, 28, 31, 32, 33, 48, 63, 64, 65, 96, 128, 255, 256, 300];

/** A program with the rules that it runs under, without the costs. */
export interface RandomProgram {
  readonly program: Program;
  readonly language: Language;
  readonly protocolMajor: Rules["protocolMajor"];
}

/** The program of a seed. */
export function randomProgram(seed: number): RandomProgram {
  const roll = dice(seed);
  const protocolMajor = [9, 10, 11, 11, 11, 11][roll(6)]!;
  const language = ([1, 2, 3, 3] as const)[roll(4)]!;
  const minor = hasCoreVersion([1, 1, 0], language, protocolMajor) && roll(4) > 0 ? 1 : 0;
  const maker = new Maker(roll, language, protocolMajor, minor === 1);
  const term = roll(8) === 0 ? maker.wild(4 + roll(25)) : maker.root(2 + roll(5));
  return { program: { version: [1, minor, 0], term, open: false }, language, protocolMajor };
}

class Maker {
  /** Types of the variables in scope, the innermost last; null for functions. */
  private readonly scope: (Type | null)[] = [];
  private readonly builtins: readonly BuiltinName[];
  private readonly caseOnConstants: boolean;
  /** One in this many terms has a wrong type; none if it is zero. */
  private readonly sloppiness: number;
  /** Whether there are constants that are or hold arrays or values; otherwise functions make them. */
  private readonly writesAll: boolean;

  constructor(
    private readonly roll: Roll,
    language: Language,
    major: number,
    private readonly hasConstr: boolean,
  ) {
    this.builtins = BUILTIN_NAMES.filter((_, tag) => hasBuiltin(tag, language, major));
    this.caseOnConstants = hasConstr && hasCaseOnConstants(major);
    this.sloppiness = roll(5) === 0 ? 20 : 0;
    this.writesAll = roll(4) === 0;
  }

  /** A term that calls a function first, each function with the same probability, then continues. */
  root(size: number): Term {
    const name = this.pick(this.builtins);
    const bound: Bound = new Map([[A, this.type(1)], [B, this.type(1)]]);
    const call = this.call(name, bound, size);
    const type = filled(TYPES[name].at(-1)!, bound);
    const rest = this.under([type], () => this.result(this.roll(size + 1)));
    return this.roll(3) === 0 ? this.shown(call, type) : apply(lambda(rest), call);
  }

  /** A term of any kind; the machine's result includes it. */
  private result(size: number): Term {
    switch (this.roll(this.hasConstr ? 8 : 7)) {
      case 0:
        return lambda(this.under([this.type(1)], () => this.shown(...this.typed(size))));
      case 1:
        return delay(this.shown(...this.typed(size)));
      case 2: {
        const name = this.pick(this.builtins);
        const bound: Bound = new Map([[A, this.type(1)], [B, this.type(1)]]);
        return this.call(name, bound, size, this.roll(TYPES[name].length));
      }
      case 7:
        return constr(toInt(this.natural() % (1n << 64n)), this.several(4, () => this.shown(...this.typed(size - 1))));
      default:
        return this.shown(...this.typed(size));
    }
  }

  private typed(size: number): readonly [Term, Type] {
    const type = this.type(2);
    return [this.term(type, size), type];
  }

  /**
   * The same in a form that has an encoding: points are compressed, results of pairings are compared with themselves.
   */
  private shown(term: Term, type: Type): Term {
    const called = (name: BuiltinName, ...args: Term[]) => args.reduce(apply, this.forced(name));
    switch (type.tag) {
      case TypeTag.G1:
        return called("bls12_381_G1_compress", term);
      case TypeTag.G2:
        return called("bls12_381_G2_compress", term);
      case TypeTag.MILLER_LOOP:
        return apply(lambda(called("bls12_381_finalVerify", variable(1), variable(1))), term);
      default:
        return holds(type, POINTS) ? apply(lambda(constant(new Constant(UNIT, null))), term) : term;
    }
  }

  private pick<E>(from: readonly E[]): E {
    return from[this.roll(from.length)]!;
  }

  private several<E>(most: number, make: () => E): E[] {
    return Array.from({ length: this.roll(most + 1) }, make);
  }

  private under<R>(types: readonly (Type | null)[], make: () => R): R {
    this.scope.push(...types);
    const made = make();
    this.scope.length -= types.length;
    return made;
  }

  private type(depth: number): Type {
    const values = this.builtins.includes("unValueData");
    const points = this.builtins.includes("bls12_381_G1_add") && this.roll(20) === 0;
    const simple = [I, I, X, X, S, U, T, D, D, ...(values ? [VALUE] : []), ...(points ? [G1, G2, MILLER_LOOP] : [])];
    if (depth === 0 || this.roll(3) > 0) return this.pick(simple);
    switch (this.roll(values ? 3 : 2)) {
      case 0:
        return this.type(depth - 1).listOf;
      case 1:
        return new Type(TypeTag.PAIR, this.type(depth - 1), this.type(depth - 1));
      default:
        return this.type(depth - 1).arrayOf;
    }
  }

  /** A term of a type, with about `size` nested parts. */
  term(wanted: Type, size: number): Term {
    const type = this.sloppiness > 0 && this.roll(this.sloppiness) === 0 ? this.type(1) : wanted;
    if (size <= 0) return this.leaf(type);
    const inner = size - 1;
    switch (this.roll(14)) {
      case 0:
        return this.leaf(type);
      case 1: {
        const [argument, of] = this.typed(inner);
        return apply(lambda(this.under([of], () => this.term(type, inner))), argument);
      }
      case 2:
        return force(delay(this.term(type, inner)));
      case 3:
        return force(this.chosen(type, inner));
      case 4:
        return this.hasConstr ? this.constructed(type, inner) : this.loop(type, inner);
      case 5:
        return this.caseOnConstants ? this.branched(type, inner) : this.loop(type, inner);
      case 6:
        return this.roll(3) === 0 ? this.loop(type, inner) : this.leaf(type);
      default:
        return this.built(type, inner);
    }
  }

  /** A variable, if one of the type is in scope, or a constant. */
  private leaf(type: Type): Term {
    const known = this.scope.flatMap((of, i) => of && sameType(of, type) ? [this.scope.length - i] : []);
    if (known.length > 0 && this.roll(3) > 0) return variable(this.pick(known));
    if (this.isWritten(type)) return constant(new Constant(type, this.value(type)));
    if (type === VALUE) {
      const data = constant(new Constant(DATA, assetsData(this.assets())));
      return apply(this.forced("unValueData"), data);
    }
    if (type.tag === TypeTag.G1 || type.tag === TypeTag.G2) {
      const name = type === G1 ? "bls12_381_G1_uncompress" : "bls12_381_G2_uncompress";
      return apply(this.forced(name), constant(new Constant(BYTES, this.pick(FORMS[type.tag]))));
    }
    if (type.tag === TypeTag.MILLER_LOOP) return this.call("bls12_381_millerLoop", new Map(), 0);
    // the empty list has a constant for every element type
    if (type.tag === TypeTag.LIST) {
      const cons = (rest: Term, element: Term) => apply(apply(this.forced("mkCons"), element), rest);
      return this.several(3, () => this.leaf(type.first!)).reduce(cons, constant(new Constant(type, EMPTY)));
    }
    if (type.tag === TypeTag.ARRAY) return apply(this.forced("listToArray"), this.leaf(type.first!.listOf));
    return ERROR;
  }

  private isWritten(type: Type): boolean {
    return !holds(type, POINTS) && (this.writesAll || !holds(type, [TypeTag.VALUE, TypeTag.ARRAY]));
  }

  /** A call of some function with this result type. */
  private built(type: Type, size: number): Term {
    for (let tries = 0; tries < 40; tries++) {
      const name = this.pick(this.builtins);
      const bound: Bound = new Map();
      if (!fits(TYPES[name].at(-1)!, type, bound)) continue;
      for (const any of [A, B]) if (!bound.has(any)) bound.set(any, this.type(1));
      return this.call(name, bound, size);
    }
    return this.leaf(type);
  }

  private forced(name: BuiltinName): Term {
    const tag = BUILTIN_NAMES.indexOf(name);
    let term = builtin(tag);
    for (let i = FORCES[tag]!; i > 0; i--) term = force(term);
    return term;
  }

  /** A function with its first `count` arguments. */
  private call(name: BuiltinName, bound: Bound, size: number, count = TYPES[name].length - 1): Term {
    const signed = this.roll(4) > 0 ? SIGNED[name] : undefined;
    return TYPES[name].slice(0, -1).slice(0, count).reduce((fun, pattern, i) => {
      const type = filled(pattern, bound);
      if (signed && this.roll(6) > 0) return apply(fun, constant(new Constant(BYTES, signed[i]!)));
      const usual = this.roll(3) > 0 ? this.usual(name, type, i) : undefined;
      return apply(fun, usual === undefined ? this.term(type, size - 1) : constant(new Constant(type, usual)));
    }, this.forced(name));
  }

  /** A constant that the function probably accepts, where few of the type are accepted. */
  private usual(name: BuiltinName, type: Type, i: number): unknown {
    switch (name) {
      case "bls12_381_G1_uncompress":
        return this.pick(FORMS[TypeTag.G1]);
      case "bls12_381_G2_uncompress":
        return this.pick(FORMS[TypeTag.G2]);
      case "decodeUtf8":
        return utf8(this.pick(TEXTS));
      case "unValueData":
        return assetsData(this.assets());
      case "unConstrData":
        return new Constr(this.roll(10), this.several(4, () => this.data(1)));
      case "unMapData":
        return this.map(1);
      case "unListData":
        return this.several(4, () => this.data(1));
      case "unIData":
        return this.integer();
      case "unBData":
        return this.bytes();
      case "replicateByte":
      case "consByteString":
        return type === INTEGER ? this.roll(300) : undefined;
      case "integerToByteString":
        return i === 1 ? this.roll(40) : i === 2 ? toInt(this.natural()) : undefined;
      case "expModInteger":
        return toInt(i === 2 ? this.natural() : this.integer());
      case "writeBits":
        return i === 1 ? listOf(this.several(5, () => this.roll(20))) : undefined;
      case "indexByteString":
      case "readBit":
      case "indexArray":
      case "dropList":
      case "sliceByteString":
        return type === INTEGER ? this.roll(6) : undefined;
      case "lookupCoin":
      case "insertCoin":
        return i < 2 ? this.key() : undefined;
      default:
        return undefined;
    }
  }

  /** A delayed term that a condition selects. */
  private chosen(type: Type, size: number): Term {
    const [then, otherwise] = [delay(this.term(type, size)), delay(this.term(type, size))];
    return [this.term(BOOL, size), then, otherwise].reduce(apply, this.forced("ifThenElse"));
  }

  /** A constructor whose branch receives its fields. */
  private constructed(type: Type, size: number): Term {
    const branches = 1 + this.roll(3);
    const tag = this.roll(branches + (this.sloppiness > 0 ? 1 : 0));
    const types = this.several(3, () => this.type(1));
    const value = constr(tag, types.map((of) => this.term(of, size - 1)));
    return caseOf(
      value,
      Array.from({ length: branches }, (_, i) => this.branch(i === tag ? types : [], type, size)),
    );
  }

  /** A function with parameters of some types. */
  private branch(types: readonly Type[], type: Type, size: number): Term {
    const body = this.under(types, () => this.term(type, size - 1));
    return types.reduce<Term>(lambda, body);
  }

  /** A constant that selects its branch. */
  private branched(type: Type, size: number): Term {
    const scrutinee = this.pick([BOOL, UNIT, INTEGER, this.type(1).listOf, new Type(TypeTag.PAIR, D, this.type(1))]);
    const value = scrutinee === INTEGER && this.roll(3) > 0
      ? constant(new Constant(INTEGER, this.roll(3)))
      : this.term(scrutinee, size - 1);
    const branch = (...types: Type[]) => this.branch(types, type, size);
    const off = this.roll(12);
    switch (scrutinee.tag) {
      case TypeTag.BOOL:
        return caseOf(
          value,
          off === 0 ? [branch()] : off === 1 ? [branch(), branch(), branch()] : [branch(), branch()],
        );
      case TypeTag.UNIT:
        return caseOf(value, off === 0 ? [] : off === 1 ? [branch(), branch()] : [branch()]);
      case TypeTag.INTEGER:
        return caseOf(value, Array.from({ length: 1 + this.roll(4) }, () => branch()));
      case TypeTag.LIST: {
        const cons = branch(scrutinee.first!, scrutinee);
        return caseOf(value, off === 0 ? [cons] : off === 1 ? [cons, branch(), branch()] : [cons, branch()]);
      }
      default: {
        const both = branch(scrutinee.first!, scrutinee.second!);
        return caseOf(value, off === 0 ? [both, both] : [both]);
      }
    }
  }

  /**
   * A function applied to a value repeatedly: `(\start -> (\s -> s s count start) (\s n x -> if n <= 0 then x else s s
   * (n - 1) …)) …`.
   */
  private loop(type: Type, size: number): Term {
    const start = this.term(type, size - 1);
    const integer = (value: number) => constant(new Constant(INTEGER, value));
    const call = (name: BuiltinName, ...args: Term[]) => args.reduce(apply, this.forced(name));
    // inside the loop: the start, the loop itself, the count and the value
    const again = this.under([type, null, INTEGER, type], () => this.term(type, size - 1));
    const [self, count, value] = [variable(3), variable(2), variable(1)];
    const next = [self, call("subtractInteger", count, integer(1)), again].reduce(apply, self);
    const done = call("lessThanEqualsInteger", count, integer(0));
    const body = lambda(lambda(lambda(force(call("ifThenElse", done, delay(value), delay(next))))));
    const many = this.roll(8) === 0 ? 60 : 4;
    const run = lambda([variable(1), integer(this.roll(many)), variable(2)].reduce(apply, variable(1)));
    return apply(lambda(apply(run, body)), start);
  }

  private natural(): bigint {
    const value = this.integer();
    return value < 0n ? -value : value;
  }

  private integer(): bigint {
    switch (this.roll(8)) {
      case 0:
        return this.roll(300) === 0 ? 1n << BigInt(262_142 + this.roll(3)) : this.pick(EDGES);
      case 1:
        return this.pick([ORDER, ORDER - 1n, ORDER + 1n, -ORDER]);
      case 2: {
        let value = 0n;
        for (let words = 1 + this.roll(12); words > 0; words--) value = (value << 32n) | BigInt(this.roll(2 ** 32));
        return this.roll(2) === 0 ? value : -value;
      }
      case 3:
        return BigInt(this.roll(1000) - 500);
      default:
        return BigInt(this.roll(14) - 3);
    }
  }

  private bytes(): Uint8Array {
    const filler = this.roll(4);
    const length = this.roll(30) === 0 ? this.roll(5000) : this.pick(LENGTHS);
    return new Uint8Array(length).map(() => filler === 0 ? 0 : filler === 1 ? 255 : this.roll(256));
  }

  private key(): Uint8Array {
    return this.roll(20) === 0 ? new Uint8Array(33) : new Uint8Array(this.pick([0, 1, 1, 28, 32])).fill(this.roll(3));
  }

  private data(depth: number): Data {
    switch (this.roll(depth > 0 ? 8 : 4)) {
      case 0:
      case 1:
        return this.integer();
      case 2:
      case 3:
        return this.bytes();
      case 4:
        return this.several(4, () => this.data(depth - 1));
      case 5:
        return this.map(depth);
      case 6:
        return new Constr(this.pick([0, 1, 6, 7, 127, 128, 2 ** 32]), this.several(3, () => this.data(depth - 1)));
      default:
        return assetsData(this.assets()) as Data;
    }
  }

  private map(depth: number): DataMap {
    return new DataMap(this.several(3, () => [this.data(depth - 1), this.data(depth - 1)] as const));
  }

  /** A value in its required order. */
  private assets(): Assets {
    const entries = <V>(most: number, make: () => V) => {
      const keys = new Map(this.several(most, () => {
        const key = new Uint8Array(this.pick([0, 1, 28, 32])).fill(this.roll(4));
        return [String.fromCharCode(...key), key] as const;
      }));
      return [...keys].sort(([a], [b]) => a < b ? -1 : 1).map(([, key]) => [key, make()] as const);
    };
    const edge = () => this.pick([1n, 2n, 1000n, -1n, -5n, (1n << 127n) - 1n, -(1n << 127n), 1n << 64n]);
    const positive = this.roll(2) === 0;
    return new Assets(
      entries(3, () => entries(4, () => positive ? BigInt(1 + this.roll(99)) : edge()))
        .filter(([, tokens]) => tokens.length > 0),
    );
  }

  /** The content of a constant of a type. */
  private value(type: Type): unknown {
    switch (type.tag) {
      case TypeTag.INTEGER:
        return toInt(this.integer());
      case TypeTag.BYTES:
        return this.bytes();
      case TypeTag.TEXT:
        return this.pick(TEXTS) + this.pick(TEXTS);
      case TypeTag.BOOL:
        return this.roll(2) === 0;
      case TypeTag.UNIT:
        return null;
      case TypeTag.DATA:
        return this.data(3);
      case TypeTag.VALUE:
        return this.assets();
      case TypeTag.LIST:
        return listOf(this.several(4, () => this.value(type.first!)));
      case TypeTag.ARRAY:
        return this.several(4, () => this.value(type.first!));
      default:
        return [this.value(type.first!), this.value(type.second!)];
    }
  }

  /** A term regardless of types. */
  wild(size: number): Term {
    if (size <= 1) {
      const kind = this.roll(8);
      if (kind < 3 && this.scope.length > 0) return variable(1 + this.roll(this.scope.length));
      if (kind === 7) return ERROR;
      if (kind < 5) return this.roll(2) === 0 ? this.forced(this.pick(this.builtins)) : builtin(this.anyBuiltin());
      return this.leaf(this.type(2));
    }
    const rest = size - 1;
    const first = 1 + this.roll(rest);
    switch (this.roll(this.hasConstr ? 9 : 7)) {
      case 0:
      case 1:
        return lambda(this.under([null], () => this.wild(rest)));
      case 2:
        return delay(this.wild(rest));
      case 3:
        return force(this.wild(rest));
      case 7:
        return constr(this.roll(4), this.several(3, () => this.wild(rest >> 1)));
      case 8:
        return caseOf(this.wild(first), this.several(3, () => this.wild(rest >> 1)));
      default:
        return apply(this.wild(first), this.wild(rest - first));
    }
  }

  private anyBuiltin(): number {
    return BUILTIN_NAMES.indexOf(this.pick(this.builtins));
  }
}

/** Types whose constants cannot be encoded: points of the curve and results of pairings. */
const POINTS: readonly TypeTag[] = [TypeTag.G1, TypeTag.G2, TypeTag.MILLER_LOOP];

/** Whether constants of a type are or hold some of other types. */
function holds(type: Type, tags: readonly TypeTag[]): boolean {
  return tags.includes(type.tag) || [type.first, type.second].some((part) => part !== null && holds(part, tags));
}
