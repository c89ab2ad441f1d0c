/** Submitted transactions: pending, in the ledger, rolled back, resubmitted, forgotten, too late, double spent. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { http } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";
import { ADA, PASSPHRASE, Scenario, scenarioProvider } from "../../support/service/scenario.ts";

describe("a submitted transaction", () => {
  let scenario: Scenario;
  let client: WalletClient;
  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    ({ client } = scenario);
  });
  afterAll(() => scenario?.stop());

  const funded = async (...ada: bigint[]) => {
    const { id } = await scenario.createWallet({ coins: ada.map((one) => one * ADA) });
    const address = await scenario.address(id, 9);
    return {
      id,
      body: (ada = 5n) => ({ payments: [{ address, amount: lovelace(ada * ADA) }], passphrase: PASSPHRASE }),
    };
  };
  const offered = (hash: string) => until("it is resubmitted", async () => (await scenario.mempool()).includes(hash));

  it("is pending again when its block is rolled back, is resubmitted automatically, and is forgotten only if it is not in the ledger", async () => {
    const { id, body } = await funded(20n, 20n);
    const { id: hash } = await client.pay(id, body());
    expect(await client.transaction(id, hash)).toMatchObject({ status: "pending" });
    await scenario.blocks();
    const first = await scenario.untilInLedger(id, hash);
    expect(first.depth!.quantity).toBe(0);
    await scenario.blocks(2);
    await until("it is deeper", async () => (await client.transaction(id, hash)).depth!.quantity === 2);
    const there = await scenario.refusal(client.forget(id, hash));
    expect([there.status, there.code, there.details])
      .toEqual([403, "transaction_already_in_ledger", { transaction_id: hash }]);

    await scenario.rollback(3, true);
    const again = await scenario.untilStatus(id, hash, "pending");
    expect([again.inserted_at, again.depth]).toEqual([undefined, undefined]);
    await offered(hash);
    await scenario.blocks();
    const second = await scenario.untilInLedger(id, hash);
    // Its slot may be the first one's: a rollback takes the devnet's time back.
    expect([second.status, second.depth!.quantity]).toEqual(["in_ledger", 0]);

    const other = await client.pay(id, body());
    await client.forget(id, other.id);
    expect(await scenario.refused(client.transaction(id, other.id))).toEqual([404, "no_such_transaction"]);
    expect(await scenario.refused(client.forget(id, other.id))).toEqual([404, "no_such_transaction"]);
    // the mempool has it anyway, and so may the chain
    await scenario.blocks();
    await scenario.untilInLedger(id, other.id);
  });

  it("disappears with its block if it was incoming", async () => {
    const { id } = await funded(20n);
    const paid = await scenario.faucet(await scenario.address(id, 3), 7n * ADA);
    await scenario.blocks();
    expect(await scenario.untilInLedger(id, paid)).toMatchObject({ direction: "incoming" });
    await scenario.rollback(1, true);
    await until("it is gone", async () => (await client.transactions(id)).length === 1);
    expect(await scenario.refused(client.transaction(id, paid))).toEqual([404, "no_such_transaction"]);
    await scenario.untilAvailable(id, 20n * ADA);
  });

  it("expires if the ledger did not include it in time, and its coins are free again", async () => {
    const { id, body } = await funded(20n);
    // built, and too late when it is submitted: no trace of it stays
    const late = await client.construct(id, {
      payments: body().payments,
      validity_interval: { invalid_hereafter: { quantity: 1, unit: "second" } },
    });
    const end = Number(
      (await client.decode(id, { transaction: late.transaction })).validity_interval!.invalid_hereafter!.quantity,
    );
    await until("its time is over", async () => (await scenario.tip()).currentSlot > end);
    const { transaction } = await client.sign(id, late.transaction, PASSPHRASE);
    expect(await scenario.refused(client.submit(id, transaction))).toEqual([403, "created_invalid_transaction"]);
    expect((await client.transactions(id)).length).toBe(1);

    // a busy machine may be too late itself
    const brief = { ...body(), time_to_live: { quantity: 3, unit: "second" as const } };
    const sent = await until("it is in time", () => client.pay(id, brief).catch(() => undefined));
    expect(await scenario.available(id)).toBe(0n);
    const { expires_at: last } = await client.transaction(id, sent.id);
    await until("its last slot is past", async () => {
      const { network_tip } = await client.information();
      return network_tip!.absolute_slot_number > last!.absolute_slot_number;
    });
    await scenario.blocks();
    await scenario.untilStatus(id, sent.id, "expired");
    expect(await scenario.available(id)).toBe(20n * ADA);
    // on a chain that ends before its last slot it is not too late: only for a moment, since the network's clock has
    // not gone back
    await scenario.rollback(1, true);
    await until("pending again", async () => {
      const { body } = await http(scenario.arbor.operator, "GET", `/actors/transaction/${sent.id}/history`);
      const { transitions } = body as { transitions: { from: string; to: string }[] };
      return transitions.some(({ from, to }) => from === "expired" && to === "pending");
    });
    await scenario.blocks();
    await scenario.untilStatus(id, sent.id, "expired");
    await client.forget(id, sent.id);
    expect(await scenario.refused(client.transaction(id, sent.id))).toEqual([404, "no_such_transaction"]);
  });

  // Yaci Store does not say what its node's mempool holds: the loser stays pending until its time to live ends
  it.skipIf(scenarioProvider === "yaci")("expires before its time when another one spends its coins", async () => {
    const { id, body } = await funded(20n);
    const signed = async (ada: bigint) => {
      const { transaction } = await client.construct(id, { payments: body(ada).payments });
      return (await client.sign(id, transaction, PASSPHRASE)).transaction;
    };
    const [one, other] = [await signed(3n), await signed(4n)];
    const { id: hash } = await client.submit(id, one);
    // the network forgets it, and gets the other one before it is resubmitted: the sweep may be earlier, then once more
    const { id: winner } = await until("the other one is first", async () => {
      await scenario.blocks();
      await scenario.untilInLedger(id, hash);
      await scenario.rollback(1, true);
      return await client.submit(id, other).catch(() => undefined);
    });
    await scenario.blocks();
    await scenario.untilInLedger(id, winner);
    const lost = await scenario.untilStatus(id, hash, "expired");
    expect(Number(lost.validity_interval!.invalid_hereafter!.quantity)).toBeGreaterThan(
      (await scenario.tip()).currentSlot,
    );
    expect(lost.failures!.map(({ name }) => name)).toEqual(["ConwayMempoolFailure"]);
    const { fee } = await client.transaction(id, winner);
    await scenario.untilAvailable(id, 20n * ADA - BigInt(fee.quantity));
  });
});
