/**
 * Features beyond other wallet servers: transactions of wallets as server-sent events (of new blocks, of rollbacks, and
 * missed ones), paginated lists that stay consistent while blocks arrive, and idempotent requests.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lovelace, type Prefix, type Transaction, WalletClient, type WalletEvent } from "#src/client/wallets.ts";
import { startProxy } from "../../support/infra/tcpProxy.ts";
import { ADA, ANSWERS_POOLS, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { Stranger } from "../../support/service/externalUser.ts";
import { until } from "../../support/base/until.ts";

describe("events, pages and idempotent requests", () => {
  let scenario: Scenario;
  let client: WalletClient;
  let mine: string;
  let address: string;
  const ends: AbortController[] = [];

  /** Opens a stream; collects its events. */
  const open = async (id: string, options: { after?: string; prefix?: Prefix; through?: WalletClient } = {}) => {
    const { through = client, ...rest } = options;
    const end = new AbortController();
    ends.push(end);
    const heard: (WalletEvent & { readonly at: number })[] = [];
    const done = (async () => {
      for await (const one of through.events(id, { ...rest, signal: end.signal })) {
        heard.push({ ...one, at: Date.now() });
      }
    })();
    await Promise.race([until("the stream is open", () => Promise.resolve(heard.length > 0), 60_000), done]);
    return { heard, end, done };
  };
  type Heard = readonly WalletEvent[];
  const transactionsIn = (heard: Heard) => heard.flatMap((one) => one.type === "transaction" ? [one.transaction] : []);
  const hears = (heard: Heard, count: number) =>
    until(`${count} are received`, () => Promise.resolve(transactionsIn(heard).length === count), 60_000);
  /** Lovelace of each, in ada. */
  const amounts = (list: readonly Transaction[]) => list.map(({ amount }) => Number(amount.quantity) / 1_000_000);
  /** Requests a faucet payment to an address, in a block. */
  const pay = async (ada: bigint, to = address) => {
    await scenario.faucet(to, ada * ADA);
    await scenario.blocks();
  };

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0, env: { ARBOR_POOLS: "1" } });
    ({ client } = scenario);
    await scenario.blocks();
    mine = (await scenario.createWallet()).id;
    address = await scenario.address(mine);
  });
  afterAll(async () => {
    for (const end of ends) end.abort();
    await scenario?.stop();
  });

  it("report an incoming payment in the list's form", async () => {
    const { heard } = await open(mine);
    await pay(10n);
    await hears(heard, 1);
    const [one] = transactionsIn(heard);
    expect(one).toMatchObject({ direction: "incoming", amount: { quantity: 10_000_000 }, status: "in_ledger" });
    const { depth: _, ...listed } = (await client.transactions(mine))[0]!;
    expect(one).toMatchObject(listed);
    const late = heard.find(({ type }) => type === "transaction")!.at - Date.parse(one!.inserted_at!.time);
    console.info(`received ${late} ms after the slot of its block began`);
  });

  it("report missed transactions to a client that returns, once", async () => {
    const first = await open(mine);
    await pay(11n);
    await hears(first.heard, 1);
    const { id } = first.heard.findLast(({ type }) => type === "transaction")!;
    first.end.abort();
    await first.done;
    await pay(12n);
    await pay(13n);
    await scenario.untilAvailable(mine, 46n * ADA);
    const { heard } = await open(mine, { after: id });
    await hears(heard, 2);
    expect(amounts(transactionsIn(heard))).toEqual([12, 13]);
  });

  it("report when blocks are rolled back, and again when they return", async () => {
    const { heard } = await open(mine);
    await pay(14n);
    await hears(heard, 1);
    await scenario.rollback(1);
    await until("it is reported", () => Promise.resolve(heard.some(({ type }) => type === "rolled_back")), 60_000);
    await scenario.untilAvailable(mine, 46n * ADA);
    await scenario.blocks();
    await hears(heard, 2);
    expect(amounts(transactionsIn(heard))).toEqual([14, 14]);
    const [before, again] = transactionsIn(heard);
    expect(again!.id).toBe(before!.id);
    expect(again!.inserted_at!.absolute_slot_number).toBeGreaterThan(before!.inserted_at!.absolute_slot_number);
  });

  it("are resumed by the client after a lost connection, each delivered once", async () => {
    const { hostname: host, port } = new URL(client.base);
    const proxy = await startProxy({ host, port: Number(port) });
    try {
      const { heard } = await open(mine, { through: new WalletClient(`http://127.0.0.1:${proxy.port}/v2`) });
      const stood = () => heard.filter(({ type }) => type === "opened").length;
      for (const ada of [21n, 22n]) {
        const before = stood();
        await proxy.cut();
        await pay(ada);
        await proxy.mend();
        await until("it is open again", () => Promise.resolve(stood() > before), 60_000);
        await hears(heard, Number(ada) - 20);
      }
      await pay(23n);
      await hears(heard, 3);
      expect(amounts(transactionsIn(heard))).toEqual([21, 22, 23]);
    } finally {
      await proxy.cut();
    }
  });

  it("report both sides of a payment, also to wallets of other kinds", async () => {
    const { old, byron, shared } = await scenario.createOtherKinds();
    for (const path of [`/byron-wallets/${old.id}`, `/shared-wallets/${shared.id}`]) {
      const ready = async () => (await client.get<{ state: { status: string } }>(path)).state.status === "ready";
      await until(`${path} is ready`, ready, 60_000);
    }
    const [script] = await client.addresses(shared.id, {}, "shared-wallets");
    const streams = [
      await open(mine),
      await open(old.id, { prefix: "byron-wallets" }),
      await open(shared.id, { prefix: "shared-wallets" }),
    ];
    const payments = [byron, script!.id].map((to, i) => ({ address: to, amount: lovelace(BigInt(i + 2) * ADA) }));
    const { id, listed: seen } = await scenario.land(mine, { payments });
    for (const { heard } of streams) await hears(heard, 1);
    const views = streams.map(({ heard }) => transactionsIn(heard)[0]!);
    expect(views.map((one) => [one.id, one.direction, Number(one.amount.quantity)])).toEqual([
      [id, "outgoing", 5_000_000 + Number(seen.fee.quantity)],
      [id, "incoming", 2_000_000],
      [id, "incoming", 3_000_000],
    ]);
  });

  it("start only at a known position and for an existing wallet", async () => {
    for (const after of ["nonsense", btoa('{"slot":1}')]) {
      const refused = await scenario.refusal(open(mine, { after }));
      expect([refused.status, refused.code]).toEqual([400, "bad_request"]);
      expect(refused.message).toContain("Last-Event-ID");
    }
    expect(await scenario.refused(client.events("0".repeat(40)).next())).toEqual([404, "no_such_wallet"]);
  });

  it("come in pages that miss nothing and repeat nothing, while more arrive", async () => {
    const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);
    for (const order of ["ascending", "descending"] as const) {
      const whole = ids(await client.transactions(mine, { order }));
      expect(whole.length).toBeGreaterThan(6);
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await client.transactionPage(mine, { order, limit: 2, after });
        found.push(...ids(page.entries));
        after = page.after;
        // another one arrives between the first pages
        if (found.length === 2) {
          await pay(31n);
          await until("it is listed", async () => (await client.transactions(mine)).length > whole.length, 60_000);
        }
      } while (after !== undefined);
      const [newest] = await client.transactions(mine, { limit: 1 });
      expect(found).toEqual(order === "ascending" ? [...whole, newest!.id] : whole);
    }
    expect(await scenario.refused(client.transactionPage(mine, { after: "nonsense" }))).toEqual([400, "bad_request"]);
    expect(await scenario.refused(client.transactionPage(mine, { limit: 0 }))).toEqual([400, "bad_request"]);
  });

  it.skipIf(!ANSWERS_POOLS)("are not made twice by a request with an Idempotency-Key", async () => {
    const { paths } = await client.get<{
      paths: Record<string, Record<string, { parameters?: readonly { name: string; in: string }[] }>>;
    }>("/openapi.json");
    const once = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters }]) =>
        parameters?.some(({ name }) => name === "idempotency-key") ? [`${method.toUpperCase()} ${path}`] : []
      )
    );
    expect(once.sort()).toEqual([
      "DELETE /stake-pools/*/wallets/{walletId}",
      "DELETE /wallets/{walletId}/governance/drep",
      "POST /byron-wallets/{walletId}/consolidations",
      "POST /byron-wallets/{walletId}/migrations",
      "POST /byron-wallets/{walletId}/transactions",
      "POST /proxy/transactions",
      "POST /shared-wallets/{walletId}/transactions-submit",
      "POST /wallets/{walletId}/consolidations",
      "POST /wallets/{walletId}/governance/drep",
      "POST /wallets/{walletId}/governance/votes",
      "POST /wallets/{walletId}/migrations",
      "POST /wallets/{walletId}/transactions",
      "POST /wallets/{walletId}/transactions-submit",
      "PUT /dreps/{drepId}/wallets/{walletId}",
      "PUT /stake-pools/{stakePoolId}/wallets/{walletId}",
      "PUT /wallets/{walletId}/governance/drep",
    ]);

    const signed = async (ada: bigint) => {
      const { transaction } = await client.construct(mine, { payments: [{ address, amount: lovelace(ada * ADA) }] });
      return (await client.sign(mine, transaction, PASSPHRASE)).transaction;
    };
    const [first, second] = [await signed(2n), await signed(3n)];
    const submit = (transaction: string, key: string) => client.submit(mine, transaction, { key });
    const { id } = await submit(first, "mine");
    expect(await submit(first, "mine")).toEqual({ id });
    expect(await scenario.refused(submit(second, "mine"))).toEqual([409, "idempotency_key_reused"]);
    expect(await scenario.refused(submit(second, "ö"))).toEqual([400, "bad_request"]);
    await scenario.blocks();
    await scenario.untilInLedger(mine, id);
    // repeated long after it was done
    expect(await submit(first, "mine")).toEqual({ id });

    const [pool] = await client.stakePools(ADA);
    const joined = await client.joinPool(mine, pool!.id, PASSPHRASE, "join");
    await scenario.blocks();
    await scenario.untilInLedger(mine, joined.id);
    // without the key it would be refused now
    expect((await client.joinPool(mine, pool!.id, PASSPHRASE, "join")).id).toBe(joined.id);
    expect(await scenario.refused(client.joinPool(mine, pool!.id, PASSPHRASE))).toEqual([
      403,
      "pool_already_joined",
    ]);
    const voted = await client.joinDrep(mine, "no_confidence", PASSPHRASE, "vote");
    await scenario.blocks();
    await scenario.untilInLedger(mine, voted.id);
    expect((await client.joinDrep(mine, "no_confidence", PASSPHRASE, "vote")).id).toBe(voted.id);

    const stranger = new Stranger(scenario.devnet);
    await pay(9n, stranger.address);
    const [one, two] = [
      await stranger.transaction({ pay: [[address, 2n * ADA]] }),
      await stranger.transaction({ pay: [[address, 3n * ADA]] }),
    ];
    const proxied = (hex: string) =>
      client.send<{ id: string }>(
        "POST",
        "/proxy/transactions",
        Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16)),
        "strange",
      );
    const { id: strange } = await proxied(one);
    expect(await proxied(one)).toEqual({ id: strange });
    expect(await scenario.refused(proxied(two))).toEqual([409, "idempotency_key_reused"]);
    await scenario.blocks();
    await scenario.untilInLedger(mine, strange);
  });
});
