/** A sequential wallet's life over HTTP: created, paid, listed, spending in both workflows, asked twice, deleted. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseJson } from "#src/base/json.ts";
import { newMnemonic } from "#src/cardano/mnemonic.ts";
import { ApiError } from "#src/client/http.ts";
import { lovelace, type Wallet, WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/arbor.ts";
import { sharedInfra } from "../../support/infra.ts";
import { until } from "../../support/until.ts";
import { http } from "../../support/user.ts";

const PASSPHRASE = "Secure Passphrase";
const ADA = 1_000_000n;

describe("a wallet's life", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: WalletClient;
  const words = newMnemonic(15);
  let mine: Wallet;
  let other: Wallet;

  const create = (name: string, mnemonic = newMnemonic(15)) =>
    client.create({ name, mnemonic_sentence: mnemonic, passphrase: PASSPHRASE });
  const faucet = async (address: string, amount: bigint) => {
    const paid = await http(arbor.devnet, "POST", "/faucet", { address, lovelace: Number(amount) });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  };
  const refused = async (asked: Promise<unknown>): Promise<ApiError> => {
    const error = await asked.then(() => undefined, (error: unknown) => error);
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  };
  const firstAddress = async (id: string) => (await client.addresses(id))[0]!.id;
  const balance = async (id: string) => BigInt((await client.wallet(id)).balance.available.quantity);
  const settled = (id: string, hash: string) =>
    until(`${hash} in the ledger`, async () => (await client.transaction(id, hash)).status === "in_ledger");

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
    client = new WalletClient(arbor.wallets);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("is created, and a second time it is known", async () => {
    mine = await create("Mine", words);
    expect(mine).toMatchObject({
      name: "Mine",
      address_pool_gap: 20,
      balance: { available: { quantity: 0, unit: "lovelace" } },
      delegation: { active: { status: "not_delegating" }, next: [] },
      passphrase: { encryption_method: expect.any(String) },
    });
    const again = await refused(create("Again", words));
    expect([again.status, again.code]).toEqual([409, "wallet_already_exists"]);
    expect(again.message.split(" ")[10]).toBe(mine.id);
    other = await create("Other");
    expect((await client.wallets()).map(({ id }) => id)).toEqual([mine.id, other.id]);
    await until("ready", async () => (await client.wallet(mine.id)).state.status === "ready");
  });

  it("is listed by pages", async () => {
    const response = await fetch(`${arbor.wallets}/wallets?limit=1`);
    expect((await response.json()).map((one: Wallet) => one.id)).toEqual([mine.id]);
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link")!)![1]!;
    const second = await fetch(new URL(next, arbor.wallets));
    expect((await second.json()).map((one: Wallet) => one.id)).toEqual([other.id]);
    expect(second.headers.get("link")).toBeNull();
  });

  it("has addresses, keys and no policy key until it is asked for one", async () => {
    const addresses = await client.addresses(mine.id);
    expect(addresses).toHaveLength(20);
    expect(addresses[3]).toMatchObject({ state: "unused", derivation_path: ["1852H", "1815H", "0H", "0", "3"] });
    const { entries, after } = await client.addressPage(mine.id, { limit: 15 });
    const rest = await client.addressPage(mine.id, { limit: 15, after });
    expect([...entries, ...rest.entries]).toEqual(addresses);
    expect(rest.after).toBeUndefined();
    const inspected = await client.inspect(addresses[0]!.id);
    expect(await client.key(mine.id, "utxo_external", "0", true)).toBe(inspected.spending_key_hash_bech32);
    expect(await client.key(mine.id, "mutable_account", "0", true)).toBe(inspected.stake_key_hash_bech32);
    expect(await client.accountKey(mine.id)).toMatch(/^acct_xvk1/);
    expect((await refused(client.key(mine.id, "utxo_external", "0H"))).code).toBe("soft_derivation_required");

    const none = await refused(client.policyKey(mine.id));
    expect([none.status, none.code]).toEqual([403, "missing_policy_public_key"]);
    expect(none.message).toContain("POST");
    const key = await client.makePolicyKey(mine.id, PASSPHRASE);
    expect(key).toMatch(/^policy_vk1/);
    expect(await client.policyKey(mine.id)).toBe(key);
    expect((await client.policyId(mine.id, "cosigner#0")).policy_id).toMatch(/^[0-9a-f]{56}$/);
    expect((await refused(client.policyId(mine.id, { all: ["cosigner#1"] }))).code)
      .toBe("created_wrong_policy_script_template");
  });

  it("sees what it is paid", async () => {
    const [first, second] = await client.addresses(mine.id);
    await faucet(first!.id, 100n * ADA);
    await faucet(second!.id, 50n * ADA);
    await until("paid", async () => await balance(mine.id) === 150n * ADA);
    const [newest, ...others] = await client.transactions(mine.id);
    expect(others).toHaveLength(1);
    expect(newest).toMatchObject({ direction: "incoming", status: "in_ledger", amount: { quantity: 50_000_000 } });
    expect((await client.addresses(mine.id, { state: "used" })).map(({ id }) => id)).toEqual([first!.id, second!.id]);
    expect((await client.addresses(mine.id)).length).toBe(22);
    const { entries } = await client.utxos(mine.id);
    expect(entries.map(({ ada }) => ada.quantity).sort()).toEqual([100_000_000, 50_000_000]);
    expect(entries[0]!.ada_minimum.quantity).toBeGreaterThan(900_000);
    expect((await client.statistics(mine.id)).distribution).toMatchObject({ "100000000": 2, "10000000": 0 });
  });

  it("builds, signs and submits in three calls", async () => {
    const address = await firstAddress(other.id);
    const built = await client.construct(mine.id, { payments: [{ address, amount: lovelace(3n * ADA) }] });
    expect(built.coin_selection.outputs).toEqual([{ address, amount: { quantity: 3_000_000, unit: "lovelace" } }]);
    expect(built.coin_selection.change).toHaveLength(1);
    const unsigned = await client.decode(mine.id, { transaction: built.transaction });
    expect(unsigned.fee).toEqual(built.fee);
    expect(unsigned.witness_count.verification_key).toBe(0);
    const early = await refused(client.submit(mine.id, built.transaction));
    expect([early.status, early.code]).toEqual([403, "missing_witnesses_in_transaction"]);
    const wrong = await refused(client.sign(mine.id, built.transaction, "another passphrase"));
    expect([wrong.status, wrong.code, wrong.details]).toEqual([
      403,
      "wrong_encryption_passphrase",
      { wallet_id: mine.id },
    ]);
    const { transaction } = await client.sign(mine.id, built.transaction, PASSPHRASE);
    const signed = await client.decode(mine.id, { transaction });
    expect(signed.witness_count.verification_key).toBeGreaterThan(0);
    const foreign = await refused(client.submit(other.id, transaction));
    expect([foreign.status, foreign.code]).toEqual([403, "foreign_transaction"]);

    const { id } = await client.submit(mine.id, transaction);
    expect(id).toBe(unsigned.id);
    await settled(mine.id, id);
    const told = await client.transaction(mine.id, id);
    expect(told).toMatchObject({
      direction: "outgoing",
      status: "in_ledger",
      script_validity: "valid",
      fee: built.fee,
    });
    expect(BigInt(told.amount.quantity)).toBe(3n * ADA + BigInt(built.fee.quantity));
    expect(told.inputs[0]).toMatchObject({ amount: { unit: "lovelace" }, derivation_path: expect.any(Array) });
    expect(await balance(other.id)).toBe(3n * ADA);
    const forgotten = await refused(client.forget(mine.id, id));
    expect([forgotten.status, forgotten.code]).toEqual([403, "transaction_already_in_ledger"]);
  });

  it("pays in one call, once for each Idempotency-Key", async () => {
    const address = await firstAddress(other.id);
    const payments = [{ address, amount: lovelace(2n * ADA) }];
    const fees = await client.fees(mine.id, { payments });
    expect(BigInt(fees.estimated_min.quantity)).toBeGreaterThan(150_000n);
    const body = { payments, passphrase: PASSPHRASE };
    const first = await client.pay(mine.id, body, { key: "rent" });
    expect(first).toMatchObject({ direction: "outgoing", status: expect.stringMatching(/pending|in_ledger/) });
    const second = await client.pay(mine.id, body, { key: "rent" });
    expect(second.id).toBe(first.id);
    const another = await refused(
      client.pay(mine.id, { ...body, payments: [{ address, amount: lovelace(4n * ADA) }] }, { key: "rent" }),
    );
    expect([another.status, another.code]).toEqual([409, "idempotency_key_reused"]);
    await settled(mine.id, first.id);
    expect(await balance(other.id)).toBe(5n * ADA);
  });

  it("keeps every digit of what it is told", async () => {
    const metadata = { "18446744073709551615": { int: -18446744073709551615n } };
    const built = await client.construct(mine.id, { metadata });
    const decoded = await client.decode(mine.id, { transaction: built.transaction });
    expect(decoded.metadata).toEqual(parseJson(`{"18446744073709551615":{"int":-18446744073709551615}}`));
    const { transaction } = await client.sign(mine.id, built.transaction, PASSPHRASE);
    const { id } = await client.submit(mine.id, transaction);
    await settled(mine.id, id);
    expect((await client.transaction(mine.id, id)).metadata).toEqual(decoded.metadata);
    expect((await client.transaction(mine.id, id, { "simple-metadata": true })).metadata)
      .toEqual(parseJson(`{"18446744073709551615":-18446744073709551615}`));
  });

  it("filters its history, boundaries included", async () => {
    const all = await client.transactions(mine.id);
    expect(all.length).toBe(5);
    expect((await client.transactions(mine.id, { order: "ascending" })).map(({ id }) => id))
      .toEqual(all.map(({ id }) => id).reverse());
    const middle = all[2]!.inserted_at!.time;
    const since = await client.transactions(mine.id, { start: middle });
    const before = await client.transactions(mine.id, { end: middle });
    for (const some of [since, before]) expect(some.map(({ id }) => id)).toContain(all[2]!.id);
    // without their depths, which grow with each block
    const ids = (some: readonly { id: string }[]) => some.map(({ id }) => id);
    expect(ids(await client.transactions(mine.id, { max_count: 2 }))).toEqual(ids(all.slice(0, 2)));
    const late = await refused(
      client.transactions(mine.id, { start: "2030-01-01T00:00:00Z", end: "2020-01-01T00:00:00Z" }),
    );
    expect([late.status, late.code]).toEqual([400, "start_time_later_than_end_time"]);
    expect((await refused(client.transactions(mine.id, { minWithdrawal: 0 }))).code).toBe("min_withdrawal_wrong");
    const first = await client.transactionPage(mine.id, { limit: 3 });
    const second = await client.transactionPage(mine.id, { limit: 3, after: first.after });
    expect([...first.entries, ...second.entries].map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  });

  it("is renamed, gets another passphrase, and goes", async () => {
    expect(await client.change(mine.id, { name: "Ours", one_change_address_mode: true }))
      .toMatchObject({ name: "Ours", one_change_address_mode: true });
    await client.changePassphrase(mine.id, { old_passphrase: PASSPHRASE, new_passphrase: "another passphrase" });
    expect((await refused(client.makePolicyKey(mine.id, PASSPHRASE))).code).toBe("wrong_encryption_passphrase");
    await client.makePolicyKey(mine.id, "another passphrase");
    await client.changePassphrase(mine.id, { mnemonic_sentence: words, new_passphrase: PASSPHRASE });
    await client.makePolicyKey(mine.id, PASSPHRASE);
    await client.delete(mine.id);
    const gone = await refused(client.wallet(mine.id));
    expect([gone.status, gone.code, gone.message]).toEqual([
      404,
      "no_such_wallet",
      `I couldn't find a wallet with the given id: ${mine.id}`,
    ]);
    expect((await refused(client.delete(mine.id))).status).toBe(404);
    const restored = await create("Restored", words);
    expect(restored.id).toBe(mine.id);
    await until("restored", async () => (await client.wallet(mine.id)).state.status === "ready");
    expect((await client.transactions(mine.id)).length).toBe(5);
  });

  it("watches without a root key, and signs nothing then", async () => {
    const key = await client.accountKey(other.id, "extended");
    const bytes = (await import("#src/cardano/bech32.ts")).fromBech32(key)!.bytes;
    const watched = await client.create({
      name: "Watched",
      account_public_key: Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    });
    expect(watched.passphrase).toBeUndefined();
    await until("restored", async () => await balance(watched.id) === 5n * ADA);
    const address = await firstAddress(watched.id);
    const built = await client.construct(watched.id, { payments: [{ address, amount: lovelace(ADA) }] });
    const unsigned = await refused(client.sign(watched.id, built.transaction, PASSPHRASE));
    expect([unsigned.status, unsigned.code]).toEqual([403, "no_root_key"]);
    expect((await refused(client.makePolicyKey(watched.id, PASSPHRASE))).code).toBe("no_root_key");
  });

  it("tells of its network", async () => {
    const information = await client.information();
    expect(information).toMatchObject({
      sync_progress: { status: "ready" },
      node_era: "conway",
      network_info: { network_id: "testnet", protocol_magic: 42 },
      wallet_mode: "node",
    });
    expect(await client.parameters()).toMatchObject({
      slot_length: { quantity: 0.05, unit: "second" },
      eras: { conway: { epoch_number: 0 } },
    });
    expect((await client.parameters("latest")).desired_pool_number).toBeGreaterThan(0);
    expect((await refused(client.parameters(9_999))).status).toBe(404);
    const header = await client.latestHeader();
    expect(header.block_height.quantity).toBeGreaterThan(0);
  });

  it("says what is wrong with what it cannot build", async () => {
    const empty = await refused(client.construct(other.id, {}));
    expect([empty.status, empty.code]).toEqual([403, "created_invalid_transaction"]);
    const address = await firstAddress(other.id);
    const much = await refused(client.construct(other.id, { payments: [{ address, amount: lovelace(9_000n * ADA) }] }));
    expect([much.status, much.code]).toEqual([403, "not_enough_money"]);
    const mainnet = "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8";
    const elsewhere = await refused(
      client.construct(other.id, { payments: [{ address: mainnet, amount: lovelace(ADA) }] }),
    );
    expect([elsewhere.status, elsewhere.code]).toEqual([400, "bad_request"]);
  });
});
