/**
 * The services over the devnet's own Blockfrost API, and over a Yaci Store in front of it: a token's life and a wallet's,
 * through a rollback, and what the provider says of itself. The chapters of `test/system/scenarios` run over each with
 * `ARBOR_SCENARIO_PROVIDER`.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { http, User } from "../../support/service/user.ts";

describe.each(["blockfrost", "yaci"] as const)("over a %s", (provider) => {
  const owner = new User();
  const words = newMnemonic(15);
  let scenario: Scenario;
  let tokens: string;
  let token: string;

  beforeAll(async () => {
    scenario = await Scenario.start({ provider, blockMs: 0, env: { ARBOR_HEALTH_PORT: "0", ARBOR_BUILDERS: "1" } });
    tokens = scenario.arbor.places.get("token service")!;
  }, 120_000);
  afterAll(() => scenario?.stop());

  const carryOut = async (method: string, path: string, body?: unknown) => {
    const built = await http(tokens, method, path, body);
    expect([built.status, built.body]).toEqual([
      200,
      expect.objectContaining({ unsignedTransaction: expect.any(String) }),
    ]);
    const signedTransaction = owner.sign(built.body.unsignedTransaction);
    const sent = await http(tokens, "POST", "/transaction", { signedTransaction });
    expect([sent.status, sent.body]).toEqual([200, expect.objectContaining({ txHash: expect.any(String) })]);
    await scenario.blocks(1);
    await until(
      "the transaction",
      async () => (await http(tokens, "GET", `/transaction?txHash=${sent.body.txHash}`)).status === 200,
    );
    return { value: built.body.value as string, hash: sent.body.txHash as string };
  };
  const record = async (key: string, value: string) => {
    const { hash } = await carryOut("POST", `/transaction/${owner.address}/request-insert/${token}`, { key, value });
    await carryOut("GET", `/transaction/${owner.address}/update-token/${token}?request=${hash}-0`);
  };
  const facts = async () => (await http(tokens, "GET", `/token/${token}/facts`)).body;

  it("the start and /health name what it answers, and what not", async () => {
    const line = `The provider "${provider}" answers`;
    const said = scenario.arbor.printed.split("\n").find((one) => one.startsWith(line));
    const unanswered = provider === "yaci"
      ? ["mempool", "pools", "poolRanking", "dreps", "drepStatus", "actions"]
      : ["mempool", "poolRanking", "dreps"];
    expect(said).toMatch(
      new RegExp(`at the tip: .*utxosByAddress.*; not answered: ${unanswered.join("( \\(.*\\))?, ")}\\.$`),
    );
    const { body } = await http(scenario.arbor.health, "GET", "/health");
    expect(body.network.provider).toBe(provider);
    for (const question of unanswered) {
      expect(body.network.answers).toContainEqual(expect.objectContaining({ question, holds: "not at all" }));
    }
    expect(JSON.stringify(body)).toContain(`"${provider}"`);
  });

  it("a token is booted, gets a fact, and continues after a rollback", async () => {
    await scenario.faucet(owner.address, 1_000n * ADA);
    await scenario.blocks(1);
    ({ value: token } = await carryOut("GET", `/transaction/${owner.address}/boot-token`));
    await record("tree", "oak");
    expect(await facts()).toEqual({ tree: "oak" });
    await scenario.rollback(2);
    await record("herb", "sage");
    expect(await facts()).toEqual({ tree: "oak", herb: "sage" });
  }, 120_000);

  it("a transaction that the ledger refuses is refused with its failure", async () => {
    const built = await http(tokens, "GET", `/transaction/${owner.address}/boot-token`);
    const signedTransaction = new User().sign(built.body.unsignedTransaction);
    const sent = await http(tokens, "POST", "/transaction", { signedTransaction });
    expect(sent.status).toBe(422);
    expect(JSON.stringify(sent.body)).toContain("MissingVKeyWitnessesUTXOW");
  });

  it("a wallet is paid, pays, and is restored with the same balance", async () => {
    const { id } = await scenario.createWallet({ words, coins: [20n * ADA] });
    const other = await scenario.createWallet({ name: "Other" });
    const payments = [{
      address: await scenario.address(other.id),
      amount: { quantity: 3_000_000, unit: "lovelace" as const },
    }];
    await scenario.land(id, { payments });
    await scenario.untilAvailable(other.id, 3n * ADA);
    const balance = await scenario.available(id);
    await scenario.client.delete(id);
    const { id: again } = await scenario.client.create({
      name: "Again",
      mnemonic_sentence: [...words],
      passphrase: PASSPHRASE,
    });
    await scenario.untilReady(again);
    expect(await scenario.available(again)).toBe(balance);
    const seen = await http(scenario.arbor.wallets, "GET", `/wallets/${again}/transactions-seen`);
    expect([seen.status, seen.body.code]).toEqual([501, "query_unsupported"]);
  }, 120_000);
});
