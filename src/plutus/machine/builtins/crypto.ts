/** Hashes and signatures. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToNumberBE, bytesToNumberLE } from "@noble/curves/utils.js";
import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { keccak_256, sha3_256 } from "@noble/hashes/sha3.js";
import { concat, equalBytes } from "#src/base/bytes.ts";
import { blake2b224, blake2b256 } from "#src/cardano/hash.ts";
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { refuse } from "#src/plutus/machine/failure.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { BYTES } from "#src/plutus/machine/type.ts";
import { bounds, bytes } from "#src/plutus/machine/unlift.ts";
import { FALSE, TRUE, type Value } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import type { Variant } from "#src/plutus/machine/version.ts";

type Verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

/**
 * Ed25519 verification as in libsodium, without cofactor: the key and the scalar must be canonical, the key not of small
 * order; the recomputed point must equal the signature's byte for byte and not be of small order.
 */
function verifyEd25519(key: Uint8Array, message: Uint8Array, signed: Uint8Array): boolean {
  if (key.length !== 32 || signed.length !== 64) refuse("verifyEd25519Signature: a length is wrong");
  const { Point } = ed25519;
  const [r, scalar] = [signed.subarray(0, 32), bytesToNumberLE(signed.subarray(32))];
  const order = Point.Fn.ORDER;
  if (scalar >= order) return false;
  try {
    const point = Point.fromBytes(key, false);
    if (point.isSmallOrder()) return false;
    const challenge = bytesToNumberLE(sha512(concat(r, key, message))) % order;
    const found = Point.BASE.multiplyUnsafe(scalar).subtract(point.multiplyUnsafe(challenge));
    return !found.isSmallOrder() && equalBytes(found.toBytes(), r);
  } catch {
    return false;
  }
}

function isPoint(key: Uint8Array): boolean {
  try {
    secp256k1.Point.fromBytes(key);
    return true;
  } catch {
    return false;
  }
}

function verifyEcdsa(key: Uint8Array, message: Uint8Array, signed: Uint8Array): boolean {
  if (key.length !== 33 || !isPoint(key)) refuse("verifyEcdsaSecp256k1Signature: no key");
  if (message.length !== 32) refuse("verifyEcdsaSecp256k1Signature: the message is no hash");
  if (signed.length !== 64) refuse("verifyEcdsaSecp256k1Signature: no signature");
  const order = secp256k1.Point.Fn.ORDER;
  const [r, s] = [bytesToNumberBE(signed.subarray(0, 32)), bytesToNumberBE(signed.subarray(32))];
  if (r >= order || s >= order) refuse("verifyEcdsaSecp256k1Signature: no signature");
  if (r === 0n || s === 0n) return false;
  return secp256k1.verify(signed, message, key, { prehash: false, lowS: true, format: "compact" });
}

function verifySchnorr(key: Uint8Array, message: Uint8Array, signed: Uint8Array): boolean {
  if (key.length !== 32 || !isPoint(concat(Uint8Array.of(2), key))) refuse("verifySchnorrSecp256k1Signature: no key");
  if (signed.length !== 64) refuse("verifySchnorrSecp256k1Signature: no signature");
  return schnorr.verify(signed, message, key);
}

export function cryptoBuiltins(variant: Variant) {
  const bounded = bounds(variant).bytes;
  const hash = (digest: (value: Uint8Array) => Uint8Array): Definition => ({
    takes: [Measure.BYTES],
    run: (a) => new Constant(BYTES, digest(bounded(a))),
  });
  const signature = (verify: Verify, message: (value: Value) => Uint8Array): Definition => ({
    takes: [Measure.BYTES, Measure.BYTES, Measure.BYTES],
    run: (key, signed, proof) => verify(bytes(key), message(signed), bytes(proof)) ? TRUE : FALSE,
  });
  return {
    sha2_256: hash(sha256),
    sha3_256: hash(sha3_256),
    blake2b_256: hash(blake2b256),
    blake2b_224: hash(blake2b224),
    keccak_256: hash(keccak_256),
    ripemd_160: hash(ripemd160),
    verifyEd25519Signature: signature(verifyEd25519, bounded),
    verifyEcdsaSecp256k1Signature: signature(verifyEcdsa, bytes),
    verifySchnorrSecp256k1Signature: signature(verifySchnorr, bounded),
  } satisfies Record<string, Definition>;
}
