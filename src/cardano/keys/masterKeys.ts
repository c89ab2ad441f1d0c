/**
 * Root keys of the kinds of wallet beside Icarus (`rootKey` in `derivation.ts`), out of the entropy of a mnemonic or its words: CIP-3,
 * Byron, Trezor and Ledger.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { byteAt, concat, utf8 } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import type { SecretNode } from "#src/cardano/keys/derivation.ts";
import { blake2b256 } from "#src/cardano/hash.ts";

/** Bit 5 of the last byte of a scalar: a key with this bit is skipped. */
const THIRD_HIGHEST = 0b0010_0000;

/** The bits that every scalar has: a multiple of 8 with bit 254 and without bit 255. */
function tweak(key: Uint8Array): Uint8Array {
  key[0] = byteAt(key, 0) & 0b1111_1000;
  key[31] = (byteAt(key, 31) & 0b0111_1111) | 0b0100_0000;
  return key;
}

/** Root key of a random wallet of Byron. */
export function byronRoot(entropy: Uint8Array): SecretNode {
  const seed = encode(blake2b256(encode(entropy)));
  for (let i = 1;; i++) {
    const chained = hmac(sha512, seed, utf8(`Root Seed Chain ${i}`));
    const key = tweak(sha512(chained.subarray(0, 32)));
    if ((byteAt(key, 31) & THIRD_HIGHEST) === 0) return { key, chainCode: chained.slice(32) };
  }
}

/** The bytes that a Trezor stretches instead of the entropy: with 24 words they include the checksum. */
export function trezorEntropy(entropy: Uint8Array): Uint8Array {
  return entropy.length === 32 ? concat(entropy, sha256(entropy).subarray(0, 1)) : entropy;
}

/** Root key of a Ledger out of a seed of BIP-39 (64 bytes). */
export function ledgerRoot(seed: Uint8Array): SecretNode {
  const name = utf8("ed25519 seed");
  const chainCode = hmac(sha256, name, concat(Uint8Array.of(1), seed));
  let key = hmac(sha512, name, seed);
  while ((byteAt(key, 31) & THIRD_HIGHEST) !== 0) key = hmac(sha512, name, key);
  return { key: tweak(key), chainCode };
}
