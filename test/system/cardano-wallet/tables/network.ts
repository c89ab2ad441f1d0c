/** API/Shelley/Network.hs and API/Shelley/Settings.hs */
import { expect } from "vitest";
import { flow, type Table } from "../table.ts";

export const network: Table = {
  file: "Shelley.Network",
  rows: [
    flow("NETWORK_PARAMS", async (world) => {
      const parameters = await world.ok(200, "GET", "/network/parameters");
      expect(parameters).toMatchObject({
        decentralization_level: { quantity: 100, unit: "percent" },
        desired_pool_number: expect.any(Number),
        active_slot_coefficient: { unit: "percent" },
        maximum_collateral_input_count: 3,
        minimum_collateral_percentage: 150,
        maximum_token_bundle_size: { quantity: 5_000, unit: "byte" },
        execution_unit_prices: { step_price: 0.000_072_1, memory_unit_price: 0.0577 },
      });
      expect(parameters.slot_length.quantity).toBeGreaterThan(0);
      expect(parameters.epoch_length.quantity).toBeGreaterThan(10);
      expect(parameters.security_parameter.quantity).toBeGreaterThan(1);
      for (const era of ["byron", "shelley", "allegra", "mary", "alonzo", "babbage", "conway"]) {
        expect(parameters.eras[era], era).toMatchObject({ epoch_number: expect.any(Number) });
      }
    }),
  ],
};

export const settings: Table = {
  file: "Shelley.Settings",
  alone: true,
  rows: [
    flow("SETTINGS_01", async (world) => {
      const source = "http://smash.it";
      await world.ok(204, "PUT", "/settings", { settings: { pool_metadata_source: source } });
      expect(await world.ok(200, "GET", "/settings")).toEqual({ pool_metadata_source: source });
      await world.ok(204, "PUT", "/settings", { settings: { pool_metadata_source: "none" } });
    }),
  ],
};
