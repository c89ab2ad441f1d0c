/**
 * Root keys: derived from a mnemonic, sealed with a passphrase, opened to sign. Only builder threads call this, and
 * they keep nothing.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type SecretNode, toPublic } from "#src/cardano/keys/derivation.ts";
import { signExtended } from "#src/cardano/keys/signingKey.ts";
import { writeXpub } from "#src/cardano/keys/account.ts";
import { descender, masterKey } from "#src/cardano/keys/master.ts";
import { seal, unseal } from "#src/cardano/keys/seal.ts";
import type {
  KeySignature,
  Mnemonic,
  MnemonicKeysInput,
  MnemonicSignInput,
  OpenedRoot,
  OpenRootInput,
  PublicKeysInput,
  ResealInput,
  SealedKey,
  SignInput,
  UnsealInput,
  WrongPassphrase,
  Xpub,
} from "#src/cardano/keys/types.ts";

/** Derives a root key from a mnemonic and seals it; gives its xpub and those at paths. */
export async function openRoot(input: OpenRootInput): Promise<Result<OpenedRoot, Failure<"bad_mnemonic">>> {
  const { mnemonic, passphrase, paths } = input;
  const made = masterKey(mnemonic);
  if (!made.ok) return made;
  const root = made.value;
  const at = descender(mnemonic.style, root);
  return ok({
    sealed: await seal(root, passphrase),
    root: xpub(root),
    keys: paths.map((path) => xpub(at(path))),
  });
}

/** Signs messages, each with the keys at its paths, in order. */
export function signMessages(
  input: SignInput,
): Promise<Result<readonly (readonly KeySignature[])[], WrongPassphrase>> {
  return withRoot(input, (root) => {
    const at = descender(input.style, root);
    return input.wanted.map(({ message, paths }) => paths.map((path) => signWith(at(path), message)));
  });
}

/** Xpubs at paths of a mnemonic's root, in order. */
export function mnemonicKeys({ mnemonic, paths }: MnemonicKeysInput): Result<readonly Xpub[], Failure<"bad_mnemonic">> {
  return withMnemonic(mnemonic, (at) => paths.map((path) => xpub(at(path))));
}

/** Signs a message with keys at paths of a mnemonic's root, in order. */
export function signWithMnemonic(
  { mnemonic, message, paths }: MnemonicSignInput,
): Result<readonly KeySignature[], Failure<"bad_mnemonic">> {
  return withMnemonic(mnemonic, (at) => paths.map((path) => signWith(at(path), message)));
}

function withMnemonic<T>(
  mnemonic: Mnemonic,
  use: (at: ReturnType<typeof descender>) => T,
): Result<T, Failure<"bad_mnemonic">> {
  const root = masterKey(mnemonic);
  return root.ok ? ok(use(descender(mnemonic.style, root.value))) : root;
}

function signWith(node: SecretNode, message: Uint8Array): KeySignature {
  const { key, chainCode } = toPublic(node);
  return { key, chainCode, signature: signExtended(node.key, key, message) };
}

/** Seals the same root key with another passphrase. */
export function reseal(input: ResealInput): Promise<Result<SealedKey, WrongPassphrase>> {
  return withRoot(input, (root) => seal(root, input.next));
}

/** Xpubs at paths, in order. */
export function publicKeys(input: PublicKeysInput): Promise<Result<readonly Xpub[], WrongPassphrase>> {
  return withRoot(input, (root) => {
    const at = descender(input.style, root);
    return input.paths.map((path) => xpub(at(path)));
  });
}

const xpub = (node: SecretNode): Xpub => writeXpub(toPublic(node));

async function withRoot<T>(
  { sealed, passphrase }: UnsealInput,
  use: (root: SecretNode) => T | Promise<T>,
): Promise<Result<T, WrongPassphrase>> {
  const root = await unseal(sealed, passphrase);
  if (!root) return fail("wrong_encryption_passphrase", "The given encryption passphrase does not match the wallet's.");
  return ok(await use(root));
}
