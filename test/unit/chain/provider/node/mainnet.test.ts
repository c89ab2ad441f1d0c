/**
 * The port on a node that answers as one of mainnet: first in the Byron era, in which a node that reads the chain for the
 * first time spends a while, then with all of mainnet's eras.
 */
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import { slotAt, timeAt } from "#src/cardano/eras.ts";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { slotAt as slotIn, slotTime } from "#src/cardano/parameters.ts";
import { nodePort } from "#src/chain/provider/node/port.ts";
import { nodeGenesis } from "#src/devnet/serve/nodeGenesis.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { isTransient } from "#src/node/errors.ts";
import { BYRON, CONWAY } from "#src/node/protocols/values.ts";
import { answerQuery, type QueryHandlers } from "#src/node/queries/answering.ts";
import { systemStart } from "#src/node/queries/history.ts";
import { serveNode } from "#src/node/server/server.ts";
import { mainnetEras } from "../../../../support/chain/mainnetEras.ts";
import { socketPath } from "../../../../support/chain/nodeChain.ts";

const eras = mainnetEras();
const genesis = nodeGenesis({
  network: {
    magic: MAINNET_MAGIC,
    id: 1,
    slots: { zeroTime: eras.systemStart, zeroSlot: 0, slotLength: 1_000 },
    securityParameter: 2_160,
  },
  terms: { epochLength: 432_000, activeSlots: { numerator: 1n, denominator: 20n }, maxSupply: 45_000_000_000_000_000n },
  parameters: mainnetParameters,
});

test("it waits for Shelley, and then has the network, its genesis and its slots over the change of eras", async () => {
  let era: number = BYRON;
  const path = socketPath();
  const served = await serveNode({ path }, {
    magic: MAINNET_MAGIC,
    acquire: () => {
      const answers: QueryHandlers = {
        era,
        point: () => ({ slot: 159_835_207, hash: "27".repeat(32) }),
        systemStart: () => systemStart(eras.systemStart),
        eraHistory: () => era === BYRON ? eras.history.slice(0, 1) : eras.history,
        genesis: () => genesis,
      };
      return Promise.resolve(ok({ query: (query, version, signal) => answerQuery(answers, query, version, signal) }));
    },
  });
  if (!served.ok) throw new Error(served.error.message);
  const port = nodePort({ address: { path }, magic: MAINNET_MAGIC, log: silentLog, firstWaitMs: 5 });
  try {
    const early = await port.check();
    if (early.ok) throw new Error("it answered in the Byron era");
    expect([early.error.code, isTransient(early.error.code)]).toEqual(["byron_era", true]);
    expect(early.error.message).toMatch(/still in the Byron era/);
    expect(await port.parameters()).toMatchObject({ ok: false, error: { code: "network_unreachable" } });

    const waiting = port.network();
    era = CONWAY;
    const network = await waiting;
    expect(network).toMatchObject({ magic: MAINNET_MAGIC, id: 1, securityParameter: 2_160 });
    for (const slot of [4_492_800, 133_660_800, 159_835_207]) {
      expect(slotTime(network.slots, slot)).toBe((slot + 1_591_566_291) * 1_000);
      expect(slotIn(network.slots, (slot + 1_591_566_291) * 1_000)).toBe(slot);
    }
    const read = await port.eras();
    if (!read.ok) throw new Error(read.error.message);
    expect(read.value.value).toEqual(eras);
    for (const slot of [0, 4_492_799, 4_492_800, 159_835_207]) {
      expect(timeAt(read.value.value, slot)).toEqual(timeAt(eras, slot));
    }
    expect(slotAt(read.value.value, Date.parse("2020-07-29T21:44:50.999Z"))).toEqual(ok(4_492_799));
    expect(await port.genesis()).toMatchObject({
      ok: true,
      value: {
        hash: "5f20df933584822601f9e3f8c024eb5eb252fe8cefb24d1317dc3d432e940ebb",
        systemStart: Date.parse("2017-09-23T21:44:51Z"),
        epochLength: 432_000,
        slotLength: 1_000,
      },
    });
  } finally {
    port.close();
    await served.value.close();
  }
});
