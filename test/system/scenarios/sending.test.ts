/**
 * The old workflow: a fee estimate, and one call that builds, signs and submits a payment; in every run over a node's
 * socket as well.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { leastLovelace } from "../../support/ledger/readByCsl.ts";
import { ADA, PASSPHRASE, PROVIDERS, Scenario } from "../../support/service/scenario.ts";

describe.each(PROVIDERS)("payments in one call, with the chain from a %s", (provider) => {
  let scenario: Scenario;
  let client: WalletClient;
  let mine: string;
  let other: string;
  let addresses: readonly string[];

  beforeAll(async () => {
    scenario = await Scenario.start({ provider, blockMs: 0 });
    ({ client } = scenario);
    ({ id: other } = await scenario.createWallet());
    ({ id: mine } = await scenario.createWallet({ coins: [30n * ADA, 30n * ADA, 30n * ADA] }));
    addresses = (await client.addresses(other)).map(({ id }) => id);
  });
  afterAll(() => scenario?.stop());

  const to = (...ada: bigint[]) => ada.map((one, i) => ({ address: addresses[i]!, amount: lovelace(one * ADA) }));

  it("cost what was estimated, and are listed while they are pending", async () => {
    for (const [payments, metadata] of [[to(2n), undefined], [to(2n, 3n), { "0": { string: "rent" } }]] as const) {
      const body = { payments, ...(metadata ? { metadata } : {}) };
      const fees = await client.fees(mine, body);
      expect(fees.deposit).toEqual(lovelace(0));
      expect(fees.minimum_coins).toHaveLength(payments.length);
      // no less than the ledger requires for the same outputs
      const { transaction } = await client.construct(mine, body);
      for (const [i, { quantity }] of fees.minimum_coins.entries()) {
        expect(BigInt(quantity)).toBeGreaterThanOrEqual(leastLovelace(transaction, i));
      }
      const [before, had] = [await scenario.available(mine), await scenario.available(other)];
      const sent = await client.pay(mine, { ...body, passphrase: PASSPHRASE });
      const fee = BigInt(sent.fee.quantity);
      expect(fee).toBeGreaterThanOrEqual(BigInt(fees.estimated_min.quantity));
      expect(fee).toBeLessThanOrEqual(BigInt(fees.estimated_max.quantity));
      expect(sent).toMatchObject({
        status: "pending",
        direction: "outgoing",
        pending_since: { height: { unit: "block" } },
        deposit_taken: lovelace(0),
        deposit_returned: lovelace(0),
        withdrawals: [],
        certificates: [],
        ...(metadata ? { metadata } : {}),
      });
      expect(await client.transaction(mine, sent.id)).toEqual(sent);
      // its inputs are spent, and its change is only counted
      const { balance } = await client.wallet(mine);
      const paid = payments.reduce((sum, { amount }) => sum + BigInt(amount.quantity), 0n);
      expect(BigInt(balance.total.quantity)).toBe(before - paid - fee);
      expect(BigInt(balance.available.quantity)).toBeLessThan(before - paid);
      expect(await scenario.mempool()).toEqual([sent.id]);
      await scenario.blocks();
      const { amount } = await scenario.untilInLedger(mine, sent.id);
      expect(amount).toEqual(sent.amount);
      expect(BigInt(amount.quantity)).toBe(paid + fee);
      await scenario.untilAvailable(mine, before - paid - fee);
      await scenario.untilAvailable(other, had + paid);
    }
  });

  it("end after their time to live", async () => {
    const { currentSlot: from } = await scenario.tip();
    const sent = await client.pay(mine, {
      payments: to(2n),
      passphrase: PASSPHRASE,
      time_to_live: { quantity: 120, unit: "second" },
    });
    const end = Number(sent.validity_interval!.invalid_hereafter!.quantity);
    expect(end).toBeGreaterThanOrEqual(from + 2_400);
    expect(end).toBeLessThanOrEqual((await scenario.tip()).currentSlot + 2_400);
    await scenario.blocks();
    await scenario.untilInLedger(mine, sent.id);
  });

  it("are done once for each Idempotency-Key", async () => {
    const body = { payments: to(2n), passphrase: PASSPHRASE };
    const first = await client.pay(mine, body, { key: "rent" });
    const again = await Promise.all([1, 2].map(() => client.pay(mine, body, { key: "rent" })));
    expect(again.map(({ id }) => id)).toEqual([first.id, first.id]);
    expect(await scenario.refused(client.pay(mine, { ...body, payments: to(4n) }, { key: "rent" })))
      .toEqual([409, "idempotency_key_reused"]);
    const second = await client.pay(mine, body, { key: "rent-of-the-next-month" });
    expect(second.id).not.toBe(first.id);
    await scenario.blocks();
    for (const { id } of [first, second]) await scenario.untilInLedger(mine, id);
  });

  it("are refused with a wrong passphrase, without funds, and to another network", async () => {
    expect(await scenario.refused(client.pay(mine, { payments: to(2n), passphrase: "another passphrase" })))
      .toEqual([403, "wrong_encryption_passphrase"]);
    expect(await scenario.refused(client.fees(mine, { payments: to(900n) }))).toEqual([403, "not_enough_money"]);
    expect(await scenario.refused(client.pay(mine, { payments: to(900n), passphrase: PASSPHRASE })))
      .toEqual([403, "not_enough_money"]);
    const mainnet = "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8";
    const payments = [{ address: mainnet, amount: lovelace(2n * ADA) }];
    expect(await scenario.refused(client.fees(mine, { payments }))).toEqual([400, "bad_request"]);
    expect(await scenario.refused(client.fees("0".repeat(40), { payments: to(2n) }))).toEqual([404, "no_such_wallet"]);
    expect(await scenario.mempool()).toEqual([]);
  });
});
