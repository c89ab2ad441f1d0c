/** Ogmios' own client (`@cardano-ogmios/client`) against the devnet: its flows as its users have them, in both versions. */
import {
  createChainSynchronizationClient,
  createConnectionObject,
  createInteractionContext,
  createLedgerStateQueryClient,
  createMempoolMonitoringClient,
  createTransactionSubmissionClient,
  getServerHealth,
  type InteractionContext,
} from "@cardano-ogmios/client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { utxoJson } from "#src/ogmios/outputs.ts";
import { OgmiosDevnet } from "../../support/ogmios/ogmiosDevnet.ts";
import { until } from "../../support/base/until.ts";
import { person } from "../../support/wallets/person.ts";

/** Blocks that are synchronised. */
const BLOCKS = 1_100;

let world: OgmiosDevnet;
/** Sockets of the client, which it closes one by one. */
const contexts: InteractionContext[] = [];

beforeAll(async () => {
  world = await OgmiosDevnet.start(3, 0);
  await world.chain.complete();
  const { height } = world.chain.devnet.tip();
  await world.chain.devnet.makeBlocks({ count: Math.max(1, BLOCKS - height) });
}, 300_000);
afterAll(() => world?.stop());
afterEach(async () => {
  for (const { socket } of contexts.splice(0)) {
    if (socket.readyState !== socket.CLOSED) {
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.close();
      await closed;
    }
  }
});

const connection = (version: 6 | 7 = 6) => ({ host: "127.0.0.1", port: world.port(version) });
async function context(version: 6 | 7 = 6): Promise<InteractionContext> {
  const made = await createInteractionContext((error) => console.error(error), () => {}, {
    connection: connection(version),
    maxEventListeners: 1_000,
  });
  contexts.push(made);
  return made;
}
const tipOf = () => {
  const { slot, hash: id, height } = world.chain.devnet.tip();
  return { slot, id, height };
};
const refused = (promise: Promise<unknown>) =>
  promise.then(() => undefined, (error: { code: number; data?: unknown }) => ({ code: error.code, data: error.data }));

describe("the client", () => {
  test("finds the server healthy", async () => {
    const health = await getServerHealth({ connection: createConnectionObject(connection()) });
    expect(Object.keys(health).sort()).toEqual([
      "connectionStatus",
      "currentEpoch",
      "currentEra",
      "lastKnownTip",
      "lastTipUpdate",
      "metrics",
      "network",
      "networkSynchronization",
      "slotInEpoch",
      "startTime",
      "version",
    ]);
    expect(health.lastKnownTip).toEqual(tipOf());
  });

  test.each([6, 7] as const)("of version %i synchronises 1,000 blocks from the origin", async (version) => {
    const blocks: { id: string; ancestor: string }[] = [];
    const rollbacks: unknown[] = [];
    const client = await createChainSynchronizationClient(await context(version), {
      rollForward: async ({ block }, requestNext) => {
        if (block.type !== "praos") throw new Error(`a block of the type ${block.type}`);
        blocks.push({ id: block.id, ancestor: block.ancestor });
        requestNext();
      },
      rollBackward: async ({ point }, requestNext) => {
        rollbacks.push(point);
        requestNext();
      },
    });
    const intersection = await client.resume(["origin"], 100);
    expect(intersection).toEqual({ intersection: "origin", tip: tipOf() });
    await until("1,000 blocks", async () => blocks.length >= 1_000);
    expect(rollbacks).toEqual(["origin"]);
    for (const [i, { ancestor }] of blocks.entries()) expect(ancestor).toBe(blocks[i - 1]?.id ?? "genesis");
    await client.shutdown();
  });

  test("begins at the tip without points, follows rollbacks, and learns of unknown points", async () => {
    const steps: unknown[] = [];
    const client = await createChainSynchronizationClient(await context(), {
      rollForward: async ({ block }, requestNext) => {
        steps.push(block.type === "praos" ? block.id : block.type);
        requestNext();
      },
      rollBackward: async ({ point }, requestNext) => {
        steps.push(point);
        requestNext();
      },
    });
    const { slot, id } = tipOf();
    expect((await client.resume()).intersection).toEqual({ slot, id });
    await world.chain.block(0);
    const made = tipOf();
    await until("a block", async () => steps.length === 2);
    expect(steps).toEqual([{ slot, id }, made.id]);
    await world.chain.devnet.rollback({ blocks: 2 });
    await until("a rollback", async () => steps.length === 3);
    expect(steps[2]).toEqual({ slot: tipOf().slot, id: tipOf().id });
    const other = await createChainSynchronizationClient(await context(), {
      rollForward: async () => {},
      rollBackward: async () => {},
    });
    const unknown = { slot: 1, id: "ab".repeat(32) };
    expect(await refused(other.resume([unknown]))).toEqual({ code: 1000, data: { tip: tipOf() } });
  });

  test.each([6, 7] as const)("of version %i answers every query of the ledger's state", async (version) => {
    const client = await createLedgerStateQueryClient(await context(version));
    const { slot, id, height } = tipOf();
    expect(await client.networkBlockHeight()).toBe(height);
    expect(await client.networkTip()).toEqual({ slot, id });
    expect(await client.ledgerTip()).toEqual({ slot, id });
    expect(await client.networkStartTime()).toEqual(new Date(world.chain.devnet.network.slots.zeroTime));
    expect(await client.epoch()).toBe(Math.floor(slot / 10));
    expect(await client.eraStart()).toMatchObject({ slot: 0, epoch: 0 });
    expect(await client.eraSummaries()).toHaveLength(7);
    expect(await client.protocolParameters()).toMatchObject({ version: { major: 11, minor: 0 } });
    expect(await client.constitution()).toMatchObject({ guardrails: null });
    expect(await client.governanceProposals()).toEqual([]);
    const pools = await client.stakePools();
    const ids = Object.keys(pools);
    expect(ids.length).toBeGreaterThanOrEqual(3);
    expect(Object.keys(await client.stakePools([{ id: ids[0]! }], true))).toEqual([ids[0]]);
    expect(Object.keys(await client.liveStakeDistribution()).length).toBeGreaterThanOrEqual(3);
    expect(Object.keys((await client.stakePoolsPerformances()).stakePools).sort()).toEqual(ids.sort());
    const stake = person("alice").stake;
    expect(Object.keys(await client.projectedRewards({ stake: [{ ada: { lovelace: 1_000_000n } }] }))).toEqual([
      "1000000",
    ]);
    expect(await client.rewardAccountSummaries({ keys: [stake] })).toEqual([
      expect.objectContaining({ credential: stake, from: "verificationKey" }),
    ]);
    const all = await client.utxo();
    const [first] = all;
    expect(typeof first!.value.ada.lovelace).toBe("bigint");
    const { transaction, index, address } = first!;
    expect(await client.utxo({ outputReferences: [{ transaction, index }] })).toEqual([first]);
    expect(await client.utxo({ addresses: [address] })).toContainEqual(first);
    for (const era of ["byron", "shelley", "alonzo", "conway"] as const) {
      expect(await client.genesisConfiguration(era as "byron")).toMatchObject({ era });
    }
    expect(await refused(client.rewardAccountSummaries({ keys: ["00"] }))).toMatchObject({ code: -32600 });
    await client.shutdown();
  });

  test("acquires and releases states, and stays connected when a point is too old", async () => {
    const { slot, id } = tipOf();
    const client = await createLedgerStateQueryClient(await context(), { point: { slot, id } });
    await world.chain.block(0);
    expect(await client.ledgerTip()).toEqual({ slot, id });
    const now = { slot: tipOf().slot, id: tipOf().id };
    await client.acquireLedgerState(now);
    expect(await client.ledgerTip()).toEqual(now);
    await client.releaseLedgerState();
    await world.chain.block(0);
    expect(await client.ledgerTip()).toEqual({ slot: tipOf().slot, id: tipOf().id });
    expect(await refused(client.acquireLedgerState("origin"))).toMatchObject({ code: 2000 });
    expect(await client.networkBlockHeight()).toBe(tipOf().height);
  });

  test.each([6, 7] as const)("of version %i submits, sees the mempool, and evaluates", async (version) => {
    await world.chain.block(0);
    const submission = await createTransactionSubmissionClient(await context(version));
    const mempool = await createMempoolMonitoringClient(await context(version));
    expect(await refused(mempool.sizeOfMempool())).toMatchObject({ code: 4000 });
    await mempool.acquireMempool();
    expect(await mempool.nextTransaction()).toBeNull();
    const changed = mempool.acquireMempool();
    const bytes = (await world.chain.draft("pay"))!;
    const { hash } = scanTransaction(bytes);
    expect(await submission.submitTransaction(toHex(bytes))).toBe(hash);
    expect(await changed).toBe(world.chain.devnet.slot() + 1);
    expect(await mempool.hasTransaction(hash)).toBe(true);
    expect(await mempool.sizeOfMempool()).toMatchObject({ transactions: { count: 1 } });
    expect(await mempool.nextTransaction({ fields: "all" })).toMatchObject({ id: hash });
    expect(await mempool.nextTransaction()).toBeNull();
    await mempool.releaseMempool();
    await world.chain.block(0);
    expect(await refused(submission.submitTransaction(toHex(bytes)))).toMatchObject({ code: expect.any(Number) });
    expect(await refused(submission.submitTransaction("80"))).toMatchObject({ code: -32602 });

    let spending: Uint8Array | undefined;
    for (let i = 0; i < 100 && !spending; i++) {
      spending = await world.chain.draft("unlock");
      if (!spending) await world.chain.block(3);
    }
    const { inputs, references, collateral } = scanTransaction(spending!);
    const utxo = (await world.chain.devnet.query((state) => state.utxo))!;
    const outputs = [...inputs, ...references, ...collateral].map((ref) => utxoJson({ ref, output: utxo.get(ref)! }));
    const result = await submission.evaluateTransaction(toHex(spending!));
    expect(new Set(result.map(({ validator }) => validator.purpose))).toEqual(new Set(["spend"]));
    expect(await submission.evaluateTransaction(toHex(spending!), outputs as never)).toEqual(result);
    const lost = toHex(spending!).replaceAll(inputs[0]!.txHash, `${inputs[0]!.txHash.slice(0, 60)}abcd`);
    expect(await refused(submission.evaluateTransaction(lost))).toMatchObject({ code: 3010 });
  });
});
