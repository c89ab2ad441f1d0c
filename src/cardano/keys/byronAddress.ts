/** Addresses of random (Byron) wallets: they contain their path, encrypted with a key derived from the root's xpub. */
import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { pbkdf2 } from "@noble/hashes/pbkdf2.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { byronAddress } from "#src/cardano/byron.ts";
import { as, asInt, decode, encode, Indefinite } from "#src/cardano/cbor.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import type { Path, Xpub } from "#src/cardano/keys/types.ts";

const NONCE = utf8("serokellfore");
/** Most bytes of an encrypted path (two numbers and a tag); longer attributes are not decrypted. */
const LONGEST = 12 + 16;

/**
 * Key that encrypts the paths in a random wallet's addresses, 32 bytes. It cannot spend, but it shows which addresses
 * are the wallet's.
 */
export function byronPathKey(root: Xpub): Uint8Array {
  return pbkdf2(sha512, fromHex(root), utf8("address-hashing"), { c: 500, dkLen: 32 });
}

/**
 * Account and index (with `HARD` added where hardened) from an address attribute (`Byron.derivationPath`) encrypted
 * with this key; `undefined` for attributes of others. The path is only a claim: the attribute may be copied into a
 * forged address, for which the wallet cannot sign.
 */
export function openByronPath(pathKey: Uint8Array, derivationPath: string): readonly [number, number] | undefined {
  try {
    const encrypted = as(decode(fromHex(derivationPath)), "bytes").value;
    if (encrypted.length > LONGEST) return undefined;
    const [account, index, more] = as(decode(chacha20poly1305(pathKey, NONCE).decrypt(encrypted)), "array").value;
    const path = [Number(asInt(account)), Number(asInt(index))] as const;
    return more === undefined && path.every((part) => part >= 0 && part < 2 ** 32) ? path : undefined;
  } catch {
    // a wrong tag, or bytes that are not a path: the attribute is not this wallet's
    return undefined;
  }
}

/**
 * Paths at which the key of an address may be, in the order to try: the recorded path, and that with its index
 * hardened, because addresses from before 2018 may record a soft index although their key is at the hardened one. The
 * key must reproduce the address (`isByronKey`). Other paths than a random wallet's are as they are.
 */
export function byronKeyPaths(path: Path): readonly Path[] {
  const [account, index] = path;
  if (path.length !== 2 || account === undefined || index === undefined || index >= HARD) return [path];
  return [path, [account, index + HARD]];
}

/** Parts of a random wallet's address. */
interface RandomAddress {
  readonly pathKey: Uint8Array;
  /** Account and index. */
  readonly path: Path;
  /** Public key at this path. */
  readonly key: Xpub;
  /** Protocol magic; absent on mainnet. */
  readonly magic?: number | undefined;
}

/** Bytes of a random wallet's address, in hexadecimal. */
export function randomAddress({ pathKey, path, key, magic }: RandomAddress): string {
  const plain = encode(new Indefinite([...path]));
  const derivationPath = encode(chacha20poly1305(pathKey, NONCE).encrypt(plain));
  return byronAddress({ key: fromHex(key), magic, derivationPath });
}
