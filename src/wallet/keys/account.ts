/** Public keys of wallets: accounts, their children, and ids. All of it without secrets. */
import { blake2b } from "@noble/hashes/blake2.js";
import { concat, fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { derivePublic, type PublicNode } from "#src/cardano/derivation.ts";
import { keyHash } from "#src/cardano/keys.ts";
import type { Xpub } from "#src/wallet/keys/types.ts";

/** A key and its chain code out of 128 hexadecimal digits, or `undefined` when they are none. */
export function readXpub(text: string): PublicNode | undefined {
  if (!isHex(text, 64)) return undefined;
  const bytes = fromHex(text);
  return { key: bytes.subarray(0, 32), chainCode: bytes.subarray(32) };
}

/** The 128 hexadecimal digits of a key and its chain code. */
export function writeXpub({ key, chainCode }: PublicNode): Xpub {
  return toHex(concat(key, chainCode));
}

/**
 * Id of a wallet: blake2b-160, 40 hexadecimal digits. Of the root's xpub where there is a mnemonic, of the account's where there is only
 * that; shared wallets put the text of their templates behind the account's.
 */
export function walletId(bytes: Uint8Array): string {
  return toHex(blake2b(bytes, { dkLen: 20 }));
}

/** The node at a role and an index of an account. Throws a `TypeError` on an account that is no xpub. */
export function childOf(account: Xpub, role: number, index: number): PublicNode {
  const node = readXpub(account);
  if (!node) throw new TypeError("no extended public key");
  return derivePublic(derivePublic(node, role), index);
}

/** Hash of the key at a role and an index of an account, 56 hexadecimal digits. For many of one role see the job `deriveCredentials`. */
export function childHash(account: Xpub, role: number, index: number): string {
  return keyHash(childOf(account, role, index).key);
}
