/** API/Network.hs */
import { expect } from "vitest";
import { flow, type Table } from "../table.ts";

export const commonNetwork: Table = {
  file: "Network",
  rows: [
    flow("NETWORK", async (world) => {
      await world.eventually("the network is ready", async () => {
        const now = Date.now();
        const shown = await world.ok(200, "GET", "/network/information");
        expect(shown).toMatchObject({
          sync_progress: { status: "ready" },
          node_era: "conway",
          network_info: { protocol_magic: 42, network_id: "testnet" },
          wallet_mode: "node",
        });
        expect(shown.node_tip.absolute_slot_number).toBeGreaterThan(0);
        expect(Date.parse(shown.next_epoch.epoch_start_time)).toBeGreaterThan(now);
        expect(shown.next_epoch.epoch_number).toBe(shown.network_tip.epoch_number + 1);
      });
    }),
    flow("NETWORK_BYRON", async (world) => {
      const { id } = await world.sharedRandom();
      await world.eventually("the wallet has the tip of the network", async () => {
        const { node_tip: tip } = await world.ok(200, "GET", "/network/information");
        expect(await world.ok(200, "GET", `/byron-wallets/${id}`)).toMatchObject({ state: { status: "ready" }, tip });
      });
    }),
  ],
};
