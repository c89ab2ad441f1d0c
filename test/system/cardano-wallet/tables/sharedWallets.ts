/** API/Shared/Wallets.hs and API/Shared/Addresses.hs */
import { expect } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { cases, flow, row, type Table } from "../table.ts";
import { headerAnswer, HEADERS_WITHOUT_BODY, noSuchWallet } from "../words.ts";
import { ADA, lovelace, MIN_UTXO, PASSPHRASE, payment, type World } from "../world.ts";
import { accountKey, create, DELEGATION, fromKey, fromWords, funded, newKey, ONE, TWO } from "./sharedKeys.ts";

const PREFIX = "shared-wallets";
const NOTHING = lovelace(0);
/** A new wallet that has all keys. */
const ACTIVE = {
  name: "Shared Wallet",
  address_pool_gap: 20,
  balance: { available: NOTHING, total: NOTHING, reward: NOTHING },
  assets: { available: [], total: [] },
  delegation: { active: { status: "not_delegating" }, next: [] },
};
const INCOMPLETE = { name: "Shared Wallet", address_pool_gap: 20, state: { status: "incomplete" } };
const INVALID = "It looks like you've tried to create a shared wallet with a template script for payment credential " +
  "that does not pass validation. The problem is: ";

const newFactor = () => ({ words: newMnemonic(15), factor: newMnemonic(12) });
const remove = (world: World, id: string) => world.ok(204, "DELETE", `/${PREFIX}/${id}`);
const patch = (world: World, id: string, type: "payment" | "delegation", keys: Record<string, string>) =>
  world.call("PATCH", `/${PREFIX}/${id}/${type}-script-template`, keys);
const refused = (code: string, message?: string) => ({ status: 403, code, ...(message ? { message } : {}) });
const invalid = (id: string, keys: (key: string) => Record<string, string>, script: unknown, problem: string) =>
  row(id, () => {
    const key = newKey();
    return ["POST", "/shared-wallets", fromKey(key, { keys: keys(key), script, account: "10H" })];
  }, refused("shared_wallet_script_template_invalid", INVALID + problem));
const own = (key: string) => ({ "cosigner#0": key });
const unused = async (world: World, id: string) => {
  const addresses = await world.addresses(id, PREFIX);
  expect(addresses.map(({ state }) => state)).toEqual(Array(20).fill("unused"));
};
const twins = (id: string, body: (cosigner: (key: string) => string) => unknown) =>
  flow(id, async (world) => {
    const first = await create(world, body((key) => key));
    await remove(world, first.id);
    const again = await create(world, body(() => "self"));
    expect(again.id).toBe(first.id);
    await unused(world, again.id);
  });
const keyOf = (world: World, id: string, role: string, index: number, query = ""): Promise<string> =>
  world.ok(200, "GET", `/${PREFIX}/${id}/keys/${role}/${index}${query}`);
const empty = (world: World) => world.once("shared", () => create(world, fromKey(newKey())));
const fundedOnce = (world: World) => world.once("shared funded", () => funded(world, [100n * ADA]));
const listed = async (world: World, ids: readonly string[]) =>
  (await world.ok(200, "GET", `/${PREFIX}`) as { id: string; name: string }[]).filter(({ id }) => ids.includes(id));
const filled = (distribution: Record<string, number>) =>
  Object.fromEntries(Object.entries(distribution).filter(([, count]) => count > 0));

export const sharedWallets: Table = {
  file: "Shared.Wallets",
  rows: [
    flow("SHARED_WALLETS_CREATE_01", async (world) => {
      const { words, factor } = newFactor();
      const shown = await create(world, fromWords({ words, factor, keys: own(accountKey(words, factor)) }));
      expect(shown).toMatchObject({ ...ACTIVE, account_index: "30H", passphrase: expect.anything() });
      expect(shown.delegation_script_template).toBeUndefined();
    }),
    flow("SHARED_WALLETS_CREATE_01 (2)", async (world) => {
      const { words, factor } = newFactor();
      const key = accountKey(words, factor);
      const { id } = await create(world, fromWords({ words, factor, keys: own(key) }));
      const posted = await world.ok(202, "POST", `/${PREFIX}/${id}/keys/30H`, {
        passphrase: PASSPHRASE,
        format: "extended",
      });
      const read = await world.ok(200, "GET", `/${PREFIX}/${id}/keys?format=extended`);
      expect([posted, read]).toEqual([key, key]);
      await remove(world, id);
      const other = await create(world, fromKey(newKey()));
      const same = await create(world, fromKey(key));
      const otherScript = await create(world, fromKey(key, { script: { all: ["cosigner#0", { active_from: 100 }] } }));
      expect([other.id === id, same.id === id, otherScript.id === id]).toEqual([false, true, false]);
    }),
    flow("SHARED_WALLETS_CREATE_01 (3)", async (world) => {
      const words = "rib kiwi begin other second pool raise prosper inspire forum keep stereo option ride region"
        .split(" ");
      const { id } = await create(world, fromWords({ words, account: "0H", script: { all: ["cosigner#0"] } }));
      expect(id).toBe("654a69cd246ab08aeb4d44837ff5d5ceddfbce20");
    }),
    flow("SHARED_WALLETS_CREATE_02", async (world) => {
      const { words, factor } = newFactor();
      const key = accountKey(words, factor);
      const shown = await create(world, fromWords({ words, factor, keys: own(key), script: TWO }));
      expect(shown).toMatchObject({ ...INCOMPLETE, account_index: "30H" });
      expect(shown.delegation_script_template).toBeUndefined();
      const posted = await world.ok(202, "POST", `/${PREFIX}/${shown.id}/keys/30H`, {
        passphrase: PASSPHRASE,
        format: "extended",
      });
      expect(posted).toBe(key);
    }),
    flow("SHARED_WALLETS_CREATE_03", async (world) => {
      const key = newKey();
      const shown = await create(world, fromKey(key, { account: "10H" }));
      expect(shown).toMatchObject({ ...ACTIVE, account_index: "10H" });
      expect([shown.passphrase, shown.delegation_script_template]).toEqual([undefined, undefined]);
      expect(await world.ok(200, "GET", `/${PREFIX}/${shown.id}/keys?format=extended`)).toBe(key);
    }),
    flow("SHARED_WALLETS_CREATE_04", async (world) => {
      const shown = await create(world, fromKey(newKey(), { account: "10H", script: TWO }));
      expect(shown).toMatchObject({ ...INCOMPLETE, account_index: "10H" });
      expect(shown.delegation_script_template).toBeUndefined();
    }),
    ...((): ReturnType<typeof twins>[] => {
      const { words, factor } = newFactor();
      const key = newKey();
      return [
        twins(
          "SHARED_WALLETS_CREATE_05",
          (cosigner) => fromWords({ words, factor, keys: own(cosigner(accountKey(words, factor))) }),
        ),
        twins("SHARED_WALLETS_CREATE_06", (cosigner) => fromKey(key, { keys: own(cosigner(key)), account: "10H" })),
      ];
    })(),
    invalid(
      "SHARED_WALLETS_CREATE_07",
      own,
      { all: [{ active_from: 120 }] },
      "The list inside a script is empty or only contains timelocks (which is not recommended).",
    ),
    invalid(
      "SHARED_WALLETS_CREATE_08",
      (key) => ({ "cosigner#1": key }),
      ONE,
      "The specified cosigner must be present in the script of the template.",
    ),
    invalid(
      "SHARED_WALLETS_CREATE_09",
      (key) => ({ "cosigner#0": key, "cosigner#1": key }),
      TWO,
      "The cosigners in a script template must stand behind an unique extended public key.",
    ),
    invalid(
      "SHARED_WALLETS_CREATE_10",
      own,
      { all: ["cosigner#0", { active_from: 120 }, "cosigner#0"] },
      "The list inside a script has duplicate keys (which is not recommended).",
    ),
    row("SHARED_WALLETS_CREATE_11", () => [
      "POST",
      "/shared-wallets",
      fromKey(newKey(), {
        account: "10H",
        script: { all: ["cosigner#0", { active_from: 120 }, "cosigner#0"] },
        more: { script_validation: "required" },
      }),
    ], { status: 201 }),
    invalid(
      "SHARED_WALLETS_CREATE_12",
      own,
      { all: ["cosigner#0", { active_from: 120 }, { active_until: 110 }] },
      "The timelocks used are contradictory when used with 'all' (which is not recommended).",
    ),
    row(
      "SHARED_WALLETS_CREATE_13",
      () => ["POST", "/shared-wallets", fromKey(newKey(), { account: "30", script: TWO })],
      refused(
        "hardened_derivation_required",
        "It looks like you've provided a derivation index that is out of bound. The index is well-formed, but I require " +
          "indexes valid for hardened derivation only. That is, indexes between 0H and 2147483647H.",
      ),
    ),
    flow("SHARED_WALLETS_CREATE_14", async (world) => {
      const one = await create(
        world,
        fromWords({ script: { all: ["cosigner#0"] }, more: { one_change_address_mode: true } }),
      );
      const counts = async (id: string) => {
        const all = await world.addresses(id, PREFIX);
        return [all.length, all.filter(({ state }) => state === "used").length];
      };
      expect(await counts(one.id)).toEqual([20, 0]);
      const target = await world.address(one.id, 0, PREFIX);
      await world.bank.pay([1, 2, 3].map(() => ({ address: target, lovelace: 20n * ADA })));
      await world.untilAvailable(one.id, 60n * ADA, PREFIX);
      expect(await counts(one.id)).toEqual([21, 1]);
      const elsewhere = world.elsewhere[0]!;
      const spend = async (times: number) => {
        for (let i = 0; i < times; i++) {
          const { id } = await world.send(one.id, { payments: [payment(elsewhere, MIN_UTXO)] }, PREFIX);
          await world.untilInLedger(one.id, id, PREFIX);
        }
      };
      await spend(3);
      expect(await counts(one.id)).toEqual([22, 2]);
      const changed = await world.ok(200, "PUT", `/${PREFIX}/${one.id}`, { one_change_address_mode: false });
      expect(changed).toMatchObject({ id: one.id, address_pool_gap: 20, one_change_address_mode: false });
      await spend(2);
      expect(await counts(one.id)).toEqual([24, 4]);
    }),
    flow("SHARED_WALLETS_DELETE_01", async (world) => {
      const { id } = await create(world, fromKey(newKey()));
      await world.untilAvailable(id, 0n, PREFIX);
      await remove(world, id);
    }),
    flow("SHARED_WALLETS_PATCH_01", async (world) => {
      const [first, second] = [newKey(), newKey()];
      const { id, payment_script_template: before } = await create(world, fromKey(first, { script: TWO }));
      expect(before.cosigners).toEqual({ "cosigner#0": first });
      expect(await world.addresses(id, PREFIX)).toEqual([]);
      const whole = world.check(await patch(world, id, "payment", { "cosigner#1": second }), { status: 200 });
      expect(whole.payment_script_template.cosigners).toEqual({ "cosigner#0": first, "cosigner#1": second });
      await unused(world, id);
    }),
    flow("SHARED_WALLETS_PATCH_02", async (world) => {
      const [first, second] = [newKey(), newKey()];
      const delegation_script_template = { cosigners: own(first), template: DELEGATION };
      const made = await create(world, fromKey(first, { more: { delegation_script_template } }));
      expect([made.payment_script_template.cosigners, made.delegation_script_template.cosigners]).toEqual([
        own(first),
        own(first),
      ]);
      const whole = world.check(await patch(world, made.id, "delegation", { "cosigner#1": second }), { status: 200 });
      expect(whole.delegation_script_template.cosigners).toEqual({ "cosigner#0": first, "cosigner#1": second });
      expect(whole.state.status).not.toBe("incomplete");
    }),
    flow("SHARED_WALLETS_PATCH_03", async (world) => {
      const { id } = await empty(world);
      world.check(await patch(world, id, "payment", { "cosigner#1": newKey() }), refused("shared_wallet_active"));
    }),
    flow("SHARED_WALLETS_PATCH_04", async (world) => {
      const { id } = await create(world, fromKey(newKey(), { script: TWO }));
      world.check(
        await patch(world, id, "delegation", { "cosigner#1": newKey() }),
        refused("shared_wallet_no_delegation_template"),
      );
    }),
    row(
      "SHARED_WALLETS_PATCH_05",
      () => ["POST", "/shared-wallets", fromKey(newKey(), { keys: own(newKey()), script: TWO })],
      refused(
        "shared_wallet_script_template_invalid",
        INVALID + "The wallet's account key must be always present for the script template.",
      ),
    ),
    flow("SHARED_WALLETS_PATCH_06", async (world) => {
      const [first, second] = [newKey(), newKey()];
      const delegation_script_template = { cosigners: own(first), template: DELEGATION };
      const { id } = await create(world, fromKey(first, { script: TWO, more: { delegation_script_template } }));
      world.check(await patch(world, id, "delegation", { "cosigner#1": second }), { status: 200 });
      world.check(await patch(world, id, "payment", own(first)), refused("shared_wallet_cannot_update_key"));
      const present = (type: string) =>
        refused(
          "shared_wallet_key_already_exists",
          `It looks like you've tried to add a cosigner key to a shared wallet's ${type} template that is already ` +
            "ascribed to another cosigner. Please make sure to assign a different key to each cosigner.",
        );
      world.check(await patch(world, id, "payment", { "cosigner#1": first }), present("payment"));
      world.check(await patch(world, id, "delegation", { "cosigner#1": second }), present("delegation"));
      world.check(await patch(world, id, "payment", { "cosigner#7": first }), {
        ...refused("shared_wallet_no_such_cosigner"),
        body: { info: { cosigner_index: 7, credential_type: "payment" } },
      });
    }),
    flow("SHARED_WALLETS_PATCH_07", async (world) => {
      const { id } = await create(world, fromKey(newKey(), { script: TWO }));
      world.check(await patch(world, id, "payment", own(newKey())), refused("shared_wallet_cannot_update_key"));
    }),
    flow("SHARED_WALLETS_KEYS_01", async (world) => {
      const { id } = await empty(world);
      expect(await keyOf(world, id, "utxo_external", 30)).toMatch(/^addr_shared_vk1/);
      expect(await keyOf(world, id, "mutable_account", 0)).toMatch(/^stake_shared_vk1/);
    }),
    flow("SHARED_WALLETS_KEYS_02", async (world) => {
      const { id } = await create(world, fromKey(newKey(), { account: "10H", script: TWO }));
      for (const [role, index, name] of [["utxo_external", 10, "addr"], ["mutable_account", 0, "stake"]] as const) {
        const key = await keyOf(world, id, role, index);
        expect(key).toMatch(new RegExp(`^${name}_shared_vk1`));
        expect(await keyOf(world, id, role, index, "?hash=false")).toBe(key);
        expect(await keyOf(world, id, role, index, "?hash=true")).toMatch(new RegExp(`^${name}_shared_vkh1`));
      }
    }),
    flow("SHARED_WALLETS_LIST_01", async (world) => {
      const { id } = await empty(world);
      const found = await listed(world, [id]);
      expect(found).toMatchObject([{ ...ACTIVE, account_index: "30H" }]);
      expect(found[0]).not.toHaveProperty("delegation_script_template");
    }),
    flow("SHARED_WALLETS_LIST_01 (2)", async (world) => {
      const ids: string[] = [];
      for (const name of ["1", "2", "3"]) ids.push((await create(world, { ...fromKey(newKey()), name })).id);
      expect((await listed(world, ids)).map(({ name }) => name)).toEqual(["1", "2", "3"]);
    }),
    flow("SHARED_WALLETS_LIST_02", async (world) => {
      const { id } = await create(world, fromKey(newKey()));
      await remove(world, id);
      expect(await listed(world, [id])).toEqual([]);
    }),
    flow("SHARED_WALLETS_DISCOVER_01", async (world) => {
      const { id } = await create(world, fromKey(newKey(), { account: "10H", script: { all: ["cosigner#0"] } }));
      const address = await world.address(id, 1, PREFIX);
      const source = await world.fixtureWallet();
      const payments = [payment(address, MIN_UTXO)];
      const fees = await world.ok(202, "POST", `/wallets/${source.id}/payment-fees`, { payments });
      const { fee } = await world.pay(source.id, payments);
      const [least, most, paid] = [fees.estimated_min, fees.estimated_max, fee].map(({ quantity }) => BigInt(quantity));
      expect(paid! >= least! && paid! <= most!).toBe(true);
      await world.untilAvailable(source.id, 100_000n * ADA - paid! - MIN_UTXO);
      await world.untilAvailable(id, MIN_UTXO, PREFIX);
    }),
    flow("SHARED_WALLETS_UTXO_01", async (world) => {
      const found = await world.ok(200, "GET", `/${PREFIX}/${(await empty(world)).id}/statistics/utxos`);
      expect([found.total, filled(found.distribution)]).toEqual([NOTHING, {}]);
    }),
    flow("SHARED_WALLETS_UTXO_02", async (world) => {
      const coins = [13n, 43n, 66n, 101n, 1_339n].map((ada) => ada * ADA);
      const { id } = await funded(world, coins);
      const found = await world.ok(200, "GET", `/${PREFIX}/${id}/statistics/utxos`);
      expect(found.total).toEqual(lovelace(1_562_000_000));
      expect(filled(found.distribution)).toEqual({ "100000000": 3, "1000000000": 1, "10000000000": 1 });
    }),
    flow("SHARED_WALLETS_UTXO_03", async (world) => {
      const { id } = await create(world, fromKey(newKey()));
      await remove(world, id);
      world.check(await world.call("GET", `/${PREFIX}/${id}/statistics/utxos`), noSuchWallet(id));
    }),
    ...cases("SHARED_WALLETS_UTXO_04", HEADERS_WITHOUT_BODY, async (world, [headers, status]) => {
      const path = `/${PREFIX}/${(await empty(world)).id}/statistics/utxos`;
      world.check(await world.call("GET", path, undefined, headers), headerAnswer(status, 200));
    }),
    flow("SHARED_WALLETS_UTXO_SNAPSHOT_01", async (world) => {
      expect(await world.ok(200, "GET", `/${PREFIX}/${(await empty(world)).id}/utxo`)).toEqual({ entries: [] });
    }),
    flow("SHARED_WALLETS_UTXO_SNAPSHOT_02", async (world) => {
      const { id } = await fundedOnce(world);
      const { entries } = await world.ok(200, "GET", `/${PREFIX}/${id}/utxo`);
      expect(entries).toMatchObject([{ ada: lovelace(100_000_000), assets: [] }]);
    }),
  ],
};

export const sharedAddresses: Table = {
  file: "Shared.Addresses",
  rows: [
    flow("SHARED_ADDRESSES_LIST_01", async (world) => {
      const { id } = await create(world, fromKey(newKey(), { account: "0H" }));
      const addresses = await world.addresses(id, PREFIX);
      expect(addresses.map(({ state, derivation_path }) => [state, ...derivation_path])).toEqual(
        Array.from({ length: 20 }, (_, i) => ["unused", "1854H", "1815H", "0H", "0", String(i)]),
      );
    }),
    flow("SHARED_ADDRESSES_LIST_02", async (world) => {
      const { id } = await create(world, fromKey(newKey(), { account: "10H", script: TWO }));
      expect(await world.addresses(id, PREFIX)).toEqual([]);
    }),
  ],
};
