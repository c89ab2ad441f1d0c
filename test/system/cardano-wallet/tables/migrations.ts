/** API/Shelley/Migrations.hs */
import { expect } from "vitest";
import type { Transaction, Wallet } from "#src/client/wallets.ts";
import { cases, flow, row, type Table } from "../table.ts";
import { noSuchWallet, NOTHING_TO_MIGRATE, WRONG_PASSPHRASE } from "../words.ts";
import { ADA, ASSETS, lovelace, type Made, PASSPHRASE, type World } from "../world.ts";

interface Amounts {
  readonly amount: { readonly quantity: number | bigint };
}
interface Plan {
  readonly selections: readonly {
    readonly inputs: readonly Amounts[];
    readonly outputs: readonly Amounts[];
    readonly withdrawals: readonly Amounts[];
  }[];
  readonly total_fee: { readonly quantity: number };
  readonly balance_selected: { readonly ada: { readonly quantity: number }; readonly assets: readonly unknown[] };
  readonly balance_leftover: { readonly ada: { readonly quantity: number }; readonly assets: readonly unknown[] };
}

/** The addresses of a new wallet, and its id. */
const target = async (world: World) => {
  const { id } = await world.emptyWallet();
  return { id, addresses: (await world.addresses(id)).map((one) => one.id) };
};
const plan = (world: World, { id }: Pick<Made, "id">, addresses: readonly string[]): Promise<Plan> =>
  world.ok(202, "POST", `/wallets/${id}/migrations/plan`, { addresses });
const migrate = (world: World, { id }: Pick<Made, "id">, addresses: readonly string[]): Promise<Transaction[]> =>
  world.ok(202, "POST", `/wallets/${id}/migrations`, { addresses, passphrase: PASSPHRASE });
const sum = (parts: readonly Amounts[]) => parts.reduce((all, { amount }) => all + BigInt(amount.quantity), 0n);
const fees = (sent: readonly Transaction[]) => sent.reduce((all, { fee }) => all + Number(fee.quantity), 0);
const inputs = ({ selections }: Plan) => selections.flatMap((one) => one.inputs);
const outputs = ({ selections }: Plan) => selections.flatMap((one) => one.outputs);
const total = ({ balance }: Wallet) => BigInt(balance.total.quantity);

/** Each selection pays for itself, and the plan's sums are those of its selections. */
const consistent = (made: Plan) => {
  const withdrawn = made.selections.flatMap(({ withdrawals }) => withdrawals);
  const selected = sum(inputs(made)) + sum(withdrawn);
  expect(BigInt(made.balance_selected.ada.quantity)).toBe(selected);
  expect(selected - sum(outputs(made))).toBe(BigInt(made.total_fee.quantity));
};

/** Adds outputs with an asset and little ada, which cannot pay for a transaction of their own. */
const addFreeriders = async (world: World, { id }: Pick<Made, "id">, count: number, each: bigint) => {
  const addresses = await world.addresses(id);
  const before = BigInt((await world.wallet(id)).balance.available.quantity);
  await world.bank.pay(
    Array.from({ length: count }, (_, i) => ({
      address: addresses[i % 20]!.id,
      lovelace: each,
      assets: { [`66726565${(i % 20).toString(16).padStart(2, "0")}`]: 1n },
    })),
  );
  return await world.untilAvailable(id, before + BigInt(count) * each);
};

/** Moves everything to another wallet; returns what arrived and the fees. */
const moved = async (world: World, source: Wallet & Made) => {
  const to = await target(world);
  const made = await plan(world, source, to.addresses);
  consistent(made);
  const sent = await migrate(world, source, to.addresses);
  expect([sent.length, fees(sent)]).toEqual([made.selections.length, made.total_fee.quantity]);
  await world.untilAllInLedger(source.id, sent);
  const left = BigInt(source.balance.available.quantity) - BigInt(made.total_fee.quantity);
  const received = await world.untilAvailable(to.id, left);
  expect(total(received)).toBe(left);
  const emptied = await world.untilAvailable(source.id, 0n);
  expect([total(emptied), emptied.assets]).toEqual([0n, { available: [], total: [] }]);
  return { made, received };
};

export const migrations: Table = {
  file: "Shelley.Migrations",
  rows: [
    flow("SHELLEY_CREATE_MIGRATION_PLAN_01", async (world) => {
      const source = await world.sharedFixture();
      const made = await plan(world, source, world.elsewhere);
      consistent(made);
      expect(made.selections).toHaveLength(1);
      expect([made.balance_selected.ada, made.balance_leftover.ada]).toEqual([
        source.balance.available,
        lovelace(0),
      ]);
    }),
    row("SHELLEY_CREATE_MIGRATION_PLAN_02", async (world) => [
      "POST",
      `/wallets/${(await world.sharedEmpty()).id}/migrations/plan`,
      { addresses: world.elsewhere },
    ], NOTHING_TO_MIGRATE),
    flow("SHELLEY_CREATE_MIGRATION_PLAN_03", async (world) => {
      const { id } = await world.sharedRandom();
      const body = { addresses: world.elsewhere };
      world.check(await world.call("POST", `/wallets/${id}/migrations/plan`, body), noSuchWallet(id));
    }),
    flow("SHELLEY_CREATE_MIGRATION_PLAN_05", async (world) => {
      const [source, addresses] = [await world.sharedFixture(), world.elsewhere];
      const first = await plan(world, source, addresses);
      expect(first.selections.length).toBeGreaterThan(0);
      expect(await plan(world, source, addresses)).toEqual(first);
    }),
    flow("SHELLEY_CREATE_MIGRATION_PLAN_07", async (world) => {
      const source = await world.walletWith([100n * ADA, 100n * ADA]);
      expect(await world.distribution(source.id)).toEqual({ "100000000": 2 });
      await addFreeriders(world, source, 120, 1_250_000n);
      expect(await world.distribution(source.id)).toEqual({ "10000000": 120, "100000000": 2 });
      const made = await plan(world, source, world.elsewhere);
      consistent(made);
      expect([inputs(made).length, outputs(made).length]).toEqual([122, made.selections.length]);
      expect([made.balance_selected.ada, made.balance_selected.assets.length]).toEqual([lovelace(350_000_000), 20]);
      expect(made.balance_leftover).toEqual({ ada: lovelace(0), assets: [] });
    }),
    flow("SHELLEY_CREATE_MIGRATION_PLAN_08", async (world) => {
      const source = await world.walletWith([100n * ADA]);
      // one coin makes one transaction, which has no place for all
      const { balance } = await addFreeriders(world, source, 420, 1_250_000n);
      const made = await plan(world, source, world.elsewhere);
      consistent(made);
      expect([made.selections.length, outputs(made).length]).toEqual([1, 1]);
      expect(inputs(made).length).toBeLessThan(421);
      expect(made.balance_leftover.ada.quantity).toBeGreaterThan(0);
      expect(made.balance_selected.ada.quantity + made.balance_leftover.ada.quantity).toBe(balance.available.quantity);
      expect(made.balance_selected.assets.length).toBeGreaterThan(0);
      expect(made.balance_leftover.assets.length).toBeGreaterThan(0);
    }),
    ...cases("SHELLEY_MIGRATE_01", { "1 address": 1, "3 addresses": 3, "10 addresses": 10 }, async (world, count) => {
      const source = await world.fixtureWallet();
      const to = await target(world);
      const addresses = to.addresses.slice(0, count);
      const made = await plan(world, source, addresses);
      expect(made.total_fee.quantity).toBeGreaterThan(0);
      const sent = await migrate(world, source, addresses);
      await world.untilAllInLedger(source.id, sent);
      const left = BigInt(source.balance.available.quantity) - BigInt(made.total_fee.quantity);
      expect(total(await world.untilAvailable(to.id, left))).toBe(left);
      expect(total(await world.untilAvailable(source.id, 0n))).toBe(0n);
    }),
    flow("SHELLEY_MIGRATE_02", async (world) => {
      const coins = Array.from({ length: 200 }, (_, i) => i < 100 ? ADA : 1_000n * ADA);
      const { made, received } = await moved(world, await world.walletWith(coins, { gap: 200 }));
      expect(made.selections.length).toBeGreaterThan(1);
      expect(made.balance_leftover.ada.quantity).toBe(0);
      const counts = Object.values(await world.distribution(received.id));
      expect(counts.reduce((all, one) => all + one, 0)).toBe(made.selections.length);
    }),
    row("SHELLEY_MIGRATE_03", async (world) => [
      "POST",
      `/wallets/${(await world.sharedEmpty()).id}/migrations`,
      { addresses: world.elsewhere, passphrase: PASSPHRASE },
    ], NOTHING_TO_MIGRATE),
    flow("SHELLEY_MIGRATE_04", async (world) => {
      const { made } = await moved(world, await world.fixtureWallet());
      expect(made.selections).toHaveLength(1);
    }),
    row("SHELLEY_MIGRATE_05", async (world) => [
      "POST",
      `/wallets/${(await world.sharedFixture()).id}/migrations`,
      { addresses: world.elsewhere, passphrase: "not-the-right-passphrase" },
    ], WRONG_PASSPHRASE),
    row("SHELLEY_MIGRATE_06", async (world) => {
      const [shelley] = world.elsewhere;
      const addresses = [
        shelley,
        // of Icarus and of Byron, on a test network
        "2cWKMJemoBahmgvHu12VNW64Z65qMJfhyqaUbNNpjntXMzMpRCwPJkZvia4TzhzYFsZhn",
        "37btjrVyb4KE2ByiPiJUQfAUBGaMyKScg4mnYjzVAsN2PUxj1WxTg98ien3oAo8vKBhP2KTuC9wi76vZ9kDNFkjbmzywdLTJgaz8n3RD3Rueim3Pd3",
      ];
      return [
        "POST",
        `/wallets/${(await world.sharedEmpty()).id}/migrations`,
        { addresses, passphrase: PASSPHRASE },
      ];
    }, NOTHING_TO_MIGRATE),
    // the words of a parser of JSON are not compared
    row("SHELLEY_MIGRATE_07", async (world) => [
      "POST",
      `/wallets/${(await world.sharedEmpty()).id}/migrations`,
      "{passphrase:,}",
      { "content-type": "application/json" },
    ], { status: 400, code: "bad_request" }),
    flow("SHELLEY_MIGRATE_08", async (world) => {
      const source = await world.walletWith([1n, 1n, 1n, 4n, 4n, 4n, 4n, 4n, 4n, 16n].map((ada) => ada * ADA));
      expect(await world.distribution(source.id)).toEqual({ "1000000": 3, "10000000": 6, "100000000": 1 });
      const { made, received } = await moved(world, source);
      expect(made.selections).toHaveLength(1);
      expect(await world.distribution(received.id)).toEqual({ "100000000": 1 });
    }),
    flow("SHELLEY_MIGRATE_MULTI_ASSET_01", async (world) => {
      const source = await world.multiAssetWallet();
      const { made, received } = await moved(world, await world.multiAssetWallet());
      expect([inputs(made).length, outputs(made).length]).toEqual([3, 1]);
      expect(made.balance_selected.assets).toEqual(source.assets.available);
      expect(made.balance_leftover).toEqual({ ada: lovelace(0), assets: [] });
      expect(received.assets).toEqual(source.assets);
      expect(received.assets.total.map(({ asset_name }) => asset_name)).toEqual(ASSETS);
    }),
    flow("SHELLEY_CREATE_MIGRATION_PLAN_06", async (world) => {
      const source = await world.sharedReward();
      const made = await plan(world, source, world.elsewhere);
      consistent(made);
      expect([made.selections.length, made.selections[0]!.withdrawals.length]).toEqual([1, 1]);
      expect(sum(made.selections[0]!.withdrawals)).toBeGreaterThan(0n);
      expect(BigInt(made.balance_selected.ada.quantity)).toBeGreaterThan(BigInt(source.balance.available.quantity));
      expect(made.balance_leftover.ada.quantity).toBe(0);
    }),
    flow("SHELLEY_MIGRATE_09", async (world) => {
      const { id, balance } = await world.rewardWallet();
      const to = await target(world);
      const { sent } = await world.withdrawing(id, async () => {
        const sent = await migrate(world, { id }, to.addresses);
        return { id: sent[0]!.id, sent };
      });
      expect([sent.length, sent[0]!.withdrawals.length]).toEqual([1, 1]);
      const reward = BigInt(sent[0]!.withdrawals[0]!.amount.quantity);
      await world.untilAvailable(to.id, BigInt(balance.available.quantity) + reward - BigInt(fees(sent)));
      expect(total(await world.untilAvailable(id, 0n))).toBeLessThan(reward);
    }),
  ],
};
