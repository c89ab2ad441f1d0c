/** Account keys and bodies of shared wallets. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { toBech32 } from "#src/cardano/bech32.ts";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { World } from "../world.ts";

const HARD = 0x8000_0000;

function entropyOf(words: readonly string[]): Uint8Array {
  const entropy = mnemonicEntropy(words);
  if (!entropy.ok) throw new Error(entropy.error.message);
  return entropy.value;
}

/** The public key of an account of shared wallets, as Emurgo's library derives it: `acct_shared_xvk1…`. */
export function accountKey(words: readonly string[], factor?: readonly string[], index = 30): string {
  const root = csl.Bip32PrivateKey.from_bip39_entropy(entropyOf(words), factor ? entropyOf(factor) : new Uint8Array());
  const account = root.derive(HARD + 1854).derive(HARD + 1815).derive(HARD + index);
  return toBech32("acct_shared_xvk", account.to_public().as_bytes());
}

/** A key of an account that no wallet has. */
export const newKey = () => accountKey(newMnemonic(15));

export interface SharedBody {
  readonly keys?: Readonly<Record<string, string>>;
  readonly script?: unknown;
  readonly account?: string;
  readonly more?: object;
}

export const ONE = { all: ["cosigner#0", { active_from: 120 }] };
export const TWO = { all: ["cosigner#0", "cosigner#1", { active_from: 120 }] };
/** A delegation template that lacks the key of the second cosigner. */
export const DELEGATION = { any: ["cosigner#0", "cosigner#1", { active_from: 120 }, { active_until: 100 }] };

/** The body of a wallet from an account key. */
export const fromKey = (
  key: string,
  { keys = { "cosigner#0": key }, script = ONE, account = "30H", more }: SharedBody = {},
) => ({
  name: "Shared Wallet",
  account_public_key: key,
  account_index: account,
  payment_script_template: { cosigners: keys, template: script },
  ...more,
});

/** The body of a wallet from words. */
export const fromWords = (
  { words = newMnemonic(15), factor, passphrase = "cardano-wallet", keys, script = ONE, account = "30H", more }:
    & SharedBody
    & { readonly words?: readonly string[]; readonly factor?: readonly string[]; readonly passphrase?: string },
) => ({
  name: "Shared Wallet",
  mnemonic_sentence: words,
  ...(factor ? { mnemonic_second_factor: factor } : {}),
  passphrase,
  account_index: account,
  payment_script_template: { cosigners: keys ?? { "cosigner#0": "self" }, template: script },
  ...more,
});

// deno-lint-ignore no-explicit-any -- incomplete or active
export const create = (world: World, body: unknown): Promise<any> => world.ok(201, "POST", "/shared-wallets", body);

/** A wallet of one cosigner, who can sign, without funds. */
export const active = (world: World, account = "0H", more?: object) =>
  create(world, fromWords({ script: { all: ["cosigner#0"] }, account, ...(more ? { more } : {}) }));

/** A wallet of one cosigner with these coins. */
export async function funded(world: World, coins: readonly bigint[], { account = "0H", more }: SharedBody = {}) {
  const wallet = await active(world, account, more);
  const addresses = await world.addresses(wallet.id, "shared-wallets");
  await world.bank.pay(coins.map((lovelace, i) => ({ address: addresses[i % addresses.length]!.id, lovelace })));
  await world.untilAvailable(wallet.id, coins.reduce((sum, coin) => sum + coin, 0n), "shared-wallets");
  return wallet as { id: string };
}
