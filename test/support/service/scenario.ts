/**
 * A service as users start it, on a devnet whose ledger validates everything, for scenarios over HTTP.
 *
 * ARBOR_SCENARIO_PROVIDER selects where the wallets read the chain (see `provider.ts`). Scenarios behave the same on all,
 * except for what a provider says that it does not answer.
 */
import process from "node:process";
import { expect } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { ApiError } from "#src/client/http.ts";
import { type Constructed, type Prefix, type Transaction, type Wallet, WalletClient } from "#src/client/wallets.ts";
import { follow } from "#src/client/sse.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "./arbor.ts";
import { EventDocument } from "../docs/eventDocument.ts";
import { type Infra, sharedInfra } from "../infra/infra.ts";
import { until } from "../base/until.ts";
import { chosenProvider, type Provider, SERVICES, startBehind } from "./provider.ts";
import { http } from "./user.ts";

/** Providers of a chapter that runs on both: the one that the run selects; `node` alone, or each with ALL_PROVIDERS. */
export const PROVIDERS: readonly Provider[] = chosenProvider
  ? [chosenProvider]
  : process.env.ALL_PROVIDERS
  ? ["devnet", "node"]
  : ["node"];

/** Provider of the chapters that do not name one. */
export const scenarioProvider: Provider = chosenProvider ?? "devnet";

/** Whether the run's provider answers for the mempool and ranks pools; what needs that is skipped where it does not. */
export const ANSWERS_ALL = !SERVICES.includes(scenarioProvider);
/** Whether it says when a pool retires: Ogmios lists a pool until it has. */
export const ANSWERS_RETIREMENTS = scenarioProvider !== "ogmios";
/** Whether it answers for pools: all but a Yaci Store do. */
export const ANSWERS_POOLS = scenarioProvider !== "yaci";

export const PASSPHRASE = "Secure Passphrase";
/** Lovelace of an ada. */
export const ADA = 1_000_000n;

export interface ScenarioOptions {
  /** Default: the provider of the run. */
  readonly provider?: Provider;
  /**
   * Milliseconds between blocks, 150 by default, with slots of 50 ms. 0: blocks only by `blocks`, and one whenever a
   * helper here waits for the ledger.
   */
  readonly blockMs?: number;
  /** `submit`: each transaction makes a block, and no other block is made. */
  readonly mining?: "submit";
  /** Whether the devnet has mainnet's magic and network id; a service beside it is started with `--mainnet`. */
  readonly mainnet?: boolean;
  /** Additional environment of the devnet and of the service, in one process or two. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Properties of a wallet, where they matter. */
export interface WalletOptions {
  readonly name?: string;
  /** Default: fifteen new words. */
  readonly words?: readonly string[];
  readonly gap?: number;
  /** Lovelace by coin: one output each of the faucet, at addresses 0, 1 …; the wallet has them when it is given. */
  readonly coins?: readonly bigint[];
}

/** The devnet's description of itself. */
export interface DevnetTip {
  readonly slot: number;
  readonly height: number;
  readonly hash: string;
  /** The current slot. */
  readonly currentSlot: number;
  /** Milliseconds. */
  readonly slotLength: number;
  /** Milliseconds since 1970. */
  readonly genesisTime: number;
}

type ConstructBody = Parameters<WalletClient["construct"]>[1];

/** Result of submitting a construct body to the mempool. */
export interface Sent {
  readonly id: string;
  readonly built: Constructed;
  /** The signed transaction in the service's encoding. */
  readonly signed: string;
}

export class Scenario {
  private constructor(
    readonly provider: Provider,
    /** The process of the wallets. */
    readonly arbor: Arbor,
    /** URL of the devnet's HTTP. */
    readonly devnet: string,
    private readonly byHand: boolean,
    /** PostgreSQL and NATS of the service. */
    readonly infra: Infra,
    private readonly ends: readonly (() => Promise<unknown>)[],
  ) {
    this.client = new WalletClient(arbor.wallets);
  }

  readonly client: WalletClient;

  static async start(options: ScenarioOptions = {}): Promise<Scenario> {
    const provider = options.provider ?? scenarioProvider;
    const { env = {}, mainnet, blockMs, mining } = options;
    const blocks = { ...(blockMs === undefined ? {} : { blockMs }), ...(mining ? { mining } : {}) };
    const byHand = blockMs === 0;
    const infra = await sharedInfra();
    const started = { infra, ...blocks, ...(mainnet ? { mainnet } : {}), env };
    if (provider === "devnet") {
      const arbor = await Arbor.start(started);
      return new Scenario(provider, arbor, arbor.devnet, byHand, infra, [() => arbor.end(), () => infra.stop()]);
    }
    const { arbor, devnet, end } = await startBehind(provider, started);
    return new Scenario(provider, arbor, devnet.devnet, byHand, infra, [() => arbor.end(), end, () => infra.stop()]);
  }

  /** Creates a Byron wallet with an address (`byron`), and a shared wallet of one owner. They may not be ready yet. */
  async createOtherKinds() {
    const old = await this.client.createByron({
      style: "random",
      name: "Old",
      mnemonic_sentence: newMnemonic(12),
      passphrase: PASSPHRASE,
    });
    const { id: byron } = await this.client.send<{ id: string }>("POST", `/byron-wallets/${old.id}/addresses`, {
      passphrase: PASSPHRASE,
    });
    const shared = await this.client.send<{ id: string }>("POST", "/shared-wallets", {
      name: "Shared",
      mnemonic_sentence: newMnemonic(15),
      passphrase: PASSPHRASE,
      account_index: "0H",
      payment_script_template: { cosigners: { "cosigner#0": "self" }, template: { all: ["cosigner#0"] } },
    });
    return { old, byron, shared };
  }

  /** Ends the service, after every event that it sent to subscribers was found to be as its AsyncAPI document says. */
  async stop(): Promise<void> {
    const faults = this.arbor.hasOtherUsers ? [] : await this.eventFaults();
    for (const end of this.ends) await end();
    expect(faults).toEqual([]);
  }

  private async eventFaults(): Promise<string[]> {
    const store = openStore(this.infra.databaseUrl, { max: 1, application: "test" });
    const [row] = await store.sql<{ count: number }[]>`select count(*)::int as count from outbox`;
    await store.close();
    const document = await EventDocument.of(this.arbor.operator);
    const ended = new AbortController();
    const faults: string[] = [];
    let left = row!.count;
    if (left === 0) return [];
    for await (const item of follow(`${this.arbor.operator}/events?from=start`, { signal: ended.signal })) {
      if (item.type !== "event" || item.event.event !== "transition") continue;
      faults.push(...document.faults(JSON.parse(item.event.data)));
      if (--left <= 0) break;
    }
    ended.abort();
    return faults;
  }

  /** The status and the code of an expected refusal. */
  async refused(request: Promise<unknown>): Promise<readonly [status: number, code: string]> {
    const { status, code } = await this.refusal(request);
    return [status, code];
  }

  /** Like `refused`, with the message and the other members. */
  async refusal(request: Promise<unknown>): Promise<ApiError> {
    const error = await request.then(() => undefined, (error: unknown) => error);
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  }

  /** Sends a request to the devnet. */
  private async order(path: string, body: unknown): Promise<{ readonly txHash: string }> {
    const done = await http(this.devnet, "POST", path, body);
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    return done.body;
  }

  /** Requests a faucet payment; returns the transaction, which is in no block yet. */
  async faucet(address: string, lovelace: bigint): Promise<string> {
    return (await this.order("/faucet", { address, lovelace: Number(lovelace) })).txHash;
  }

  /** Makes this many blocks now. */
  async blocks(count = 1): Promise<void> {
    await this.order("/blocks", { count });
  }

  /** Waits until submitted transactions are in a block: makes one if the devnet makes none by itself. */
  private async settle(): Promise<void> {
    if (this.byHand) await this.blocks();
  }

  /** Hashes of the transactions in the devnet's mempool. */
  async mempool(): Promise<readonly string[]> {
    const { body } = await http(this.devnet, "GET", "/mempool");
    return body.transactions.map(({ hash }: { hash: string }) => hash);
  }

  /** The devnet's newest block, and its clock. */
  async tip(): Promise<DevnetTip> {
    return (await http(this.devnet, "GET", "/tip")).body;
  }

  /** Rolls back this many blocks; their transactions return to the mempool, or are removed with `drop`. */
  async rollback(blocks: number, drop = false): Promise<void> {
    await this.order("/rollback", { blocks, drop });
  }

  /** Rolls back the block of this slot and all later ones; see `rollback`. */
  async rollbackFrom({ absolute_slot_number: slot }: { absolute_slot_number: number }, drop = false): Promise<void> {
    await this.order("/rollback", { slot: slot - 1, drop });
  }

  /**
   * The same from a height on, for a devnet that makes blocks on request: otherwise the tip would move in the meantime.
   */
  async rollbackTo(height: number, drop = false): Promise<void> {
    await this.rollback((await this.tip()).height - height + 1, drop);
  }

  /** A wallet that has read the chain, with the requested properties. */
  async createWallet(options: WalletOptions = {}): Promise<Wallet> {
    const { name = "A wallet", words = newMnemonic(15), gap, coins = [] } = options;
    const { id } = await this.client.create({
      name,
      mnemonic_sentence: [...words],
      passphrase: PASSPHRASE,
      ...(gap === undefined ? {} : { address_pool_gap: gap }),
    });
    await this.untilReady(id);
    if (coins.length > 0) await this.fund(id, coins);
    return await this.client.wallet(id);
  }

  /** Pays a wallet this many coins, at its first addresses, and waits until it can spend them. */
  async fund(id: string, coins: readonly bigint[]): Promise<void> {
    const before = await this.available(id);
    const addresses = await this.client.addresses(id);
    for (const [i, coin] of coins.entries()) await this.faucet(addresses[i]!.id, coin);
    await this.settle();
    await this.untilAvailable(id, before + coins.reduce((sum, coin) => sum + coin, 0n));
  }

  /** Waits until the wallet is at the tip. */
  async untilReady(id: string): Promise<void> {
    await until(`${id} is ready`, async () => (await this.client.wallet(id)).state.status === "ready");
  }

  /** The wallet's spendable balance, in lovelace. */
  async available(id: string): Promise<bigint> {
    return BigInt((await this.client.wallet(id)).balance.available.quantity);
  }

  async untilAvailable(id: string, lovelace: bigint): Promise<void> {
    await until(`${id} has ${lovelace}`, async () => await this.available(id) === lovelace);
  }

  /** The wallet's receiving address at `index`. */
  async address(id: string, index = 0): Promise<string> {
    return (await this.client.addresses(id))[index]!.id;
  }

  /** Constructs, signs and submits a payment. */
  async constructSignSubmit(id: string, body: ConstructBody, prefix: Prefix = "wallets"): Promise<Sent> {
    const built = await this.client.construct(id, body, prefix);
    const { transaction: signed } = await this.client.sign(id, built.transaction, PASSPHRASE, prefix);
    return { ...(await this.client.submit(id, signed, { prefix })), built, signed };
  }

  /** Waits until a wallet lists a transaction with a status. */
  async untilStatus(
    id: string,
    hash: string,
    status: Transaction["status"],
    prefix: Prefix = "wallets",
  ): Promise<Transaction> {
    return await until(`${hash} is ${status}`, async () => {
      const request = this.client.transaction(id, hash, {}, prefix);
      const found = await request.catch((error: ApiError) => {
        if (error.status !== 404) throw error;
      });
      return found?.status === status && found;
    });
  }

  /** Waits until the wallet lists a transaction as in the ledger. */
  untilInLedger(id: string, hash: string, prefix: Prefix = "wallets"): Promise<Transaction> {
    return this.untilStatus(id, hash, "in_ledger", prefix);
  }

  /** `constructSignSubmit`, and waits for the ledger. */
  async land(id: string, body: ConstructBody, prefix: Prefix = "wallets"): Promise<Sent & { listed: Transaction }> {
    const sent = await this.constructSignSubmit(id, body, prefix);
    await this.settle();
    return { ...sent, listed: await this.untilInLedger(id, sent.id, prefix) };
  }
}
