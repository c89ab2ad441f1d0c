/**
 * What every provider has to carry: a token's life and a wallet's, through a rollback, a refusal, and what the provider
 * says of itself.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { until } from "../base/until.ts";
import type { Provider } from "./provider.ts";
import { ADA, PASSPHRASE, Scenario } from "./scenario.ts";
import { http, User } from "./user.ts";

interface Expected {
  /** How the answer to `utxosByAddress` holds, as the start prints it. */
  readonly holds: "exact at a point" | "at the tip";
  /** Queries that are not answered, in the order of the guarantees. */
  readonly unanswered: readonly string[];
}

/** The tests, within the `describe` of the caller. */
export function providerLife(provider: Exclude<Provider, "devnet">, { holds, unanswered }: Expected): void {
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
    const none = unanswered.length === 0 ? "" : `; not answered: ${unanswered.join("( \\(.*\\))?, ")}`;
    expect(said).toMatch(new RegExp(`${holds}: .*utxosByAddress.*${none}\\.$`));
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
    if (unanswered.includes("mempool")) expect([seen.status, seen.body.code]).toEqual([501, "query_unsupported"]);
    else expect([seen.status, seen.body]).toEqual([200, []]);
  }, 120_000);
}
