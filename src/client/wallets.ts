/**
 * The typed client of the wallet service; runs in a browser.
 *
 * @example
 * ```ts
 * import { lovelace, WalletClient } from "./src/client/wallets.ts";
 *
 * export async function pay(service: string, words: string[], passphrase: string, address: string): Promise<string> {
 *   const client = new WalletClient(service);
 *   const wallet = await client.create({ name: "Savings", mnemonic_sentence: words, passphrase });
 *   const { transaction } = await client.construct(wallet.id, { payments: [{ address, amount: lovelace(2_000_000n) }] });
 *   const signed = await client.sign(wallet.id, transaction, passphrase);
 *   return (await client.submit(wallet.id, signed.transaction)).id;
 * }
 * ```
 */
import type { z } from "zod";
import type * as addresses from "#src/wallets/api/addresses.ts";
import type * as assets from "#src/wallets/api/assets.ts";
import type * as delegation from "#src/wallets/api/delegation.ts";
import type * as dreps from "#src/wallets/api/dreps.ts";
import type * as network from "#src/wallets/api/network.ts";
import type * as places from "#src/wallets/api/places.ts";
import type * as pools from "#src/wallets/api/pools.ts";
import type * as seen from "#src/wallets/api/seen.ts";
import type * as spending from "#src/wallets/api/spending.ts";
import type * as selections from "#src/wallets/api/selections.ts";
import type * as transactions from "#src/wallets/api/transactions.ts";
import type * as wallets from "#src/wallets/api/wallets.ts";
import type { Json, Messaged } from "#src/base/json.ts";
import { answer, call, type Query, queryText } from "#src/client/http.ts";
import { dataOf, follow, type FollowOptions } from "#src/client/sse.ts";

/** The JSON type of a schema: integers are `number`, or `bigint` past 2^53. */
type Exact<S extends z.ZodType> = Messaged<z.output<S>>;

export type Wallet = Exact<typeof wallets.wallet>;
export type ByronWallet = Exact<typeof wallets.byronWallet>;
export type WalletAddress = Exact<typeof addresses.walletAddress>;
export type Transaction = Exact<typeof transactions.transaction>;
export type SeenTransaction = Exact<typeof seen.seenTransaction>;
export type Constructed = Exact<typeof transactions.constructed>;
export type Decoded = Exact<typeof transactions.decoded>;
export type FeeEstimate = Exact<typeof transactions.fees>;
export type Asset = Exact<typeof assets.asset>;
export type Drep = Exact<typeof dreps.drepInfo>;
export type StakePool = Exact<typeof pools.stakePool>;
export type Block = Exact<typeof places.blockPlace>;
export type NetworkInformation = Exact<typeof network.networkInformation>;

/**
 * An amount of lovelace, as bodies have it.
 *
 * @example
 * ```ts
 * import { lovelace } from "./src/client/wallets.ts";
 *
 * console.log(lovelace(2_000_000n)); // { quantity: 2000000n, unit: "lovelace" }
 * ```
 */
export const lovelace = (quantity: number | bigint) => ({ quantity, unit: "lovelace" as const });

/** A page of a list, and the path of the next one. */
export interface Page<T> {
  readonly entries: T;
  readonly after?: string;
}

/** An event of a wallet's stream; a stream that continues after it gets `id` as `after`. */
export type WalletEvent =
  /** A connection is open. */
  | { readonly type: "opened"; readonly id: string }
  | { readonly type: "transaction"; readonly id: string; readonly transaction: Transaction }
  /** Blocks were rolled back, with their transactions, to this tip. */
  | { readonly type: "rolled_back"; readonly id: string; readonly tip: Block };

export interface EventOptions extends FollowOptions {
  readonly prefix?: Prefix;
  /** Metadata as plain JSON. */
  readonly simple?: boolean;
}

/** Kinds of wallets by the first segment of their paths. */
export type Prefix = "wallets" | "byron-wallets" | "shared-wallets";

/**
 * The wallet service over HTTP; its paths and bodies are those of cardano-wallet. Transactions are CBOR in base64 or
 * hexadecimal, as the service gives them; amounts are lovelace or units of an asset.
 *
 * @throws {ApiError} by every method, where the service refuses or does not respond.
 *
 * @example
 * ```ts
 * import { WalletClient } from "./src/client/wallets.ts";
 *
 * const client = new WalletClient("http://127.0.0.1:8090/v2");
 * const wallets = await client.wallets().catch((error) => error.code);
 * console.log(wallets);
 * ```
 */
export class WalletClient {
  /** `base` is the URL of the service with its version, such as `http://127.0.0.1:8090/v2`. */
  constructor(readonly base: string) {}

  information(): Promise<NetworkInformation> {
    return this.get("/network/information");
  }

  parameters(epoch?: number | "latest"): Promise<Exact<typeof network.networkParameters>> {
    return this.get("/network/parameters", { epoch });
  }

  latestHeader(): Promise<Exact<typeof network.blockHeader>> {
    return this.get("/blocks/latest/header");
  }

  inspect(address: string): Promise<Exact<typeof addresses.inspected>> {
    return this.get(`/addresses/${encodeURIComponent(address)}`);
  }

  makeAddress(body: z.input<typeof addresses.addressBody>): Promise<{ readonly address: string }> {
    return this.send("POST", "/addresses", body);
  }

  create(body: z.input<typeof wallets.walletBody>): Promise<Wallet> {
    return this.send("POST", "/wallets", body);
  }

  createByron(body: z.input<typeof wallets.byronWalletBody>): Promise<ByronWallet> {
    return this.send("POST", "/byron-wallets", body);
  }

  wallets(): Promise<readonly Wallet[]> {
    return this.get("/wallets");
  }

  wallet(id: string): Promise<Wallet> {
    return this.get(`/wallets/${id}`);
  }

  byronWallet(id: string): Promise<ByronWallet> {
    return this.get(`/byron-wallets/${id}`);
  }

  change(id: string, body: z.input<typeof wallets.walletChange>): Promise<Wallet> {
    return this.send("PUT", `/wallets/${id}`, body);
  }

  changePassphrase(id: string, body: z.input<typeof wallets.passphraseChange>): Promise<null> {
    return this.send("PUT", `/wallets/${id}/passphrase`, body);
  }

  delete(id: string, prefix: Prefix = "wallets"): Promise<null> {
    return this.send("DELETE", `/${prefix}/${id}`);
  }

  addresses(id: string, query: Query = {}, prefix: Prefix = "wallets"): Promise<readonly WalletAddress[]> {
    return this.get(`/${prefix}/${id}/addresses`, query);
  }

  addressPage(id: string, query: Query, prefix: Prefix = "wallets"): Promise<Page<readonly WalletAddress[]>> {
    return this.page(`/${prefix}/${id}/addresses`, query);
  }

  /** The next unused receiving address; callers at the same time get the same one. */
  nextAddress(id: string, prefix: Prefix = "wallets"): Promise<WalletAddress> {
    return this.get(`/${prefix}/${id}/addresses/next-unused`);
  }

  /** Reserves the next unused receiving address: every caller gets another one. */
  reserveAddress(
    id: string,
    body: z.input<typeof addresses.reservationBody> = {},
    prefix: Prefix = "wallets",
  ): Promise<Exact<typeof addresses.reservedAddress>> {
    return this.send("POST", `/${prefix}/${id}/addresses/next-unused`, body);
  }

  /** The spending limit, and what counts towards it; empty where there is none. */
  spendingLimit(id: string, prefix: Prefix = "wallets"): Promise<Exact<typeof spending.spendingState>> {
    return this.get(`/${prefix}/${id}/spending-limit`);
  }

  limitSpending(id: string, body: z.input<typeof spending.limitBody>, prefix: Prefix = "wallets"): Promise<null> {
    return this.send("PUT", `/${prefix}/${id}/spending-limit`, body);
  }

  removeSpendingLimit(id: string, passphrase: string, prefix: Prefix = "wallets"): Promise<null> {
    return this.send("DELETE", `/${prefix}/${id}/spending-limit`, { passphrase });
  }

  /** The unspent outputs; with `references` each has its transaction and index. */
  utxos(
    id: string,
    prefix: Prefix = "wallets",
    query: { readonly references?: "true" } = {},
  ): Promise<Exact<typeof wallets.snapshot>> {
    return this.get(`/${prefix}/${id}/utxo`, query);
  }

  utxoPage(id: string, query: Query, prefix: Prefix = "wallets"): Promise<Page<Exact<typeof wallets.snapshot>>> {
    return this.page(`/${prefix}/${id}/utxo`, query);
  }

  statistics(id: string, prefix: Prefix = "wallets"): Promise<Exact<typeof wallets.distribution>> {
    return this.get(`/${prefix}/${id}/statistics/utxos`);
  }

  assets(id: string, prefix: Prefix = "wallets"): Promise<readonly Asset[]> {
    return this.get(`/${prefix}/${id}/assets`);
  }

  assetPage(id: string, query: Query, prefix: Prefix = "wallets"): Promise<Page<readonly Asset[]>> {
    return this.page(`/${prefix}/${id}/assets`, query);
  }

  asset(id: string, policy: string, name = "", prefix: Prefix = "wallets"): Promise<Asset> {
    return this.get(`/${prefix}/${id}/assets/${policy}${name === "" ? "" : `/${name}`}`);
  }

  accountKey(id: string, format?: "extended" | "non_extended", prefix: Prefix = "wallets"): Promise<string> {
    return this.get(`/${prefix}/${id}/keys`, { format });
  }

  key(id: string, role: string, index: string, hash?: boolean, prefix: Prefix = "wallets"): Promise<string> {
    return this.get(`/${prefix}/${id}/keys/${role}/${index}`, { hash });
  }

  policyKey(id: string): Promise<string> {
    return this.get(`/wallets/${id}/policy-key`);
  }

  makePolicyKey(id: string, passphrase: string): Promise<string> {
    return this.send("POST", `/wallets/${id}/policy-key`, { passphrase });
  }

  policyId(id: string, template: Json): Promise<{ readonly policy_id: string }> {
    return this.send("POST", `/wallets/${id}/policy-id`, { policy_script_template: template });
  }

  construct(
    id: string,
    body: z.input<typeof transactions.constructBody>,
    prefix: Prefix = "wallets",
  ): Promise<Constructed> {
    return this.send("POST", `/${prefix}/${id}/transactions-construct`, body);
  }

  balance(id: string, body: z.input<typeof transactions.balanceBody>): Promise<Constructed> {
    return this.send("POST", `/wallets/${id}/transactions-balance`, body);
  }

  sign(
    id: string,
    transaction: string,
    passphrase: string,
    prefix: Prefix = "wallets",
  ): Promise<{ readonly transaction: string }> {
    return this.send("POST", `/${prefix}/${id}/transactions-sign`, { transaction, passphrase });
  }

  /** Submits a signed transaction. `key` is an `Idempotency-Key`: a request sent again with it is carried out once. */
  submit(
    id: string,
    transaction: string,
    options: { readonly prefix?: Prefix; readonly key?: string } = {},
  ): Promise<{ readonly id: string }> {
    return this.send("POST", `/${options.prefix ?? "wallets"}/${id}/transactions-submit`, { transaction }, options.key);
  }

  decode(
    id: string,
    body: z.input<typeof transactions.decodeBody>,
    prefix: Prefix = "wallets",
  ): Promise<Decoded> {
    return this.send("POST", `/${prefix}/${id}/transactions-decode`, body);
  }

  /**
   * The wallet's own addresses that a transaction (CBOR in base64 or hexadecimal) spends from or pays to, change addresses
   * included, which `addresses` does not list.
   */
  async ownAddresses(id: string, transaction: string): Promise<string[]> {
    const { inputs, outputs, collateral, collateral_outputs } = await this.decode(id, { transaction });
    const all = [...inputs, ...outputs, ...collateral ?? [], ...collateral_outputs ?? []];
    const own = all.flatMap((one) =>
      "derivation_path" in one && one.derivation_path && "address" in one && one.address ? [one.address] : []
    );
    return [...new Set(own)];
  }

  fees(
    id: string,
    body: z.input<typeof transactions.paymentFeesBody>,
    prefix: Prefix = "wallets",
  ): Promise<FeeEstimate> {
    return this.send("POST", `/${prefix}/${id}/payment-fees`, body);
  }

  /** Builds, signs and submits in one call; `key` as in `submit`. */
  pay(
    id: string,
    body: z.input<typeof transactions.sendBody>,
    options: { readonly prefix?: Prefix; readonly key?: string } = {},
  ): Promise<Transaction> {
    return this.send("POST", `/${options.prefix ?? "wallets"}/${id}/transactions`, body, options.key);
  }

  /** The coins for payments or a delegation, for a transaction that is built and signed elsewhere. */
  selectCoins(
    id: string,
    body: z.input<typeof selections.selectBody>,
    prefix: Prefix = "wallets",
  ): Promise<Exact<typeof transactions.coinSelection>> {
    return this.send("POST", `/${prefix}/${id}/coin-selections/random`, body);
  }

  /** The plan of moving everything that the wallet has to other addresses. */
  migrationPlan(
    id: string,
    addresses: readonly string[],
    prefix: Prefix = "wallets",
  ): Promise<Exact<typeof selections.migrationPlan>> {
    return this.send("POST", `/${prefix}/${id}/migrations/plan`, { addresses });
  }

  consolidationPlan(
    id: string,
    body: z.input<typeof selections.consolidationPlanBody> = {},
    prefix: Prefix = "wallets",
  ): Promise<Exact<typeof selections.consolidationPlan>> {
    return this.send("POST", `/${prefix}/${id}/consolidations/plan`, body);
  }

  /** Merges small outputs of the wallet; `key` as in `submit`. */
  consolidate(
    id: string,
    body: z.input<typeof selections.consolidationBody>,
    options: { readonly prefix?: Prefix; readonly key?: string } = {},
  ): Promise<readonly Transaction[]> {
    return this.send("POST", `/${options.prefix ?? "wallets"}/${id}/consolidations`, body, options.key);
  }

  /** Moves everything that the wallet has to other addresses; `key` as in `submit`. */
  migrate(
    id: string,
    body: { readonly addresses: readonly string[]; readonly passphrase: string },
    options: { readonly prefix?: Prefix; readonly key?: string } = {},
  ): Promise<readonly Transaction[]> {
    return this.send("POST", `/${options.prefix ?? "wallets"}/${id}/migrations`, body, options.key);
  }

  transactions(id: string, query: Query = {}, prefix: Prefix = "wallets"): Promise<readonly Transaction[]> {
    return this.get(`/${prefix}/${id}/transactions`, query);
  }

  transactionPage(id: string, query: Query, prefix: Prefix = "wallets"): Promise<Page<readonly Transaction[]>> {
    return this.page(`/${prefix}/${id}/transactions`, query);
  }

  transaction(id: string, hash: string, query: Query = {}, prefix: Prefix = "wallets"): Promise<Transaction> {
    return this.get(`/${prefix}/${id}/transactions/${hash}`, query);
  }

  /** Transactions of the network's mempool that concern a wallet and that no block holds yet, oldest first. */
  seen(id: string, query: Query = {}, prefix: Prefix = "wallets"): Promise<Page<readonly SeenTransaction[]>> {
    return this.page(`/${prefix}/${id}/transactions-seen`, query);
  }

  /**
   * A wallet's transactions as blocks bring them, until the signal aborts: the stream reconnects, and the server sends
   * what was missed. Load lists once it is `opened`; to go on where another stream ended, give the `id` of its last
   * event as `after`.
   *
   * @throws {ApiError} where the server refuses for good, and where it is unavailable on the first request.
   */
  async *events(id: string, options: EventOptions = {}): AsyncGenerator<WalletEvent, void> {
    const { prefix = "wallets", simple, ...rest } = options;
    const path = `/${prefix}/${id}/events${queryText({ "simple-metadata": simple })}`;
    for await (const one of follow(this.base.replace(/\/$/, "") + path, rest)) {
      if (one.type === "opened") yield one;
      else if (one.event.event === "transaction") {
        yield { type: "transaction", id: one.event.id, transaction: dataOf(one) };
      } else if (one.event.event === "rolled_back") {
        yield { type: "rolled_back", id: one.event.id, tip: dataOf<{ tip: Block }>(one).tip };
      }
    }
  }

  forget(id: string, hash: string, prefix: Prefix = "wallets"): Promise<null> {
    return this.send("DELETE", `/${prefix}/${id}/transactions/${hash}`);
  }

  /** Pools by the rewards that they would pay for a stake in lovelace, the highest first. */
  stakePools(stake: number | bigint): Promise<readonly StakePool[]> {
    return this.get("/stake-pools", { stake: String(stake) });
  }

  stakePoolPage(stake: number | bigint, query: Query): Promise<Page<readonly StakePool[]>> {
    return this.page("/stake-pools", { ...query, stake: String(stake) });
  }

  /** Delegates the stake to a pool in one call; `key` as in `submit`. */
  joinPool(id: string, pool: string, passphrase: string, key?: string): Promise<Transaction> {
    return this.send("PUT", `/stake-pools/${pool}/wallets/${id}`, { passphrase }, key);
  }

  /** Deregisters the stake key; its deposit and all rewards come back. */
  quitPool(id: string, passphrase: string, key?: string): Promise<Transaction> {
    return this.send("DELETE", `/stake-pools/*/wallets/${id}`, { passphrase }, key);
  }

  /** Delegates the vote: to `abstain`, `no_confidence` or a representative. */
  joinDrep(id: string, drep: string, passphrase: string, key?: string): Promise<Transaction> {
    return this.send("PUT", `/dreps/${drep}/wallets/${id}`, { passphrase }, key);
  }

  /** Every registered representative, by voting stake, the greatest first. */
  dreps(): Promise<readonly Drep[]> {
    return this.get("/dreps");
  }

  drepPage(query: Query): Promise<Page<readonly Drep[]>> {
    return this.page("/dreps", query);
  }

  drep(id: string): Promise<Drep> {
    return this.get(`/dreps/${id}`);
  }

  drepSummary(): Promise<Exact<typeof dreps.drepSummary>> {
    return this.get("/dreps/summary");
  }

  suggestedDreps(count?: number): Promise<readonly Drep[]> {
    return this.get("/dreps/suggested", { count });
  }

  delegationFees(id: string): Promise<FeeEstimate> {
    return this.get(`/wallets/${id}/delegation-fees`);
  }

  stakeKeys(id: string): Promise<Exact<typeof delegation.stakeKeys>> {
    return this.get(`/wallets/${id}/stake-keys`);
  }

  settings(): Promise<Exact<typeof pools.settings>> {
    return this.get("/settings");
  }

  changeSettings(settings: z.input<typeof pools.settings>): Promise<null> {
    return this.send("PUT", "/settings", { settings });
  }

  smashHealth(url?: string): Promise<Exact<typeof pools.smashHealth>> {
    return this.get("/smash/health", { url });
  }

  /** Submits a transaction that was signed elsewhere; `key` as in `submit`. */
  proxy(transaction: Uint8Array, key?: string): Promise<{ readonly id: string }> {
    return this.send("POST", "/proxy/transactions", transaction, key);
  }

  /** A GET request for an endpoint without a method here. */
  get<T>(path: string, query: Query = {}): Promise<T> {
    return call<T>(this.base, "GET", path + queryText(query));
  }

  /** A request with a body; `key` is an `Idempotency-Key`. */
  send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown, key?: string): Promise<T> {
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
    return call<T>(this.base, method, path, body, undefined, headers);
  }

  private async page<T>(path: string, query: Query): Promise<Page<T>> {
    const { json, headers } = await answer<T>(this.base, "GET", path + queryText(query));
    const next = /<[^>]*[?&]after=([^&>]+)[^>]*>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    return { entries: json, ...(next === undefined ? {} : { after: decodeURIComponent(next) }) };
  }
}
