/** The hashes of the ledger, as lower-case hexadecimal or bytes. */
import { blake2b } from "@noble/hashes/blake2.js";
import { toHex } from "#src/base/bytes.ts";

/** blake2b with a 32-byte digest: transactions, blocks, datums, auxiliary data. */
export function blake2b256(bytes: Uint8Array): Uint8Array {
  return blake2b(bytes, { dkLen: 32 });
}

/** blake2b with a 28-byte digest: keys, scripts, policies. */
export function blake2b224(bytes: Uint8Array): Uint8Array {
  return blake2b(bytes, { dkLen: 28 });
}

/** `blake2b256` as hexadecimal. */
export function hash256(bytes: Uint8Array): string {
  return toHex(blake2b256(bytes));
}

/** `blake2b224` as hexadecimal. */
export function hash224(bytes: Uint8Array): string {
  return toHex(blake2b224(bytes));
}
