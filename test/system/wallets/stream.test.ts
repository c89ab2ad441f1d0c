/** A wallet's transactions as server-sent events: what blocks bring, what they take back, and what was missed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/mnemonic.ts";
import { type Wallet, WalletClient, type WalletEvent } from "#src/client/wallets.ts";
import { Arbor } from "../../support/arbor.ts";
import { sharedInfra } from "../../support/infra.ts";
import { startProxy } from "../../support/proxy.ts";
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
  const open = async (after?: string, through = client) => {
    const end = new AbortController();
    ends.push(end);
    const heard: (WalletEvent & { readonly at: number })[] = [];
    const done = (async () => {
      for await (const one of through.events(wallet.id, { after, signal: end.signal })) {
        heard.push({ ...one, at: Date.now() });
      }
    })();
    await Promise.race([until("the stream stands", () => Promise.resolve(heard.length > 0)), done]);
    return { heard, end, done };
  };
  const pay = async (ada: number) => {
    const paid = await http(arbor.devnet, "POST", "/faucet", { address, lovelace: ada * 1_000_000 });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  };
  const told = (heard: readonly WalletEvent[]) =>
    heard.flatMap((one) => one.type === "transaction" ? [one.transaction] : []);

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
    const late = heard.find(({ type }) => type === "transaction")!.at - Date.parse(one!.inserted_at!.time);
    console.info(`told ${late} ms after the slot of its block began`);
  });

  it("tells who comes back what was missed, once", async () => {
    const first = await open();
    await pay(11);
    await until("told", () => Promise.resolve(told(first.heard).length === 1));
    const { id } = first.heard.findLast(({ type }) => type === "transaction")!;
    first.end.abort();
    await first.done;
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
    await until("told of it", () => Promise.resolve(heard.some(({ type }) => type === "rolled_back")));
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

  it("is taken up again by the client where the connection is lost, and tells each once", async () => {
    const { hostname: host, port } = new URL(arbor.wallets);
    const proxy = await startProxy({ host, port: Number(port) });
    try {
      const { heard } = await open(undefined, new WalletClient(`http://127.0.0.1:${proxy.port}/v2`));
      const stood = () => heard.filter(({ type }) => type === "opened").length;
      for (const amount of [21, 22]) {
        const before = stood();
        await proxy.cut();
        await pay(amount);
        await proxy.mend();
        await until("it stands again", () => Promise.resolve(stood() > before));
        await until("told", () => Promise.resolve(told(heard).length === amount - 20));
      }
      await pay(23);
      await until("told", () => Promise.resolve(told(heard).length === 3));
      expect(told(heard).map((one) => Number(one.amount.quantity) / 1_000_000)).toEqual([21, 22, 23]);
    } finally {
      await proxy.cut();
    }
  });

  it("refuses a place that it never gave, and a wallet that is not there", async () => {
    await expect(open("nonsense")).rejects.toMatchObject({ status: 400, code: "bad_request" });
    const next = client.events("0".repeat(40)).next();
    await expect(next).rejects.toMatchObject({ status: 404, code: "no_such_wallet" });
  });
});
