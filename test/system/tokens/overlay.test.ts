/**
 * One pending state of wallets and tokens: what was submitted through one service is spent, and its outputs are usable,
 * in every other. Blocks are made on request.
 */
import { Buffer } from "node:buffer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lovelace, type WalletClient } from "#src/client/wallets.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/scenario.ts";
import { until } from "../../support/until.ts";
import { WalletTokens } from "../../support/wallet_tokens.ts";

describe("the pending state of wallets and tokens", () => {
  let scenario: Scenario;
  let client: WalletClient;
  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0, provider: "devnet" });
    ({ client } = scenario);
  });
  afterAll(() => scenario?.stop());

  const walletWith = async (...coins: bigint[]) => {
    const { id } = await scenario.createWallet({ coins: coins.map((one) => one * ADA) });
    return new WalletTokens(scenario, id, await scenario.address(id));
  };
  const pay = (from: WalletTokens, address: string, ada: bigint, more: object = {}) =>
    client.pay(from.id, { payments: [{ address, amount: lovelace(ada * ADA) }], passphrase: PASSPHRASE, ...more });
  const balance = async ({ id }: WalletTokens) => {
    const { available, total } = (await client.wallet(id)).balance;
    return { available: BigInt(available.quantity), total: BigInt(total.quantity) };
  };
  const landed = async (wallet: WalletTokens, ...hashes: string[]) => {
    await scenario.blocks();
    for (const hash of hashes) await scenario.untilInLedger(wallet.id, hash);
  };

  it("a wallet pays from the change of its pending token transaction, and shows both", async () => {
    const alice = await walletWith(100n);
    const bob = await walletWith();
    const boot = await alice.build("boot-token");
    const booted = await alice.send(boot);
    const shown = await balance(alice);
    expect(shown.available).toBe(0n);
    expect(shown.total).toBeGreaterThan(90n * ADA);
    expect(await client.get(`/wallets/${alice.id}/utxo`)).toMatchObject({ entries: [] });
    const { id: paid } = await pay(alice, bob.address, 5n);
    await landed(alice, booted, paid);
    expect((await balance(bob)).available).toBe(5n * ADA);
  });

  it("a token request is paid from a payment that another wallet has just sent, and so is a payment", async () => {
    const alice = await walletWith(100n);
    const bob = await walletWith(50n);
    const carol = await walletWith();
    const boot = await alice.build("boot-token");
    await landed(alice, await alice.send(boot));
    const { id: first } = await pay(bob, carol.address, 20n);
    const request = await carol.send(
      await carol.build("request-insert", boot.body.value, { key: "k", newValue: "v" }),
    );
    const { id: paid } = await pay(carol, bob.address, 3n);
    await landed(carol, first, request, paid);
  });

  it("a coin that a transaction from elsewhere spends is used by neither", async () => {
    const alice = await walletWith(30n, 40n);
    const bob = await walletWith();
    const built = await client.construct(alice.id, {
      payments: [{ address: bob.address, amount: lovelace(25n * ADA) }],
    });
    const { transaction } = await client.sign(alice.id, built.transaction, PASSPHRASE);
    const { id: proxied } = await client.proxy(Buffer.from(transaction, "base64"));
    const spent = built.coin_selection.inputs.map(({ id, index }) => `${id}#${index}`);
    expect(spent).toHaveLength(1);
    const { id: paid } = await pay(alice, bob.address, 20n);
    const used = (await client.transaction(alice.id, paid)).inputs.map(({ id, index }) => `${id}#${index}`);
    expect(used).not.toContain(spent[0]);
    await landed(alice, proxied, paid);
  });

  it("what depends on an expired transaction is dropped with it, and the coins return", async () => {
    const alice = await walletWith(30n);
    const bob = await walletWith();
    const payments = [{ address: bob.address, amount: lovelace(2n * ADA) }];
    // the change of the first is the only coin of the second
    const [first, second] = await until("both are in time", async () => {
      try {
        const brief = { payments, passphrase: PASSPHRASE, time_to_live: { quantity: 3, unit: "second" as const } };
        const one = await client.pay(alice.id, brief);
        return [one, await pay(alice, bob.address, 1n)] as const;
      } catch {
        return false;
      }
    });
    const { expires_at: last } = await client.transaction(alice.id, first.id);
    await until("its last slot is past", async () => (await scenario.tip()).currentSlot > last!.absolute_slot_number);
    await scenario.blocks();
    await scenario.untilStatus(alice.id, first.id, "expired");
    expect(await balance(alice)).toEqual({ available: 30n * ADA, total: 30n * ADA });
    const { id: third } = await pay(alice, bob.address, 20n);
    await landed(alice, third);
    expect(second.id).not.toBe(third);
  });
});
