/** API/Byron/Transactions.hs and API/Byron/Migrations.hs */
import { expect } from "vitest";
import type { Transaction } from "#src/client/wallets.ts";
import { cases, flow, row, type Table } from "../table.ts";
import { noSuchWallet, NOTHING_TO_MIGRATE, WRONG_PASSPHRASE } from "../words.ts";
import { ADA, ASSETS, MIN_UTXO, PASSPHRASE, payment, type World } from "../world.ts";
import { BYRON, byron, type ByronMade, fundedByron, multiAssetByron, receiving, type Style } from "./byronMeans.ts";
import { wrongFilters } from "./listFilters.ts";

/** The same for both kinds of discovery. */
const both = { "Byron wallet": "random", "Icarus wallet": "icarus" } as const;
const RICH = 100_000n * ADA;
const MISSING = {
  status: 404,
  code: "asset_not_present",
  message: "The requested asset is not associated with this wallet.",
};
const FOREIGN_POLICY = "00".repeat(28);

const empty = (world: World, style: Style = "random") => world.once(`byron ${style}`, () => byron(world, style));
const fixture = (world: World, style: Style) => world.once(`byron funded ${style}`, () => fundedByron(world, style));
const assets = (world: World, style: Style) => world.once(`byron assets ${style}`, () => multiAssetByron(world, style));
const send = (world: World, id: string, payments: readonly unknown[]) =>
  world.call("POST", `/${BYRON}/${id}/transactions`, { payments, passphrase: PASSPHRASE });
const some = (
  world: World,
  asset_name: string = ASSETS[0],
) => [{ policy_id: world.bank.policy, asset_name, quantity: 1 }];

/** A payment of one asset with this much lovelace arrives. */
const sends = (id: string, lovelace: bigint) =>
  cases(id, both, async (world, style) => {
    const [source, home] = await Promise.all([multiAssetByron(world, style), world.emptyWallet()]);
    const address = await world.address(home.id, 1);
    world.check(await send(world, source.id, [payment(address, lovelace, some(world))]), { status: 202 });
    await world.eventually("the asset arrives", async () => {
      const held = (await world.wallet(home.id)).assets;
      expect([held.available, held.total]).toEqual([some(world), some(world)]);
    });
  });
/** A payment to a wallet: its fee is that which was estimated, and both list it. */
const pays = async (
  world: World,
  source: ByronMade,
  home: { id: string },
  address: string,
  amount: bigint,
  prefix: string,
) => {
  const payments = [payment(address, amount)];
  const fees = await world.ok(202, "POST", `/${BYRON}/${source.id}/payment-fees`, { payments });
  const [least, most] = [BigInt(fees.estimated_min.quantity), BigInt(fees.estimated_max.quantity)];
  const sent: Transaction = world.check(await send(world, source.id, payments), {
    status: 202,
    body: { direction: "outgoing", status: "pending" },
  });
  const fee = BigInt(sent.fee.quantity);
  expect(fee >= least && fee <= most).toBe(true);
  expect(BigInt(sent.amount.quantity)).toBe(fee + amount);
  const ours = await world.untilInLedger(source.id, sent.id, BYRON);
  expect([ours.direction, ours.fee, ours.amount]).toEqual(["outgoing", sent.fee, sent.amount]);
  const theirs = await world.untilInLedger(home.id, sent.id, prefix);
  expect([theirs.direction, BigInt(theirs.amount.quantity), theirs.fee]).toEqual(["incoming", amount, sent.fee]);
  await world.untilAvailable(home.id, amount, prefix);
  await world.untilAvailable(source.id, RICH - amount - fee, BYRON);
};
/** A request to an endpoint of the other kind of wallets. */
const elsewhere = (id: string, request: (world: World, wallet: string) => Promise<Parameters<World["call"]>>) =>
  flow(id, async (world) => {
    const { id: wallet } = await empty(world);
    world.check(await world.call(...await request(world, wallet)), noSuchWallet(wallet));
  });
const history = async (world: World, id: string, query = "") =>
  await world.ok(200, "GET", `/${BYRON}/${id}/transactions${query}`) as Transaction[];

export const byronTransactions: Table = {
  file: "Byron.Transactions",
  rows: [
    ...sends("BYRON_TRANS_ASSETS_CREATE_01", 2n * MIN_UTXO),
    ...cases("BYRON_TRANS_ASSETS_CREATE_02", both, async (world, style) => {
      const { id } = await assets(world, style);
      world.check(await send(world, id, [payment(world.elsewhere[0]!, MIN_UTXO, some(world))]), {
        status: 403,
        code: "utxo_too_small",
        body: { info: { tx_output_index: 0 } },
      });
    }),
    ...sends("BYRON_TRANS_ASSETS_CREATE_02a", 0n),
    ...cases("BYRON_TRANS_ASSETS_LIST_01", both, async (world, style) => {
      const listed = await world.ok(200, "GET", `/${BYRON}/${(await assets(world, style)).id}/assets`);
      expect(listed).toMatchObject(ASSETS.map((asset_name) => ({ policy_id: world.bank.policy, asset_name })));
      for (const { fingerprint } of listed) expect(fingerprint).toMatch(/^asset1/);
    }),
    ...cases(
      "BYRON_TRANS_ASSETS_LIST_02",
      {
        "Byron fixture wallet": [fixture, "random"],
        "Icarus fixture wallet": [fixture, "icarus"],
        "Byron empty wallet": [empty, "random"],
        "Icarus empty wallet": [empty, "icarus"],
      } as const,
      async (world, [wallet, style]) => {
        expect(await world.ok(200, "GET", `/${BYRON}/${(await wallet(world, style)).id}/assets`)).toEqual([]);
      },
    ),
    ...cases("BYRON_TRANS_ASSETS_GET_01", both, async (world, style) => {
      const path = `/${BYRON}/${(await assets(world, style)).id}/assets/${world.bank.policy}/${ASSETS[0]}`;
      expect(await world.ok(200, "GET", path)).toMatchObject({
        policy_id: world.bank.policy,
        asset_name: ASSETS[0],
        fingerprint: expect.stringMatching(/^asset1/),
      });
    }),
    ...([["BYRON_TRANS_ASSETS_GET_02", "/78787878"], ["BYRON_TRANS_ASSETS_GET_02a", ""]] as const).flatMap((
      [id, name],
    ) =>
      cases(id, both, async (world, style) => {
        const path = `/${BYRON}/${(await assets(world, style)).id}/assets/${FOREIGN_POLICY}${name}`;
        world.check(await world.call("GET", path), MISSING);
      })
    ),
    ...cases("BYRON_TRANS_CREATE_01", both, async (world, style) => {
      const [source, home] = await Promise.all([fundedByron(world, style), world.emptyWallet()]);
      await pays(world, source, home, await world.address(home.id, 1), MIN_UTXO, "wallets");
    }),
    ...cases("BYRON_TRANS_CREATE_01a", both, async (world, style) => {
      const [source, home] = await Promise.all([fundedByron(world, "random"), byron(world, style)]);
      const [address] = await receiving(world, home, style, 1);
      await pays(world, source, home, address!, 2n * MIN_UTXO, BYRON);
    }),
    elsewhere("BYRON_TRANS_CREATE_02", async (world, id) => [
      "POST",
      `/wallets/${id}/transactions`,
      { payments: [payment(world.elsewhere[0]!, MIN_UTXO)], passphrase: PASSPHRASE },
    ]),
    elsewhere("BYRON_TRANS_DELETE", (_, id) =>
      Promise.resolve([
        "DELETE",
        `/wallets/${id}/transactions/3e6ec12da4414aa0781ff8afa9717ae53ee8cb4aa55d622f65bc62619a4f7b12`,
      ])),
    elsewhere("BYRON_TRANS_ESTIMATE", async (world, id) => [
      "POST",
      `/wallets/${id}/payment-fees`,
      { payments: [payment(world.elsewhere[0]!, MIN_UTXO)] },
    ]),
    flow("BYRON_TX_LIST_02", async (world) => {
      const { id } = await world.sharedEmpty();
      world.check(await world.call("GET", `/${BYRON}/${id}/transactions`), noSuchWallet(id));
    }),
    elsewhere("BYRON_TX_LIST_03", (_, id) => Promise.resolve(["GET", `/wallets/${id}/transactions`])),
    ...cases("BYRON_TX_LIST_01", both, async (world, style) => {
      expect(await history(world, (await empty(world, style)).id)).toEqual([]);
    }),
    flow("BYRON_TX_LIST_01 (2)", async (world) => {
      expect((await history(world, (await fixture(world, "random")).id)).length).toBeGreaterThan(0);
    }),
    flow("BYRON_TX_LIST_01 (3)", async (world) => {
      expect((await history(world, (await fixture(world, "icarus")).id)).length).toBeGreaterThan(0);
    }),
    ...cases("BYRON_TX_LIST_LIMIT", both, async (world, style) => {
      const made = await byron(world, style);
      const [address] = await receiving(world, made, style, 1);
      for (const ada of [2n, 3n, 4n]) {
        await world.bank.pay([{ address: address!, lovelace: ada * ADA }]);
      }
      await world.untilAvailable(made.id, 9n * ADA, BYRON);
      const ids = async (query: string) => (await history(world, made.id, query)).map(({ id }) => id);
      const all = await ids("");
      expect(await ids(`?max_count=${all.length - 1}`)).toEqual(all.slice(0, -1));
    }),
    ...wrongFilters("BYRON_TX_LIST_01 (4)", async (world) => `/${BYRON}/${(await empty(world)).id}`),
    row("BYRON_TX_LIST_01 (5)", async (world) => [
      "GET",
      `/${BYRON}/${(await empty(world)).id}/transactions?start=2009-09-09T09:09:09Z&end=2001-01-01T01:01:01Z`,
    ], {
      status: 400,
      code: "start_time_later_than_end_time",
      message:
        "The specified start time '2009-09-09T09:09:09Z' is later than the specified end time '2001-01-01T01:01:01Z'.",
    }),
    flow("BYRON_TX_LIST_04", async (world) => {
      const { id } = await byron(world, "random");
      await world.ok(204, "DELETE", `/${BYRON}/${id}`);
      world.check(await world.call("GET", `/${BYRON}/${id}/transactions`), noSuchWallet(id));
    }),
    ...cases("BYRON_TX_LIST_ADDRESS", both, async (world, style) => {
      const made = await byron(world, style);
      const addresses = await receiving(world, made, style, 3);
      for (const [i, address] of addresses.entries()) {
        await world.bank.pay([{ address, lovelace: 10n ** BigInt(i + 1) * ADA }]);
      }
      await world.untilAvailable(made.id, 1_110n * ADA, BYRON);
      const byAddress = (address: string) => history(world, made.id, `?address=${address}`);
      for (const address of addresses) {
        const found = await byAddress(address);
        expect(found.every(({ outputs }) => outputs.some((one) => one.address === address))).toBe(true);
        expect(found).toHaveLength(1);
      }
      const sent: Transaction = world.check(await send(world, made.id, [payment(world.elsewhere[0]!, 900n * ADA)]), {
        status: 202,
      });
      await world.untilInLedger(made.id, sent.id, BYRON);
      expect((await byAddress(addresses[2]!)).map(({ id }) => id)).toContain(sent.id);
    }),
  ],
};

const addressesFor = async (world: World, count = 20) => {
  const home = await world.emptyWallet();
  return { home, addresses: (await world.addresses(home.id)).slice(0, count).map(({ id }) => id) };
};
const plan = (world: World, id: string, addresses: readonly string[]) =>
  world.call("POST", `/${BYRON}/${id}/migrations/plan`, { addresses });
const migrate = (world: World, id: string, addresses: readonly string[], passphrase = PASSPHRASE) =>
  world.call("POST", `/${BYRON}/${id}/migrations`, { addresses, passphrase });
const planned = async (world: World, style: Style) => {
  const { addresses } = await addressesFor(world);
  return world.check(await plan(world, (await fixture(world, style)).id, addresses), { status: 202 });
};
const kinds = [["r", "random"], ["i", "icarus"]] as const;
/** A wallet with a coin that cannot pay for an output and the fee. */
const dust = (world: World) => world.once("byron dust", () => fundedByron(world, "random", [1_100_000n]));

export const byronMigrations: Table = {
  file: "Byron.Migrations",
  rows: [
    ...kinds.flatMap(([letter, style]) => [
      flow(`BYRON_CREATE_MIGRATION_PLAN_01${letter}`, async (world) => {
        const found = await planned(world, style);
        expect([found.selections.length, found.balance_selected.ada, found.balance_leftover.ada]).toMatchObject([
          1,
          { quantity: 100_000_000_000 },
          { quantity: 0 },
        ]);
        expect(found.total_fee.quantity).toBeGreaterThan(0);
      }),
      flow(`BYRON_CREATE_MIGRATION_PLAN_02${letter}`, async (world) => {
        const { addresses } = await addressesFor(world);
        world.check(await plan(world, (await empty(world, style)).id, addresses), NOTHING_TO_MIGRATE);
      }),
      flow(`BYRON_CREATE_MIGRATION_PLAN_05${letter}`, async (world) => {
        const { addresses } = await addressesFor(world);
        const { id } = await fixture(world, style);
        const [first, second] = [await plan(world, id, addresses), await plan(world, id, addresses)];
        expect(world.check(second, { status: 202 })).toEqual(world.check(first, { status: 202 }));
      }),
    ]),
    flow("BYRON_CREATE_MIGRATION_PLAN_03", async (world) => {
      const { home, addresses } = await addressesFor(world);
      world.check(await plan(world, home.id, addresses), noSuchWallet(home.id));
    }),
    flow("BYRON_CREATE_MIGRATION_PLAN_04", async (world) => {
      const { addresses } = await addressesFor(world);
      world.check(await plan(world, (await dust(world)).id, addresses), NOTHING_TO_MIGRATE);
    }),
    flow("BYRON_MIGRATE_02", async (world) => {
      const source = await fundedByron(world, "icarus", Array.from({ length: 420 }, () => 2n * ADA));
      const { home, addresses } = await addressesFor(world);
      const { total_fee: fee, selections, balance_leftover: left } = world.check(
        await plan(world, source.id, addresses),
        { status: 202 },
      );
      expect([selections.length > 1, left.ada.quantity]).toEqual([true, 0]);
      const sent: Transaction[] = world.check(await migrate(world, source.id, addresses), { status: 202 });
      expect(sent).toHaveLength(selections.length);
      await world.untilAvailable(home.id, 840n * ADA - BigInt(fee.quantity));
      await world.untilAvailable(source.id, 0n, BYRON);
    }),
    flow("BYRON_MIGRATE_03", async (world) => {
      const { addresses } = await addressesFor(world);
      for (const style of ["random", "icarus"] as const) {
        world.check(await migrate(world, (await empty(world, style)).id, addresses), NOTHING_TO_MIGRATE);
      }
    }),
    ...cases(
      "BYRON_MIGRATE_01",
      Object.fromEntries(
        kinds.flatMap(([, style]) =>
          [1, 3, 10].map((count) => [`${style}, ${count} addresses`, [style, count] as const])
        ),
      ),
      async (world, [style, count]) => {
        const source = await fundedByron(world, style, Array.from({ length: 4 }, () => 250n * ADA));
        const { home, addresses } = await addressesFor(world, count);
        const { total_fee: fee, balance_leftover: left } = world.check(await plan(world, source.id, addresses), {
          status: 202,
        });
        const sent: Transaction[] = world.check(await migrate(world, source.id, addresses), { status: 202 });
        expect(sent.length).toBeGreaterThan(0);
        await world.untilAvailable(home.id, 1_000n * ADA - BigInt(fee.quantity) - BigInt(left.ada.quantity));
        await world.untilAvailable(source.id, 0n, BYRON);
      },
    ),
    flow("BYRON_MIGRATE_04", async (world) => {
      for (const style of ["random", "icarus"] as const) {
        const source = await fundedByron(world, style, Array.from({ length: 4 }, () => 250n * ADA));
        const { addresses } = await addressesFor(world);
        const { total_fee: fee } = world.check(await plan(world, source.id, addresses), { status: 202 });
        const sent: Transaction[] = world.check(await migrate(world, source.id, addresses), { status: 202 });
        expect(sent.map((one) => one.fee)).toEqual([fee]);
      }
    }),
    flow("BYRON_MIGRATE_05", async (world) => {
      const { addresses } = await addressesFor(world);
      for (const style of ["random", "icarus"] as const) {
        const { id } = await fixture(world, style);
        world.check(await migrate(world, id, addresses, "not-the-right-passphrase"), WRONG_PASSPHRASE);
      }
    }),
    ...cases("BYRON_MIGRATE_06", both, async (world, style) => {
      const random = await fixture(world, "random");
      const addresses = [
        world.elsewhere[0]!,
        await world.address((await empty(world, "icarus")).id, 0, BYRON),
        (await world.addresses(random.id, BYRON))[0]!.id,
      ];
      world.check(await migrate(world, (await empty(world, style)).id, addresses), NOTHING_TO_MIGRATE);
    }),
    row(
      "BYRON_MIGRATE_07",
      async (world) => [
        "POST",
        `/${BYRON}/${(await empty(world)).id}/migrations`,
        "{passphrase:,}",
        { "content-type": "application/json" },
      ],
      { status: 400, code: "bad_request" },
    ),
    flow("BYRON_MIGRATE_08", async (world) => {
      const { addresses } = await addressesFor(world);
      const { id } = await dust(world);
      const { distribution } = await world.ok(200, "GET", `/${BYRON}/${id}/statistics/utxos`);
      expect(distribution["10000000"]).toBe(1);
      world.check(await migrate(world, id, addresses), NOTHING_TO_MIGRATE);
    }),
  ],
};
