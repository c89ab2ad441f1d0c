/** API/Shelley/CoinSelections.hs */
import { expect } from "vitest";
import { cases, flow, type Table } from "../table.ts";
import { headerAnswer, HEADERS, METADATA_TOO_LONG, noSuchWallet } from "../words.ts";
import { type Made, MIN_UTXO, payment, type World } from "../world.ts";

const POLICY = "31323334353637383930".repeat(3).slice(0, 56);
const MOST = 2n ** 64n - 1n;

const select = (world: World, { id }: Pick<Made, "id">, body: object, headers?: Record<string, string>) =>
  world.call("POST", `/wallets/${id}/coin-selections/random`, body, headers);
/** A payment to another wallet. */
const one = (world: World, quantity = MIN_UTXO, assets?: readonly unknown[]) =>
  payment(world.elsewhere[0]!, quantity, assets);
const OWN = ["1852H", "1815H", "0H", expect.stringMatching(/^[0-2]$/), expect.stringMatching(/^\d+$/)];
const everyPath = (parts: readonly { derivation_path: unknown }[]) => {
  expect(parts.length).toBeGreaterThan(0);
  for (const { derivation_path } of parts) expect(derivation_path).toEqual(OWN);
};

export const coinSelections: Table = {
  file: "Shelley.CoinSelections",
  rows: [
    flow("WALLETS_COIN_SELECTION_01", async (world) => {
      const paid = one(world);
      const selection = world.check(await select(world, await world.fixtureWallet(), { payments: [paid] }), {
        status: 200,
      });
      everyPath(selection.inputs);
      everyPath(selection.change);
      expect(selection.outputs).toMatchObject([{ ...paid, amount: { quantity: 1_000_000, unit: "lovelace" } }]);
      expect([selection.withdrawals ?? [], selection.metadata]).toEqual([[], undefined]);
    }),
    flow("WALLETS_COIN_SELECTION_02", async (world) => {
      const payments = world.elsewhere.slice(0, 10).map((address, i) => payment(address, 1_000_000 + i));
      const selection = world.check(await select(world, await world.fixtureWallet(), { payments }), { status: 200 });
      everyPath(selection.inputs);
      everyPath(selection.change);
      const key = (output: { address: string; amount: unknown }) =>
        `${output.address} ${JSON.stringify(output.amount)}`;
      expect(selection.outputs.map(key).sort()).toEqual(payments.map(key).sort());
      expect([selection.withdrawals ?? [], selection.metadata]).toEqual([[], undefined]);
    }),
    flow("WALLETS_COIN_SELECTION_03", async (world) => {
      const gone = await world.deleted();
      world.check(await select(world, gone, { payments: [one(world)] }), noSuchWallet(gone.id));
    }),
    flow("WALLETS_COIN_SELECTION_03 (2)", async (world) => {
      const { id } = await world.sharedFixture();
      const body = { payments: [one(world)] };
      for (const path of ["coin-selections/largest-first", "coin-selections"]) {
        world.check(await world.call("POST", `/wallets/${id}/${path}`, body), { status: 404, code: "not_found" });
      }
    }),
    ...cases("WALLETS_COIN_SELECTION_04", HEADERS, async (world, [headers, refused]) => {
      const answer = await select(world, await world.sharedFixture(), { payments: [one(world)] }, headers);
      world.check(answer, headerAnswer(refused, 200));
    }),
    flow("WALLETS_COIN_SELECTION_05a", async (world) => {
      const body = { payments: [one(world)], metadata: { 1: { string: "hello" } } };
      const selection = world.check(await select(world, await world.sharedFixture(), body), { status: 200 });
      // the map of 1 to the text, as CBOR
      expect(selection.metadata).toBe(btoa("\xa1\x01\x65hello"));
    }),
    flow("WALLETS_COIN_SELECTION_05b", async (world) => {
      const body = { payments: [one(world)], metadata: { 1: { string: "a".repeat(65) } } };
      world.check(await select(world, await world.sharedFixture(), body), METADATA_TOO_LONG);
    }),
    flow("WALLETS_COIN_SELECTION_07", async (world) => {
      const excessive = { policy_id: POLICY, asset_name: "31", quantity: MOST + 1n };
      world.check(
        await select(world, await world.sharedFixture(), { payments: [one(world, MIN_UTXO, [excessive])] }),
        {
          status: 403,
          code: "output_token_quantity_exceeds_limit",
          message:
            "One of the token quantities you've specified is greater than the maximum quantity allowed in a single " +
            "transaction output. Try splitting this quantity across two or more outputs. Destination address: ",
          body: { info: { policy_id: POLICY, asset_name: "31", quantity: MOST + 1n, max_quantity: MOST } },
        },
      );
    }),
    flow("WALLETS_COIN_SELECTION_08", async (world) => {
      const many = Array.from({ length: 1_280 }, (_, i) => ({
        policy_id: POLICY,
        asset_name: (0x6100 + i).toString(16),
        quantity: 1,
      }));
      world.check(await select(world, await world.sharedFixture(), { payments: [one(world, MIN_UTXO, many)] }), {
        status: 403,
        code: "output_token_bundle_size_exceeds_limit",
        message:
          "One of the outputs you've specified contains too many assets. Try splitting these assets across two or " +
          "more outputs. Destination address: ",
        body: { info: { bundle_size: 1_280 } },
      });
    }),
    flow("WALLETS_COIN_SELECTION_06a", async (world) => {
      const body = { payments: [one(world)], withdrawal: "self" };
      const selection = world.check(await select(world, await world.sharedReward(), body), { status: 200 });
      everyPath(selection.withdrawals);
      expect(selection.withdrawals).toHaveLength(1);
    }),
    flow("WALLETS_COIN_SELECTION_06b", async (world) => {
      const body = { payments: [one(world)], withdrawal: (await world.sharedReward()).words };
      const selection = world.check(await select(world, await world.sharedFixture(), body), { status: 200 });
      everyPath(selection.withdrawals);
      expect(selection.withdrawals).toHaveLength(1);
    }),
  ],
};
