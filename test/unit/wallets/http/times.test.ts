/** Slots in responses to clients. */
import { expect, it } from "vitest";
import type { Eras } from "#src/cardano/eras.ts";
import { expectedSlotView, slotView } from "#src/wallets/http/times.ts";

const eras: Eras = {
  systemStart: Date.UTC(2026, 0),
  current: "Byron",
  history: [{
    start: { time: 0n, slot: 0, epoch: 0 },
    end: { time: 1_000n * 10n ** 12n, slot: 1_000, epoch: 10 },
    terms: { epochLength: 100, slotLength: 1_000, safeZone: 300, genesisWindow: 300 },
  }],
};

it("states when a transaction expires also beyond the horizon, and no time that no calendar has", () => {
  const slot = 7_200;
  expect(slotView(eras, slot)).toBeUndefined();
  expect(expectedSlotView(eras, slot)).toEqual({
    absolute_slot_number: slot,
    slot_number: 0,
    epoch_number: 72,
    time: "2026-01-01T02:00:00Z",
  });
  expect(expectedSlotView(eras, 999)).toEqual(slotView(eras, 999));
  expect(expectedSlotView(eras, 2 ** 53)).toBeUndefined();
});
