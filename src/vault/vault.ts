/**
 * Root keys, encrypted: the only room that reads their table.
 *
 * A key is written before the wallet's create command, under the id of the attempt; the turn that creates the wallet adopts it by a row in
 * `vault_adoption`. What nobody adopted is swept. Secrets come from the edge and go to a local thread, in no other direction.
 */
import type { Failure, Result } from "#src/base/result.ts";
import type { ThreadFailure } from "#src/builders/jobs.ts";
import type { KeySignature, Mnemonic, OpenRootInput, Path, SealMethod, Xpub } from "#src/wallet/keys/types.ts";

/** `no_root_key`: the wallet has public keys alone. `wrong_encryption_passphrase`: the passphrase is another one. */
export type UnsealFailure = Failure<"no_root_key" | "wrong_encryption_passphrase"> | ThreadFailure;

/** What can be told of a wallet's root key. */
export interface KeyState {
  readonly method: SealMethod;
  /** When the passphrase was set, in ms since 1970. */
  readonly updatedAt: number;
}

/** A key in the vault that waits for the turn that adopts it. */
export interface PutKey {
  /** Goes into the create command, and from there into `vault_adoption`. */
  readonly attempt: string;
  readonly root: Xpub;
  /** Public keys in the order of the paths asked for. */
  readonly keys: readonly Xpub[];
}

/** When the caller stops waiting, in ms since 1970. */
export interface Until {
  readonly deadline: number;
}

export interface Vault {
  /** Makes the root key of a mnemonic, seals it and writes it, not yet anybody's. */
  put(input: OpenRootInput, until: Until): Promise<Result<PutKey, Failure<"bad_mnemonic"> | ThreadFailure>>;
  /** Signs a message with the keys at some paths of a wallet's root, one signature a path. */
  sign(
    wallet: string,
    input: { readonly passphrase: string; readonly message: Uint8Array; readonly paths: readonly Path[] },
    until: Until,
  ): Promise<Result<readonly KeySignature[], UnsealFailure>>;
  /** Public keys at some paths of a wallet's root. */
  publicKeys(
    wallet: string,
    input: { readonly passphrase: string; readonly paths: readonly Path[] },
    until: Until,
  ): Promise<Result<readonly Xpub[], UnsealFailure>>;
  /** Whether this is the passphrase of the wallet. */
  verify(wallet: string, passphrase: string, until: Until): Promise<Result<null, UnsealFailure>>;
  /** Puts a new passphrase in the place of the old one. Of two changes at once one fails as `wrong_encryption_passphrase`. */
  changePassphrase(
    wallet: string,
    input: { readonly old: string; readonly next: string },
    until: Until,
  ): Promise<Result<KeyState, UnsealFailure>>;
  /** Sets a passphrase by the words that made the wallet; other words are `wrong_mnemonic`. */
  resetPassphrase(
    wallet: string,
    input: { readonly mnemonic: Omit<Mnemonic, "style">; readonly next: string },
    until: Until,
  ): Promise<Result<KeyState, Failure<"no_root_key" | "wrong_mnemonic" | "bad_mnemonic"> | ThreadFailure>>;
  /** What is known of the keys of some wallets; those without a root key are left out. */
  states(wallets: readonly string[]): Promise<ReadonlyMap<string, KeyState>>;
  /** Erases the key of an attempt, after the turn of the delete has removed its adoption. May be called again. */
  erase(attempt: string): Promise<void>;
  /** Erases the keys that nobody adopted within the hour; gives how many. */
  sweep(): Promise<number>;
}
