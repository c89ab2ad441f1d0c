/** How far builds may let script transactions wait. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ok } from "#src/base/result.ts";
import { horizon } from "#src/cardano/eras.ts";
import { horizonOf } from "#src/chain/provider/horizon.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { eraHistory } from "#src/devnet/serve/nodeGenesis.ts";
import { cases } from "../../../support/base/longTests.ts";

/** A devnet at a tip, whose clock is `idle` slots further. */
function devnet(k: number, epochLength: number, tip: number, idle: number) {
  const slots = { zeroTime: Date.now() - 1_000 * (tip + idle) - 500, zeroSlot: 0, slotLength: 1_000 };
  const genesis = { network: { slots, securityParameter: k }, terms: { epochLength } } as Parameters<
    typeof eraHistory
  >[0];
  const history = (slot: number) => eraHistory(genesis, { slot });
  const port = {
    network: () => Promise.resolve(genesis.network),
    eras: () => Promise.resolve(ok({ point: { slot: tip, hash: "" }, value: { history: history(tip) } })),
  } as unknown as ChainPort;
  return { port, end: (slot: number) => horizon(history(slot))!.slot };
}

const settings = { k: fc.integer({ min: 1, max: 5_000 }), epochLength: fc.integer({ min: 1, max: 500_000 }) };

test("is known after any rollback that the network allows", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ ...settings, tip: fc.nat(10_000_000), back: fc.double({ min: 0, max: 1, noNaN: true }) }),
      async ({ k, epochLength, tip, back }) => {
        const { port, end } = devnet(k, epochLength, tip, 0);
        const found = (await horizonOf(port))!;
        expect(found).toBeGreaterThan(tip);
        expect(found).toBeLessThanOrEqual(end(Math.max(0, tip - Math.floor(back * k))));
      },
    ),
    { numRuns: cases(200, 5_000) },
  );
});

test("is that of the history where no block came for longer than a third of the safe zone", async () => {
  await fc.assert(
    fc.asyncProperty(fc.record({ ...settings, tip: fc.nat(10_000_000) }), async ({ k, epochLength, tip }) => {
      const { port, end } = devnet(k, epochLength, tip, k + 2);
      expect(await horizonOf(port)).toBe(end(tip));
    }),
    { numRuns: cases(100, 1_000) },
  );
});

test("is that of the history where it states no safe zone, as Dingo's does", async () => {
  const [tip, end] = [5, 600];
  const { port } = devnet(100, end, tip, 0);
  const start = { time: 0n, slot: 0, epoch: 0 };
  const terms = { epochLength: end, slotLength: 1_000, safeZone: 0, genesisWindow: 0 };
  const history = [{ start, end: { time: 600_000_000_000_000n, slot: end, epoch: 1 }, terms }];
  const eras = () => Promise.resolve(ok({ point: { slot: tip, hash: "" }, value: { history } }));
  expect(await horizonOf({ ...port, eras } as unknown as ChainPort)).toBe(end);
});
