/**
 * The next unused address in one call, shown or reserved, for wallets of every kind: reservations are exclusive among
 * concurrent callers and two processes, and end.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace, type Prefix, type WalletAddress, WalletClient } from "#src/client/wallets.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { ADA, ANSWERS_ALL, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";

describe("the next unused address", () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    await scenario.blocks();
  });
  afterAll(() => scenario?.stop());

  const next = (id: string, prefix?: Prefix) => scenario.client.nextAddress(id, prefix);
  const reserve = (id: string, body: Parameters<WalletClient["reserveAddress"]>[1] = {}, prefix?: Prefix) =>
    scenario.client.reserveAddress(id, body, prefix);
  const indexOf = ({ derivation_path: path }: WalletAddress) => path.at(-1);

  it.skipIf(!ANSWERS_ALL)("is the first that no block and no pending transaction pays", async () => {
    const { id } = await scenario.createWallet({ coins: [30n * ADA, 30n * ADA] });
    const { client } = scenario;
    const addresses = await client.addresses(id, { state: "unused" });
    expect(await next(id)).toEqual(addresses[0]);
    expect(await next(id)).toMatchObject({ state: "unused", derivation_path: ["1852H", "1815H", "0H", "0", "2"] });
    // a payment to itself that no block holds yet
    const sent = await client.pay(id, {
      payments: [{ address: addresses[0]!.id, amount: lovelace(2_000_000) }],
      passphrase: PASSPHRASE,
    });
    expect(await next(id)).toEqual(addresses[1]);
    // one of another payer, as soon as the mempool shows it
    await scenario.faucet(addresses[1]!.id, 3n * ADA);
    await until("it was seen", async () => indexOf(await next(id)) === "4");
    await scenario.blocks();
    await scenario.untilInLedger(id, sent.id);
    expect(indexOf(await next(id))).toBe("4");
  });

  it("is reserved for one caller, by name again, until the reservation ends", async () => {
    const { id } = await scenario.createWallet({ gap: 10 });
    const first = await reserve(id, { reference: "invoice 1" });
    expect(indexOf(first)).toBe("0");
    expect(Date.parse(first.reserved_until)).toBeGreaterThan(Date.now() + 80_000_000);
    expect(await reserve(id, { reference: "invoice 1" })).toEqual(first);
    expect(indexOf(await next(id))).toBe("1");
    // the list does not change
    expect((await scenario.client.addresses(id))[0]).toEqual({
      id: first.id,
      state: "unused",
      derivation_path: first.derivation_path,
    });
    const brief = await reserve(id, { reserve_for: { quantity: 1, unit: "second" } });
    expect(indexOf(brief)).toBe("1");
    await until("it is free again", async () => indexOf(await next(id)) === "1");
    // at once: each gets another one, and no more than the wallet would notice
    const answers = await Promise.allSettled(Array.from({ length: 14 }, () => reserve(id)));
    const given = answers.flatMap((one) => one.status === "fulfilled" ? [indexOf(one.value)] : []);
    expect([...given].sort()).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    expect(await scenario.refused(reserve(id))).toEqual([403, "no_unused_address"]);
    expect(await scenario.refused(next(id))).toEqual([403, "no_unused_address"]);
    // a payment at the last one makes room for ten more
    const last = (await scenario.client.addresses(id)).at(-1)!;
    await scenario.faucet(last.id, 2n * ADA);
    await scenario.blocks();
    await until("there are more", async () => (await scenario.client.addresses(id)).length === 20);
    expect(indexOf(await next(id))).toBe("10");
    expect(await scenario.refused(reserve(id, { reserve_for: { quantity: 0, unit: "second" } }))).toEqual([
      400,
      "bad_request",
    ]);
    expect(await scenario.refused(reserve("0".repeat(40)))).toEqual([404, "no_such_wallet"]);
  });

  it("is given for shared wallets and Byron wallets", async () => {
    const { old, byron, shared } = await scenario.createOtherKinds();
    await until(
      "it has addresses",
      async () => (await scenario.client.addresses(shared.id, {}, "shared-wallets")).length === 20,
    );
    const [one, two] = [
      await reserve(shared.id, {}, "shared-wallets"),
      await reserve(shared.id, {}, "shared-wallets"),
    ];
    expect([one, two].map(indexOf)).toEqual(["0", "1"]);
    expect(indexOf(await next(shared.id, "shared-wallets"))).toBe("2");
    expect((await next(old.id, "byron-wallets")).id).toBe(byron);
    expect((await reserve(old.id, {}, "byron-wallets")).id).toBe(byron);
    // its keys are on hard paths: another address needs the passphrase
    expect(await scenario.refused(next(old.id, "byron-wallets"))).toEqual([403, "no_unused_address"]);
  });
});

describe("reservations of two processes", () => {
  let infra: Infra;
  let first: Arbor;
  let second: Arbor;
  beforeAll(async () => {
    infra = await sharedInfra();
    first = await Arbor.start({ infra, blockMs: 150 });
    second = await Arbor.start({ infra, ownProcess: true, roles: "edge" });
  });
  afterAll(async () => {
    await second?.end();
    await first?.end();
    await infra?.stop();
  });

  it("never give one address twice, and survive a restart", async () => {
    const clients = [first, second].map(({ wallets }) => new WalletClient(wallets));
    const { id } = await clients[0]!.create({
      name: "Shop",
      mnemonic_sentence: newMnemonic(15),
      passphrase: PASSPHRASE,
      address_pool_gap: 40,
    });
    await until("it is ready", async () => (await clients[0]!.wallet(id)).state.status === "ready");
    const given = await Promise.all(
      Array.from({ length: 30 }, (_, i) => clients[i % 2]!.reserveAddress(id, { reference: `order ${i}` })),
    );
    expect(new Set(given.map((one) => one.id)).size).toBe(30);
    await second.end("SIGKILL");
    second = await Arbor.start({ infra, ownProcess: true, roles: "edge" });
    const again = await new WalletClient(second.wallets).reserveAddress(id, { reference: "order 29" });
    expect(again).toEqual(given[29]);
    // they go with their wallet
    await clients[0]!.send("DELETE", `/wallets/${id}`);
    const store = openStore(infra.databaseUrl, { max: 1 });
    await until("nothing is left", async () => (await store.sql`select 1 from wallet_reserved`).length === 0);
    await store.close();
  });
});
