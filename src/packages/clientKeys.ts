/** Entry of the npm package `@arbor-cardano/client/keys`: recovery phrases and derived keys (BIP39, CIP-3 Icarus, CIP-1852), for clients that hold the keys of a wallet. */
export {
  accountKey,
  derive,
  derivePath,
  derivePublic,
  HARD,
  parsePath,
  type PublicNode,
  ROLES,
  rootKey,
  type SecretNode,
  toPublic,
} from "#src/cardano/keys/derivation.ts";
export {
  keyHash,
  newSeed,
  publicKey,
  sign,
  signExtended,
  type SigningKey,
  verify,
} from "#src/cardano/keys/signingKey.ts";
export { readKey, writeKey } from "#src/cardano/keys/keyText.ts";
export { mnemonicEntropy, mnemonicWords, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
