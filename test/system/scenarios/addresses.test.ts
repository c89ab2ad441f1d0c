/**
 * Addresses of sequential wallets: their number, which become used, and their state; each derived by an independent
 * library too.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { CslAccount } from "../../support/wallets/cslAccount.ts";
import { paymentKey } from "../../support/ledger/readByCsl.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";

describe("addresses", () => {
  let scenario: Scenario;
  let client: WalletClient;
  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    ({ client } = scenario);
  });
  afterAll(() => scenario?.stop());

  const created = async (gap?: number) => {
    const words = newMnemonic(15);
    const { id } = await scenario.createWallet({ words, ...(gap === undefined ? {} : { gap }) });
    return { id, words, account: new CslAccount(words) };
  };
  const ids = async (id: string, state?: "used" | "unused") =>
    (await client.addresses(id, { state })).map(({ id }) => id);
  const run = (account: CslAccount, length: number) => Array.from({ length }, (_, i) => account.address(i));

  it("are the gap ahead of the last used one, for any gap", async () => {
    for (const gap of [10, 33]) {
      const { id, account } = await created(gap);
      expect(await ids(id)).toEqual(run(account, gap));
      expect(await ids(id, "used")).toEqual([]);
      for (const index of [3, gap - 1]) {
        await scenario.faucet(account.address(index), 2n * ADA);
        await scenario.blocks();
        await scenario.untilAvailable(id, (index === 3 ? 2n : 4n) * ADA);
        expect(await ids(id)).toEqual(run(account, index + 1 + gap));
      }
      const used = [3, gap - 1].map((index) => account.address(index));
      expect(await ids(id, "used")).toEqual(used);
      expect(await ids(id, "unused")).toEqual(run(account, gap + gap).filter((one) => !used.includes(one)));
      expect((await client.addresses(id))[gap]).toEqual({
        id: account.address(gap),
        state: "unused",
        derivation_path: ["1852H", "1815H", "0H", "0", String(gap)],
      });
      const { entries, after } = await client.addressPage(id, { limit: gap });
      expect([entries.length, (await client.addressPage(id, { limit: gap, after })).entries[0]!.id])
        .toEqual([gap, account.address(gap)]);
    }
    expect(await scenario.refused(client.addresses("0".repeat(40), { state: "lost" }))).toEqual([400, "bad_request"]);
  });

  it("receive a payment to #20 and the next to #25, in two blocks, in one, and in one transaction", async () => {
    const payer = await scenario.createWallet({ coins: [100n * ADA, 100n * ADA, 100n * ADA] });
    const [apart, together, reversed, inOne] = await Promise.all([created(), created(), created(), created()]);
    await scenario.faucet(apart.account.address(19), 2n * ADA);
    await scenario.blocks();
    await scenario.faucet(apart.account.address(24), 3n * ADA);
    for (const index of [19, 24]) await scenario.faucet(together.account.address(index), ADA * 5n / 2n);
    for (const index of [24, 19]) await scenario.faucet(reversed.account.address(index), ADA * 5n / 2n);
    await scenario.blocks();
    const payments = [24, 19].map((index) => ({
      address: inOne.account.address(index),
      amount: lovelace(ADA * 5n / 2n),
    }));
    const { id: paid } = await scenario.land(payer.id, { payments });
    for (const { id, account } of [apart, together, reversed, inOne]) {
      await scenario.untilAvailable(id, 5n * ADA);
      expect(await ids(id, "used")).toEqual([account.address(19), account.address(24)]);
      expect(await ids(id)).toEqual(run(account, 45));
    }
    expect(await client.transaction(inOne.id, paid)).toMatchObject({
      direction: "incoming",
      amount: { quantity: 5_000_000 },
    });
    // and a rollback shrinks the pool again, until the payments come again
    await scenario.rollback(1, true);
    await scenario.untilAvailable(inOne.id, 0n);
    expect(await ids(inOne.id)).toEqual(run(inOne.account, 20));
  });

  it("are all found by a restore if each is reachable only by the previous one", async () => {
    const words = newMnemonic(15);
    const account = new CslAccount(words);
    // three in blocks of their own, the rest in one block, in reverse
    const first = [19, 38, 57];
    const rest = [133, 114, 95, 76];
    for (const index of first) {
      await scenario.faucet(account.address(index), 2n * ADA);
      await scenario.blocks();
    }
    for (const index of rest) await scenario.faucet(account.address(index), 2n * ADA);
    await scenario.blocks();
    const { id } = await scenario.createWallet({ words });
    expect(await scenario.available(id)).toBe(14n * ADA);
    expect(await ids(id, "used")).toEqual([...first, ...rest.reverse()].map((index) => account.address(index)));
    expect(await client.transactions(id)).toHaveLength(7);
    expect(await ids(id)).toHaveLength(154);
  });

  it("for change are listed once a pending transaction pays them", async () => {
    const { id, account } = await created();
    await scenario.fund(id, [20n * ADA]);
    const payments = [{ address: account.address(5), amount: lovelace(2n * ADA) }];
    await client.pay(id, { payments, passphrase: PASSPHRASE });
    const change = account.address(0, 1);
    const [first, ...others] = [...run(account, 21), change];
    expect(await ids(id)).toEqual([first, ...others]);
    expect([await ids(id, "used"), await ids(id, "unused")]).toEqual([[first], others]);
    const { entries, after } = await client.addressPage(id, { limit: 21 });
    expect([entries.length, (await client.addressPage(id, { limit: 21, after })).entries.map((one) => one.id)])
      .toEqual([21, [change]]);
    await scenario.blocks();
    await until("it is used", async () => (await ids(id, "used")).includes(change));
  });

  it("for change are listed once they are used", async () => {
    const { id, account } = await created();
    await scenario.fund(id, [20n * ADA]);
    const { built } = await scenario.land(id, {
      payments: [{ address: account.address(5), amount: lovelace(2n * ADA) }],
    });
    expect(built.coin_selection.change).toMatchObject([{
      address: account.address(0, 1),
      derivation_path: ["1852H", "1815H", "0H", "1", "0"],
    }]);
    expect(await ids(id)).toEqual([...run(account, 26), account.address(0, 1)]);
    expect(await ids(id, "used")).toEqual([account.address(0), account.address(5), account.address(0, 1)]);
    // a fixed change address, if configured
    await client.change(id, { one_change_address_mode: true });
    for (let round = 0; round < 2; round++) {
      const { built } = await scenario.land(id, {
        payments: [{ address: account.address(6), amount: lovelace(2n * ADA) }],
      });
      expect(built.coin_selection.change.map(({ address }) => address)).toEqual([account.address(0, 1)]);
    }
  });

  it("have keys, from which they can be derived, and are decoded", async () => {
    const { id, account } = await created();
    const [one] = await client.addresses(id);
    const stakeHash = account.key(2, 0).hash();
    const [payment, stake] = [await client.key(id, "utxo_external", "0"), await client.key(id, "mutable_account", "0")];
    expect([payment, stake]).toEqual([
      expect.stringMatching(/^addr_vk1/),
      expect.stringMatching(/^stake_vk1/),
    ]);
    expect(await client.key(id, "utxo_internal", "7", true)).toBe(account.key(1, 7).hash().to_bech32("addr_vkh"));
    expect(await client.makeAddress({ payment, stake })).toEqual({ address: one!.id });
    expect(await client.makeAddress({ payment: account.key(0, 0).hash().to_bech32("addr_vkh") }))
      .toEqual({ address: expect.stringMatching(/^addr_test1v/) });
    expect(await client.inspect(one!.id)).toMatchObject({
      address_style: "Shelley",
      address_type: 0,
      network_tag: 0,
      stake_reference: "by value",
      spending_key_hash: paymentKey(one!.id),
      stake_key_hash: stakeHash.to_hex(),
      stake_key_hash_bech32: stakeHash.to_bech32("stake_vkh"),
    });
    expect(await scenario.refused(client.inspect("addr_test1nonsense"))).toEqual([400, "bad_request"]);
    expect(await scenario.refused(client.key(id, "utxo_external", "0H"))).toEqual([403, "soft_derivation_required"]);
    expect(await scenario.refused(client.key(id, "nonsense", "0"))).toEqual([400, "bad_request"]);
    expect(await client.accountKey(id)).toMatch(/^acct_xvk1/);
    expect(await client.accountKey(id, "non_extended")).toMatch(/^acct_vk1/);
    const body = { passphrase: PASSPHRASE, format: "extended" };
    expect(await client.send("POST", `/wallets/${id}/keys/0H`, body)).toBe(await client.accountKey(id, "extended"));
    expect(await client.send("POST", `/wallets/${id}/keys/1H`, body)).not.toBe(await client.accountKey(id));
    expect(await scenario.refused(client.send("POST", `/wallets/${id}/keys/0`, body)))
      .toEqual([403, "hardened_derivation_required"]);
    expect(
      await scenario.refused(client.send("POST", `/wallets/${id}/keys/0H`, { ...body, passphrase: "another one" })),
    )
      .toEqual([403, "wrong_encryption_passphrase"]);
  });
});
