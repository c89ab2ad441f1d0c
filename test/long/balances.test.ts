/**
 * Balances by events alone: a subscriber's replica and the service's answers are the same, for wallets of every kind,
 * through payments, assets, rewards, rollbacks, restorations and deletions; from the first event on, and from a state
 * that was saved in between.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { BalanceReplica, type ContentEvent } from "#src/client/balances.ts";
import { ApiError } from "#src/client/http.ts";
import { follow } from "#src/client/sse.ts";
import { lovelace, type Prefix } from "#src/client/wallets.ts";
import { EventDocument } from "../support/docs/eventDocument.ts";
import { Paced } from "../support/service/pacedScenario.ts";
import { seeded } from "../support/base/seededRandom.ts";
import { ADA, PASSPHRASE, Scenario } from "../support/service/scenario.ts";
import { until } from "../support/base/until.ts";

const EPOCH_SLOTS = 60;
const ROUNDS = 3;
/** A submitted transaction is offered again after ten blocks. */
const BLOCKS = 40;

/** A replica that follows the service's events. */
class Subscriber {
  private readonly ended = new AbortController();
  readonly running: Promise<void>;
  /** Position of the last event applied. */
  position: string | undefined;
  readonly transitions = new Set<string>();
  /** What is wrong with events by the service's AsyncAPI document. */
  readonly faults: string[] = [];

  constructor(url: string, readonly replica: BalanceReplica, after?: string) {
    this.running = this.run(url, after);
  }

  private async run(url: string, after: string | undefined): Promise<void> {
    const options = { signal: this.ended.signal, ...(after === undefined ? {} : { after }) };
    const document = await EventDocument.of(url);
    for await (const item of follow(`${url}/events?from=start`, options)) {
      if (item.type !== "event" || item.event.event === "reset") continue;
      const event = JSON.parse(item.event.data) as ContentEvent;
      this.faults.push(...document.faults(event));
      this.replica.apply(event);
      this.position = item.event.id;
      this.transitions.add(event.type);
    }
  }

  async end(): Promise<void> {
    this.ended.abort();
    await this.running;
    expect(this.faults).toEqual([]);
  }
}

let scenario: Scenario;
let paced: Paced;
const subscribers: Subscriber[] = [];
beforeAll(async () => {
  scenario = await Scenario.start({
    blockMs: 0,
    env: { ARBOR_EPOCH_SLOTS: String(EPOCH_SLOTS), ARBOR_POOLS: "2" },
  });
  paced = new Paced(scenario, EPOCH_SLOTS);
});
afterAll(async () => {
  for (const one of subscribers) await one.end();
  await scenario?.stop();
});

interface Held {
  readonly id: string;
  readonly prefix: Prefix;
}

/** The members of wallets of all kinds that this test reads. */
interface Answer {
  readonly state: { readonly status: string };
  readonly balance: {
    readonly available: { readonly quantity: number };
    readonly reward?: { readonly quantity: number };
  };
  readonly assets: {
    readonly total: readonly { readonly policy_id: string; readonly asset_name: string; readonly quantity: number }[];
  };
}

it("a replica of events has the balances that the service answers", async () => {
  const random = seeded(7);
  const below = (most: number) => Math.floor(random() * most);
  const { client } = scenario;
  const operator = scenario.arbor.operator;
  subscribers.push(new Subscriber(operator, new BalanceReplica()));
  await paced.block();

  const words = newMnemonic(15);
  const staker = { id: (await scenario.createWallet({ name: "Staker" })).id, prefix: "wallets" } as const;
  let other: Held = { id: (await scenario.createWallet({ words, name: "Other" })).id, prefix: "wallets" };
  const byron = {
    id: (await client.createByron({
      style: "random",
      name: "Old",
      mnemonic_sentence: newMnemonic(12),
      passphrase: PASSPHRASE,
    })).id,
    prefix: "byron-wallets",
  } as const;
  const byronAddress = await client.send<{ id: string }>("POST", `/byron-wallets/${byron.id}/addresses`, {
    passphrase: PASSPHRASE,
  });
  const template = { cosigners: { "cosigner#0": "self" }, template: { all: ["cosigner#0"] } };
  const shared = {
    id: (await client.send<{ id: string }>("POST", "/shared-wallets", {
      name: "Ours",
      mnemonic_sentence: newMnemonic(15),
      passphrase: PASSPHRASE,
      account_index: "0H",
      payment_script_template: template,
    })).id,
    prefix: "shared-wallets",
  } as const;
  const extra: Held[] = [];
  const wallets = () => [staker, other, byron, shared, ...extra];
  const read = ({ id, prefix }: Held) => client.get<Answer>(`/${prefix}/${id}`);
  const address = async ({ id, prefix }: Held) =>
    prefix === "byron-wallets" ? byronAddress.id : (await client.addresses(id, {}, prefix))[below(5)]!.id;

  /** Makes blocks until no transaction is pending. */
  const calm = () =>
    until("no transaction is pending", async () => {
      for (let i = 0; i < BLOCKS; i++) {
        await paced.block();
        await paced.read();
        const lists = await Promise.all(
          wallets().map(({ id, prefix }) => client.transactions(id, {}, prefix)),
        );
        if (lists.flat().every(({ status }) => status !== "pending")) return true;
      }
    }, 120_000);

  /** Each balance by the service, in the replica's form. */
  const answers = async () =>
    Object.fromEntries(
      await Promise.all(
        wallets().map(async (wallet) => {
          const { state, balance, assets } = await read(wallet);
          const held = assets.total.map((one) => [one.policy_id + one.asset_name, String(one.quantity)]);
          return [wallet.id, {
            ready: state.status === "ready",
            lovelace: String(balance.available.quantity),
            rewards: String(balance.reward?.quantity ?? 0),
            assets: Object.fromEntries(held.sort()),
          }] as const;
        }),
      ),
    );
  const replicated = ({ replica }: Subscriber) =>
    Object.fromEntries(
      replica.balances().map((one) => [one.id, {
        ready: one.exact,
        lovelace: String(one.lovelace),
        rewards: String(one.rewards),
        assets: Object.fromEntries([...one.assets].map(([asset, quantity]) => [asset, String(quantity)]).sort()),
      }]),
    );
  let checks = 0;
  const check = async () => {
    await calm();
    for (const one of subscribers) {
      const differences = async () => {
        const [served, held] = [await answers(), replicated(one)];
        return [...new Set([...Object.keys(served), ...Object.keys(held)])].flatMap((id) =>
          JSON.stringify(served[id]) === JSON.stringify(held[id]) ? [] : [{ id, served: served[id], held: held[id] }]
        );
      };
      await expect.poll(differences, { timeout: 60_000 }).toEqual([]);
    }
    checks++;
  };

  for (const amount of [300_000n, 300_000n, 300_000n]) await scenario.faucet(await address(staker), amount * ADA);
  for (const wallet of [other, byron, shared]) {
    for (let i = 0; i < 4; i++) await scenario.faucet(await address(wallet), 50n * ADA);
  }
  await check();
  const [pool] = await client.stakePools(900_000n * ADA);
  await client.joinPool(staker.id, pool!.id, PASSPHRASE);
  await check();

  const done = new Map<string, number>();
  let minted = 0;
  const { policy_id: policy } = await client.policyId(staker.id, "cosigner#0");
  const pay = async (from: Held, to: Held) => {
    const amount = lovelace(BigInt(2 + below(5)) * ADA);
    const payments = [{ address: await address(to), amount }];
    if (from.prefix === "byron-wallets") await client.pay(from.id, { payments, passphrase: PASSPHRASE }, from);
    else await scenario.constructSignSubmit(from.id, { payments }, from.prefix);
  };
  const actions: Readonly<Record<string, () => Promise<unknown>>> = {
    faucet: async () => await scenario.faucet(await address(wallets()[below(4)]!), BigInt(2 + below(9)) * ADA),
    pay: async () => await pay(wallets()[below(4)]!, wallets()[below(4)]!),
    mint: async () =>
      await scenario.constructSignSubmit(staker.id, {
        mint_burn: Array.from({ length: 1 + below(20) }, () => ({
          policy_script_template: "cosigner#0",
          asset_name: `6b${(++minted).toString(16).padStart(62, "0")}`,
          operation: { mint: { quantity: 1 + below(90) } },
        })),
      } as never),
    assets: async () => {
      const held = (await read(staker)).assets.total;
      const one = held[below(held.length)];
      if (!one) return await actions.mint!();
      const assets = [{ policy_id: policy, asset_name: one.asset_name, quantity: 1 }];
      const payments = [{ address: await address(other), amount: lovelace(2n * ADA), assets }];
      await scenario.constructSignSubmit(staker.id, { payments } as never);
    },
    epoch: async () => await paced.enter(await paced.epoch() + 1),
    withdraw: async () => await scenario.constructSignSubmit(staker.id, { withdrawal: "self" } as never),
    rollback: async () => {
      await paced.read();
      await scenario.rollback(1 + below(4), random() < 0.5);
    },
    recreate: async () => {
      await client.delete(other.id);
      const body = { name: "Again", mnemonic_sentence: [...words], passphrase: PASSPHRASE };
      const { id } = await until("it is created again", () => client.create(body).catch(ignoreBusy), 60_000);
      other = { id, prefix: "wallets" };
    },
    watch: async () => {
      if (extra.length > 0) return;
      // the same account, and so the same rewards, in a second wallet
      const account_public_key = toHex(fromBech32(await client.accountKey(staker.id, "extended"))!.bytes);
      extra.push({ id: (await client.create({ name: "Watched", account_public_key } as never)).id, prefix: "wallets" });
    },
  };
  const names = Object.keys(actions);
  // each once a round, in another order
  const order = Array.from({ length: ROUNDS }, () => {
    const round = [...names];
    for (let i = round.length - 1; i > 0; i--) round.push(...round.splice(below(i + 1), 1));
    return round;
  }).flat();
  for (const [step, name] of order.entries()) {
    const did = await actions[name]!().then(() => true, (error: unknown) => {
      if (!isRefusal(error)) throw error;
      return false;
    });
    if (did) done.set(name, (done.get(name) ?? 0) + 1);
    await paced.block();
    if (step % 5 === 4) await check();
    if (step === names.length) {
      const [first] = subscribers;
      const saved = JSON.parse(JSON.stringify(first!.replica.save()));
      subscribers.push(new Subscriber(operator, new BalanceReplica(saved), first!.position));
    }
  }
  for (let i = 0; i < 3; i++) await actions.epoch!();
  await check();
  expect((await read(staker)).balance.reward!.quantity).toBeGreaterThan(0);
  await until("a withdrawal is in the ledger", async () => {
    const send = scenario.constructSignSubmit(staker.id, { withdrawal: "self" } as never);
    const sent = await send.catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
    });
    await calm();
    // it expires where the epoch ended too soon
    return sent !== undefined && (await client.transaction(staker.id, sent.id)).status === "in_ledger";
  }, 120_000);
  await check();
  expect(names.filter((name) => name !== "withdraw" && !done.has(name))).toEqual([]);
  expect(checks).toBeGreaterThan(5);
  const heard = [...subscribers[0]!.transitions];
  for (
    const type of [
      "wallet.restored",
      "wallet.transaction",
      "wallet.rolled-back",
      "shared-wallet.transaction",
      "delegation.certified",
      "delegation.rewarded",
    ]
  ) expect(heard).toContain(`arbor.${type}`);
}, 600_000);

/** All coins are in transactions, or the epoch ended between the build of a withdrawal and its submission. */
const isRefusal = (error: unknown) =>
  error instanceof ApiError && (error.status === 403 || error.code === "created_invalid_transaction");

/** The rows of the earlier life are still being erased. */
function ignoreBusy(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status < 409) throw error;
}
