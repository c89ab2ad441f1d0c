/**
 * Ed25519 keys of both kinds that Cardano has: a seed of 32 bytes (RFC 8032), and an extended key of 64 bytes (the scalar and the
 * nonce prefix that SHA-512 would have made of a seed), which key derivation gives. Signatures of both verify alike.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concat } from "#src/base/bytes.ts";
import { hash224 } from "#src/cardano/hash.ts";

/** A secret: 32 bytes are a seed, 64 bytes an extended key. Never logged, never sent. */
export type SigningKey = Uint8Array;

const { Point } = ed25519;
/** Order of the group: scalars that differ by it have the same public key. */
export const ORDER = Point.Fn.ORDER;

/** The number that some bytes are, lowest byte first. */
export function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

/** `length` bytes of a number, lowest first; what does not fit is dropped. */
export function littleEndianBytes(value: bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++, value >>= 8n) bytes[i] = Number(value & 255n);
  return bytes;
}

/** The point of a scalar, as 32 bytes; the scalar of an extended key may be past the group's order. */
export function scalarToPublic(scalar: Uint8Array): Uint8Array {
  return Point.BASE.multiply(littleEndian(scalar) % ORDER).toBytes();
}

function checkKey(key: SigningKey): void {
  if (key.length !== 32 && key.length !== 64) throw new TypeError(`a signing key of ${key.length} bytes`);
}

/** A new random seed. */
export function newSeed(): SigningKey {
  return ed25519.utils.randomSecretKey();
}

/** The public key, 32 bytes. Throws a `TypeError` when the key is neither 32 nor 64 bytes. */
export function publicKey(key: SigningKey): Uint8Array {
  checkKey(key);
  return key.length === 32 ? ed25519.getPublicKey(key) : scalarToPublic(key.subarray(0, 32));
}

/** Signature of a message, 64 bytes; the same message and key give the same signature. */
export function sign(key: SigningKey, message: Uint8Array): Uint8Array {
  checkKey(key);
  return key.length === 32 ? ed25519.sign(message, key) : signExtended(key, publicKey(key), message);
}

/**
 * Signature by an extended key whose public key is already known, in half the time. The caller must have derived both keys:
 * a signature with another key's public key reveals the secret key.
 */
export function signExtended(key: SigningKey, verification: Uint8Array, message: Uint8Array): Uint8Array {
  const modOrder = (bytes: Uint8Array) => littleEndian(sha512(bytes)) % ORDER;
  const nonce = modOrder(concat(key.subarray(32), message));
  const commitment = Point.BASE.multiply(nonce).toBytes();
  const challenge = modOrder(concat(commitment, verification, message));
  const response = (nonce + challenge * littleEndian(key.subarray(0, 32))) % ORDER;
  return concat(commitment, littleEndianBytes(response, 32));
}

/** Whether a signature is that of a message under a public key; false as well for bytes that are neither. Strict (RFC 8032), not ZIP-215. */
export function verify(verification: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (verification.length !== 32 || signature.length !== 64) return false;
  try {
    return ed25519.verify(signature, message, verification, { zip215: false });
  } catch {
    return false;
  }
}

/** Whether 32 bytes are a public key: many are no point of the curve, and nothing can be derived from them. */
export function isPublicKey(bytes: Uint8Array): boolean {
  try {
    Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Hash of a public key in addresses and scripts: blake2b-224, 56 hexadecimal digits. */
export function keyHash(verification: Uint8Array): string {
  if (verification.length !== 32) throw new TypeError(`a public key of ${verification.length} bytes`);
  return hash224(verification);
}
