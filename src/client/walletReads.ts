/** What the wallet service says, without changes: the reading half of its client. */
import type * as addresses from "#src/wallets/api/addresses.ts";
import type * as delegation from "#src/wallets/api/delegation.ts";
import type * as dreps from "#src/wallets/api/dreps.ts";
import type * as governance from "#src/wallets/api/governance.ts";
import type * as network from "#src/wallets/api/network.ts";
import type * as pools from "#src/wallets/api/pools.ts";
import type * as spending from "#src/wallets/api/spending.ts";
import type * as wallets from "#src/wallets/api/wallets.ts";
import { answer, call, type Query, queryText } from "#src/client/http.ts";
import { dataOf, follow } from "#src/client/sse.ts";
import type { Exact } from "#src/client/exact.ts";
import type {
  Asset,
  Block,
  ByronWallet,
  Drep,
  EventOptions,
  FeeEstimate,
  NetworkInformation,
  Page,
  Prefix,
  SeenTransaction,
  StakePool,
  Transaction,
  Wallet,
  WalletAddress,
  WalletEvent,
} from "#src/client/walletTypes.ts";

/** The requests of `WalletClient` that only read, and those for endpoints without a method. */
export class WalletReads {
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

  wallets(): Promise<readonly Wallet[]> {
    return this.get("/wallets");
  }

  wallet(id: string): Promise<Wallet> {
    return this.get(`/wallets/${id}`);
  }

  byronWallet(id: string): Promise<ByronWallet> {
    return this.get(`/byron-wallets/${id}`);
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

  /** The wallet as a representative, and its delegated vote, as the ledger has them now. */
  governance(id: string): Promise<Exact<typeof governance.governanceState>> {
    return this.get(`/wallets/${id}/governance`);
  }

  /** The spending limit, and what counts towards it; empty where there is none. */
  spendingLimit(id: string, prefix: Prefix = "wallets"): Promise<Exact<typeof spending.spendingState>> {
    return this.get(`/${prefix}/${id}/spending-limit`);
  }

  /** The unspent outputs; with `references` each has its transaction, index and CBOR; with `pending` those of pending transactions too. */
  utxos(
    id: string,
    prefix: Prefix = "wallets",
    query: { readonly references?: "true"; readonly pending?: "true" } = {},
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
      // what is loaded once the stream is opened again is the restored state
      else if (one.type === "restored") continue;
      else if (one.event.event === "transaction") {
        yield { type: "transaction", id: one.event.id, transaction: dataOf(one) };
      } else if (one.event.event === "rolled_back") {
        yield { type: "rolled_back", id: one.event.id, tip: dataOf<{ tip: Block }>(one).tip };
      }
    }
  }

  /** Pools by the rewards that they would pay for a stake in lovelace, the highest first. */
  stakePools(stake: number | bigint): Promise<readonly StakePool[]> {
    return this.get("/stake-pools", { stake: String(stake) });
  }

  stakePoolPage(stake: number | bigint, query: Query): Promise<Page<readonly StakePool[]>> {
    return this.page("/stake-pools", { ...query, stake: String(stake) });
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

  smashHealth(url?: string): Promise<Exact<typeof pools.smashHealth>> {
    return this.get("/smash/health", { url });
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

  protected async page<T>(path: string, query: Query): Promise<Page<T>> {
    const { json, headers } = await answer<T>(this.base, "GET", path + queryText(query));
    const next = /<[^>]*[?&]after=([^&>]+)[^>]*>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    return { entries: json, ...(next === undefined ? {} : { after: decodeURIComponent(next) }) };
  }
}
