/** Wallet migrations, and coin selections for external signers, over HTTP on a devnet. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { ApiError } from "#src/client/http.ts";
import { lovelace, type Prefix, WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

const PASSPHRASE = "Secure Passphrase";
const BYRON = "byron-wallets";
const ADA = 1_000_000;

describe("a wallet migration", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: WalletClient;
  let addresses: string[] = [];
  let home = "";

  const refused = async (request: Promise<unknown>) => {
    const error = await request.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ApiError);
    return [(error as ApiError).status, (error as ApiError).code];
  };
  const fund = async (address: string, amount: number) => {
    const paid = await http(arbor.devnet, "POST", "/faucet", { address, lovelace: amount });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  };
  const sum = (amounts: readonly { readonly amount: { readonly quantity: number | bigint } }[]) =>
    amounts.reduce((all, { amount }) => all + Number(amount.quantity), 0);
  const landed = (id: string, hashes: readonly string[], prefix: Prefix) =>
    until("all are in the ledger", async () => {
      const all = await Promise.all(hashes.map((hash) => client.transaction(id, hash, {}, prefix)));
      return all.every(({ status }) => status === "in_ledger");
    });

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra, mining: "submit", env: { ARBOR_POOLS: "1" } });
    client = new WalletClient(arbor.wallets);
    const made = await client.create({ name: "Home", mnemonic_sentence: newMnemonic(), passphrase: PASSPHRASE });
    home = made.id;
    addresses = (await client.addresses(home)).slice(0, 2).map(({ id }) => id);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("returns a plan, runs once for a repeated request, and then has nothing left to move", async () => {
    const { id } = await client.create({ name: "Old", mnemonic_sentence: newMnemonic(), passphrase: PASSPHRASE });
    expect(await refused(client.migrationPlan(id, addresses))).toEqual([403, "nothing_to_migrate"]);
    const own = (await client.addresses(id)).slice(0, 3).map((address) => address.id);
    for (const [i, address] of own.entries()) await fund(address, (5 + i) * ADA);
    await until("paid", async () => (await client.wallet(id)).balance.available.quantity === 18 * ADA);

    const some = await client.utxoPage(id, { limit: 2 });
    const rest = await client.utxoPage(id, { limit: 2, after: some.after });
    const entries = [...some.entries.entries, ...rest.entries.entries];
    expect([some.entries.entries.length, rest.after]).toEqual([2, undefined]);
    expect(entries.map(({ ada }) => Number(ada.quantity)).sort()).toEqual([5, 6, 7].map((one) => one * ADA));
    expect((await client.utxos(id)).entries).toHaveLength(3);

    const plan = await client.migrationPlan(id, addresses);
    expect(plan.selections).toHaveLength(1);
    expect(plan.selections[0]).toMatchObject({ change: [], collateral: [], withdrawals: [] });
    const { inputs, outputs } = plan.selections[0]!;
    expect(inputs.map(({ address }) => address).sort()).toEqual([...own].sort());
    expect(outputs.map(({ address }) => address)).toEqual([addresses[0]]);
    expect([sum(inputs), sum(outputs)]).toEqual([18 * ADA, 18 * ADA - Number(plan.total_fee.quantity)]);
    expect(plan.balance_selected).toEqual({ ada: lovelace(18 * ADA), assets: [] });
    expect(plan.balance_leftover).toEqual({ ada: lovelace(0), assets: [] });

    const body = { addresses, passphrase: PASSPHRASE };
    expect(await refused(client.migrate(id, { ...body, passphrase: "Another Passphrase" }))).toEqual([
      403,
      "wrong_encryption_passphrase",
    ]);
    const moved = await client.migrate(id, body, { key: "move" });
    expect(moved).toMatchObject([{ direction: "outgoing", fee: plan.total_fee }]);
    expect((await client.migrate(id, body, { key: "move" })).map((one) => one.id)).toEqual(moved.map((one) => one.id));
    expect(await refused(client.migrate(id, { ...body, addresses: [addresses[1]!] }, { key: "move" }))).toEqual([
      409,
      "idempotency_key_reused",
    ]);
    await landed(id, moved.map((one) => one.id), "wallets");
    expect((await client.wallet(id)).balance.total.quantity).toBe(0);
    await until("received", async () => (await client.wallet(home)).balance.total.quantity === sum(outputs));
    expect(await refused(client.migrate(id, body))).toEqual([403, "nothing_to_migrate"]);
  });

  it("moves out of a Byron wallet", async () => {
    const { id } = await client.createByron({
      style: "random",
      name: "Byron",
      mnemonic_sentence: newMnemonic(12),
      passphrase: PASSPHRASE,
    });
    const own: string[] = [];
    for (let i = 0; i < 2; i++) {
      const made = await client.send<{ id: string }>("POST", `/${BYRON}/${id}/addresses`, { passphrase: PASSPHRASE });
      own.push(made.id);
      await fund(made.id, 4 * ADA);
    }
    await until("paid", async () => (await client.byronWallet(id)).balance.available.quantity === 8 * ADA);
    const payments = [{ address: addresses[1]!, amount: lovelace(2 * ADA) }];
    expect(await refused(client.selectCoins(id, { payments }, BYRON))).toEqual([403, "invalid_wallet_type"]);

    const plan = await client.migrationPlan(id, [addresses[1]!], BYRON);
    expect(sum(plan.selections[0]!.inputs)).toBe(8 * ADA);
    const moved = await client.migrate(id, { addresses: [addresses[1]!], passphrase: PASSPHRASE }, { prefix: BYRON });
    await landed(id, moved.map((one) => one.id), BYRON);
    expect((await client.byronWallet(id)).balance.total.quantity).toBe(0);
  });

  it("selects coins for payments, for joining a pool and for nothing else", async () => {
    const { id } = await client.create({ name: "Card", mnemonic_sentence: newMnemonic(), passphrase: PASSPHRASE });
    const own = (await client.addresses(id)).map((address) => address.id);
    await fund(own[0]!, 50 * ADA);
    await until("paid", async () => (await client.wallet(id)).balance.available.quantity === 50 * ADA);
    const payments = [{ address: addresses[0]!, amount: lovelace(7 * ADA) }];
    const metadata = { "1": { string: "hello" } };
    const chosen = await client.selectCoins(id, { payments, metadata });
    expect(chosen).toMatchObject({
      inputs: [{ address: own[0], amount: lovelace(50 * ADA), derivation_path: ["1852H", "1815H", "0H", "0", "0"] }],
      outputs: [{ address: addresses[0], amount: lovelace(7 * ADA) }],
      change: [{ derivation_path: ["1852H", "1815H", "0H", "1", "0"] }],
      collateral: [],
      withdrawals: [],
      deposits_taken: [],
      deposits_returned: [],
      metadata: "oQFlaGVsbG8=",
    });
    const fee = sum(chosen.inputs) - sum(chosen.outputs) - sum(chosen.change);
    expect(fee).toBeGreaterThan(160_000);

    const [pool] = await client.stakePools(50 * ADA);
    const joining = await client.selectCoins(id, { delegation_action: { action: "join", pool: pool!.id } });
    expect(joining).toMatchObject({
      outputs: [],
      certificates: [
        { certificate_type: "register_reward_account", reward_account_path: ["1852H", "1815H", "0H", "2", "0"] },
        { certificate_type: "join_pool", pool: pool!.id },
      ],
      deposits_taken: [lovelace(2 * ADA)],
    });
    const select = (body: unknown) => refused(client.send("POST", `/wallets/${id}/coin-selections/random`, body));
    expect(await select({ delegation_action: { action: "quit" } })).toEqual([403, "not_delegating_to"]);
    expect(await select({ delegation_action: { action: "join", pool: "00".repeat(28) } })).toEqual([
      404,
      "no_such_pool",
    ]);
    expect(await select({ payments, delegation_action: { action: "quit" } })).toEqual([400, "bad_request"]);
    expect(await select({})).toEqual([400, "bad_request"]);
  });
});
