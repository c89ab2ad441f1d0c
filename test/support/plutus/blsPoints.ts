/** Points of BLS12-381 and their compressed forms, by the machine's own built-in functions. */
import { blsBuiltins } from "#src/plutus/machine/builtins/bls.ts";
import { BYTES, G1, type Type } from "#src/plutus/machine/type.ts";
import { bytes, constantOf } from "#src/plutus/machine/unlift.ts";
import { Constant } from "#src/plutus/machine/constant.ts";

const functions = blsBuiltins("E");

/** The point of a type that a compressed form stands for. Throws a `Failure` where there is none. */
export function pointOf(type: Type, compressed: Uint8Array): unknown {
  const { run } = type === G1 ? functions.bls12_381_G1_uncompress : functions.bls12_381_G2_uncompress;
  return constantOf(run(new Constant(BYTES, compressed))).value;
}

/** Compressed form of a point of a type. */
export function compressedPoint(type: Type, point: unknown): Uint8Array {
  const { run } = type === G1 ? functions.bls12_381_G1_compress : functions.bls12_381_G2_compress;
  return bytes(run(new Constant(type, point)));
}
