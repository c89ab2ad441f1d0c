/** The devnet over its socket, used like a node: what is read, submitted and followed there agrees with its rows. */
import { afterEach, describe, expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { encode } from "#src/cardano/cbor.ts";
import { origin, type Tip } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { type NodePort, nodePort } from "#src/chain/provider/node/port.ts";
import type { RawChainPort, RawStep } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { readLedger } from "../../support/devnet/devnetLedger.ts";
import { nonMyopicMemberRewards } from "#src/ledger/epoch/ranking.ts";
import { stakeDistribution, stakeSnapshots } from "#src/ledger/epoch/reads.ts";
import { credentialKey } from "#src/ledger/state.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { sendEraQuery, sendQuery } from "#src/node/queries/sendQuery.ts";
import type { EraQuery, NodeQuery } from "#src/node/queries/query.ts";
import type { NodeServer } from "#src/node/server/server.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import { certificates, spend } from "../../support/devnet/devnet.ts";
import {
  devnetWorld,
  give as giveFrom,
  makeBlock,
  type ServeSettings,
  valueOf,
} from "../../support/devnet/devnetWorld.ts";
import { until } from "../../support/base/until.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const alice = person("alice"), bob = person("bob");

const world = devnetWorld();
let devnet: Devnet;
let server: NodeServer;
let path: string;
let node: NodePort;

async function begin(options: DevnetOptions = {}): Promise<void> {
  devnet = await world.start(options);
  ({ server, path, node } = await world.serve(devnet));
}

/** Serves again at the same port. */
async function serve(settings: Partial<ServeSettings> = {}): Promise<void> {
  ({ server } = await world.serve(devnet, { path, ...settings }));
}

const block = () => makeBlock(devnet);
const give = (address: string, lovelace: bigint) => giveFrom(devnet, address, lovelace);
const pointOf = ({ slot, hash }: Tip) => ({ slot, hash });

/** Steps of a followed chain, in order. */
function following(port: RawChainPort): { steps: RawStep[]; stop: () => Promise<void> } {
  const steps: RawStep[] = [];
  const controller = new AbortController();
  const done = (async () => {
    for await (const step of port.follow([], controller.signal)) steps.push(step);
  })();
  return {
    steps,
    stop: async () => {
      controller.abort();
      await done;
    },
  };
}

/** The chain that results from steps: hashes of its blocks. */
function chainOf(steps: readonly RawStep[]): string[] {
  const chain: { slot: number; hash: string }[] = [];
  for (const step of steps) {
    if (step.type === "forward") {
      const { slot, hash, previous } = scanBlock(step.block);
      expect(previous).toBe(chain.at(-1)?.hash);
      chain.push({ slot, hash });
    } else while (chain.length > 0 && chain.at(-1)!.slot > step.point.slot) chain.pop();
  }
  return chain.map(({ hash }) => hash);
}

const reaches = (steps: readonly RawStep[], tip: Tip) =>
  until(`the block at height ${tip.height}`, async () => chainOf(steps).at(-1) === tip.hash, 5_000, 10);

test("the port gives the same over the socket and from the rows", async () => {
  await begin();
  expect(await node.network()).toEqual(await world.rows.network());
  expect(valueOf(await node.tip())).toEqual({ ...origin, height: -1 });
  const coin = await give(alice.enterprise, 10n * ada);
  expect(valueOf(await node.inMempool(coin.ref.txHash))).toBe(true);
  await block();
  expect(valueOf(await node.inMempool(coin.ref.txHash))).toBe(false);
  const both = async (asking: (port: RawChainPort) => Promise<unknown>) => {
    const [there, here] = [await asking(node), await asking(world.rows)];
    expect(there).toEqual(here);
    expect(there).toMatchObject({ ok: true });
  };
  await both((port) => port.tip());
  await both((port) => port.utxosByAddress([alice.enterprise, alice.enterprise, bob.base]));
  await both((port) => port.utxosByAddress([]));
  await both((port) => port.utxosByRef([coin.ref, coin.ref, { ...coin.ref, index: 7 }]));
  const { point, value } = valueOf(await node.parameters());
  expect(point).toEqual(pointOf(devnet.tip()));
  expect(value).toEqual(expect.objectContaining(devnet.genesis.parameters));
});

test("submissions are accepted, refused with the ledger's failure names, and accepted again if known", async () => {
  await begin();
  const coin = await give(alice.enterprise, 10n * ada);
  await block();
  const payment = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
  expect(valueOf(await node.submit(payment.cbor))).toEqual({ outcome: "accepted" });
  expect(valueOf(await node.submit(payment.cbor))).toEqual({ outcome: "accepted" });
  await block();
  expect(valueOf(await node.submit(payment.cbor))).toEqual({ outcome: "accepted" });
  const [paid] = valueOf(await node.utxosByAddress([bob.enterprise])).value;
  expect(refKey(paid!.ref)).toBe(`${payment.hash}#0`);

  const spentAlready = spend({ from: alice, inputs: [coin], outputs: [[alice.enterprise, 9n * ada]] });
  const unsigned = spend({ from: alice, inputs: [paid!], outputs: [[alice.enterprise, 8n * ada]] });
  const poor = spend({ from: bob, inputs: [paid!], outputs: [[alice.enterprise, 9n * ada]] });
  for (const { cbor } of [spentAlready, unsigned, poor]) {
    const there = valueOf(await node.submit(cbor));
    const here = valueOf(await world.rows.submit(cbor));
    expect(there).toMatchObject({ outcome: "refused" });
    if (there.outcome !== "refused" || here.outcome !== "refused") continue;
    expect(there.failures.map(({ name }) => name)).toEqual(here.failures.map(({ name }) => name));
  }
  expect(valueOf(await node.submit(fromHex("8200")))).toMatchObject({
    outcome: "refused",
    failures: [{ name: "DeserialiseFailure" }],
  });
});

test("a follower gets blocks and rollbacks, across a restart of the server", async () => {
  await begin();
  const { steps, stop } = following(node);
  for (let i = 0; i < 5; i++) await block();
  await reaches(steps, devnet.tip());
  valueOf(await devnet.rollback({ blocks: 3 }));
  await block();
  await reaches(steps, devnet.tip());
  expect(steps.filter(({ type }) => type === "backward").length).toBe(2);

  // the server is gone, and the chain forks meanwhile
  await server.close();
  expect(await node.tip()).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
  valueOf(await devnet.rollback({ blocks: 1 }));
  await block();
  await block();
  await serve();
  await reaches(steps, devnet.tip());
  expect(steps.filter(({ type }) => type === "backward").length).toBe(3);
  expect(valueOf(await node.tip())).toEqual(devnet.tip());

  // it is back, with nothing new
  await server.close();
  await serve();
  await block();
  await reaches(steps, devnet.tip());
  expect(steps.filter(({ type }) => type === "backward").length).toBe(3);
  await stop();
});

describe("a connection", () => {
  let connection: NodeConnection;
  const open = async () => connection = valueOf(await connectNode({ path }, { magic: 42 }));
  afterEach(() => connection?.close());

  test("queries a state at its point, whatever happens to the chain meanwhile", async () => {
    await begin();
    await open();
    const coin = await give(alice.base, 10n * ada);
    const first = await block();
    const session = valueOf(await connection.acquire("tip"));
    const payment = spend({
      from: alice,
      inputs: [coin],
      outputs: [[bob.enterprise, 6n * ada]],
      deposit: 2n * ada,
      certificates: [certificates.register(alice)],
      signers: [alice.stakeSeed],
    });
    valueOf(await devnet.submit(payment.cbor));
    const second = await block();
    const stake = { kind: "key", hash: alice.stake } as const;
    const see = async (held: typeof session) => ({
      point: valueOf(await sendQuery(held, { kind: "point" })),
      height: valueOf(await sendQuery(held, { kind: "height" })),
      alice: valueOf(await sendEraQuery(held, { kind: "utxoByAddress", era: CONWAY, addresses: [alice.base] })).length,
      bob:
        valueOf(await sendEraQuery(held, { kind: "utxoByAddress", era: CONWAY, addresses: [bob.enterprise] })).length,
      deposits: valueOf(await sendEraQuery(held, { kind: "stakeDeposits", era: CONWAY, credentials: [stake] })),
    });
    const before = { point: pointOf(first), height: 0, alice: 1, bob: 0, deposits: [] };
    const after = {
      point: pointOf(second),
      height: 1,
      alice: 0,
      bob: 1,
      deposits: [{ credential: stake, lovelace: 2n * ada }],
    };
    expect(await see(session)).toEqual(before);
    valueOf(await session.reacquire("tip"));
    expect(await see(session)).toEqual(after);
    valueOf(await session.reacquire(pointOf(first)));
    expect(await see(session)).toEqual(before);
    valueOf(await devnet.rollback({ blocks: 1 }));
    valueOf(await session.reacquire("tip"));
    expect(await see(session)).toEqual(before);
    valueOf(await session.reacquire("immutable"));
    expect(valueOf(await sendQuery(session, { kind: "point" }))).toEqual(origin);
    expect(valueOf(await sendQuery(session, { kind: "height" }))).toBeUndefined();
    expect(await session.reacquire(pointOf(second))).toMatchObject({
      ok: false,
      error: { code: "point_not_on_chain" },
    });
  });

  test("has no state below the blocks that a rollback can reach", async () => {
    await begin({ securityParameter: 2 });
    await open();
    const tips = [await block(), await block(), await block(), await block()];
    expect(await connection.acquire(pointOf(tips[0]!))).toMatchObject({ ok: false, error: { code: "point_too_old" } });
    const session = valueOf(await connection.acquire("immutable"));
    expect(valueOf(await sendQuery(session, { kind: "point" }))).toEqual(pointOf(tips[1]!));
  });

  test("answers every supported query in every version, with the ledger's data", async () => {
    await begin({ epochLength: 5, securityParameter: 20 });
    for (let i = 0; i < 12; i++) await block();
    const { value: ledger, genesis } = (await readLedger(world.store))!;
    const pools = [...ledger.pools.entries()].map(([id]) => id).sort();
    const owners = genesis.pools.map(({ registered }) => ({
      kind: "key" as const,
      hash: registered.terms.owners[0]!,
    }));
    for (const version of [16, 20, 21, 23]) {
      connection = valueOf(await connectNode({ path }, { magic: 42, versions: [version] }));
      const session = valueOf(await connection.acquire("tip"));
      const plain = async <Q extends NodeQuery>(query: Q) => valueOf(await sendQuery(session, query));
      const of = async <Q extends EraQuery>(query: Q) => valueOf(await sendEraQuery(session, query));
      expect(await plain({ kind: "currentEra" })).toBe(CONWAY);
      expect(await of({ kind: "epoch", era: CONWAY })).toBe(ledger.epoch);
      expect(await of({ kind: "ledgerTip", era: CONWAY })).toEqual(pointOf(devnet.tip()));
      expect(await plain({ kind: "eraHistory" })).toHaveLength(7);
      expect(await plain({ kind: "eraStart", era: CONWAY })).toEqual({ time: 0n, slot: 0, epoch: 0 });
      const stated = await of({ kind: "genesis", era: CONWAY });
      expect(stated).toMatchObject({ networkMagic: 42, epochLength: 5, securityParameter: 20 });
      expect([...await of({ kind: "stakePools", era: CONWAY })].sort()).toEqual(pools);
      const terms = await of({ kind: "poolParameters", era: CONWAY, pools: pools.slice(0, 1) });
      expect(terms.map(({ pool, pledge }) => [pool, pledge])).toEqual([[pools[0], genesis.pledge]]);
      expect((await of({ kind: "poolState", era: CONWAY, pools: undefined })).deposits).toHaveLength(3);
      const { total } = stakeSnapshots(ledger);
      expect((await of({ kind: "stakeSnapshots", era: CONWAY, pools: undefined })).totals).toEqual(total);
      expect((await of({ kind: "poolDistribution", era: CONWAY, pools: pools.slice(1) })).pools).toHaveLength(2);
      const { pools: shares } = await of({ kind: "stakeDistribution", era: CONWAY });
      const now = stakeDistribution(ledger, genesis.terms).pools;
      expect(new Map(shares.map(({ pool, share }) => [pool, share]))).toEqual(
        new Map([...now].map(([pool, { share }]) => [pool, share])),
      );
      expect(shares).toHaveLength(3);
      const { pools: delegated, rewards } = await of({ kind: "delegations", era: CONWAY, credentials: owners });
      expect(delegated).toHaveLength(3);
      expect(rewards.map(({ lovelace }) => lovelace)).toEqual(
        rewards.map(({ credential }) => ledger.accounts.get(credentialKey(credential))!.balance),
      );
      expect(await of({ kind: "voteDelegatees", era: CONWAY, credentials: owners })).toEqual([]);
      const { treasury, reserves } = ledger.pots;
      expect(await of({ kind: "accountState", era: CONWAY })).toEqual({ treasury, reserves });
      const [ranked] = await of({ kind: "nonMyopicRewards", era: CONWAY, stakes: [1_000_000n * ada] });
      const best = nonMyopicMemberRewards(ledger, genesis.terms, [1_000_000n * ada]).get(1_000_000n * ada);
      expect(new Map(ranked!.pools.map(({ pool, lovelace }) => [pool, lovelace]))).toEqual(best);
      expect(valueOf(await sendQuery(session, { kind: "epoch", era: 5 }))).toMatchObject({ ok: false });
      connection.close();
    }
  });

  test("ends after an unsupported query, after the database lost a state, and after a state was idle too long", async () => {
    await begin();
    await open();
    const session = valueOf(await connection.acquire("tip"));
    // the snapshot of ledger peers
    expect(await sendQuery(session, { kind: "raw", era: CONWAY, query: encode([34]) })).toMatchObject({
      ok: false,
      error: { code: "connection_lost" },
    });
    await open();
    const cut = valueOf(await connection.acquire("tip"));
    await world.store.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`;
    expect(await sendQuery(cut, { kind: "epoch", era: CONWAY })).toMatchObject({
      ok: false,
      error: { code: "connection_lost" },
    });
    await open();
    expect(valueOf(await sendQuery(valueOf(await connection.acquire("tip")), { kind: "height" }))).toBeUndefined();
    connection.close();
    await server.close();
    await serve({ idleMs: 20 });
    await open();
    const idle = valueOf(await connection.acquire("tip"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await sendQuery(idle, { kind: "epoch", era: CONWAY })).toMatchObject({
      ok: false,
      error: { code: "connection_lost" },
    });
  });

  test("reads the mempool and waits for a change", async () => {
    await begin();
    // the faucet's own transaction at the start
    await block();
    await open();
    const snapshot = valueOf(await connection.mempool());
    expect(valueOf(await snapshot.next())).toBeUndefined();
    const changed = snapshot.change();
    const coin = await give(alice.enterprise, 5n * ada);
    valueOf(await changed);
    expect(valueOf(await snapshot.has({ era: CONWAY, hash: coin.ref.txHash }))).toBe(true);
    const { transactions, size } = valueOf(await snapshot.sizes());
    expect([transactions, size]).toEqual([1, valueOf(await snapshot.next())!.bytes.length]);
  });
});

test("explains in a message what is wrong with a node", async () => {
  await begin();
  const failureOf = async (address: string, magic = 42) => {
    const port = nodePort({ address: { path: address }, magic, log: silentLog, firstWaitMs: 1 });
    try {
      const checked = await port.check();
      const tip = await port.tip();
      expect(tip.ok).toBe(checked.ok);
      return checked.ok ? undefined : checked.error;
    } finally {
      port.close();
    }
  };
  expect(await failureOf(path)).toBeUndefined();
  expect(await failureOf(path, 1)).toMatchObject({ code: "wrong_magic", message: expect.stringMatching(/not 1\.$/) });
  expect(await failureOf(`${path}.none`)).toMatchObject({ code: "socket_missing" });
  expect(await failureOf("/tmp/" + "x".repeat(200))).toMatchObject({ code: "socket_path_too_long" });
  const other = nodePort({ address: { path }, magic: 2, log: silentLog });
  await expect(other.network()).rejects.toThrow(/magic/);
  other.close();
});
