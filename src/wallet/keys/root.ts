/** Root keys: made from words, sealed by a passphrase, opened to sign. Runs in builder threads alone. */
import type { Failure, Result } from "#src/base/result.ts";
import type {
  KeySignature,
  OpenedRoot,
  OpenRootInput,
  PublicKeysInput,
  ResealInput,
  SealedKey,
  SignInput,
  Xpub,
} from "#src/wallet/keys/types.ts";

type WrongPassphrase = Failure<"wrong_encryption_passphrase">;

/** Makes a root key from words and seals it. */
export async function openRoot(_input: OpenRootInput): Promise<Result<OpenedRoot, Failure<"bad_mnemonic">>> {
  throw new Error("not written");
}

/** Signs one message with the keys at some paths. */
export async function signHash(_input: SignInput): Promise<Result<readonly KeySignature[], WrongPassphrase>> {
  throw new Error("not written");
}

/** Seals the same root with another passphrase. */
export async function reseal(_input: ResealInput): Promise<Result<SealedKey, WrongPassphrase>> {
  throw new Error("not written");
}

/** Public keys at some paths. */
export async function publicKeys(_input: PublicKeysInput): Promise<Result<readonly Xpub[], WrongPassphrase>> {
  throw new Error("not written");
}
