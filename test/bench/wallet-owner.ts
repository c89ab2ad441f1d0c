/** A wallet's keys on its owner's side: addresses in bulk, and signatures, without the service. */
import { toHex } from "#src/base/bytes.ts";
import { baseAddress } from "#src/cardano/address.ts";
import {
  accountKey,
  derive,
  derivePath,
  ROLES,
  rootKey,
  type SecretNode,
  toPublic,
} from "#src/cardano/keys/derivation.ts";
import { newSeed, publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { KeyWitness } from "#src/cardano/transaction.ts";
import { childHash, writeXpub } from "#src/cardano/keys/account.ts";
import { deriveCredentials } from "#src/cardano/keys/bulk.ts";

export const PASSPHRASE = "Secure Passphrase";

const HASH = 28;

/** A new mnemonic with its account. */
export class Owner {
  readonly words = newMnemonic(24);
  readonly #account: SecretNode;
  readonly #external: SecretNode;
  /** Public key and chain code of the account. */
  readonly xpub: string;

  constructor() {
    const entropy = mnemonicEntropy(this.words);
    if (!entropy.ok) throw new Error(entropy.error.message);
    this.#account = accountKey(rootKey(entropy.value));
    this.#external = derivePath(this.#account, [ROLES.external]);
    this.xpub = writeXpub(toPublic(this.#account));
  }

  /** The body that creates the wallet. */
  body(name: string, gap = 20) {
    return { name, mnemonic_sentence: this.words, passphrase: PASSPHRASE, address_pool_gap: gap };
  }

  /** Signs with the key of a receiving address. */
  signer(index: number): (message: Uint8Array) => KeyWitness {
    const { key } = derive(this.#external, index);
    return (message) => ({ key: publicKey(key), signature: sign(key, message) });
  }
}

/** A new account without a signer. */
export function strangeAccount(): string {
  return writeXpub({ key: publicKey(newSeed()), chainCode: crypto.getRandomValues(new Uint8Array(32)) });
}

/** The first receiving addresses of an account, bytes in hexadecimal. */
export async function addressesOf(xpub: string, count: number): Promise<string[]> {
  const derived = await deriveCredentials({ account: xpub, role: ROLES.external, from: 0, count });
  if (!derived.ok) throw new Error("no addresses");
  const stake = { kind: "key", hash: childHash(xpub, ROLES.stake, 0) } as const;
  return Array.from({ length: count }, (_, i) => {
    const hash = toHex(derived.value.hashes.subarray(HASH * i, HASH * (i + 1)));
    return baseAddress(0, { kind: "key", hash }, stake).hex;
  });
}
