/** Acquired states of a devnet: shared at one block, evicted and read again, refused when all are busy. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Tip } from "#src/cardano/block.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { type AcquiredState, AcquiredStates } from "#src/devnet/serve/acquiredStates.ts";
import type { DevnetStateTarget } from "#src/devnet/serve/stateRows.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { sendQuery } from "#src/node/queries/sendQuery.ts";
import { devnetWorld, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { until } from "../../support/base/until.ts";

const world = devnetWorld();
let devnet: Devnet;
let states: AcquiredStates;

beforeEach(async () => {
  devnet = await world.start({ epochLength: 5 });
  states = new AcquiredStates({ store: world.store, genesis: devnet.genesis, maxOpen: 2, idleMs: 20_000 });
});
afterEach(() => states.close());

const hold = async (target: DevnetStateTarget = "tip"): Promise<AcquiredState> => valueOf(await states.acquire(target));
const pointOf = ({ slot, hash }: Tip) => ({ slot, hash });
const epochOf = async (state: AcquiredState) => (await state.registry(["epoch"])).epoch;
/** Keeps queries of outputs in progress until the returned function is called. */
async function stall(): Promise<() => Promise<void>> {
  let end = () => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  let locking: Promise<unknown> = Promise.resolve();
  await new Promise<void>((locked) => {
    locking = world.store.sql.begin(async (sql) => {
      await sql`lock table devnet_utxo in access exclusive mode`;
      locked();
      await ended;
    });
  });
  return async () => {
    end();
    await locking;
  };
}

test("clients at one block share a transaction, which ends with the last of them", async () => {
  await makeBlock(devnet);
  const many = await Promise.all(Array.from({ length: 50 }, () => hold()));
  expect(states.open).toBe(1);
  expect(await Promise.all(many.map(epochOf))).toEqual(many.map(() => 0));
  for (const state of many.slice(1)) state.release();
  expect(states.open).toBe(1);
  expect(await epochOf(many[0]!)).toBe(0);
  await expect(epochOf(many[1]!)).rejects.toThrow(/released/);
  many[0]!.release();
  many[0]!.release();
  expect(states.open).toBe(0);
});

test("a client at an older block finds it in the same transaction", async () => {
  const tips = [await makeBlock(devnet), await makeBlock(devnet), await makeBlock(devnet)];
  const held = await Promise.all([...tips.map(pointOf), "tip" as const].map(hold));
  expect(states.open).toBe(1);
  expect(held.map(({ tip }) => tip.height)).toEqual([0, 1, 2, 2]);
});

test("the least recently queried state is evicted, and read again when it is queried", async () => {
  const held: AcquiredState[] = [];
  const tips: Tip[] = [];
  for (let i = 0; i < 12; i++) {
    tips.push(await makeBlock(devnet));
    held.push(await hold());
    expect(states.open).toBeLessThanOrEqual(2);
  }
  for (const [i, state] of held.entries()) {
    expect(state.tip).toEqual(tips[i]);
    expect(await epochOf(state)).toBe(Math.floor(tips[i]!.slot / 5));
  }
  for (const state of held) state.release();
  expect(states.open).toBe(0);
});

test("an evicted state whose block was rolled back is lost; one that was not evicted still answers", async () => {
  const first = await hold();
  await makeBlock(devnet);
  const gone = await hold();
  await makeBlock(devnet);
  const last = await hold();
  expect(await epochOf(last)).toBe(0);
  // the first two were at different blocks: one of them was evicted
  await makeBlock(devnet);
  const newest = await hold();
  valueOf(await devnet.rollback({ height: -1 }));
  await expect(epochOf(gone)).rejects.toThrow(/cannot be read again/);
  expect(await epochOf(newest)).toBe(0);
  expect((await newest.utxos()).length).toBeGreaterThan(0);
  // the origin is always available
  expect(await epochOf(first)).toBe(0);
});

test("a client that would have to wait for others is refused at once", async () => {
  await makeBlock(devnet);
  const one = await hold();
  await makeBlock(devnet);
  const two = await hold();
  await makeBlock(devnet);
  const end = await stall();
  const pending = [one.utxos(), two.utxos()];
  try {
    expect(await states.acquire("tip")).toMatchObject({ ok: false, error: { code: "busy" } });
  } finally {
    await end();
    await Promise.all(pending);
  }
  expect((await states.acquire("tip")).ok).toBe(true);
});

test("twenty clients of the socket, each at another block, are all answered", async () => {
  const { path } = await world.serve(devnet, { idleMs: 20_000 });
  const connections: NodeConnection[] = [];
  const open = async () => {
    const connection = valueOf(await connectNode({ path }, { magic: 42 }));
    connections.push(connection);
    return connection;
  };
  const sessions = [];
  const tips: Tip[] = [];
  for (let i = 0; i < 20; i++) {
    tips.push(await makeBlock(devnet));
    sessions.push(valueOf(await (await open()).acquire("tip")));
  }
  for (const [i, session] of sessions.entries()) {
    expect(valueOf(await sendQuery(session, { kind: "point" }))).toEqual(pointOf(tips[i]!));
    expect(valueOf(await sendQuery(session, { kind: "epoch", era: 6 }))).toEqual({
      ok: true,
      value: Math.floor(tips[i]!.slot / 5),
    });
  }
  for (const connection of connections) connection.close();
  await until("the transactions have ended", async () => {
    const [row] = await world.store.sql<{ open: number }[]>`select count(*)::int as open from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`;
    return row!.open === 0;
  }, 5_000);
});
