/**
 * Ed25519 as the ledger checks it, which is as libsodium does: without cofactor, and refusing points of small order and keys
 * that are not in their one right form. The arithmetic is that of `node:crypto`, which alone would let those pass, and
 * which takes a quarter of the time that libsodium in WebAssembly takes.
 */
import { Buffer } from "node:buffer";
import { verify } from "node:crypto";
import { byteAt, compareBytes, fromHex, toHex } from "#src/base/bytes.ts";

/** The prime of the field, highest byte first. */
const FIELD = fromHex("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed");

/** The points of small order, the sign left out, and their other forms beyond the prime. */
const SMALL: ReadonlySet<string> = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

function unsigned(point: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(point); // slice() of a Buffer would not copy
  bytes[31] = byteAt(bytes, 31) & 127;
  return bytes;
}

function isCanonical(key: Uint8Array): boolean {
  return compareBytes(unsigned(key).reverse(), FIELD) < 0;
}

/** Whether a signature (64 bytes) of a message is by a public key (32 bytes). */
export function verifySignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (SMALL.has(toHex(unsigned(key))) || SMALL.has(toHex(unsigned(signature.subarray(0, 32)))) || !isCanonical(key)) {
    return false;
  }
  try {
    // Of the forms that a key can be given in, Node reads this one many times as fast as DER.
    const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(key).toString("base64url") };
    return verify(null, message, { key: jwk, format: "jwk" }, signature);
  } catch {
    return false; // bytes that are no point of the curve
  }
}
