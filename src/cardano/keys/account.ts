/** Public keys of wallets: accounts, their children, and wallet ids. Nothing here is secret. */
import { blake2b } from "@noble/hashes/blake2.js";
import { concat, fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { derivePublic, type PublicNode } from "#src/cardano/keys/derivation.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import type { Xpub } from "#src/cardano/keys/types.ts";

/** A public key and its chain code from 128 hexadecimal digits; `undefined` where the text is not that. */
export function readXpub(text: string): PublicNode | undefined {
  if (!isHex(text, 64)) return undefined;
  const bytes = fromHex(text);
  return { key: bytes.subarray(0, 32), chainCode: bytes.subarray(32) };
}

/**
 * A public key and its chain code.
 *
 * @throws TypeError where the text is not an xpub.
 */
export function nodeOf(xpub: Xpub): PublicNode {
  const node = readXpub(xpub);
  if (!node) throw new TypeError("no extended public key");
  return node;
}

/** A public key and its chain code as 128 hexadecimal digits. */
export function writeXpub({ key, chainCode }: PublicNode): Xpub {
  return toHex(concat(key, chainCode));
}

/**
 * Id of a wallet: blake2b-160, 40 hexadecimal digits. It hashes the root's xpub where the wallet has a mnemonic,
 * otherwise the account's; shared wallets append the text of their templates to the account's.
 */
export function walletId(bytes: Uint8Array): string {
  return toHex(blake2b(bytes, { dkLen: 20 }));
}

/**
 * The public key at a role and an index of an account.
 *
 * @throws TypeError where `account` is not an xpub.
 */
export function childOf(account: Xpub, role: number, index: number): PublicNode {
  return derivePublic(derivePublic(nodeOf(account), role), index);
}

/**
 * Hash of the key at a role and an index of an account, 56 hexadecimal digits. `deriveCredentials` is faster for many
 * keys of one role.
 */
export function childHash(account: Xpub, role: number, index: number): string {
  return keyHash(childOf(account, role, index).key);
}
