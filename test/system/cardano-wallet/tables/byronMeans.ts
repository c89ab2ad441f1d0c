/** Wallets of Byron for scenarios: from words, from old keys, and from an account's public key, with and without funds. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { pbkdf2Sync } from "node:crypto";
import { chacha20orig } from "@noble/ciphers/chacha.js";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { HARD, type SecretNode, toPublic } from "#src/cardano/keys/derivation.ts";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { byronPathKey, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import { descender, masterKey } from "#src/cardano/keys/master.ts";
import { hashPassphrase } from "#src/cardano/keys/seal.ts";
import { ADA, ASSETS, PASSPHRASE, type World } from "../world.ts";

export const BYRON = "byron-wallets";
export const STYLES = ["random", "icarus", "trezor", "ledger"] as const;
export type Style = (typeof STYLES)[number];

export interface ByronMade {
  readonly id: string;
  readonly words: readonly string[];
  // deno-lint-ignore no-explicit-any -- as it was answered
  readonly wallet: any;
}

interface ByronOptions {
  readonly name?: string;
  readonly words?: readonly string[];
  readonly passphrase?: string;
}

/** A new wallet without funds. */
export async function byron(
  world: World,
  style: Style,
  { name = "Byron Wallet", words = newMnemonic(12), passphrase = PASSPHRASE }: ByronOptions = {},
): Promise<ByronMade> {
  const body = { name, style, mnemonic_sentence: words, passphrase };
  const wallet = await world.ok(201, "POST", `/${BYRON}`, body);
  return { id: wallet.id, words, wallet };
}

/** Addresses of a wallet: the first ones, or new ones of a random wallet. */
export async function receiving(world: World, { id }: { id: string }, style: Style, count: number) {
  if (style !== "random") return (await world.addresses(id, BYRON)).slice(0, count).map((one) => one.id);
  return await Promise.all(Array.from({ length: count }, async () => {
    const made = await world.ok(201, "POST", `/${BYRON}/${id}/addresses`, { passphrase: PASSPHRASE });
    return made.id as string;
  }));
}

/** A wallet with ten coins of 10,000 ada, or with these. */
export async function fundedByron(
  world: World,
  style: Style,
  coins: readonly bigint[] = Array.from({ length: 10 }, () => 10_000n * ADA),
): Promise<ByronMade> {
  const made = await byron(world, style);
  const addresses = await receiving(world, made, style, Math.min(coins.length, 20));
  await world.bank.pay(coins.map((lovelace, i) => ({ address: addresses[i % addresses.length]!, lovelace })));
  await world.untilAvailable(made.id, coins.reduce((sum, coin) => sum + coin, 0n), BYRON);
  return made;
}

/** A wallet with 60 ada and two assets in three outputs. */
export async function multiAssetByron(world: World, style: Style): Promise<ByronMade> {
  const made = await byron(world, style);
  const addresses = await receiving(world, made, style, 3);
  const held: readonly Record<string, bigint>[] = [{ [ASSETS[0]]: 8n }, { [ASSETS[1]]: 6n }, {}];
  await world.bank.pay(held.map((assets, i) => ({ address: addresses[i]!, lovelace: 20n * ADA, assets })));
  await world.untilAvailable(made.id, 60n * ADA, BYRON);
  return made;
}

function rootOf(style: "random" | "icarus", words: readonly string[]): SecretNode {
  const root = masterKey({ style, words });
  if (!root.ok) throw new Error(root.error.message);
  return root.value;
}

/** Addresses of a random wallet with these words, of account 0 from index 0. */
export function addressesOf(words: readonly string[], count: number): readonly string[] {
  const root = rootOf("random", words);
  const nodeAt = descender("random", root);
  const xpub = (node: SecretNode) => {
    const { key, chainCode } = toPublic(node);
    return toHex(concat(key, chainCode));
  };
  const pathKey = byronPathKey(xpub(root));
  return Array.from({ length: count }, (_, i) => {
    const path = [HARD, HARD + i] as const;
    const address = randomAddress({ pathKey, path, key: xpub(nodeAt(path)), magic: 42 });
    return csl.ByronAddress.from_bytes(fromHex(address)).to_base58();
  });
}

/** A random wallet from an old key that this passphrase encrypts; an empty one does not. */
// deno-lint-ignore no-explicit-any -- as it was answered
export async function oldKey(world: World, passphrase: string): Promise<any> {
  const root = rootOf("random", newMnemonic(12));
  const stream = pbkdf2Sync(passphrase, "encrypted wallet salt\0", 15_000, 40, "sha512");
  const secret = passphrase === ""
    ? root.key
    : chacha20orig(Uint8Array.from(stream.subarray(0, 32)), Uint8Array.from(stream.subarray(32)), root.key);
  return await world.ok(201, "POST", `/${BYRON}`, {
    name: "Old Wallet",
    style: "random",
    encrypted_root_private_key: toHex(concat(secret, toPublic(root).key, root.chainCode)),
    passphrase_hash: toHex(hashPassphrase(passphrase, new Uint8Array(16).fill(7))),
  });
}

/** A wallet from the public key of the account of these words, as Emurgo's library derives it. */
export async function watchedByron(
  world: World,
  words: readonly string[] = newMnemonic(15),
  more: object = {},
): Promise<{ id: string; name: string }> {
  const entropy = mnemonicEntropy(words);
  if (!entropy.ok) throw new Error(entropy.error.message);
  const root = csl.Bip32PrivateKey.from_bip39_entropy(entropy.value, new Uint8Array());
  const account = root.derive(HARD + 44).derive(HARD + 1815).derive(HARD).to_public();
  return await world.ok(201, "POST", `/${BYRON}`, {
    name: "Wallet from pubkey",
    account_public_key: toHex(account.as_bytes()),
    ...more,
  });
}
