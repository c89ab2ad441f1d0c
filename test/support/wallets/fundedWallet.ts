/**
 * A wallet for tests of its builds: keys by index, coins at their addresses, and the ledger's verdict on what was built
 * and signed.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { baseAddress, paymentKeyHash } from "#src/cardano/address.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { initHash } from "#src/cardano/hash.ts";
import { keyHash, publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { addWitness, transactionHash } from "#src/cardano/transaction.ts";
import { type Assets, noAssets } from "#src/cardano/value.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { type Account, newState } from "#src/ledger/state.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import type {
  BuildSetting,
  ConstructedTransaction,
  OwnCoin,
  StakeAccount,
  WalletFunds,
} from "#src/wallets/builds/types.ts";
import { slots } from "../contract/contractLedger.ts";
import { coin } from "./person.ts";

await initHash();

/** Network, parameters and time of all builds. */
export const setting: BuildSetting = { parameters: mainnetParameters, network: 0, slots, slot: 500 };

const seeds = new Map<string, SigningKey>();

/** Hash of the key of a name; its seed is kept for signatures. */
export function keyNamed(name: string): string {
  const seed = sha256(utf8(name));
  const hash = keyHash(publicKey(seed));
  seeds.set(hash, seed);
  return hash;
}

export const stakeKey = keyNamed("the wallet's stake");
export const policyKey = keyNamed("the wallet's policy");

const addresses = new Map<string, string>();

/** Address of the wallet at a role and an index. */
export function addressAt(index: number, role = 0): string {
  const name = `the wallet's ${role}/${index}`;
  const known = addresses.get(name);
  if (known) return known;
  const address = baseAddress(0, { kind: "key", hash: keyNamed(name) }, { kind: "key", hash: stakeKey }).hex;
  addresses.set(name, address);
  return address;
}

/** Path of such an address. */
export function pathAt(index: number, role = 0): readonly number[] {
  return [HARD + 1852, HARD + 1815, HARD, role, index];
}

/** A coin of the wallet; a few coins share an address. */
export function ownCoin(index: number, lovelace: bigint, assets: Assets = noAssets, preference = 0): OwnCoin {
  const at = index % 40;
  return { utxo: coin(addressAt(at), lovelace, assets), path: pathAt(at), preference };
}

/** The wallet's coins. */
export function walletFunds(coins: readonly OwnCoin[], more: Partial<WalletFunds> = {}): WalletFunds {
  const change = Array.from({ length: 20 }, (_, i) => ({ address: addressAt(i, 1), path: pathAt(i, 1) }));
  return { coins, change, policyKey, ...more };
}

/** The stake account of the wallet. */
export function accountOf(more: Partial<StakeAccount> = {}): StakeAccount {
  const credential = { kind: "key", hash: stakeKey } as const;
  return { credential, path: pathAt(0, 2), registered: false, deposit: 0n, rewards: 0n, ...more };
}

/** The required signers of outputs and other items. */
export function signedBy(transaction: Uint8Array, keys: Iterable<string>): Uint8Array {
  const id = fromHex(transactionHash(transaction));
  return addWitness(
    transaction,
    ...[...new Set(keys)].map((hash) => ({ key: publicKey(seeds.get(hash)!), signature: sign(seeds.get(hash)!, id) })),
  );
}

/** Signs with the keys of its inputs, and with additional ones. */
export function signedFor(built: ConstructedTransaction, ...more: readonly string[]): Uint8Array {
  const { inputs, collateral } = built.selection;
  return signedBy(built.transaction, [
    ...[...inputs, ...collateral].filter(({ path }) => path.length > 0).map(({ address }) => paymentKeyHash(address))
      .filter((key) => key !== undefined),
    ...more,
  ]);
}

/** The ledger's failures for a signed transaction whose outputs exist: none if it is valid. */
export async function judged(
  transaction: Uint8Array,
  utxos: readonly Utxo[],
  accounts: ReadonlyMap<string, Account> = new Map(),
  pools: readonly string[] = [],
) {
  const state = newState({
    parameters: mainnetParameters,
    outputs: new Map(utxos.map(({ ref, output }) => [refKey(ref), output])),
  });
  for (const [key, account] of accounts) state.accounts.set(key, account);
  for (const pool of pools) state.pools.set(pool, { certificate: new Uint8Array(), deposit: 0n });
  const result = await validate(state, transaction, setting.slot, async (input) => evaluateScripts(input), slots);
  return result.ok ? [] : result.error;
}
