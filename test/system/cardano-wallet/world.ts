/**
 * The one service of all scenarios, on a devnet that makes blocks by itself, and what scenarios need of it: requests
 * whose answers are compared with the OpenAPI document, wallets with and without funds, and waiting.
 */
import { expect } from "vitest";
import { type Json, parseJson, toJson } from "#src/base/json.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { DevnetClient } from "#src/client/devnet.ts";
import type { Transaction, Wallet, WalletAddress } from "#src/client/wallets.ts";
import { CslAccount } from "../../support/wallets/cslAccount.ts";
import { Documented } from "../../support/docs/openApiAnswers.ts";
import { type OutsideServer, outsideServer } from "../../support/infra/externalServers.ts";
import { Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { Bank } from "./bank.ts";

/** The passphrase of every wallet that has no other. */
export const PASSPHRASE = "cardano-wallet";
/** Lovelace of an ada. */
export const ADA = 1_000_000n;
/** The least lovelace of an output without assets, at a base address. */
export const MIN_UTXO = 1_000_000n;
/** Names of the assets of wallets with assets, in hexadecimal. */
export const ASSETS = ["61737365743031", "61737365743032"] as const;
/** What the token metadata server has of these assets. */
const DESCRIPTION = {
  name: { value: "SteveToken", signatures: [] },
  description: { value: "A sample description" },
  ticker: { value: "STV" },
  decimals: { value: 6 },
  url: { value: "https://token.example" },
  logo: { value: "QWxtb3N0IGEgbG9nbw==" },
};
/** The same as answers have it. */
export const METADATA = Object.fromEntries(Object.entries(DESCRIPTION).map(([name, { value }]) => [name, value]));
/** Slots of an epoch: 10 s. */
export const EPOCH_SLOTS = 200;
/** Epochs until a delegation has earned rewards. */
const EPOCHS_TO_REWARDS = 4;
/** Milliseconds that a scenario waits for a state at most. */
const PATIENCE_MS = 60_000;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** An answer of the service; `body` is undefined if there is none, and text if it is not JSON. */
export interface Reply {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly headers: Headers;
  /** Method, path and answer, for messages of failed tests. */
  readonly where: string;
}

/** What a scenario expects of an answer. Members that are left out are not compared. */
export interface Expected {
  readonly status: number;
  /** The code of an error. */
  readonly code?: string;
  /** A part of an error's message, as clients match it. */
  readonly message?: string;
  /** Members of the body, by `toMatchObject`. */
  readonly body?: unknown;
}

/** A wallet made from words. */
export interface Made {
  readonly id: string;
  readonly words: readonly string[];
}

export interface EmptyOptions {
  readonly name?: string;
  readonly words?: readonly string[];
  readonly passphrase?: string;
  readonly gap?: number;
  /** Further members of the body. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export const lovelace = (quantity: number | bigint) => ({ quantity, unit: "lovelace" as const });

/** A payment as bodies have it. */
export const payment = (address: string, quantity: number | bigint, assets?: readonly unknown[]) => ({
  address,
  amount: lovelace(quantity),
  ...(assets ? { assets } : {}),
});

const FOREIGN = new CslAccount(newMnemonic(15));
/** Wallets with rewards for scenarios that spend them; two scenarios never get the same. */
const REWARDED = 14;

export class World {
  private readonly shared = new Map<string, Promise<unknown>>();
  /** They delegate from the beginning, since the first reward takes some epochs. */
  private rewarded: Promise<Wallet & Made>[] = [];
  /** Resolves when these delegations may have earned. */
  private earned: Promise<void> = Promise.resolve();

  private constructor(
    /** The service and its devnet. */
    readonly scenario: Scenario,
    readonly documented: Documented,
    readonly bank: Bank,
    private readonly registry: OutsideServer,
  ) {}

  static async start(): Promise<World> {
    const registry = await outsideServer(({ body }) => {
      const { subjects } = body as { subjects: string[] };
      const described = subjects.filter((subject) => ASSETS.some((name) => subject.endsWith(name)));
      return { body: { subjects: described.map((subject) => ({ subject, ...DESCRIPTION })) } };
    });
    const scenario = await Scenario.start({
      provider: "devnet",
      blockMs: 200,
      env: {
        ARBOR_EPOCH_SLOTS: String(EPOCH_SLOTS),
        ARBOR_POOLS: "3",
        ARBOR_OUTSIDE_PRIVATE: "true",
        ARBOR_TOKEN_METADATA_SERVER: registry.url,
      },
    });
    const documented = new Documented(await scenario.client.get("/openapi.json"));
    const bank = new Bank(scenario.devnet, (cbor) => scenario.client.proxy(cbor));
    const world = new World(scenario, documented, bank, registry);
    await world.eventually("the first block is read", () => world.ok(200, "GET", "/blocks/latest/header"));
    world.rewarded = Array.from({ length: REWARDED }, async () => {
      const made = await world.walletWith([100_000n * ADA, 100_000n * ADA]);
      const [pool] = await world.pools();
      const joined = await world.ok(202, "PUT", `/stake-pools/${pool}/wallets/${made.id}`, { passphrase: PASSPHRASE });
      await world.untilInLedger(made.id, joined.id);
      return made;
    });
    world.earned = Promise.all(world.rewarded).then(() => world.enterEpochs());
    // the scenario that takes a wallet awaits it
    for (const one of [...world.rewarded, world.earned]) one.catch(() => {});
    return world;
  }

  /** Ids of the pools that are not retiring. */
  async pools(): Promise<readonly string[]> {
    const listed = await this.ok(200, "GET", "/stake-pools?stake=1000000000000") as {
      id: string;
      retirement?: object;
    }[];
    return listed.filter(({ retirement }) => !retirement).map(({ id }) => id);
  }

  /** A wallet with two coins of 100,000 ada, delegated to a pool, with rewards. They grow with each epoch. */
  async rewardWallet(): Promise<Wallet & Made> {
    const next = this.rewarded.shift();
    if (!next) throw new Error(`more than ${REWARDED} scenarios want a wallet with rewards`);
    const { id, words } = await next;
    await this.earned;
    return { ...await this.untilRewards(id), words };
  }

  /** The devnet enters the epochs that a delegation needs to earn rewards. */
  private async enterEpochs(): Promise<void> {
    await new DevnetClient(this.scenario.devnet).epochs(EPOCHS_TO_REWARDS);
  }

  /** Waits until a wallet has rewards. */
  private untilRewards(id: string): Promise<Wallet> {
    return this.eventually("rewards", async () => {
      const wallet = await this.wallet(id);
      expect(BigInt(wallet.balance.reward.quantity)).toBeGreaterThan(0n);
      return wallet;
    });
  }

  /** The wallet with the rewards of a delegation that is in the ledger. */
  async earnRewards(id: string): Promise<Wallet> {
    await this.enterEpochs();
    return await this.untilRewards(id);
  }

  /** A wallet with rewards that no scenario changes. */
  sharedReward(): Promise<Wallet & Made> {
    return this.once("rewards", () => this.rewardWallet());
  }

  /**
   * Sends a transaction that withdraws rewards, at the begin of an epoch: it is valid until the next one, which brings
   * further rewards. It is sent again if that came first; returns what is in the ledger.
   */
  async withdrawing<T extends { readonly id: string }>(wallet: string, send: () => Promise<T>): Promise<T> {
    return await this.eventually("a withdrawal is in the ledger", async () => {
      const { node_tip } = await this.ok(200, "GET", "/network/information");
      expect(node_tip.slot_number).toBeLessThan(EPOCH_SLOTS / 2);
      const sent = await send();
      const { status } = await this.eventually("it has an end", async () => {
        const listed: Transaction = await this.ok(200, "GET", `/wallets/${wallet}/transactions/${sent.id}`);
        expect(listed.status).not.toBe("pending");
        return listed;
      });
      expect(status).toBe("in_ledger");
      return sent;
    });
  }

  async stop(): Promise<void> {
    await this.scenario.stop();
    await this.registry.stop();
  }

  /**
   * Sends a request, and expects that the answer is one of the OpenAPI document. A body that is text or bytes is sent
   * as it is. The content type is JSON for a body, unless `headers` are given: then nothing is added to them.
   */
  async call(
    method: Method,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply> {
    const raw = body instanceof Uint8Array ? new Uint8Array(body) : typeof body === "string" ? body : toJson(body);
    const sent = body === undefined
      ? { headers: headers ?? {} }
      // a body of bytes gets no content type from `fetch`
      : headers
      ? { body: typeof raw === "string" ? new TextEncoder().encode(raw) : raw, headers }
      : { body: raw, headers: { "content-type": "application/json" } };
    const response = await fetch(this.scenario.client.base + path, { method, ...sent });
    const type = (response.headers.get("content-type") ?? "").replace(/;.*$/s, "");
    const { status } = response;
    if (type === "application/octet-stream") {
      const bytes = new Uint8Array(await response.arrayBuffer());
      const where = `${method} ${path}: ${status}, ${bytes.length} bytes`;
      expect(this.documented.faults(method, path, { status, type, text: "" })).toEqual([]);
      return { status, body: bytes, headers: response.headers, where };
    }
    const text = await response.text();
    const where = `${method} ${path}: ${status} ${text.slice(0, 1_000)}`;
    expect(this.documented.faults(method, path, { status, type, text }), where).toEqual([]);
    const json: Json | undefined = text === "" ? undefined : parseJson(text);
    return { status, body: json, headers: response.headers, where };
  }

  /** Compares an answer with what is expected; returns its body. */
  // deno-lint-ignore no-explicit-any
  check({ status, body, where }: Reply, expected: Expected): any {
    expect(status, where).toBe(expected.status);
    if (expected.code !== undefined) expect(body.code, where).toBe(expected.code);
    if (expected.message !== undefined) expect(body.message, where).toContain(expected.message);
    if (expected.body !== undefined) expect(body, where).toMatchObject(expected.body as object);
    return body;
  }

  /** Sends a request that must succeed with this status; returns the body. */
  // deno-lint-ignore no-explicit-any
  async ok(status: number, method: Method, path: string, body?: unknown): Promise<any> {
    return this.check(await this.call(method, path, body), { status });
  }

  decode(id: string, transaction: string) {
    return this.ok(202, "POST", `/wallets/${id}/transactions-decode`, { transaction });
  }

  /** Waits until the check gives a value without throwing. */
  async eventually<T>(what: string, check: () => Promise<T>): Promise<T> {
    let last: unknown;
    const found = await until(
      what,
      async () => {
        try {
          return { value: await check() };
        } catch (error) {
          last = error;
          return undefined;
        }
      },
      PATIENCE_MS,
      100,
    ).catch((error) => {
      throw last ?? error;
    });
    return found.value;
  }

  /** One value for all scenarios that ask for this name: wallets that no scenario changes. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = this.shared.get(name);
    if (known) return known as Promise<T>;
    const made = make();
    this.shared.set(name, made);
    return made;
  }

  /** The body of a new wallet. */
  walletBody({ name = "Empty Wallet", words = newMnemonic(15), passphrase = PASSPHRASE, gap, more }: EmptyOptions) {
    return {
      name,
      mnemonic_sentence: [...words],
      passphrase,
      ...(gap === undefined ? {} : { address_pool_gap: gap }),
      ...more,
    };
  }

  /** A new wallet without funds, which may not be ready yet. */
  async emptyWallet(options: EmptyOptions = {}): Promise<Wallet & Made> {
    const body = this.walletBody(options);
    const wallet = await this.ok(201, "POST", "/wallets", body);
    return { ...wallet, words: body.mnemonic_sentence };
  }

  /** An empty wallet that no scenario changes or pays. */
  sharedEmpty(): Promise<Wallet & Made> {
    return this.once("empty", () => this.emptyWallet());
  }

  /** Addresses of no wallet of the service, to be paid. */
  readonly elsewhere: readonly string[] = Array.from({ length: 20 }, (_, i) => FOREIGN.address(i));

  /** The id of a wallet that was deleted. */
  deleted(): Promise<Made> {
    return this.once("deleted", async () => {
      const { id, words } = await this.emptyWallet();
      await this.ok(204, "DELETE", `/wallets/${id}`);
      return { id, words };
    });
  }

  /** A new wallet with these coins at its first addresses, in lovelace; ready to spend them. */
  async walletWith(coins: readonly bigint[], options: EmptyOptions = {}): Promise<Wallet & Made> {
    const made = await this.emptyWallet(options);
    const addresses = await this.addresses(made.id);
    await this.bank.pay(coins.map((lovelace, i) => ({ address: addresses[i % addresses.length]!.id, lovelace })));
    const wallet = await this.untilAvailable(made.id, coins.reduce((sum, coin) => sum + coin, 0n));
    return { ...wallet, words: made.words };
  }

  /** A new wallet with ten coins of 10,000 ada. */
  fixtureWallet(options: EmptyOptions = {}): Promise<Wallet & Made> {
    return this.walletWith(Array.from({ length: 10 }, () => 10_000n * ADA), options);
  }

  /** A funded wallet that no scenario changes: for fees, selections, transactions that are not submitted, refusals. */
  sharedFixture(): Promise<Wallet & Made> {
    return this.once("fixture", () => this.fixtureWallet());
  }

  /** A wallet with two assets in three outputs, that no scenario changes. */
  sharedMultiAsset(): Promise<Wallet & Made> {
    return this.once("assets", () => this.multiAssetWallet());
  }

  /** A new wallet with 60 ada and two assets in three outputs. */
  async multiAssetWallet(options: EmptyOptions = {}): Promise<Wallet & Made> {
    const made = await this.emptyWallet(options);
    const addresses = await this.addresses(made.id);
    const held: readonly Record<string, bigint>[] = [{ [ASSETS[0]]: 8n }, { [ASSETS[1]]: 6n }, {}];
    await this.bank.pay(held.map((assets, i) => ({ address: addresses[i]!.id, lovelace: 20n * ADA, assets })));
    const wallet = await this.untilAvailable(made.id, 60n * ADA);
    return { ...wallet, words: made.words };
  }

  /** A random wallet of Byron without funds, that no scenario changes. */
  sharedRandom(): Promise<Made> {
    return this.once("random", () => this.randomWallet());
  }

  /** A new random wallet of Byron, without funds and addresses. */
  async randomWallet(name = "Random Wallet"): Promise<Made> {
    const words = newMnemonic(12);
    const body = { style: "random", name, mnemonic_sentence: words, passphrase: PASSPHRASE };
    const { id } = await this.ok(201, "POST", "/byron-wallets", body);
    return { id, words };
  }

  async wallet(id: string): Promise<Wallet> {
    return await this.ok(200, "GET", `/wallets/${id}`);
  }

  async addresses(id: string, prefix = "wallets"): Promise<readonly WalletAddress[]> {
    return await this.ok(200, "GET", `/${prefix}/${id}/addresses`);
  }

  /** The wallet's receiving address at an index. */
  async address(id: string, index = 0, prefix = "wallets"): Promise<string> {
    return (await this.addresses(id, prefix))[index]!.id;
  }

  /** Waits until a wallet, of any kind, is ready and can spend this. */
  async untilAvailable(id: string, lovelace: bigint, prefix = "wallets"): Promise<Wallet> {
    return await this.eventually(`${id} has ${lovelace}`, async () => {
      const wallet = await this.ok(200, "GET", `/${prefix}/${id}`);
      expect([wallet.state.status, BigInt(wallet.balance.available.quantity)]).toEqual(["ready", lovelace]);
      return wallet;
    });
  }

  /** Waits until the rewards of a wallet are less: they were withdrawn, and those of a later epoch may have come. */
  async rewardsBelow(id: string, lovelace: bigint): Promise<void> {
    await this.eventually(`${id} has withdrawn ${lovelace}`, async () => {
      expect(BigInt((await this.wallet(id)).balance.reward.quantity)).toBeLessThan(lovelace);
    });
  }

  /** Waits until a wallet lists a transaction as in the ledger. */
  async untilInLedger(id: string, hash: string, prefix = "wallets"): Promise<Transaction> {
    return await this.eventually(
      `${hash} is in the ledger`,
      async () =>
        this.check(await this.call("GET", `/${prefix}/${id}/transactions/${hash}`), {
          status: 200,
          body: { status: "in_ledger" },
        }),
    );
  }

  /** Waits until a wallet lists these transactions as in the ledger. */
  async untilAllInLedger(id: string, sent: readonly { readonly id: string }[]): Promise<void> {
    await Promise.all(sent.map((one) => this.untilInLedger(id, one.id)));
  }

  /** The buckets of a wallet's UTxO statistics that are not empty: number of outputs by upper bound. */
  async distribution(id: string): Promise<Record<string, number>> {
    const { distribution } = await this.ok(200, "GET", `/wallets/${id}/statistics/utxos`);
    return Object.fromEntries(
      Object.entries(distribution as Record<string, number>).filter(([, count]) => count !== 0),
    );
  }

  /** Pays in one call. */
  async pay(id: string, payments: readonly unknown[], more: object = {}, prefix = "wallets"): Promise<Transaction> {
    return await this.ok(202, "POST", `/${prefix}/${id}/transactions`, { payments, passphrase: PASSPHRASE, ...more });
  }

  /** Constructs, signs and submits; returns the transaction's id and what was constructed. */
  async send(id: string, body: unknown, prefix = "wallets") {
    const built = await this.ok(202, "POST", `/${prefix}/${id}/transactions-construct`, body);
    const { transaction } = await this.ok(202, "POST", `/${prefix}/${id}/transactions-sign`, {
      transaction: built.transaction,
      passphrase: PASSPHRASE,
    });
    const sent = await this.ok(202, "POST", `/${prefix}/${id}/transactions-submit`, { transaction });
    return { id: sent.id as string, built, signed: transaction as string };
  }
}
