/**
 * Figures that cardano-wallet published about itself. Of a range, the better value is used. Times of requests are means
 * of ten, each from the request's arrival to its response in the service's own log, without the network to the client.
 */
import type { Published } from "./wallet-figures.ts";

const LATENCY_2021 = "2 wallets, PR #2582, 2021";
const LATENCY_2026 = "2 wallets, PR #5166, 2026";
const TEN_THOUSAND = "10,000 UTxOs, PR #5166, 2026";
const of = (value: number, under: string, unlike?: string): Published =>
  unlike === undefined ? { value, under } : { value, under, unlike };

/** Of a service with a handful of wallets, in milliseconds. */
export const LATENCY = {
  getNetworkInfo: of(0.1, LATENCY_2021),
  listWallets: of(2.1, LATENCY_2021),
  getWallet: of(0.8, LATENCY_2021),
  utxoStats: of(0.7, LATENCY_2021),
  listAddresses: of(1.5, LATENCY_2021),
  listTransactions: of(7.0, LATENCY_2021),
  listMultiAssets: of(4.7, LATENCY_2021),
  postTransactionFee: of(19.3, LATENCY_2026),
  postTransaction: of(127.9, LATENCY_2026),
  postTransactionTo5: of(412, LATENCY_2021),
  postTransactionAssets: of(22.8, LATENCY_2021, "a ninth of what its payments of ada take, which open the same key"),
  listStakePools: of(43.1, LATENCY_2026),
} as const;

/** `GET /wallets` by the number of wallets, ms. */
export const LIST_OF: ReadonlyMap<number, Published> = new Map([
  [10, of(5.4, "10 wallets, PR #2582, 2021")],
  [100, of(126.2, "100 wallets, PR #1530")],
]);

/** One wallet with many outputs, by their number, ms. */
export const UTXOS: ReadonlyMap<number, Readonly<Record<string, Published>>> = new Map([
  [1_000, { postTransaction: of(217, "1,000 UTxOs, PR #3875") }],
  [10_000, {
    getWallet: of(305, TEN_THOUSAND),
    listTransactions: of(5_114, TEN_THOUSAND),
    postTransactionFee: of(845, TEN_THOUSAND),
    listAddresses: of(1_540, TEN_THOUSAND),
    postTransaction: of(535.9, "10,000 UTxOs, PR #3875"),
  }],
  [20_000, { listWallets: of(3_737, "20,000 UTxOs, PR #3746") }],
]);

/** A gap of 100,000 addresses, in seconds and milliseconds. */
export const GREAT_GAP = {
  create: of(330, "gap of 100,000, issue #2137"),
  get: of(40_000, "gap of 100,000, issue #2137"),
  list: of(90_000, "50,000 addresses, issue #1713"),
} as const;

/** Ten thousand transactions listed, in milliseconds: the database alone, without HTTP. */
export const HISTORY = of(3_600, "10,000 transactions from its database, without HTTP, PR #5166, 2026");

/** Megabytes. */
export const MEMORY = {
  start: of(59.5, "its own process alone, PR #5166, 2026", "ours holds network, bus and token service too"),
  node: of(11_400, "with its node, issue #5160", "theirs on the main network, ours on a devnet"),
} as const;

const MAINNET = "theirs on the main network";
/** Seconds. */
export const RESTORE = {
  one: of(40.5, "one wallet over a tenth of the chain, PR #2243", MAINNET),
  hundred: of(551, "100 wallets over a hundredth of the chain, PR #2243", MAINNET),
  light: of(60, "1,000 transactions, aim of its light mode, 2022", "an aim"),
} as const;
