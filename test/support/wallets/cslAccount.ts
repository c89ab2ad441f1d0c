/** Keys and addresses of a sequential wallet, derived by a library that the product does not use (Emurgo's serialization library). */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { blake2b } from "@noble/hashes/blake2.js";
import { toHex } from "#src/base/bytes.ts";
import { mnemonicEntropy } from "#src/cardano/keys/mnemonic.ts";

const HARD = 0x8000_0000;

function entropyOf(words: readonly string[]): Uint8Array {
  const entropy = mnemonicEntropy(words);
  if (!entropy.ok) throw new Error(entropy.error.message);
  return entropy.value;
}

/** An account of a mnemonic, such as 1852H/1815H/0H, and of a second factor if there is one. */
export class CslAccount {
  private readonly root: csl.Bip32PrivateKey;
  private readonly account: csl.Bip32PublicKey;

  constructor(words: readonly string[], secondFactor?: readonly string[], account = 0) {
    const second = secondFactor ? entropyOf(secondFactor) : new Uint8Array();
    this.root = csl.Bip32PrivateKey.from_bip39_entropy(entropyOf(words), second);
    this.account = this.root.derive(HARD + 1852).derive(HARD + 1815).derive(HARD + account).to_public();
  }

  /** Public key and chain code of the account, in hexadecimal. */
  get publicKey(): string {
    return toHex(this.account.as_bytes());
  }

  /** The id of a wallet with a root key. */
  get walletId(): string {
    return toHex(blake2b(this.root.to_public().as_bytes(), { dkLen: 20 }));
  }

  /** The id of a wallet that has only the account's public key. */
  get watchedId(): string {
    return toHex(blake2b(this.account.as_bytes(), { dkLen: 20 }));
  }

  key(role: number, index: number): csl.PublicKey {
    return this.account.derive(role).derive(index).to_raw_key();
  }

  /** The address of a test network at a role and an index, bech32. */
  address(index: number, role = 0): string {
    const credential = (key: csl.PublicKey) => csl.Credential.from_keyhash(key.hash());
    return csl.BaseAddress.new(0, credential(this.key(role, index)), credential(this.key(2, 0))).to_address()
      .to_bech32();
  }
}
