import { expect, it } from "vitest";
import { systemClock } from "#src/base/clock.ts";
import { syncState } from "#src/wallets/walletStatus.ts";

const tolerance = {
  slots: { zeroTime: 0, zeroSlot: 0, slotLength: 1000 },
  toleranceS: -1,
  clocked: false,
  clock: systemClock,
};

it.each([
  [-1, -1, 0],
  [-1, 99, 0],
  [49, 99, 50],
  [99, 99, 99.99],
  [200, 99, 99.99],
])("read up to slot %i of %i is %d percent", (slot, tip, quantity) => {
  expect(syncState({ slot }, tip, tolerance)).toEqual({ status: "syncing", progress: { quantity, unit: "percent" } });
});
