/**
 * Spending limits: what signatures let out of a wallet in 24 hours, counted exactly under concurrency, process kills
 * and rollbacks.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { ApiError } from "#src/client/http.ts";
import { lovelace, type Prefix, type WalletAddress, WalletClient } from "#src/client/wallets.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { CslAccount } from "../../support/wallets/cslAccount.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { ADA, ANSWERS_POOLS, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

const stranger = new CslAccount(newMnemonic(15)).address(0);
const pay = (amount: bigint, address = stranger) => ({ payments: [{ address, amount: lovelace(amount) }] });
const path = (id: string, prefix: Prefix = "wallets") => `/${prefix}/${id}/spending-limit`;
const limit = (client: WalletClient, id: string, perDay: bigint, prefix?: Prefix) =>
  client.limitSpending(id, { passphrase: PASSPHRASE, per_day: lovelace(perDay) }, prefix);
const spent = async (client: WalletClient, id: string, prefix?: Prefix) =>
  BigInt((await client.spendingLimit(id, prefix)).spent!.quantity);
const EXCEEDED = [403, "spending_limit_exceeded"];

describe("a wallet's spending limit", () => {
  let scenario: Scenario;
  let client: WalletClient;
  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0, env: { ARBOR_POOLS: "1" } });
    ({ client } = scenario);
    await scenario.blocks();
  });
  afterAll(() => scenario?.stop());

  const send = (id: string, body: object) => client.pay(id, { ...body, passphrase: PASSPHRASE } as never);

  it.skipIf(!ANSWERS_POOLS)(
    "counts what leaves the wallet, with the fee, and refuses every signature beyond it",
    async () => {
      const { id } = await scenario.createWallet({ coins: Array.from({ length: 8 }, () => 50n * ADA) });
      expect(await client.get(path(id))).toEqual({});
      const wrong = { passphrase: "Another Passphrase", per_day: lovelace(ADA) };
      expect(await scenario.refused(client.send("PUT", path(id), wrong))).toEqual([403, "wrong_encryption_passphrase"]);
      await limit(client, id, 10n * ADA);
      expect(await client.get(path(id))).toEqual({
        per_day: lovelace(10_000_000),
        spent: lovelace(0),
        remaining: lovelace(10_000_000),
      });
      // to itself: the fee alone; with change, and 40 ada as well
      const own = await send(id, pay(40n * ADA, await scenario.address(id)));
      expect(await spent(client, id)).toBe(BigInt(own.fee.quantity));
      const paid = await send(id, pay(6n * ADA));
      const counted = BigInt(own.fee.quantity) + BigInt(paid.amount.quantity);
      expect(await spent(client, id)).toBe(counted);
      const refusal = await scenario.refusal(send(id, pay(4n * ADA)));
      expect([refusal.status, refusal.code, refusal.details]).toEqual([...EXCEEDED, {
        per_day: lovelace(10_000_000),
        spent: lovelace(Number(counted)),
        requested: { quantity: expect.any(Number), unit: "lovelace" },
      }]);
      // nothing of it was signed or sent
      expect(await scenario.mempool()).toHaveLength(2);
      expect(await spent(client, id)).toBe(counted);

      const { transaction } = await client.construct(id, pay(4n * ADA));
      expect(await scenario.refused(client.sign(id, transaction, PASSPHRASE))).toEqual(EXCEEDED);
      expect(
        await scenario.refused(client.send("POST", `/wallets/${id}/migrations`, {
          passphrase: PASSPHRASE,
          addresses: [stranger],
        })),
      ).toEqual(EXCEEDED);
      // a deposit leaves the wallet as well
      const [pool] = await client.stakePools(ADA);
      await limit(client, id, counted + 2n * ADA);
      expect(await scenario.refused(client.joinPool(id, pool!.id, PASSPHRASE))).toEqual(EXCEEDED);
      await limit(client, id, counted + 3n * ADA);
      const joined = await client.joinPool(id, pool!.id, PASSPHRASE);
      expect(await spent(client, id)).toBe(counted + BigInt(joined.amount.quantity));

      // what is in the ledger counts on, and a limit below it refuses even a fee
      await scenario.blocks();
      await scenario.untilInLedger(id, joined.id);
      expect(await spent(client, id)).toBe(counted + BigInt(joined.amount.quantity));
      await limit(client, id, ADA);
      expect(await client.get(path(id))).toMatchObject({ remaining: { quantity: 0 } });
      expect(await scenario.refused(send(id, pay(2n * ADA, await scenario.address(id))))).toEqual(EXCEEDED);
      expect(await scenario.refused(client.send("DELETE", path(id), { passphrase: "Another Passphrase" })))
        .toEqual([403, "wrong_encryption_passphrase"]);
      await client.removeSpendingLimit(id, PASSPHRASE);
      await send(id, pay(20n * ADA));
      expect(await client.get(path(id))).toEqual({});
    },
  );

  it("counts a signature once, until the transaction can no longer be in a block", async () => {
    const { id } = await scenario.createWallet({ coins: [50n * ADA, 50n * ADA] });
    await limit(client, id, 10n * ADA);
    const { currentSlot } = await scenario.tip();
    const brief = { invalid_hereafter: { quantity: currentSlot + 100, unit: "slot" as const } };
    const built = await client.construct(id, { ...pay(7n * ADA), validity_interval: brief } as never);
    const amount = 7n * ADA + BigInt(built.fee.quantity);
    for (let i = 0; i < 3; i++) await client.sign(id, built.transaction, PASSPHRASE);
    expect(await spent(client, id)).toBe(amount);
    expect(await scenario.refused(send(id, pay(4n * ADA)))).toEqual(EXCEEDED);
    await until("it has expired", async () => {
      await scenario.blocks();
      return await spent(client, id) === 0n;
    }, 60_000);
    const { id: hash, amount: sent } = await send(id, pay(8n * ADA));
    const all = BigInt(sent.quantity);

    // a rollback, forgetting it and its return change nothing of what it counts
    await scenario.blocks();
    const listed = await scenario.untilInLedger(id, hash);
    expect(await spent(client, id)).toBe(all);
    await scenario.rollbackTo(listed.inserted_at!.height.quantity, true);
    await until("it is undone", async () => (await client.transaction(id, hash)).status === "pending");
    expect(await spent(client, id)).toBe(all);
    await client.send("DELETE", `/wallets/${id}/transactions/${hash}`);
    expect(await spent(client, id)).toBe(all);
    expect(await scenario.refused(send(id, pay(3n * ADA)))).toEqual(EXCEEDED);
  });

  it("holds for Byron wallets and shared wallets", async () => {
    const { old, byron, shared } = await scenario.createOtherKinds();
    await until(
      "it has addresses",
      async () => (await client.addresses(shared.id, {}, "shared-wallets")).length === 20,
    );
    const addresses = await client.addresses(shared.id, {}, "shared-wallets");
    for (const address of [byron, addresses[0]!.id]) await scenario.faucet(address, 50n * ADA);
    await scenario.blocks();
    const has = (id: string, prefix: Prefix) =>
      until(
        "it is paid",
        async () =>
          (await client.get<WalletAddress & { balance: { available: { quantity: number } } }>(`/${prefix}/${id}`))
            .balance
            ?.available.quantity === 50_000_000,
      );
    await has(old.id, "byron-wallets");
    await has(shared.id, "shared-wallets");
    await limit(client, old.id, 10n * ADA, "byron-wallets");
    await limit(client, shared.id, 10n * ADA, "shared-wallets");
    const byronPay = (amount: bigint) =>
      client.send<{ amount: { quantity: number } }>("POST", `/byron-wallets/${old.id}/transactions`, {
        ...pay(amount),
        passphrase: PASSPHRASE,
      });
    expect(await scenario.refused(byronPay(10n * ADA))).toEqual(EXCEEDED);
    const paid = await byronPay(3n * ADA);
    expect(await spent(client, old.id, "byron-wallets")).toBe(BigInt(paid.amount.quantity));
    const construct = (amount: bigint) => client.construct(shared.id, pay(amount) as never, "shared-wallets");
    const much = await construct(20n * ADA);
    expect(await scenario.refused(client.sign(shared.id, much.transaction, PASSPHRASE, "shared-wallets")))
      .toEqual(EXCEEDED);
    const little = await construct(4n * ADA);
    await client.sign(shared.id, little.transaction, PASSPHRASE, "shared-wallets");
    expect(await spent(client, shared.id, "shared-wallets")).toBe(4n * ADA + BigInt(little.fee.quantity));
  });
});

describe("concurrent signatures of several processes", () => {
  let infra: Infra;
  let first: Arbor;
  let second: Arbor;
  beforeAll(async () => {
    infra = await sharedInfra();
    first = await Arbor.start({ infra, blockMs: 100 });
    second = await Arbor.start({ infra, ownProcess: true, roles: "edge" });
  });
  afterAll(async () => {
    await second?.end();
    await first?.end();
    await infra?.stop();
  });

  it("never pass the limit together, and count after a kill and until the wallet is gone", async () => {
    const clients = [first, second].map(({ wallets }) => new WalletClient(wallets));
    const [client] = clients as [WalletClient, WalletClient];
    const words = newMnemonic(15);
    const create = () => client.create({ name: "Shop", mnemonic_sentence: words, passphrase: PASSPHRASE });
    const { id } = await create();
    await until("it is ready", async () => (await client.wallet(id)).state.status === "ready");
    const addresses = await client.addresses(id);
    for (let i = 0; i < 12; i++) {
      const body = { address: addresses[i]!.id, lovelace: 20_000_000 };
      expect((await http(first.devnet, "POST", "/faucet", body)).status).toBe(200);
    }
    await until(
      "it has its coins",
      async () => Number((await client.wallet(id)).balance.available.quantity) === 240_000_000,
    );
    await limit(client, id, 20n * ADA);
    const builds = [];
    for (let i = 0; i < 10; i++) builds.push(await client.construct(id, pay(3n * ADA)));
    const answers = await Promise.allSettled(
      builds.map(({ transaction }, i) => clients[i % 2]!.sign(id, transaction, PASSPHRASE)),
    );
    const refused = answers.flatMap((one) => one.status === "rejected" ? [one.reason as ApiError] : []);
    expect(refused.map(({ code }) => code)).toEqual(Array(4).fill("spending_limit_exceeded"));
    const fees = builds.map(({ fee }) => BigInt(fee.quantity));
    const signed = answers.reduce((sum, one, i) => one.status === "fulfilled" ? sum + 3n * ADA + fees[i]! : sum, 0n);
    expect(await spent(client, id)).toBe(signed);

    // payments that compete for the same coins: what was built for nothing does not count
    await limit(client, id, 60n * ADA);
    const paid = await Promise.allSettled(
      Array.from(
        { length: 8 },
        (_, i) => clients[i % 2]!.pay(id, { ...pay(2n * ADA), passphrase: PASSPHRASE } as never),
      ),
    );
    const sums = paid.flatMap((one) => one.status === "fulfilled" ? [BigInt(one.value.amount.quantity)] : []);
    expect(sums.length).toBeGreaterThan(0);
    const expected = signed + sums.reduce((sum, one) => sum + one, 0n);
    expect(await spent(client, id)).toBe(expected);
    await second.end("SIGKILL");
    second = await Arbor.start({ infra, ownProcess: true, roles: "edge" });
    expect(await spent(new WalletClient(second.wallets), id)).toBe(expected);

    await client.send("DELETE", `/wallets/${id}`);
    const store = openStore(infra.databaseUrl, { max: 1 });
    expect(await store.sql`select 1 from wallet_limit union all select 1 from wallet_spend`).toHaveLength(0);
    await store.close();
    await create();
    expect(await client.get(path(id))).toEqual({});
  });
});
