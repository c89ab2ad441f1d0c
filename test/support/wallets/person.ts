/** Keys, addresses and unspent outputs for tests, and signatures made by a library that the product does not use. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { baseAddress, enterpriseAddress } from "#src/cardano/address.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { keyHash, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import { madeOutput, type NewOutput } from "#src/cardano/transaction.ts";
import { type Assets, noAssets } from "#src/cardano/value.ts";

/** A person with a key and addresses on a test network. */
export interface Person {
  readonly seed: SigningKey;
  /** Payment key hash. */
  readonly key: string;
  readonly stakeSeed: SigningKey;
  /** Stake key hash. */
  readonly stake: string;
  /** Address without stake, bytes in hexadecimal. */
  readonly enterprise: string;
  /** Address with stake, bytes in hexadecimal. */
  readonly base: string;
}

/** The same person for the same name. */
export function person(name: string): Person {
  const seed = sha256(utf8(name));
  const key = keyHash(publicKey(seed));
  const stakeSeed = sha256(utf8(`${name}'s stake`));
  const stake = keyHash(publicKey(stakeSeed));
  return {
    seed,
    key,
    stakeSeed,
    stake,
    enterprise: enterpriseAddress(0, { kind: "key", hash: key }).hex,
    base: baseAddress(0, { kind: "key", hash: key }, { kind: "key", hash: stake }).hex,
  };
}

let made = 0;

/** A reference that is different in every call; `index` defaults to 0. */
export function newRef(index = 0): OutRef {
  return { txHash: toHex(sha256(utf8(`transaction ${made++}`))), index };
}

/** An unspent output. */
export function utxo(output: NewOutput, ref: OutRef = newRef()): Utxo {
  return { ref, output: madeOutput(output) };
}

/** An unspent output of lovelace, and assets if given. */
export function coin(address: string, lovelace: bigint, assets: Assets = noAssets, ref: OutRef = newRef()): Utxo {
  return utxo({ address, value: { lovelace, assets } }, ref);
}

/** The transaction signed by some people, CBOR. */
export function signed(transaction: Uint8Array, ...people: readonly Person[]): Uint8Array {
  const fixed = csl.FixedTransaction.from_bytes(transaction);
  for (const { seed } of people) fixed.sign_and_add_vkey_signature(csl.PrivateKey.from_normal_bytes(seed));
  return fixed.to_bytes();
}

/** An asset id from two small numbers. */
export function assetId(policy: number, name: number): string {
  return policy.toString(16).padStart(2, "0").repeat(28) + toHex(fromHex(name.toString(16).padStart(2, "0"))).repeat(4);
}
