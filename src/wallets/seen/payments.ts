/** Finds the wallets that transactions of the mempool concern, by the credentials of the index. */
import { fromHex } from "#src/base/bytes.ts";
import { addTo } from "#src/base/maps.ts";
import { addressText, hexAddressText, readAddressHex } from "#src/cardano/address.ts";
import type { MempoolTransaction } from "#src/cardano/mempoolTransaction.ts";
import { refKey } from "#src/cardano/output.ts";
import { addAssets, type Assets, noAssets, type Value } from "#src/cardano/value.ts";
import type { Queries } from "#src/store/store.ts";
import { credentialOf } from "#src/wallets/index/credential.ts";
import { ownersOf } from "#src/wallets/index/owners.ts";
import { storedOutput } from "#src/wallets/index/stored.ts";
import { openByronPath } from "#src/cardano/keys/byronAddress.ts";

/** What a transaction of the mempool does to a wallet. */
export interface SeenPayment {
  readonly wallet: string;
  readonly hash: string;
  readonly direction: "incoming" | "outgoing";
  /** Lovelace that the wallet gains or loses, without a sign. */
  readonly amount: bigint;
  /** Assets that the wallet gains; negative quantities for those that it loses. The first ones, see `cut`. */
  readonly assets: Assets;
  /** Addresses of its outputs there, as text. The first ones, see `cut`. */
  readonly addresses: readonly string[];
  /** Whether assets or addresses are left out, because an event is bounded. */
  readonly cut: boolean;
  /** What the transaction spends, by `refKey`. */
  readonly inputs: readonly string[];
  /** Indices of the wallet's outputs. */
  readonly outputs: readonly number[];
  readonly validTo: number | undefined;
}

/** An output of a wallet. */
interface OwnOutput {
  readonly wallet: string;
  readonly value: Value;
}

/** Outputs of wallets that transactions of the mempool create, by `refKey`. */
export type CoinsInMempool = Map<string, OwnOutput[]>;

/** Characters of the addresses and of the assets of one payment: with the other members an event stays below 8,000 bytes. */
const ADDRESSES_MOST = 2_500;
const ASSETS_MOST = 4_500;

/**
 * Finds the payments of some transactions, which are in the mempool's order. `coins` holds the wallets' outputs of
 * earlier ones, and gets those of these.
 */
export async function findPayments(
  sql: Queries,
  transactions: readonly MempoolTransaction[],
  coins: CoinsInMempool,
): Promise<SeenPayment[]> {
  const addresses = new Set(transactions.flatMap(({ outputs }) => outputs.map(({ output }) => output.address)));
  const refs = transactions.flatMap(({ inputs }) => inputs.map(refKey));
  const [owners, spent] = await Promise.all([readOwners(sql, [...addresses]), readCoins(sql, refs)]);
  const found = new Map<MempoolTransaction, Map<string, OwnParts>>();
  for (const transaction of transactions) {
    const sides = new Map<string, OwnParts>();
    const side = (wallet: string) => {
      const known = sides.get(wallet);
      if (known) return known;
      const parts: OwnParts = { lovelace: 0n, assets: noAssets, addresses: new Set(), outputs: [] };
      sides.set(wallet, parts);
      return parts;
    };
    const add = ({ wallet, value }: OwnOutput, sign: 1n | -1n) => {
      const parts = side(wallet);
      parts.lovelace += sign * value.lovelace;
      parts.assets = addAssets(parts.assets, value.assets, sign);
    };
    for (const key of transaction.inputs.map(refKey)) {
      const own = new Map([...spent.get(key) ?? [], ...coins.get(key) ?? []].map((one) => [one.wallet, one]));
      for (const one of own.values()) add(one, -1n);
    }
    for (const { ref, output: { address, value } } of transaction.outputs) {
      for (const wallet of owners.get(address) ?? []) {
        add({ wallet, value }, 1n);
        side(wallet).addresses.add(address);
        side(wallet).outputs.push(ref.index);
        addTo(coins, refKey(ref), { wallet, value });
      }
    }
    if (sides.size > 0) found.set(transaction, sides);
  }
  const stakes = await readStakes(sql, [...new Set([...found.values()].flatMap((sides) => [...sides.keys()]))]);
  return [...found].flatMap(([transaction, sides]) =>
    [...sides].map(([wallet, parts]) => paymentOf(transaction, wallet, parts, stakes.get(wallet)))
  );
}

/** What a wallet has in a transaction; amounts are what it gains. */
interface OwnParts {
  lovelace: bigint;
  assets: Assets;
  /** In hexadecimal. */
  readonly addresses: Set<string>;
  /** Indices. */
  readonly outputs: number[];
}

function paymentOf(
  { hash, inputs, withdrawals, validTo }: MempoolTransaction,
  wallet: string,
  parts: OwnParts,
  stake: string | undefined,
): SeenPayment {
  // own rewards count as an input, as in the wallet's history
  const withdrawn = [...withdrawals].filter(([account]) =>
    `${account.startsWith("f") ? "script" : "key"}-${account.slice(2)}` === stake
  );
  const net = withdrawn.reduce((left, [, amount]) => left - amount, parts.lovelace);
  const addresses = firstOf([...parts.addresses].map(shownAddress), ADDRESSES_MOST, (one) => one.length + 3);
  const assets = firstOf([...parts.assets], ASSETS_MOST, ([id, quantity]) => id.length + String(quantity).length + 6);
  return {
    wallet,
    hash,
    direction: net < 0n ? "outgoing" : "incoming",
    amount: net < 0n ? -net : net,
    assets: new Map(assets),
    addresses,
    cut: addresses.length < parts.addresses.size || assets.length < parts.assets.size,
    inputs: inputs.map(refKey),
    outputs: parts.outputs,
    validTo,
  };
}

/** The first entries whose sizes together are at most `most`. */
function firstOf<T>(all: readonly T[], most: number, size: (one: T) => number): T[] {
  let left = most;
  const end = all.findIndex((one) => (left -= size(one)) < 0);
  return end < 0 ? [...all] : all.slice(0, end);
}

function shownAddress(hex: string): string {
  const text = hexAddressText(hex);
  if (text !== undefined) return text;
  const address = readAddressHex(hex);
  return address.ok ? addressText(address.value) : hex;
}

/** The wallets that own addresses (bytes in hexadecimal). */
async function readOwners(sql: Queries, addresses: readonly string[]): Promise<Map<string, string[]>> {
  const byCredential = new Map<string, string[]>();
  for (const address of addresses) {
    const credential = credentialOf(address);
    if (credential !== undefined) addTo(byCredential, credential, address);
  }
  const byron = addresses.filter((address) => address.startsWith("8"));
  const [owners, random] = await Promise.all([ownersOf(sql, [...byCredential.keys()]), readRandom(sql, byron)]);
  const found = new Map<string, Set<string>>();
  const add = (address: string, wallet: string) => {
    const known = found.get(address);
    if (known) known.add(wallet);
    else found.set(address, new Set([wallet]));
  };
  for (const [credential, some] of owners) {
    for (const address of byCredential.get(credential) ?? []) for (const { wallet } of some) add(address, wallet);
  }
  for (const [address, wallet] of random) add(address, wallet);
  return new Map([...found].map(([address, wallets]) => [address, [...wallets]]));
}

/** The Byron addresses whose path a random wallet can decrypt, each with that wallet. */
async function readRandom(sql: Queries, addresses: readonly string[]): Promise<(readonly [string, string])[]> {
  if (addresses.length === 0) return [];
  const rows = await sql<{ wallet: string; path_key: string }[]>`
    select wallet, path_key from wallet_index where kind = 'random' and path_key is not null`;
  const wallets = rows.map(({ wallet, path_key }) => ({ wallet, key: fromHex(path_key) }));
  return addresses.flatMap((address) => {
    const read = readAddressHex(address);
    const path = read.ok && read.value.kind === "byron" ? read.value.byron.derivationPath : undefined;
    if (path === undefined) return [];
    return wallets.flatMap(({ wallet, key }) => openByronPath(key, path) ? [[address, wallet] as const] : []);
  });
}

/** Unspent outputs of wallets, by `refKey`. */
async function readCoins(sql: Queries, refs: readonly string[]): Promise<Map<string, OwnOutput[]>> {
  const found = new Map<string, OwnOutput[]>();
  const rows = await sql<{ wallet: string; ref: string; output: Uint8Array }[]>`
    select u.wallet, u.ref, u.output from unnest(${sql.array([...new Set(refs)])}::text[]) r(wanted)
      cross join lateral (select * from wallet_utxo where ref = r.wanted and to_slot is null offset 0) u`;
  for (const { wallet, ref, output } of rows) addTo(found, ref, { wallet, value: storedOutput(output).value });
  return found;
}

/** Stake credentials of wallets, as `key-<hash>` or `script-<hash>`. */
async function readStakes(sql: Queries, wallets: readonly string[]): Promise<Map<string, string>> {
  if (wallets.length === 0) return new Map();
  const rows = await sql<{ wallet: string; stake: string }[]>`
    select wallet, stake from wallet_index where wallet = any(${sql.array([...wallets])}) and stake is not null`;
  return new Map(rows.map(({ wallet, stake }) => [wallet, stake]));
}
