/** A wallet's transactions as server-sent events: what blocks bring, what they take back, and what was missed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/mnemonic.ts";
import { type Transaction, type Wallet, WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/arbor.ts";
import { readSse, type Sent } from "../../support/events.ts";
import { sharedInfra } from "../../support/infra.ts";
import { until } from "../../support/until.ts";
import { http } from "../../support/user.ts";

describe("the stream of a wallet's transactions", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: WalletClient;
  let wallet: Wallet;
  let address: string;
  const ends: AbortController[] = [];

  /** Opens the stream; gives what came so far. */
  const open = async (last?: string) => {
    const end = new AbortController();
    ends.push(end);
    const response = await fetch(`${arbor.wallets}/wallets/${wallet.id}/events`, {
      headers: { accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) },
      signal: end.signal,
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("event-stream"),
    ]);
    const heard: (Sent & { readonly at: number })[] = [];
    void (async () => {
      for await (const one of readSse(response)) heard.push({ ...one, at: Date.now() });
    })().catch(() => {});
    await until("the stream stands", () => Promise.resolve(heard.some(({ id }) => id !== undefined)));
    return { heard, end };
  };
  const pay = async (ada: number) => {
    const paid = await http(arbor.devnet, "POST", "/faucet", { address, lovelace: ada * 1_000_000 });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  };
  const told = (heard: readonly Sent[]) =>
    heard.filter(({ event }) => event === "transaction").map(({ data }) => JSON.parse(data!) as Transaction);

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
    client = new WalletClient(arbor.wallets);
    wallet = await client.create({ name: "Mine", mnemonic_sentence: newMnemonic(), passphrase: "Secure Passphrase" });
    address = (await client.addresses(wallet.id))[0]!.id;
    await until("ready", async () => (await client.wallet(wallet.id)).state.status === "ready");
  });
  afterAll(async () => {
    for (const end of ends) end.abort();
    await arbor?.end();
    await infra?.stop();
  });

  it("tells an incoming payment as the list has it", async () => {
    const { heard } = await open();
    await pay(10);
    await until("told", () => Promise.resolve(told(heard).length === 1));
    const [one] = told(heard);
    expect(one).toMatchObject({ direction: "incoming", amount: { quantity: 10_000_000 }, status: "in_ledger" });
    const { depth: _, ...listed } = (await client.transactions(wallet.id))[0]!;
    expect(one).toMatchObject(listed);
    const late = heard.find(({ event }) => event === "transaction")!.at - Date.parse(one!.inserted_at!.time);
    console.info(`told ${late} ms after the slot of its block began`);
  });

  it("tells who comes back what was missed, once", async () => {
    const first = await open();
    await pay(11);
    await until("told", () => Promise.resolve(told(first.heard).length === 1));
    const { id } = first.heard.findLast(({ event }) => event === "transaction")!;
    first.end.abort();
    await pay(12);
    await until("paid", async () => (await client.transactions(wallet.id)).length === 3);
    const { heard } = await open(id);
    await until("told", () => Promise.resolve(told(heard).length === 1));
    expect(told(heard)[0]).toMatchObject({ amount: { quantity: 12_000_000 } });
  });

  it("tells when blocks are no more, and again what comes back", async () => {
    const { heard } = await open();
    const { body: tip } = await http(arbor.devnet, "GET", "/tip");
    await pay(13);
    await until("told", () => Promise.resolve(told(heard).length === 1));
    const back = await http(arbor.devnet, "POST", "/rollback", { blocks: await depthSince(tip) });
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    await until("told of it", () => Promise.resolve(heard.some(({ event }) => event === "rolled_back")));
    await until(
      "told again",
      () => Promise.resolve(told(heard).filter((one) => one.amount.quantity === 13_000_000).length === 2),
    );
  });

  /** Blocks made since a tip. */
  async function depthSince(tip: { height: number }): Promise<number> {
    const { body } = await http(arbor.devnet, "GET", "/tip");
    return body.height - tip.height;
  }

  it("refuses a place that it never gave", async () => {
    const response = await fetch(`${arbor.wallets}/wallets/${wallet.id}/events`, {
      headers: { "last-event-id": "nonsense" },
    });
    expect([response.status, (await response.json()).code]).toEqual([400, "bad_request"]);
  });
});
