/** Addresses of random wallets: their path is in them, encrypted under a key that the root's public side gives. */
import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { pbkdf2 } from "@noble/hashes/pbkdf2.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { byronAddress } from "#src/cardano/byron.ts";
import { as, asInt, decode, encode, Indefinite } from "#src/cardano/cbor.ts";
import type { Path, Xpub } from "#src/wallet/keys/types.ts";

const NONCE = utf8("serokellfore");
/** A path is five bytes a number at most between two: longer attributes are nobody's, and not decrypted. */
const LONGEST = 12 + 16;

/** The key under which a random wallet's addresses carry their paths: 32 bytes. It opens no funds, but tells whose the addresses are. */
export function byronPathKey(root: Xpub): Uint8Array {
  return pbkdf2(sha512, fromHex(root), utf8("address-hashing"), { c: 500, dkLen: 32 });
}

/**
 * Account and index of an address whose attribute (`Byron.derivationPath`) was made under this key, as they stand there (hard ones with `HARD`
 * added), or `undefined` when it is somebody else's. It is the path that the address claims: whoever copies the attribute into an address of
 * their own is seen as ours here, and cannot be signed for.
 */
export function openByronPath(pathKey: Uint8Array, derivationPath: string): readonly [number, number] | undefined {
  try {
    const sealed = as(decode(fromHex(derivationPath)), "bytes").value;
    if (sealed.length > LONGEST) return undefined;
    const [account, index, more] = as(decode(chacha20poly1305(pathKey, NONCE).decrypt(sealed)), "array").value;
    const path = [Number(asInt(account)), Number(asInt(index))] as const;
    return more === undefined && path.every((part) => part >= 0 && part < 2 ** 32) ? path : undefined;
  } catch {
    // a wrong tag, or bytes that are no path: both say that it is not ours
    return undefined;
  }
}

/** What an address of a random wallet is made of. */
export interface RandomAddress {
  readonly pathKey: Uint8Array;
  /** Account and index. */
  readonly path: Path;
  /** Public key at this path. */
  readonly key: Xpub;
  /** Protocol magic; left out on mainnet. */
  readonly magic?: number | undefined;
}

/** Bytes of a random wallet's address, in hexadecimal. */
export function randomAddress({ pathKey, path, key, magic }: RandomAddress): string {
  const plain = encode(new Indefinite([...path]));
  const derivationPath = encode(chacha20poly1305(pathKey, NONCE).encrypt(plain));
  return byronAddress({ key: fromHex(key), magic, derivationPath });
}
