/** Payments in the mempool over HTTP, of wallets of all kinds: `transactions-seen`, and the transitions of their actors. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace, type Prefix, WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { ADA, ANSWERS_ALL, PASSPHRASE, PROVIDERS, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

/** Names of the events that a wallet's actor has from the chain and the mempool, oldest first. */
async function storyOf(arbor: Arbor, id: string, kind = "wallet"): Promise<string[]> {
  const { body } = await http(arbor.operator, "GET", `/actors/${kind}/${id}/history?limit=100`);
  return (body.transitions as { event: string }[]).map(({ event }) => event).reverse()
    .filter((event) => ["SEEN", "WITHDRAWN", "TRANSACTION", "ROLLED_BACK"].includes(event));
}

describe.skipIf(!ANSWERS_ALL).each(PROVIDERS)("payments that are seen, over a %s", (provider) => {
  let scenario: Scenario;
  let client: WalletClient;
  beforeAll(async () => {
    scenario = await Scenario.start({ provider, blockMs: 0, env: { ARBOR_MEMPOOL_MS: "100" } });
    ({ client } = scenario);
    await scenario.blocks();
  });
  afterAll(() => scenario?.stop());

  const entries = async (id: string, prefix: Prefix = "wallets") => (await client.seen(id, {}, prefix)).entries;
  /** Waits until a wallet's list has these transactions, in any order. */
  const lists = (id: string, hashes: readonly string[], prefix: Prefix = "wallets") =>
    until(`${hashes.length} are seen`, async () => {
      const found = await entries(id, prefix);
      return found.map((one) => one.id).sort().join() === [...hashes].sort().join() && found;
    });
  const story = (id: string, kind?: string) => storyOf(scenario.arbor, id, kind);

  it("are listed until a block holds them, on both sides and in wallets of all kinds", async () => {
    const { id: payer } = await scenario.createWallet({ coins: [50n * ADA, 50n * ADA] });
    const before = await story(payer);
    const { old, byron, shared } = await scenario.createOtherKinds();
    for (const path of [`/byron-wallets/${old.id}`, `/shared-wallets/${shared.id}`]) {
      const ready = async () => (await client.get<{ state: { status: string } }>(path)).state.status === "ready";
      await until(`${path} is ready`, ready);
    }
    const [script] = await client.addresses(shared.id, {}, "shared-wallets");
    const payments = [byron, script!.id].map((to, i) => ({ address: to, amount: lovelace(BigInt(i + 2) * ADA) }));
    const { id: hash } = await client.pay(payer, { payments, passphrase: PASSPHRASE });
    const [sent] = await lists(payer, [hash]);
    const [toOld] = await lists(old.id, [hash], "byron-wallets");
    const [toShared] = await lists(shared.id, [hash], "shared-wallets");
    const { fee, expires_at } = await client.transaction(payer, hash);
    const { slot, height } = await scenario.tip();
    expect([sent!.direction, Number(sent!.amount.quantity)]).toEqual(["outgoing", 5_000_000 + Number(fee.quantity)]);
    expect(toOld).toMatchObject({
      direction: "incoming",
      amount: { quantity: 2_000_000, unit: "lovelace" },
      assets: [],
      addresses: [byron],
      seen_at: { absolute_slot_number: slot, height: { quantity: height, unit: "block" } },
      expires_at,
    });
    expect(toShared).toMatchObject({
      direction: "incoming",
      amount: { quantity: 3_000_000, unit: "lovelace" },
      addresses: [script!.id],
    });
    await scenario.blocks();
    await lists(payer, []);
    await lists(old.id, [], "byron-wallets");
    await lists(shared.id, [], "shared-wallets");
    await until("all have the block's event", async () => {
      const all = [await story(payer), await story(old.id), await story(shared.id, "shared-wallet")];
      return all.every((events) => events.at(-1) === "TRANSACTION");
    });
    expect(await story(payer)).toEqual([...before, "SEEN", "TRANSACTION"]);
    expect(await story(old.id)).toEqual(["SEEN", "TRANSACTION"]);
    expect(await story(shared.id, "shared-wallet")).toEqual(["SEEN", "TRANSACTION"]);
  });

  it("come in pages, and disappear when they are dropped", async () => {
    const { id } = await scenario.createWallet();
    const coin = await scenario.createWallet({ coins: [20n * ADA] });
    // a rollback drops the coin of this payment, and so the payment
    const { id: child } = await client.pay(coin.id, {
      payments: [{ address: await scenario.address(id), amount: lovelace(5n * ADA) }],
      passphrase: PASSPHRASE,
    });
    await lists(id, [child]);
    const first = await client.seen(id, { limit: 1 });
    expect([first.entries.map((one) => one.id), first.after]).toEqual([[child], undefined]);
    const paid = await scenario.faucet(await scenario.address(id, 1), 3n * ADA);
    await lists(id, [child, paid]);
    const one = await client.seen(id, { limit: 1 });
    const two = await client.seen(id, { limit: 1, after: one.after! });
    expect([...one.entries, ...two.entries].map((entry) => entry.id)).toEqual([child, paid]);
    expect(two.after).toBeUndefined();
    await scenario.blocks();
    await lists(id, []);
    await scenario.rollback(2, true);
    await until("the rollback is known", async () => (await story(id)).at(-1) === "ROLLED_BACK");
    expect((await story(id)).sort()).toEqual(["ROLLED_BACK", "SEEN", "SEEN", "TRANSACTION", "TRANSACTION"]);
  });

  it("are refused for an unknown wallet, one of another kind, and a cursor of another list", async () => {
    const { id } = await scenario.createWallet();
    expect(await entries(id)).toEqual([]);
    expect(await scenario.refused(client.seen("0".repeat(40)))).toEqual([404, "no_such_wallet"]);
    for (const prefix of ["byron-wallets", "shared-wallets"] as const) {
      expect(await scenario.refused(client.seen(id, {}, prefix))).toEqual([404, "no_such_wallet"]);
    }
    expect(await scenario.refused(client.seen(id, { after: "bm9uZQ" }))).toEqual([400, "bad_request"]);
    expect(await scenario.refused(client.seen(id, { limit: 0 }))).toEqual([400, "bad_request"]);
  });
});

it("are seen once each while the process that reads the mempool is killed again and again", async () => {
  const infra = await sharedInfra();
  const env = { ARBOR_MEMPOOL_MS: "50", ARBOR_LEASE_MS: "500", ARBOR_BUILDERS: "1" };
  const service = await Arbor.start({ infra, roles: "edge,worker,devnet", blockMs: 0, env });
  const startFollower = () => Arbor.start({ infra, ownProcess: true, roles: "follower", blockMs: 0, env });
  let follower = await startFollower();
  try {
    const client = new WalletClient(service.wallets);
    const block = () => http(service.devnet, "POST", "/blocks", { count: 1 });
    await block();
    const { id } = await client.create({ name: "Ann", passphrase: PASSPHRASE, mnemonic_sentence: newMnemonic(15) });
    await until("it is ready", async () => (await client.wallet(id)).state.status === "ready");
    const [address] = await client.addresses(id);
    const random = seeded(3);
    const paid: string[] = [];
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 4; i++) {
        const { body } = await http(service.devnet, "POST", "/faucet", {
          address: address!.id,
          lovelace: 2_000_000 + i,
        });
        paid.push(body.txHash);
        await sleep(random() * 40);
      }
      await follower.end("SIGKILL");
      follower = await startFollower();
    }
    const ids = async () => (await client.seen(id)).entries.map((entry) => entry.id).sort();
    await until("all are seen", async () => (await ids()).length === paid.length);
    expect(await ids()).toEqual([...paid].sort());
    await until("all have an event", async () => (await storyOf(service, id)).length >= paid.length);
    expect(await storyOf(service, id)).toEqual(paid.map(() => "SEEN"));
    await block();
    await until("a block holds all", async () => (await storyOf(service, id)).length >= 2 * paid.length);
    expect(await storyOf(service, id)).toEqual([...paid.map(() => "SEEN"), ...paid.map(() => "TRANSACTION")]);
    expect(await ids()).toEqual([]);
  } finally {
    await follower.end();
    await service.end();
    await infra.stop();
  }
}, 300_000);
