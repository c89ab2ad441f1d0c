/** API/Shelley/HWWallets.hs */
import { expect } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { Wallet } from "#src/client/wallets.ts";
import { CslAccount } from "../../../support/wallets/cslAccount.ts";
import { flow, type Table } from "../table.ts";
import { noRootKey } from "../words.ts";
import { ADA, lovelace, MIN_UTXO, PASSPHRASE, payment, type World } from "../world.ts";

const NAME = "Wallet from pub key";

/** A wallet of the account of these words, without its root key. */
const watched = (world: World, words: readonly string[] = newMnemonic(15), more: object = {}): Promise<Wallet> =>
  world.ok(201, "POST", "/wallets", { name: NAME, account_public_key: new CslAccount(words).publicKey, ...more });

/** Such a wallet with funds, which another wallet with the root key received. */
const funded = async (world: World): Promise<string> => {
  const { id, words } = await world.walletWith([10n * ADA]);
  await world.ok(204, "DELETE", `/wallets/${id}`);
  const found = await watched(world, words);
  await world.untilAvailable(found.id, 10n * ADA);
  return found.id;
};
const elsewhere = (world: World) => payment(world.elsewhere[0]!, MIN_UTXO);

export const hwWallets: Table = {
  file: "Shelley.HWWallets",
  rows: [
    flow("HW_WALLETS_01", async (world) => {
      const [source, target] = await Promise.all([world.fixtureWallet(), world.emptyWallet()]);
      await world.pay(source.id, [payment(await world.address(target.id, 1), MIN_UTXO)]);
      const balance = { available: lovelace(1_000_000), total: lovelace(1_000_000) };
      expect(await world.untilAvailable(target.id, MIN_UTXO)).toMatchObject({ balance });
      await world.ok(204, "DELETE", `/wallets/${target.id}`);
      const { id } = await watched(world, target.words);
      expect(await world.untilAvailable(id, MIN_UTXO)).toMatchObject({ balance });
    }),
    flow("HW_WALLETS_03", async (world) => {
      const id = await funded(world);
      const body = { payments: [elsewhere(world)], passphrase: PASSPHRASE };
      world.check(await world.call("POST", `/wallets/${id}/transactions`, body), noRootKey(id));
    }),
    flow("HW_WALLETS_03 (2)", async (world) => {
      const { id } = await watched(world);
      const body = { old_passphrase: PASSPHRASE, new_passphrase: "new-wallet-passphrase" };
      world.check(await world.call("PUT", `/wallets/${id}/passphrase`, body), noRootKey(id));
    }),
    flow("HW_WALLETS_04", async (world) => {
      const { id } = await watched(world);
      await world.ok(200, "PUT", `/wallets/${id}`, { name: "new name" });
      expect((await world.wallet(id)).name).toBe("new name");
    }),
    flow("HW_WALLETS_04 (2)", async (world) => {
      await world.ok(202, "POST", `/wallets/${await funded(world)}/payment-fees`, {
        payments: [elsewhere(world)],
      });
    }),
    flow("HW_WALLETS_04 (3)", async (world) => {
      const { id } = await watched(world);
      await world.ok(204, "DELETE", `/wallets/${id}`);
    }),
    flow("HW_WALLETS_04 (4)", async (world) => {
      const { id } = await watched(world);
      const { total, distribution } = await world.ok(200, "GET", `/wallets/${id}/statistics/utxos`);
      expect([total, Object.values(distribution).every((count) => count === 0)]).toEqual([lovelace(0), true]);
    }),
    flow("HW_WALLETS_04 (5)", async (world) => {
      const { id } = await watched(world);
      expect((await world.addresses(id)).map(({ state }) => state)).toEqual(Array.from({ length: 20 }, () => "unused"));
    }),
    flow("HW_WALLETS_04 (6)", async (world) => {
      const { id } = await watched(world, newMnemonic(15), { address_pool_gap: 55 });
      expect((await world.addresses(id)).map(({ state }) => state)).toEqual(Array.from({ length: 55 }, () => "unused"));
    }),
    flow("HW_WALLETS_04 (7)", async (world) => {
      const { id } = await watched(world);
      expect(await world.ok(200, "GET", `/wallets/${id}/transactions`)).toEqual([]);
    }),
    // the real scenario asserts nothing
    flow("HW_WALLETS_04 (8)", async (world) => {
      const id = await funded(world);
      const selection = await world.ok(200, "POST", `/wallets/${id}/coin-selections/random`, {
        payments: [elsewhere(world)],
      });
      expect(selection.inputs).toHaveLength(1);
    }),
    flow("HW_WALLETS_05", async (world) => {
      const { id } = await watched(world);
      expect((await world.wallet(id)).name).toBe(NAME);
    }),
    flow("HW_WALLETS_05 (2)", async (world) => {
      const { id } = await watched(world);
      const all = await world.ok(200, "GET", "/wallets") as Wallet[];
      expect(all.map((one) => one.id)).toContain(id);
    }),
    flow("HW_WALLETS_05 (3)", async (world) => {
      const { id, words } = await world.emptyWallet({ name: "Mnemonic wallet" });
      const other = await watched(world, words);
      expect([(await world.wallet(id)).name, (await world.wallet(other.id)).name]).toEqual(["Mnemonic wallet", NAME]);
    }),
  ],
};
