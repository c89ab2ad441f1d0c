/** Wallets as actors over a devnet: two clients at once, a second life, a history restored, blocks that are rolled back. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/mnemonic.ts";
import { ApiError } from "#src/client/http.ts";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/arbor.ts";
import { sharedInfra } from "../../support/infra.ts";
import { until } from "../../support/until.ts";
import { http } from "../../support/user.ts";

const PASSPHRASE = "Secure Passphrase";

describe("wallets", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: WalletClient;

  beforeAll(async () => {
    infra = await sharedInfra();
    // blocks are made when somebody asks for one
    arbor = await Arbor.start({ infra, env: { ARBOR_BLOCK_MS: "0" } });
    client = new WalletClient(arbor.wallets);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  const create = (words = newMnemonic(15), more: object = {}) =>
    client.create({ name: "W", mnemonic_sentence: words, passphrase: PASSPHRASE, ...more });
  const blocks = async (count: number) => {
    const made = await http(arbor.devnet, "POST", "/blocks", { count });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
  };
  const faucet = async (address: string, amount: number) => {
    const paid = await http(arbor.devnet, "POST", "/faucet", { address, lovelace: amount });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  };
  const available = async (id: string) => Number((await client.wallet(id)).balance.available.quantity);
  const ready = (id: string) => until("it is ready", async () => (await client.wallet(id)).state.status === "ready");
  const refusal = async (asked: Promise<unknown>): Promise<ApiError> => {
    const error = await asked.then(() => undefined, (error: unknown) => error);
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  };
  const funded = async (outputs: number, each: number) => {
    const wallet = await create();
    const [address] = await client.addresses(wallet.id);
    for (let i = 0; i < outputs; i++) await faucet(address!.id, each);
    await blocks(2);
    await until("the money", async () => await available(wallet.id) === outputs * each);
    return { id: wallet.id, address: address!.id };
  };
  const payment = (address: string, quantity: number) => ({ payments: [{ address, amount: lovelace(quantity) }] });

  it("never builds for two on the same output while others suffice", async () => {
    const { id, address } = await funded(8, 10_000_000);
    const built = await Promise.all(Array.from({ length: 8 }, () => client.construct(id, payment(address, 3_000_000))));
    const refs = built.flatMap(({ coin_selection }) => coin_selection.inputs.map((one) => `${one.id}#${one.index}`));
    expect(new Set(refs).size).toBe(refs.length);
    // and once nothing else is there what was offered is offered again
    const more = await client.construct(id, payment(address, 3_000_000));
    expect(refs).toContain(more.coin_selection.inputs.map((one) => `${one.id}#${one.index}`)[0]);
    // both may be sent: of two on one output the ledger takes one
    for (const { transaction } of built) {
      const signed = await client.sign(id, transaction, PASSPHRASE);
      await client.submit(id, signed.transaction);
    }
    const other = await client.sign(id, more.transaction, PASSPHRASE);
    expect((await refusal(client.submit(id, other.transaction))).status).toBeGreaterThanOrEqual(400);
    await blocks(1);
    await until("all in the ledger", async () => {
      const all = await client.transactions(id);
      return all.length === 16 && all.every(({ status }) => status === "in_ledger");
    });
  });

  it("has a second life that knows its history", async () => {
    const words = newMnemonic(15);
    const first = await create(words);
    const [address] = await client.addresses(first.id);
    await faucet(address!.id, 50_000_000);
    await blocks(1);
    await until("the money", async () => await available(first.id) === 50_000_000);
    const sent = await client.pay(first.id, { passphrase: PASSPHRASE, ...payment(address!.id, 5_000_000) });
    await blocks(1);
    await until("sent", async () => (await client.transaction(first.id, sent.id)).status === "in_ledger");
    const balance = await available(first.id);
    const history = (await client.transactions(first.id)).map(({ id, direction }) => ({ id, direction }));
    expect(history.length).toBe(2);

    await client.delete(first.id);
    expect((await refusal(client.wallet(first.id))).code).toBe("no_such_wallet");
    expect((await refusal(client.delete(first.id))).code).toBe("no_such_wallet");

    for (const gap of [20, 30]) {
      const again = await create(words, { name: `Again ${gap}`, address_pool_gap: gap });
      expect(again.id).toBe(first.id);
      expect(again.name).toBe(`Again ${gap}`);
      await ready(again.id);
      expect(await available(again.id)).toBe(balance);
      expect((await client.transactions(again.id)).map(({ id, direction }) => ({ id, direction }))).toEqual(history);
      // it still spends: the key is the new attempt's
      await client.construct(again.id, payment(address!.id, 5_000_000));
      await client.delete(again.id);
    }

    // one that begins at the tip has none of it
    const late = await create(words, { restoration_mode: "from_tip" });
    await ready(late.id);
    expect(await client.transactions(late.id)).toEqual([]);
    expect(await available(late.id)).toBe(0);
  });

  it("has its payments pending again when their block is rolled back, and forgets only what the ledger has not", async () => {
    const { id, address } = await funded(2, 20_000_000);
    const { id: hash } = await client.pay(id, { passphrase: PASSPHRASE, ...payment(address, 5_000_000) });
    expect((await client.transaction(id, hash)).status).toBe("pending");
    await blocks(1);
    await until("in the ledger", async () => (await client.transaction(id, hash)).status === "in_ledger");
    const there = await refusal(client.forget(id, hash));
    expect([there.status, there.code]).toEqual([403, "transaction_already_in_ledger"]);

    const back = await http(arbor.devnet, "POST", "/rollback", { blocks: 1, drop: true });
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    await until("pending again", async () => (await client.transaction(id, hash)).status === "pending");
    // offered again by itself, though the mempool was emptied
    await until("offered again", async () => {
      const { body } = await http(arbor.devnet, "GET", "/mempool");
      return body.transactions.some((one: { hash: string }) => one.hash === hash);
    });
    await blocks(1);
    await until("in the ledger again", async () => (await client.transaction(id, hash)).status === "in_ledger");

    const other = await client.pay(id, { passphrase: PASSPHRASE, ...payment(address, 5_000_000) });
    await client.forget(id, other.id);
    expect((await refusal(client.transaction(id, other.id))).code).toBe("no_such_transaction");
    expect((await refusal(client.forget(id, other.id))).code).toBe("no_such_transaction");
    // the mempool has it all the same, and the chain may
    await blocks(1);
    await until("it came all the same", async () => {
      const all = await client.transactions(id);
      return all.some((one) => one.id === other.id && one.status === "in_ledger");
    });
  });

  it("expires what the ledger did not take in time", async () => {
    const { id, address } = await funded(1, 20_000_000);
    const sent = await client.pay(id, {
      passphrase: PASSPHRASE,
      ...payment(address, 5_000_000),
      time_to_live: { quantity: 3, unit: "second" },
    });
    expect(await available(id)).toBe(0);
    const { expires_at } = await client.transaction(id, sent.id);
    const status = async () => (await client.transaction(id, sent.id)).status;
    await until("its last slot is past", async () => {
      const { network_tip } = await client.information();
      return network_tip!.absolute_slot_number > expires_at!.absolute_slot_number;
    });
    await blocks(1);
    await until("expired", async () => await status() === "expired");
    expect(await available(id)).toBe(20_000_000);
    // on a chain that does not reach so far it is not too late
    const back = await http(arbor.devnet, "POST", "/rollback", { blocks: 1, drop: true });
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    // only for a moment: the network's clock has not gone back, and refuses it
    const pendingAgain = async () => {
      const { body } = await http(arbor.operator, "GET", `/actors/transaction/${sent.id}/history`);
      const { transitions } = body as { transitions: { from: string; to: string }[] };
      return transitions.some(({ from, to }) => from === "expired" && to === "pending");
    };
    await until("pending again", pendingAgain);
    await blocks(1);
    await until("expired again", async () => await status() === "expired");
    await client.forget(id, sent.id);
    expect((await refusal(client.transaction(id, sent.id))).code).toBe("no_such_transaction");
  });
});
