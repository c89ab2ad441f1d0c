/** What the keys of wallets are called, and what goes to the threads that hold secrets for a moment and comes back from them. */

/**
 * How a wallet makes its root key from a mnemonic and its keys from the root. `random` derives by the first scheme (Byron), all others by
 * the second; `icarus`, `trezor` and `ledger` differ in the root key alone.
 */
export type WalletStyle = "shelley" | "shared" | "random" | "icarus" | "trezor" | "ledger";

/** A public key and its chain code, 64 bytes, as 128 hexadecimal digits. */
export type Xpub = string;

/** Indices from the root, hard ones with `HARD` added. */
export type Path = readonly number[];

/** How a root key is encrypted by a passphrase; the names are those of the wire (`passphrase.encryption_method`). */
export type SealMethod = "argon2id-v2" | "pbkdf2-hmac-sha512" | "scrypt";

/** A root key that only its passphrase opens. Kept by the vault; it goes to local threads and nowhere else. */
export interface SealedKey {
  readonly method: SealMethod;
  /** With `argon2id-v2` a CBOR record, else the 128 bytes of an encrypted XPrv. */
  readonly key: Uint8Array;
  /** What tells a right passphrase from a wrong one where the method's record does not (all but `argon2id-v2`). */
  readonly verifier?: Uint8Array;
}

/** Words that make a root key. A secret. */
export interface Mnemonic {
  readonly style: WalletStyle;
  readonly words: readonly string[];
  /** 9 or 12 words; only Shelley and shared wallets have one. */
  readonly secondFactor?: readonly string[];
}

/** Job `openRoot`: from the words to the sealed root and what is public of it. */
export interface OpenRootInput {
  readonly mnemonic: Mnemonic;
  readonly passphrase: string;
  /** Whose public keys are wanted, such as `accountPath(…)`. */
  readonly paths: readonly Path[];
}

export interface OpenedRoot {
  readonly sealed: SealedKey;
  /** What a wallet's id is made of (`walletId`). */
  readonly root: Xpub;
  /** In the order of `paths`. */
  readonly keys: readonly Xpub[];
}

/** A sealed root and what opens it. */
export interface Unseal {
  readonly style: WalletStyle;
  readonly sealed: SealedKey;
  readonly passphrase: string;
}

/** A message, most often the hash of a body (32 bytes), and whose signatures are wanted on it. */
export interface ToSign {
  readonly message: Uint8Array;
  readonly paths: readonly Path[];
}

/** Job `signMessages`: one signature a path on each message. */
export interface SignInput extends Unseal {
  readonly wanted: readonly ToSign[];
}

/** A signature, and what a witness needs beside it: a bootstrap witness has the chain code as well. */
export interface KeySignature {
  readonly key: Uint8Array;
  readonly chainCode: Uint8Array;
  readonly signature: Uint8Array;
}

/** Job `reseal`: the same root under another passphrase. */
export interface ResealInput extends Unseal {
  readonly next: string;
}

/** Job `publicKeys`: what only a root key can give, such as policy keys and keys under hard indices. */
export interface PublicKeysInput extends Unseal {
  readonly paths: readonly Path[];
}

/** Job `deriveCredentials`: hashes of the keys `from` … `from + count − 1` under a role of an account. */
export interface DeriveInput {
  readonly account: Xpub;
  readonly role: number;
  readonly from: number;
  readonly count: number;
}

/** The hashes of keys, 28 bytes each, one after the other. */
export interface Derived {
  readonly hashes: Uint8Array;
}
