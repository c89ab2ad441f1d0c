/**
 * Derivation as random wallets of Byron have it (BIP32-Ed25519, V1). Its sums lose their carries, byte by byte, and so its keys are none of
 * those of V2 (`derivation.ts`), and a soft child's public key cannot be had without its secret.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { byteAt, concat } from "#src/base/bytes.ts";
import { HARD, type SecretNode } from "#src/cardano/keys/derivation.ts";
import { littleEndian, littleEndianBytes, ORDER, scalarToPublic } from "#src/cardano/keys/signingKey.ts";

/** Child of a secret key: soft below `HARD`, hard from there to 2^32 − 1. Throws a `TypeError` on another index. */
export function deriveByron({ key, chainCode }: SecretNode, index: number): SecretNode {
  if (!Number.isInteger(index) || index < 0 || index >= 2 ** 32) throw new TypeError(`no derivation index: ${index}`);
  const [move, chain, parent] = index >= HARD ? [0, 1, key] : [2, 3, scalarToPublic(key.subarray(0, 32))];
  const tail = concat(parent, littleEndianBytes(BigInt(index), 4).reverse());
  const z = hmac(sha512, chainCode, concat(Uint8Array.of(move), tail));
  const eightfold = z.subarray(0, 32).map((byte) => byte << 3);
  const scalar = (littleEndian(eightfold) + littleEndian(key.subarray(0, 32))) % ORDER;
  const prefix = z.subarray(32).map((byte, i) => byte + byteAt(key, 32 + i));
  return {
    key: concat(littleEndianBytes(scalar, 32), prefix),
    chainCode: hmac(sha512, chainCode, concat(Uint8Array.of(chain), tail)).slice(32),
  };
}
