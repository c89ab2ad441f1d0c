/**
 * One owner's transactions over the wallet and the token service at once: each is accepted or refused with a reason,
 * and none gives 500.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADA, PASSPHRASE, Scenario } from "../support/service/scenario.ts";
import { until } from "../support/base/until.ts";
import { http } from "../support/service/user.ts";

/** The outcome of one of them: its hash, or the error response. */
type Outcome = { readonly hash: string } | { readonly step: string; readonly status: number; readonly code: string };
type Way = "boot" | "request" | "send" | "construct" | "self";

describe("one owner's transactions", () => {
  let scenario: Scenario;
  let recipient: string;
  let token: string;

  beforeAll(async () => {
    scenario = await Scenario.start({ provider: "devnet", blockMs: 0 });
    const other = await scenario.createWallet();
    recipient = await scenario.address(other.id);
    const { id } = await scenario.createWallet({ coins: [50n * ADA, 50n * ADA] });
    const address = await scenario.address(id);
    const built = await http(scenario.arbor.tokens, "GET", `/transaction/${address}/boot-token`);
    token = built.body.value;
    const booted = await finish(id, built.body.unsignedTransaction);
    expect(booted).toHaveProperty("hash");
    await scenario.blocks();
    await until("the token", async () => (await http(scenario.arbor.tokens, "GET", `/token/${token}`)).status === 200);
  }, 120_000);
  afterAll(() => scenario?.stop());

  /** One transaction of a wallet, from its address 0 if it is the token service's. */
  async function act(id: string, way: Way): Promise<Outcome> {
    const { wallets, tokens } = scenario.arbor;
    const post = (path: string, body: unknown) => http(wallets, "POST", `/wallets/${id}/${path}`, body);
    const payments = [{ address: recipient, amount: { quantity: 2_000_000, unit: "lovelace" } }];
    if (way === "send" || way === "self") {
      const to = way === "send" ? payments : [{ ...payments[0]!, address: await scenario.address(id) }];
      const sent = await post("transactions", { passphrase: PASSPHRASE, payments: to });
      return sent.status === 202 ? { hash: sent.body.id } : ended("send", sent);
    }
    const unsigned = async () => {
      if (way === "construct") return await post("transactions-construct", { payments });
      const address = await scenario.address(id);
      return way === "boot"
        ? await http(tokens, "GET", `/transaction/${address}/boot-token`)
        : await http(tokens, "POST", `/transaction/${address}/request-insert/${token}`, {
          key: crypto.randomUUID(),
          newValue: "v",
        });
    };
    const built = await unsigned();
    if (built.status >= 300) return ended("build", built);
    if (way !== "construct") return await finish(id, built.body.unsignedTransaction);
    const signed = await sign(id, built.body.transaction);
    if (signed.status >= 300) return ended("sign", signed);
    const submitted = await post("transactions-submit", { transaction: signed.body.transaction });
    return submitted.status === 202 ? { hash: submitted.body.id } : ended("submit", submitted);
  }

  const sign = (id: string, transaction: string) =>
    http(scenario.arbor.wallets, "POST", `/wallets/${id}/transactions-sign`, { passphrase: PASSPHRASE, transaction });
  const ended = (step: string, { status, body }: { status: number; body: { code: string } }) => ({
    step,
    status,
    code: body.code,
  });

  /** Signs a transaction that the token service built, and submits it there. */
  async function finish(id: string, unsigned: string): Promise<Outcome> {
    const signed = await sign(id, Buffer.from(unsigned, "hex").toString("base64"));
    if (signed.status >= 300) return ended("sign", signed);
    const signedTransaction = Buffer.from(signed.body.transaction, "base64").toString("hex");
    const submitted = await http(scenario.arbor.tokens, "POST", "/transaction", { signedTransaction });
    return submitted.status < 300 ? { hash: submitted.body.txHash } : ended("submit", submitted);
  }

  const inLedger = async (hash: string) =>
    (await http(scenario.arbor.tokens, "GET", `/transaction?txHash=${hash}`)).status === 200;

  /** All accepted ones are in the next block, and the refused ones have a reason. */
  const judge = async (outcomes: readonly Outcome[]) => {
    const bad = outcomes.filter((one) => !("hash" in one) && (one.status >= 500 || one.code === undefined));
    expect(bad, JSON.stringify(outcomes)).toEqual([]);
    const taken = outcomes.flatMap((one) => "hash" in one ? [one.hash] : []);
    await scenario.blocks();
    for (const hash of taken) await until(`${hash} is in the ledger`, () => inLedger(hash));
    return taken;
  };
  const funded = async (coins: number) => {
    const { id } = await scenario.createWallet();
    const address = await scenario.address(id);
    for (let i = 0; i < coins; i++) await scenario.faucet(address, 30n * ADA);
    await scenario.blocks();
    await scenario.untilAvailable(id, BigInt(coins) * 30n * ADA);
    return id;
  };

  it.each<[Way, Way]>([
    ["boot", "send"],
    ["boot", "construct"],
    ["request", "send"],
    ["send", "send"],
    ["send", "construct"],
    ["construct", "send"],
    ["send", "boot"],
    ["self", "send"],
    ["boot", "boot"],
  ])("of one coin: a %s, then a %s before a block", async (first, then) => {
    const id = await funded(1);
    const outcomes = [await act(id, first), await act(id, then)];
    expect(outcomes[0]).toHaveProperty("hash");
    // the change of the first is at another address than the one that the token service builds for
    if (then !== "boot" || first === "boot") expect(outcomes[1], JSON.stringify(outcomes)).toHaveProperty("hash");
    await judge(outcomes);
  });

  const ALL: readonly Way[] = ["boot", "send", "request", "construct", "self", "send", "boot", "construct"];
  it.each([1, 2, 3, 4, 5])("of %i coins, eight at once", async (coins) => {
    const id = await funded(coins);
    const taken = await judge(await Promise.all(ALL.map((way) => act(id, way))));
    expect(taken.length).toBeGreaterThanOrEqual(1);
  });

  it("of one coin, concurrent sends are all paid, one from the change of another", async () => {
    const id = await funded(1);
    const taken = await judge(await Promise.all(Array.from({ length: 5 }, () => act(id, "send"))));
    expect(new Set(taken).size).toBe(5);
  });
});
