/** Built-in functions on the curve BLS12-381 (CIP-381, CIP-133). */
import { pippenger } from "@noble/curves/abstract/curve.js";
import type { Fp2 } from "@noble/curves/abstract/tower.js";
import type { WeierstrassPoint, WeierstrassPointCons } from "@noble/curves/abstract/weierstrass.js";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bytesToNumberBE } from "@noble/curves/utils.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concat, equalBytes } from "#src/base/bytes.ts";
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { refuse } from "#src/plutus/machine/failure.ts";
import type { Int } from "#src/plutus/machine/integer.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import type { G1Point, G2Point, MillerLoop } from "#src/plutus/machine/points.ts";
import { BYTES, G1, G2, INTEGER, MILLER_LOOP, type Type } from "#src/plutus/machine/type.ts";
import { bounds, bytes, integer, listOfType, ofType } from "#src/plutus/machine/unlift.ts";
import { FALSE, TRUE, type Value } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { hasBounds, type Variant } from "#src/plutus/machine/version.ts";

const { Fp, Fp12, Fr } = bls12_381.fields;
const MODULUS = Fp.ORDER;

// the library's types are wrong here: both functions give points of the group, and that of G1 takes one element
const mapG1 = bls12_381.G1.mapToCurve as unknown as (element: bigint) => G1Point;
function mapG2(element: bigint[]): G2Point {
  const point: unknown = bls12_381.G2.mapToCurve(element);
  if (point instanceof bls12_381.G2.Point) return point;
  throw new TypeError("the library mapped an element to no point");
}

/** Bounds of scalars: 512 bytes. */
const SCALAR = 1n << 4095n;

function inBounds(scalar: Int): boolean {
  return typeof scalar === "number" || (scalar >= -SCALAR && scalar < SCALAR);
}

function reduced(scalar: Int): bigint {
  const rest = BigInt(scalar) % Fr.ORDER;
  return rest < 0n ? rest + Fr.ORDER : rest;
}

/** A group of points over the field `F`. */
interface Group<F> {
  readonly type: Type<WeierstrassPoint<F>>;
  /** Bytes of a compressed point. */
  readonly size: number;
  readonly points: WeierstrassPointCons<F>;
  hash(message: Uint8Array, tag: Uint8Array): WeierstrassPoint<F>;
}

const g1: Group<bigint> = {
  type: G1,
  size: 48,
  points: bls12_381.G1.Point,
  hash: (message, tag) => fieldElements(message, tag, 2).map(mapG1).reduce((a, b) => a.add(b)),
};

const g2: Group<Fp2> = {
  type: G2,
  size: 96,
  points: bls12_381.G2.Point,
  hash: (message, tag) => {
    const elements = fieldElements(message, tag, 4);
    return mapG2(elements.slice(0, 2)).add(mapG2(elements.slice(2)));
  },
};

/**
 * Hashes a message to elements of the base field (RFC 9380, `expand_message_xmd` with SHA-256). The library's function
 * refuses an empty domain separation tag, which scripts may use.
 */
function fieldElements(message: Uint8Array, tag: Uint8Array, count: number): bigint[] {
  const each = 64;
  const suffix = concat(tag, Uint8Array.of(tag.length));
  const length = count * each;
  const size = Uint8Array.of(length >> 8, length & 255, 0);
  const seed = sha256(concat(new Uint8Array(64), message, size, suffix));
  const blocks: Uint8Array[] = [];
  let mixed = seed;
  for (let i = 1; 32 * blocks.length < length; i++) {
    const block = sha256(concat(mixed, Uint8Array.of(i), suffix));
    blocks.push(block);
    mixed = block.map((byte, at) => byte ^ (seed[at] ?? 0));
  }
  const uniform = concat(...blocks);
  return Array.from(
    { length: count },
    (_, i) => bytesToNumberBE(uniform.subarray(i * each, (i + 1) * each)) % MODULUS,
  );
}

/** Compressed form of a group's zero. The library refuses to read or write it, because signatures never contain it. */
function zeroForm(size: number): Uint8Array {
  const form = new Uint8Array(size);
  form[0] = 0xc0;
  return form;
}

/** Compressed form of a point. */
function compress<F>(group: Group<F>, point: WeierstrassPoint<F>): Uint8Array {
  return point.is0() ? zeroForm(group.size) : point.toBytes(true);
}

/**
 * Reads a point from its compressed form.
 *
 * @throws {Failure} if the bytes are no point of the group.
 */
function uncompress<F>(group: Group<F>, compressed: Uint8Array): WeierstrassPoint<F> {
  const [first = 0] = compressed;
  if (compressed.length !== group.size || (first & 0x80) === 0) refuse("not a compressed point");
  if (equalBytes(compressed, zeroForm(group.size))) return group.points.ZERO;
  try {
    return group.points.fromBytes(compressed);
  } catch {
    return refuse("not a point of the group");
  }
}

const { ONE } = Measure;

function operations<F>(group: Group<F>, variant: Variant) {
  const { type } = group;
  const point = (value: Value) => ofType(value, type);
  const scalar = (value: Value) => {
    const found = integer(value);
    return !hasBounds(variant) || inBounds(found) ? reduced(found) : refuse("a scalar is beyond 512 bytes");
  };
  return {
    add: { takes: [ONE, ONE], run: (a, b) => new Constant(type, point(a).add(point(b))) },
    neg: { takes: [ONE], run: (a) => new Constant(type, point(a).negate()) },
    scalarMul: {
      takes: [Measure.INTEGER, ONE],
      run: (factor, a) => new Constant(type, point(a).multiplyUnsafe(scalar(factor))),
    },
    equal: { takes: [ONE, ONE], run: (a, b) => point(a).equals(point(b)) ? TRUE : FALSE },
    compress: { takes: [ONE], run: (a) => new Constant(BYTES, compress(group, point(a))) },
    uncompress: { takes: [ONE], run: (a) => new Constant(type, uncompress(group, bytes(a))) },
    hashToGroup: {
      takes: [Measure.BYTES, ONE],
      run: (message, tag) => {
        const [hashed, separation] = [bounds(variant).bytes(message), bytes(tag)];
        if (separation.length > 255) refuse("hashToGroup: the tag has more than 255 bytes");
        return new Constant(type, group.hash(hashed, separation));
      },
    },
    multiScalarMul: {
      takes: [Measure.LIST, ONE],
      run: (factors, elements) => {
        const scalars = listOfType(factors, INTEGER.listOf).toArray();
        const points = listOfType(elements, type.listOf).toArray();
        if (!scalars.every(inBounds)) refuse("multiScalarMul: a scalar is beyond 512 bytes");
        const count = Math.min(scalars.length, points.length);
        return new Constant(
          type,
          pippenger(group.points, points.slice(0, count), scalars.slice(0, count).map(reduced)),
        );
      },
    },
  } satisfies Record<string, Definition>;
}

function millerLoop(a: G1Point, b: G2Point): MillerLoop {
  return a.is0() || b.is0() ? Fp12.ONE : bls12_381.pairing(a, b, false);
}

export function blsBuiltins(variant: Variant) {
  const [first, second] = [operations(g1, variant), operations(g2, variant)];
  const loop = (value: Value) => ofType(value, MILLER_LOOP);
  return {
    bls12_381_G1_add: first.add,
    bls12_381_G1_neg: first.neg,
    bls12_381_G1_scalarMul: first.scalarMul,
    bls12_381_G1_equal: first.equal,
    bls12_381_G1_compress: first.compress,
    bls12_381_G1_uncompress: first.uncompress,
    bls12_381_G1_hashToGroup: first.hashToGroup,
    bls12_381_G1_multiScalarMul: first.multiScalarMul,
    bls12_381_G2_add: second.add,
    bls12_381_G2_neg: second.neg,
    bls12_381_G2_scalarMul: second.scalarMul,
    bls12_381_G2_equal: second.equal,
    bls12_381_G2_compress: second.compress,
    bls12_381_G2_uncompress: second.uncompress,
    bls12_381_G2_hashToGroup: second.hashToGroup,
    bls12_381_G2_multiScalarMul: second.multiScalarMul,
    bls12_381_millerLoop: {
      takes: [ONE, ONE],
      run: (a, b) => new Constant(MILLER_LOOP, millerLoop(ofType(a, G1), ofType(b, G2))),
    },
    bls12_381_mulMlResult: {
      takes: [ONE, ONE],
      run: (a, b) => new Constant(MILLER_LOOP, Fp12.mul(loop(a), loop(b))),
    },
    bls12_381_finalVerify: {
      takes: [ONE, ONE],
      run: (a, b) => {
        const ratio = Fp12.mul(loop(a), Fp12.inv(loop(b)));
        return Fp12.eql(Fp12.finalExponentiate(ratio), Fp12.ONE) ? TRUE : FALSE;
      },
    },
  } satisfies Record<string, Definition>;
}
