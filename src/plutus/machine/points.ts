/** Types of the points of BLS12-381, as the library has them. */
import type { Fp2 } from "@noble/curves/abstract/tower.js";
import type { WeierstrassPoint } from "@noble/curves/abstract/weierstrass.js";
import type { bls12_381 } from "@noble/curves/bls12-381.js";

export type G1Point = WeierstrassPoint<bigint>;
export type G2Point = WeierstrassPoint<Fp2>;
export type MillerLoop = typeof bls12_381.fields.Fp12.ONE;
