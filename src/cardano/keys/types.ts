/** Types of wallet keys, and inputs and results of the thread jobs that handle secrets. */
import type { Failure } from "#src/base/result.ts";

/**
 * How a wallet derives its root key from a mnemonic, and its keys from the root. `random` uses the first derivation
 * scheme (Byron), all others the second; `icarus`, `trezor` and `ledger` differ only in the root key.
 */
export type WalletStyle = "shelley" | "shared" | "random" | "icarus" | "trezor" | "ledger";

/** A public key and its chain code, 64 bytes, as 128 hexadecimal digits. */
export type Xpub = string;

/** Indices from the root; hardened ones have `HARD` added. */
export type Path = readonly number[];

/** How a root key is encrypted with a passphrase; the API's names (`passphrase.encryption_method`). */
export type SealMethod = "argon2id-v2" | "pbkdf2-hmac-sha512" | "scrypt";

/** A root key encrypted with a passphrase. The vault stores it; it is sent only to local threads. */
export interface SealedKey {
  readonly method: SealMethod;
  /** A CBOR record for `argon2id-v2`, otherwise the 128 bytes of an encrypted XPrv. */
  readonly key: Uint8Array;
  /** Hash of the passphrase, for methods other than `argon2id-v2`, whose records authenticate it. */
  readonly verifier?: Uint8Array;
}

/** A mnemonic. Secret. */
export interface Mnemonic {
  readonly style: WalletStyle;
  readonly words: readonly string[];
  /** 9 or 12 words; only Shelley and shared wallets have one. */
  readonly secondFactor?: readonly string[];
}

/** Job `mnemonicKeys`: xpubs at paths of a mnemonic's root, of which nothing is kept. */
export interface MnemonicKeysInput {
  readonly mnemonic: Mnemonic;
  readonly paths: readonly Path[];
}

/** Job `signWithMnemonic`: one signature per path on a message; nothing of the mnemonic is kept. */
export interface MnemonicSignInput extends ToSign {
  readonly mnemonic: Mnemonic;
}

/** Job `openRoot`: derives and seals a root key. */
export interface OpenRootInput {
  readonly mnemonic: Mnemonic;
  readonly passphrase: string;
  /** Paths of the public keys to give, such as `accountPath(…)`. */
  readonly paths: readonly Path[];
}

export interface OpenedRoot {
  readonly sealed: SealedKey;
  /** The root's xpub, which a wallet's id hashes (`walletId`). */
  readonly root: Xpub;
  /** In the order of `paths`. */
  readonly keys: readonly Xpub[];
}

/** A sealed root key and its passphrase. */
export interface UnsealInput {
  readonly style: WalletStyle;
  readonly sealed: SealedKey;
  readonly passphrase: string;
}

/** The passphrase does not open the root key. */
export type WrongPassphrase = Failure<"wrong_encryption_passphrase">;

/** A message, usually the hash of a body (32 bytes), and the paths of the keys that sign it. */
export interface ToSign {
  readonly message: Uint8Array;
  readonly paths: readonly Path[];
}

/** Job `signMessages`: one signature per path on each message. */
export interface SignInput extends UnsealInput {
  readonly wanted: readonly ToSign[];
}

/** A signature with the key and, for bootstrap witnesses, the chain code. */
export interface KeySignature {
  readonly key: Uint8Array;
  readonly chainCode: Uint8Array;
  readonly signature: Uint8Array;
}

/** Job `reseal`: seals the same root key with another passphrase. */
export interface ResealInput extends UnsealInput {
  readonly next: string;
}

/** Job `publicKeys`: xpubs that need the root key, such as policy keys and keys at hardened paths. */
export interface PublicKeysInput extends UnsealInput {
  readonly paths: readonly Path[];
}

/** Job `deriveCredentials`: hashes of the keys `from` … `from + count − 1` of an account's role. */
export interface DeriveInput {
  readonly account: Xpub;
  readonly role: number;
  readonly from: number;
  readonly count: number;
  /** Where it is given, the hashes are the roots of the keys' Byron addresses; `magic` is absent on mainnet. */
  readonly byron?: { readonly magic?: number };
}

/** Hashes of keys, or roots of their Byron addresses, 28 bytes each, concatenated. */
export interface DerivedHashes {
  readonly hashes: Uint8Array;
}
