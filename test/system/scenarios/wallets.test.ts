/**
 * Sequential wallets: from words or an account's key, with different start blocks, their ids, changes, and deletion.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace, type Wallet, WalletClient } from "#src/client/wallets.ts";
import { CslAccount } from "../../support/wallets/cslAccount.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";

describe("wallets", () => {
  let scenario: Scenario;
  let client: WalletClient;
  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    ({ client } = scenario);
  });
  afterAll(() => scenario?.stop());

  const body = (words: readonly string[], more: object = {}) => ({
    name: "Savings",
    mnemonic_sentence: [...words],
    passphrase: PASSPHRASE,
    ...more,
  });
  const payment = (address: string, ada: bigint) => ({ payments: [{ address, amount: lovelace(ada * ADA) }] });

  it("have 15 to 24 words and a second factor, with the ids and addresses that others derive", async () => {
    const made = [];
    for (const [count, second] of [[15, undefined], [18, 9], [21, 12], [24, undefined]] as const) {
      const words = newMnemonic(count);
      const factor = second && newMnemonic(second);
      const wallet = await client.create(
        body(words, { address_pool_gap: 10, ...(factor ? { mnemonic_second_factor: factor } : {}) }),
      );
      const account = new CslAccount(words, factor);
      expect(wallet).toMatchObject({
        id: account.walletId,
        name: "Savings",
        address_pool_gap: 10,
        balance: { available: lovelace(0), reward: lovelace(0), total: lovelace(0) },
        assets: { available: [], total: [] },
        delegation: { active: { status: "not_delegating" }, next: [] },
        passphrase: { encryption_method: expect.any(String), last_updated_at: expect.stringMatching(/Z$/) },
      });
      const addresses = Array.from({ length: 10 }, (_, i) => account.address(i));
      expect((await client.addresses(wallet.id)).map(({ id }) => id)).toEqual(addresses);
      if (factor) expect(new CslAccount(words).walletId).not.toBe(wallet.id);
      made.push(wallet.id);
    }
    expect((await client.wallets()).map(({ id }) => id)).toEqual(made);
    const first = await client.get<readonly Wallet[]>("/wallets", { limit: 3 });
    expect(first.map(({ id }) => id)).toEqual(made.slice(0, 3));
    const next = await fetch(`${client.base}/wallets?limit=3`);
    const link = /<([^>]+)>; rel="next"/.exec(next.headers.get("link")!)![1]!;
    const rest = await fetch(new URL(link, client.base));
    expect([(await rest.json()).map(({ id }: Wallet) => id), rest.headers.get("link")]).toEqual([[made[3]], null]);
    for (const id of made) await client.delete(id);
    expect(await client.wallets()).toEqual([]);
  });

  it("refuse other words, and a missing name or passphrase", async () => {
    const words = newMnemonic(15);
    const wrong = [
      body(newMnemonic(12)),
      body([...words.slice(1), "nonsense"]),
      body(words, { mnemonic_second_factor: words }),
      body(words, { name: "" }),
      body(words, { name: "x".repeat(256) }),
      body(words, { passphrase: "too short" }),
      body(words, { passphrase: "x".repeat(256) }),
      body(words, { address_pool_gap: 9 }),
      body(words, { address_pool_gap: 100_001 }),
      body(words, { restoration_mode: "from_nowhere" }),
      { name: "Watched", account_public_key: "00".repeat(63) },
    ];
    for (const one of wrong) expect(await scenario.refused(client.create(one))).toEqual([400, "bad_request"]);
    for (const id of ["nonsense", "0".repeat(39), "g".repeat(40)]) {
      expect(await scenario.refused(client.wallet(id))).toEqual([400, "bad_request"]);
    }
    const unknown = "0".repeat(40);
    for (const path of ["", "/addresses", "/transactions", "/utxo", "/assets", "/keys"]) {
      const error = await scenario.refusal(client.get(`/wallets/${unknown}${path}`));
      expect([error.status, error.code, error.message]).toEqual([
        404,
        "no_such_wallet",
        `I couldn't find a wallet with the given id: ${unknown}`,
      ]);
    }
  });

  it("are renamed, get another passphrase by the old one or by the words, and exist once at a time", async () => {
    const words = newMnemonic(15);
    const factor = newMnemonic(9);
    const whole = body(words, { mnemonic_second_factor: factor });
    const { id, passphrase } = await client.create(whole);
    const again = await scenario.refusal(client.create({ ...whole, name: "Again" }));
    expect([again.status, again.code, again.message.split(" ")[10]]).toEqual([409, "wallet_already_exists", id]);
    expect(await client.change(id, { name: "Ours", one_change_address_mode: true, selection: "round-robin" }))
      .toMatchObject({ id, name: "Ours", one_change_address_mode: true, selection: "round-robin" });
    expect(await client.wallet(id)).toMatchObject({ name: "Ours", selection: "round-robin" });

    const wrong = "another passphrase";
    expect(await scenario.refused(client.changePassphrase(id, { old_passphrase: wrong, new_passphrase: wrong })))
      .toEqual([403, "wrong_encryption_passphrase"]);
    const other = await scenario.refusal(
      client.changePassphrase(id, { mnemonic_sentence: words, new_passphrase: wrong }),
    );
    expect([other.status, other.code]).toEqual([403, "wrong_mnemonic"]);
    expect(other.message).toBe(`The given mnemonic doesn't match the one this wallet was created with : ${id}`);
    await client.changePassphrase(id, { old_passphrase: PASSPHRASE, new_passphrase: wrong });
    const changed = (await client.wallet(id)).passphrase!.last_updated_at;
    expect(Date.parse(changed)).toBeGreaterThan(Date.parse(passphrase!.last_updated_at));
    expect(await scenario.refused(client.makePolicyKey(id, PASSPHRASE))).toEqual([403, "wrong_encryption_passphrase"]);
    await client.makePolicyKey(id, wrong);
    await client.changePassphrase(id, {
      mnemonic_sentence: words,
      mnemonic_second_factor: factor,
      new_passphrase: PASSPHRASE,
    });
    await client.makePolicyKey(id, PASSPHRASE);

    await client.delete(id);
    expect(await scenario.refused(client.wallet(id))).toEqual([404, "no_such_wallet"]);
    expect(await scenario.refused(client.delete(id))).toEqual([404, "no_such_wallet"]);
    expect((await client.create({ ...whole, name: "Once more" })).name).toBe("Once more");
    expect(await client.policyKey(id)).toMatch(/^policy_vk1/);
  });

  it("watch without a root key, along with the one that has it, and sign nothing", async () => {
    const words = newMnemonic(18);
    const account = new CslAccount(words);
    const { id } = await scenario.createWallet({ words, coins: [5n * ADA] });
    const watched = await client.create({ name: "Watched", account_public_key: account.publicKey });
    expect([id, watched.id]).toEqual([account.walletId, account.watchedId]);
    expect(watched.passphrase).toBeUndefined();
    await scenario.untilAvailable(watched.id, 5n * ADA);
    expect(await client.addresses(watched.id)).toEqual(await client.addresses(id));
    const { transaction } = await client.construct(watched.id, payment(account.address(0), 1n));
    const keyless = await scenario.refusal(client.sign(watched.id, transaction, PASSPHRASE));
    expect([keyless.status, keyless.code]).toEqual([403, "no_root_key"]);
    expect(keyless.message).toBe(
      `I couldn't find a root private key for the given wallet: ${watched.id}. However, this operation requires that I do have such a key. ` +
        "Either there's no such wallet, or I don't fully own it.",
    );
    expect(await scenario.refused(client.makePolicyKey(watched.id, PASSPHRASE))).toEqual([403, "no_root_key"]);
    expect(
      await scenario.refused(
        client.changePassphrase(watched.id, { old_passphrase: PASSPHRASE, new_passphrase: PASSPHRASE }),
      ),
    ).toEqual([403, "no_root_key"]);
    expect(
      await scenario.refused(client.pay(watched.id, { ...payment(account.address(0), 1n), passphrase: PASSPHRASE })),
    )
      .toEqual([403, "no_root_key"]);
    // the wallet with the key signs what the other built
    const { transaction: signed } = await client.sign(id, transaction, PASSPHRASE);
    const sent = await client.submit(watched.id, signed);
    await scenario.blocks();
    for (const one of [id, watched.id]) await scenario.untilInLedger(one, sent.id);
  });

  it("begin at the first block, at the tip, or after a block", async () => {
    const words = newMnemonic(15);
    const { id } = await scenario.createWallet({ words, coins: [50n * ADA] });
    const between = await scenario.tip();
    const { id: sent } = await scenario.land(id, payment(new CslAccount(words).address(7), 5n));
    const after = await scenario.tip();
    const history = [[sent, "outgoing"], [expect.any(String), "incoming"]];
    const held = await scenario.available(id);
    await scenario.blocks();
    await client.delete(id);

    const restored = async (restoration_mode: unknown, address_pool_gap = 20) => {
      const wallet = await client.create(body(words, { restoration_mode, address_pool_gap }));
      expect(wallet.id).toBe(id);
      // a slot and its height, also before anything is read; the first block has height 0, whatever its slot
      const { absolute_slot_number: slot, height: { quantity: height } } = wallet.tip;
      if (slot >= between.slot) expect(height).toBeGreaterThanOrEqual(between.height);
      else expect(height).toBeLessThanOrEqual(slot);
      await scenario.untilReady(id);
      const found = (await client.transactions(id)).map(({ id, direction }) => [id, direction]);
      const available = await scenario.available(id);
      await client.delete(id);
      return [found, available];
    };
    const block = ({ hash, slot }: typeof after) => ({ block_header_hash: hash, absolute_slot_number: slot });
    expect(await restored("from_genesis")).toEqual([history, held]);
    expect(await restored("from_genesis", 30)).toEqual([history, held]);
    expect(await restored("from_tip")).toEqual([[], 0n]);
    expect(await restored(block(after))).toEqual([[], 0n]);
    // its inputs are from before: only the change is known
    expect(await restored(block(between))).toEqual([[[sent, "incoming"]], held]);
    expect(
      await scenario.refused(
        client.create(
          body(words, { restoration_mode: { block_header_hash: "00".repeat(32), absolute_slot_number: 1 } }),
        ),
      ),
    ).toEqual([404, "unexpected_error"]);
    expect(await scenario.refused(client.wallet(id))).toEqual([404, "no_such_wallet"]);
  });
});
