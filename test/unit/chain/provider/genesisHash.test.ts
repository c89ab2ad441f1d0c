/**
 * The genesis hash of a network, which no query of a node gives: configured, known for public networks, or read from
 * the first Byron block.
 */
import { afterEach, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import { type NodePort, nodePort, type NodePortSettings } from "#src/chain/provider/node/port.ts";
import { nodeGenesis } from "#src/devnet/serve/nodeGenesis.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { answerQuery, type QueryHandlers } from "#src/node/queries/answering.ts";
import { serveNode } from "#src/node/server/server.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import { byronChain } from "../../../support/chain/byron.ts";
import { type ChainBlock, ServedChain, socketPath } from "../../../support/chain/nodeChain.ts";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const stated = nodeGenesis({
  network: {
    magic: 42,
    id: 0,
    slots: { zeroTime: 1_800_000_000_000, zeroSlot: 0, slotLength: 200 },
    securityParameter: 432,
  },
  terms: { epochLength: 8_640, activeSlots: { numerator: 1n, denominator: 20n }, maxSupply: 45_000_000_000_000_000n },
  parameters: mainnetParameters,
});

async function nodeOf(
  blocks: readonly ChainBlock[],
  settings: Partial<NodePortSettings> = {},
): Promise<{ chain: ServedChain; port: NodePort }> {
  const chain = new ServedChain();
  chain.add(...blocks);
  const { magic = 42 } = settings;
  const path = socketPath();
  const served = await serveNode({ path }, {
    magic,
    follow: chain.follow,
    acquire: () => {
      const { slot, hash, height } = chain.tip;
      const answers: QueryHandlers = {
        era: CONWAY,
        point: () => ({ slot, hash }),
        height: () => slot < 0 ? undefined : height,
        genesis: () => ({ ...stated, networkMagic: magic }),
      };
      return Promise.resolve(ok({ query: (query, version, signal) => answerQuery(answers, query, version, signal) }));
    },
  });
  if (!served.ok) throw new Error(served.error.message);
  const port = nodePort({ address: { path }, magic, log: silentLog, firstWaitMs: 5, ...settings });
  closing.push(() => served.value.close(), () => port.close());
  return { chain, port };
}

const genesis = {
  systemStart: 1_800_000_000_000,
  activeSlots: { numerator: 1n, denominator: 20n },
  securityParameter: 432,
  epochLength: 8_640,
  slotLength: 200,
  maxSupply: 45_000_000_000_000_000n,
};

test("the first Byron block names it, as soon as there is one", async () => {
  const blocks = byronChain(1, 2);
  const { chain, port } = await nodeOf([]);
  expect(await port.genesis()).toEqual({ ok: true, value: { ...genesis, hash: undefined } });
  chain.add(...blocks);
  for (let i = 0; i < 2; i++) {
    expect(await port.genesis()).toEqual({ ok: true, value: { ...genesis, hash: "5f".repeat(32) } });
  }
});

test("a configured hash comes first, then that of a public network", async () => {
  const node = await nodeOf(byronChain(1, 1), { genesisHash: "ab".repeat(32) });
  expect(await node.port.genesis()).toMatchObject({ ok: true, value: { hash: "ab".repeat(32) } });
  const preview = await nodeOf([], { magic: 2 });
  expect(await preview.port.genesis()).toMatchObject({ ok: true, value: { hash: expect.stringMatching(/^83de1d73/) } });
});
