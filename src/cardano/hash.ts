/**
 * The hashes of the ledger, as lower-case hexadecimal or bytes. They run on `@noble/hashes` until `initHash` has put
 * WebAssembly in its place, which is about ten times faster and cannot be loaded without waiting. Both give the same digests.
 */
import { blake2b } from "@noble/hashes/blake2.js";
import { toHex } from "#src/base/bytes.ts";

type Digest = (bytes: Uint8Array) => Uint8Array;

let digest256: Digest = (bytes) => blake2b(bytes, { dkLen: 32 });
let digest224: Digest = (bytes) => blake2b(bytes, { dkLen: 28 });
let ready: Promise<void> | undefined;

/** Loads the fast hash implementation, once. Call it before hashing many items (blocks, tries). */
export function initHash(): Promise<void> {
  ready ??= (async () => {
    const { createBLAKE2b } = await import("hash-wasm");
    const fast = async (bits: number): Promise<Digest> => {
      const hasher = await createBLAKE2b(bits);
      return (bytes) => {
        hasher.init();
        hasher.update(bytes);
        return hasher.digest("binary");
      };
    };
    [digest256, digest224] = await Promise.all([fast(256), fast(224)]);
  })();
  return ready;
}

/** blake2b with a 32-byte digest: transactions, blocks, datums, auxiliary data, tries. */
export function blake2b256(bytes: Uint8Array): Uint8Array {
  return digest256(bytes);
}

/** blake2b with a 28-byte digest: keys, scripts, policies. */
export function blake2b224(bytes: Uint8Array): Uint8Array {
  return digest224(bytes);
}

/** `blake2b256` as hexadecimal. */
export function hash256(bytes: Uint8Array): string {
  return toHex(blake2b256(bytes));
}

/** `blake2b224` as hexadecimal. */
export function hash224(bytes: Uint8Array): string {
  return toHex(blake2b224(bytes));
}
