/** Wallets of Byron: API/Byron/Wallets.hs, Addresses.hs, CoinSelections.hs, HWWallets.hs and Network.hs */
import { expect } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { cases, flow, type Table } from "../table.ts";
import { NAMES, noRootKey, noSuchWallet, WRONG_PASSPHRASE } from "../words.ts";
import { ADA, lovelace, MIN_UTXO, PASSPHRASE, payment, type World } from "../world.ts";
import {
  addressesOf,
  BYRON,
  byron,
  type ByronMade,
  fundedByron,
  multiAssetByron,
  oldKey,
  type Style,
  STYLES,
  watchedByron,
} from "./byronMeans.ts";

const NOTHING = lovelace(0);
const NOT_RANDOM = {
  status: 403,
  code: "invalid_wallet_type",
  message: "I cannot derive new address for this wallet type. Make sure to use Byron random wallet id.",
};
const INDEX = 2_147_483_662;

const remove = (world: World, id: string) => world.ok(204, "DELETE", `/${BYRON}/${id}`);
const listed = async (world: World, ids: readonly string[]) =>
  (await world.ok(200, "GET", `/${BYRON}`) as { id: string; name: string }[]).filter(({ id }) => ids.includes(id));
const shared = (world: World, style: Style) => world.once(`byron ${style}`, () => byron(world, style));
const fixture = (world: World, style: Style) => world.once(`byron funded ${style}`, () => fundedByron(world, style));
/** The same for both kinds of discovery. */
const both = { random: "random", icarus: "icarus" } as const;
const changePassphrase = (world: World, id: string, new_passphrase: string, old_passphrase?: string) =>
  world.call("PUT", `/${BYRON}/${id}/passphrase`, {
    new_passphrase,
    ...(old_passphrase === undefined ? {} : { old_passphrase }),
  });
const newAddress = (world: World, id: string, more: object = {}) =>
  world.call("POST", `/${BYRON}/${id}/addresses`, { passphrase: PASSPHRASE, ...more });

/** A random wallet that does not know its addresses: it was created, asked for them, and restored. */
const forgetful = async (world: World, count: number): Promise<ByronMade & { addresses: readonly string[] }> => {
  const made = await byron(world, "random");
  const addresses: string[] = [];
  for (let i = 0; i < count; i++) addresses.push(world.check(await newAddress(world, made.id), { status: 201 }).id);
  await remove(world, made.id);
  await byron(world, "random", { words: made.words });
  return { ...made, addresses };
};
const importing = (world: World, id: string, address: string) =>
  world.call("PUT", `/${BYRON}/${id}/addresses/${address}`);

const counts: Record<string, readonly [Style, number]> = Object.fromEntries(
  STYLES.flatMap((style) => [12, 15, 18, 21, 24].map((count) => [`${style} ${count} words`, [style, count]] as const)),
);
const passphrases = { "10 characters": "ź".repeat(10), "255 characters": "ą".repeat(255), ...NAMES };

export const byronWallets: Table = {
  file: "Byron.Wallets",
  rows: [
    flow("BYRON_GET_04, DELETE_01", async (world) => {
      const { id } = await byron(world, "random");
      await remove(world, id);
      world.check(await world.call("GET", `/${BYRON}/${id}`), noSuchWallet(id));
    }),
    ...(["BYRON_LIST_01", "BYRON_LIST_01 (2)"] as const).map((id, interleaved) =>
      flow(id, async (world) => {
        const names = ["b1", "b2", "b3"];
        const ids: string[] = [];
        for (const [i, name] of names.entries()) {
          const style = interleaved && i % 2 === 0 ? "icarus" : "random";
          ids.push((await byron(world, style, { name })).id);
        }
        expect((await listed(world, ids)).map(({ name }) => name)).toEqual(names);
      })
    ),
    ...cases("BYRON_RESTORE_01, GET_01, LIST_01", counts, async (world, [style, count]) => {
      const name = "Empty Byron Wallet";
      const { id, wallet } = await byron(world, style, { name, words: newMnemonic(count as 12) });
      const expected = {
        name,
        balance: { available: NOTHING, total: NOTHING },
        discovery: style === "random" ? "random" : "sequential",
      };
      expect(wallet).toMatchObject({ ...expected, passphrase: { last_updated_at: expect.any(String) } });
      await world.untilAvailable(id, 0n, BYRON);
      expect(await listed(world, [id])).toMatchObject([{ ...expected, state: { status: "ready" } }]);
    }),
    ...cases(
      "BYRON_RESTORE_01, GET_01, LIST_01",
      Object.fromEntries(STYLES.map((style) => [`${style} 9 words`, style])),
      async (world, style) => {
        const body = { name: "Byron", style, mnemonic_sentence: newMnemonic(9), passphrase: PASSPHRASE };
        world.check(await world.call("POST", `/${BYRON}`, body), { status: 400, message: "Invalid number of words:" });
      },
    ),
    flow("BYRON_RESTORE_02", async (world) => {
      const { id, words } = await byron(world, "random");
      await remove(world, id);
      const again = await byron(world, "random", { words, name: "Byron Wallet2", passphrase: "Secure Pa33phrase" });
      expect(again.id).toBe(id);
    }),
    flow("BYRON_RESTORE_03", async (world) => {
      const { id, words } = await byron(world, "random");
      const body = { name: "Byron", style: "random", mnemonic_sentence: words, passphrase: PASSPHRASE };
      world.check(await world.call("POST", `/${BYRON}`, body), {
        status: 409,
        code: "wallet_already_exists",
        message: `This operation would yield a wallet with the following id: ${id} However, I already know of a ` +
          "wallet with this id.",
      });
    }),
    ...cases("BYRON_RESTORE_06", passphrases, async (world, passphrase) => {
      await byron(world, "random", { passphrase });
    }),
    ...cases("BYRON_UPDATE_NAME_01", both, async (world, style) => {
      const { id, wallet } = await byron(world, style, { name: `${style} wallet` });
      expect(wallet.name).toBe(`${style} wallet`);
      expect(await world.ok(200, "PUT", `/${BYRON}/${id}`, { name: "new wallet 1" })).toMatchObject({
        name: "new wallet 1",
      });
    }),
    flow("BYRON_UPDATE_NAME_02", async (world) => {
      const { id, name } = await oldKey(world, PASSPHRASE);
      expect(name).toBe("Old Wallet");
      expect(await world.ok(200, "PUT", `/${BYRON}/${id}`, { name: "new wallet 1" })).toMatchObject({
        name: "new wallet 1",
      });
    }),
    ...cases("BYRON_UTXO_01", both, async (world, style) => {
      const found = await world.ok(200, "GET", `/${BYRON}/${(await shared(world, style)).id}/statistics/utxos`);
      expect(found.total).toEqual(NOTHING);
      expect(Object.values(found.distribution).every((count) => count === 0)).toBe(true);
    }),
    ...cases("BYRON_WALLET_UTXO_SNAPSHOT_01", both, async (world, style) => {
      const { id } = await shared(world, style);
      expect(await world.ok(200, "GET", `/${BYRON}/${id}/utxo`)).toEqual({ entries: [] });
    }),
    ...cases("BYRON_WALLET_UTXO_SNAPSHOT_02", both, async (world, style) => {
      const { id } = await fixture(world, style);
      expect((await world.ok(200, "GET", `/${BYRON}/${id}/utxo`)).entries).toHaveLength(10);
    }),
    ...cases("BYRON_WALLET_UTXO_SNAPSHOT_03", both, async (world, style) => {
      const { id } = await world.once(`byron assets ${style}`, () => multiAssetByron(world, style));
      const { entries } = await world.ok(200, "GET", `/${BYRON}/${id}/utxo`);
      expect(entries.filter(({ assets }: { assets: unknown[] }) => assets.length > 0)).toHaveLength(2);
    }),
    ...cases("BYRON_UPDATE_PASS_01", both, async (world, style) => {
      const { id, wallet } = await byron(world, style);
      expect(wallet.passphrase).toBeDefined();
      world.check(await changePassphrase(world, id, "New Secure Passphrase", PASSPHRASE), { status: 204 });
    }),
    ...cases("BYRON_UPDATE_PASS_02", both, async (world, style) => {
      const { id } = await shared(world, style);
      world.check(await changePassphrase(world, id, "whatever-pass", "incorrect-passphrase"), WRONG_PASSPHRASE);
    }),
    flow("BYRON_UPDATE_PASS_03", async (world) => {
      const { id, passphrase } = await oldKey(world, "");
      expect(passphrase).toBeUndefined();
      world.check(await changePassphrase(world, id, "correct-password"), { status: 204 });
    }),
    flow("BYRON_UPDATE_PASS_04a", async (world) => {
      const { id, passphrase } = await oldKey(world, "");
      expect(passphrase).toBeUndefined();
      world.check(await changePassphrase(world, id, "correct-password", ""), { status: 204 });
    }),
    flow("BYRON_UPDATE_PASS_04b", async (world) => {
      const body = {
        name: "Random Wallet",
        style: "random",
        encrypted_root_private_key:
          "38e8de9c583441213fe34eecc4e28265267466877ba4048e3ab1fa9956366947aefaf5ba9779db67eead7fc9cd1354b994a5d8d9cd40ab87" +
          "4bfeb1b33649280cd33651377731e0e59e0233425a55257782c5adaa768da0567f43c1c6c0c18766ed0a547bb34eb472c120b170a8640279" +
          "832ddf18002887f03c15dea59705422d",
        passphrase_hash:
          "31347c387c317c574342652b796362417576356c2b4258676a344a314c6343675375414c2f5653393661364e576a2b7550766655513d3d7c" +
          "6f784636654939734151444e6f38395147747366324e653937426338372b484b6b4137756772752f5970673d",
      };
      const { id } = await world.ok(201, "POST", `/${BYRON}`, body);
      world.check(await changePassphrase(world, id, "correct-password", ""), { status: 204 });
    }),
    flow("BYRON_UPDATE_PASS_07", async (world) => {
      const { id, passphrase } = await oldKey(world, "cos");
      expect(passphrase).toBeDefined();
      world.check(await changePassphrase(world, id, "correct-password", "cos"), { status: 204 });
    }),
  ],
};

const states = (addresses: readonly { state: string }[]) => [...new Set(addresses.map(({ state }) => state))];
const twice = (id: string, run: (world: World, style: Style) => Promise<unknown>) => [
  flow(id, (world) => run(world, "random")),
  flow(`${id} (2)`, (world) => run(world, "icarus")),
];

export const byronAddresses: Table = {
  file: "Byron.Addresses",
  rows: [
    ...twice("ADDRESS_LIST_01", async (world, style) => {
      const { id } = await byron(world, style);
      if (style === "random") world.check(await newAddress(world, id), { status: 201 });
      const addresses = await world.addresses(id, BYRON);
      expect(states(addresses)).toEqual(["unused"]);
      for (const { derivation_path: path } of addresses) {
        if (style === "icarus") expect(path.slice(0, 4)).toEqual(["44H", "1815H", "0H", "0"]);
        else expect([path.length, ...path.map((part) => part.at(-1))]).toEqual([2, "H", "H"]);
      }
      expect(addresses).toHaveLength(style === "icarus" ? 20 : 1);
    }),
    ...(["Random", "Icarus"] as const).map((label) =>
      flow(`ADDRESS_LIST_02 (${label})`, async (world) => {
        const { id } = await fixture(world, label.toLowerCase() as Style);
        const used = await world.ok(200, "GET", `/${BYRON}/${id}/addresses?state=used`);
        expect([used.length, states(used)]).toEqual([10, ["used"]]);
        const unused = await world.ok(200, "GET", `/${BYRON}/${id}/addresses?state=unused`);
        expect(states(unused)).toEqual(label === "Icarus" ? ["unused"] : []);
      })
    ),
    ...twice("ADDRESS_LIST_04", async (world, style) => {
      const { id } = await byron(world, style);
      await remove(world, id);
      world.check(await world.call("GET", `/${BYRON}/${id}/addresses`), noSuchWallet(id));
    }),
    flow("ADDRESS_CREATE_01", async (world) => {
      const { id } = await byron(world, "random");
      world.check(await newAddress(world, id), { status: 201, body: { state: "unused" } });
    }),
    flow("ADDRESS_CREATE_02", async (world) => {
      world.check(await newAddress(world, (await shared(world, "icarus")).id), NOT_RANDOM);
    }),
    flow("ADDRESS_CREATE_03", async (world) => {
      const { id } = await shared(world, "random");
      world.check(await newAddress(world, id, { passphrase: "Give me all your money." }), WRONG_PASSPHRASE);
    }),
    flow("ADDRESS_CREATE_04", async (world) => {
      const { id } = await byron(world, "random");
      const made = world.check(await newAddress(world, id), { status: 201 });
      expect(await world.addresses(id, BYRON)).toEqual([made]);
    }),
    flow("ADDRESS_CREATE_05", async (world) => {
      const { id } = await byron(world, "random");
      world.check(await newAddress(world, id, { address_index: INDEX }), { status: 201, body: { state: "unused" } });
    }),
    flow("ADDRESS_CREATE_06", async (world) => {
      const { id } = await byron(world, "random");
      world.check(await newAddress(world, id, { address_index: INDEX }), { status: 201 });
      world.check(await newAddress(world, id, { address_index: INDEX }), {
        status: 409,
        code: "address_already_exists",
        message: "I already know of such address.",
      });
    }),
    flow("ADDRESS_IMPORT_01", async (world) => {
      const { id, addresses: [address] } = await forgetful(world, 1);
      world.check(await importing(world, id, address!), { status: 204 });
      expect(await world.addresses(id, BYRON)).toMatchObject([{ id: address, state: "unused" }]);
    }),
    flow("ADDRESS_IMPORT_02", async (world) => {
      const { id } = await shared(world, "icarus");
      world.check(await importing(world, id, await world.address(id, 0, BYRON)), NOT_RANDOM);
    }),
    flow("ADDRESS_IMPORT_03", async (world) => {
      const { id, addresses: [address] } = await forgetful(world, 1);
      for (let i = 0; i < 2; i++) world.check(await importing(world, id, address!), { status: 204 });
    }),
    flow("ADDRESS_IMPORT_04", async (world) => {
      const { id } = await fixture(world, "random");
      const used = await world.ok(200, "GET", `/${BYRON}/${id}/addresses?state=used`);
      world.check(await importing(world, id, used[0].id), { status: 204 });
      expect(await world.ok(200, "GET", `/${BYRON}/${id}/addresses?state=used`)).toEqual(used);
    }),
    flow("ADDRESS_IMPORT_05", async (world) => {
      const { id, words } = await byron(world, "random");
      const addresses = addressesOf(words, 15_000);
      await world.ok(204, "PUT", `/${BYRON}/${id}/addresses`, { addresses });
      await world.eventually("all are imported", async () => {
        expect(await world.addresses(id, BYRON)).toHaveLength(15_000);
      });
    }),
    flow("ADDRESS_IMPORT_06", async (world) => {
      const { id } = await shared(world, "random");
      const [address] = addressesOf(newMnemonic(12), 1);
      world.check(await importing(world, id, address!), {
        status: 403,
        code: "key_not_found_for_address",
        message: "I couldn't identify this address as one of mine. It likely belongs to another wallet and I will " +
          "therefore not import it.",
      });
    }),
  ],
};

const select = (world: World, id: string, payments: readonly unknown[]) =>
  world.call("POST", `/${BYRON}/${id}/coin-selections/random`, { payments });
const several = (world: World, count: number) =>
  world.elsewhere.slice(0, count).map((address, i) => payment(address, MIN_UTXO + BigInt(i)));
const key = (output: { address: string; amount: { quantity: number | bigint } }) =>
  `${output.address} ${output.amount.quantity}`;

export const byronSelections: Table = {
  file: "Byron.CoinSelections",
  rows: [
    ...([["BYRON_COIN_SELECTION_01", 1], ["BYRON_COIN_SELECTION_02", 10]] as const).map(([id, count]) =>
      flow(id, async (world) => {
        const payments = several(world, count);
        const found = world.check(await select(world, (await fixture(world, "icarus")).id, payments), { status: 200 });
        expect(found.inputs.length * found.change.length).toBeGreaterThan(0);
        for (const { derivation_path: path } of [...found.inputs, ...found.change]) {
          expect([path.length, ...path.slice(0, 3)]).toEqual([5, "44H", "1815H", "0H"]);
        }
        expect(found.outputs.map(key).sort()).toEqual(payments.map(key).sort());
      })
    ),
    flow("BYRON_COIN_SELECTION_03", async (world) => {
      const { id } = await byron(world, "icarus");
      await remove(world, id);
      world.check(await select(world, id, several(world, 1)), noSuchWallet(id));
    }),
  ],
};

/** A wallet that has only the public key of an account with funds. */
const watchedFunds = (world: World) =>
  world.once("byron watched", async () => {
    const { id, words } = await fundedByron(world, "icarus");
    await remove(world, id);
    const watched = await watchedByron(world, words);
    await world.untilAvailable(watched.id, 100_000n * ADA, BYRON);
    return watched as { id: string };
  });
const watchedEmpty = (world: World) =>
  world.once("byron watched empty", async () => await watchedByron(world) as { id: string; name: string });

export const byronHwWallets: Table = {
  file: "Byron.HWWallets",
  rows: [
    flow("HW_WALLETS_01", async (world) => {
      const { id, words } = await byron(world, "icarus", { words: newMnemonic(15) });
      const source = await world.fixtureWallet();
      await world.pay(source.id, [payment(await world.address(id, 0, BYRON), MIN_UTXO)]);
      await world.untilAvailable(id, MIN_UTXO, BYRON);
      await remove(world, id);
      const watched = await watchedByron(world, words);
      expect(await world.untilAvailable(watched.id, MIN_UTXO, BYRON)).toMatchObject({
        balance: { total: lovelace(1_000_000) },
      });
    }),
    flow("HW_WALLETS_03", async (world) => {
      const { id } = await watchedFunds(world);
      const body = { payments: [payment(await world.address(id, 0, BYRON), MIN_UTXO)], passphrase: PASSPHRASE };
      world.check(await world.call("POST", `/${BYRON}/${id}/transactions`, body), noRootKey(id));
    }),
    flow("HW_WALLETS_03 (2)", async (world) => {
      const { id } = await watchedEmpty(world);
      world.check(await changePassphrase(world, id, "new-wallet-passphrase", PASSPHRASE), noRootKey(id));
    }),
    flow("HW_WALLETS_04", async (world) => {
      const { id } = await watchedByron(world);
      await world.ok(200, "PUT", `/${BYRON}/${id}`, { name: "new name" });
      expect(await world.ok(200, "GET", `/${BYRON}/${id}`)).toMatchObject({ name: "new name" });
    }),
    flow("HW_WALLETS_04 (2)", async (world) => {
      const { id } = await watchedFunds(world);
      const payments = [payment(await world.address(id, 0, BYRON), MIN_UTXO)];
      await world.ok(202, "POST", `/${BYRON}/${id}/payment-fees`, { payments });
    }),
    flow("HW_WALLETS_04 (3)", async (world) => {
      await remove(world, (await watchedByron(world)).id);
    }),
    flow("HW_WALLETS_04 (4)", async (world) => {
      const { id } = await watchedEmpty(world);
      expect(await world.ok(200, "GET", `/${BYRON}/${id}/statistics/utxos`)).toMatchObject({ total: NOTHING });
    }),
    flow("HW_WALLETS_04 (5)", async (world) => {
      const addresses = await world.addresses((await watchedEmpty(world)).id, BYRON);
      expect([addresses.length, states(addresses)]).toEqual([20, ["unused"]]);
    }),
    flow("HW_WALLETS_04 (6)", async (world) => {
      const { id } = await watchedByron(world, undefined, { address_pool_gap: 55 });
      const addresses = await world.addresses(id, BYRON);
      expect([addresses.length, states(addresses)]).toEqual([55, ["unused"]]);
    }),
    flow("HW_WALLETS_04 (7)", async (world) => {
      expect(await world.ok(200, "GET", `/${BYRON}/${(await watchedEmpty(world)).id}/transactions`)).toEqual([]);
    }),
    flow("HW_WALLETS_04 (8)", async (world) => {
      const { id } = await watchedFunds(world);
      const payments = (await world.addresses(id, BYRON)).slice(0, 4)
        .map((one, i) => payment(one.id, MIN_UTXO + BigInt(i)));
      const found = world.check(await select(world, id, payments), { status: 200 });
      expect(found.inputs.length * found.change.length).toBeGreaterThan(0);
      expect(found.outputs.map(key).sort()).toEqual(payments.map(key).sort());
    }),
    flow("HW_WALLETS_05", async (world) => {
      const { id, name } = await watchedEmpty(world);
      expect(await world.ok(200, "GET", `/${BYRON}/${id}`)).toMatchObject({ name });
    }),
    flow("HW_WALLETS_05 (2)", async (world) => {
      const { id, name } = await watchedEmpty(world);
      expect(await listed(world, [id])).toMatchObject([{ name }]);
    }),
    flow("HW_WALLETS_05 (3)", async (world) => {
      const words = newMnemonic(15);
      const ids = [(await byron(world, "icarus", { words })).id, (await watchedByron(world, words)).id];
      expect(new Set(ids).size).toBe(2);
      expect(await listed(world, ids)).toHaveLength(2);
    }),
  ],
};
