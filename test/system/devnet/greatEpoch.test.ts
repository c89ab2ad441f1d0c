/** The end of an epoch that changes thousands of rows: seen whole or not at all, undone and done again. */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Devnet } from "#src/devnet/devnet.ts";
import { allLovelace, ledgerInRows, ledgerOf } from "../../support/devnet/devnet.ts";
import { indexRows } from "../../support/devnet/devnetIndex.ts";
import { devnetWorld, valueOf } from "../../support/devnet/devnetWorld.ts";
import { greatRows } from "../../support/devnet/greatDevnet.ts";

const ACCOUNTS = 3_000;
const VOTES = 20 * 200;
const world = devnetWorld();

/** A devnet whose first boundary pays every account, and whose second one ends actions with thousands of votes. */
async function greatDevnet(): Promise<Devnet> {
  const options = { epochLength: 30 };
  await (await world.start(options)).stop();
  await greatRows(world.store, { accounts: ACCOUNTS, dreps: 300, proposals: 60, votes: 200 });
  return await world.start(options);
}

/** The ledger in memory and in the rows, which are equal. */
async function ledger(devnet: Devnet): Promise<Record<string, unknown>> {
  const inMemory = await devnet.query(ledgerOf);
  expect(await ledgerInRows(world.store)).toEqual(inMemory);
  return inMemory!;
}

const entriesOf = async (kind: string) =>
  (await world.store.sql<{ key: string }[]>`select key from devnet_entry where kind = ${kind}`).length;

test("a boundary pays thousands of accounts and drops thousands of votes; a rollback gives the state before", async () => {
  const devnet = await greatDevnet();
  for (const dropped of [0, VOTES]) {
    const before = await ledger(devnet);
    const votes = await entriesOf("votes");
    const tip = valueOf(await devnet.enterNextEpoch());
    const after = await ledger(devnet);
    expect(after.accounts).not.toEqual(before.accounts);
    expect(votes - await entriesOf("votes")).toBe(dropped);
    valueOf(await devnet.rollback({ blocks: 1 }));
    expect(await ledger(devnet)).toEqual(before);
    const again = valueOf(await devnet.enterNextEpoch());
    expect(again.slot).toBe(tip.slot);
    expect(await ledger(devnet)).toEqual(after);
  }
  await devnet.stop();
  const restarted = await world.start();
  expect(await restarted.query(ledgerOf)).toEqual(await ledgerInRows(world.store));
});

test("a query during a boundary sees the whole state before it or after it", async () => {
  const devnet = await greatDevnet();
  const look = () => devnet.query((state) => [state.epoch, allLovelace(state)] as const);
  const [, lovelace] = (await look())!;
  const seen: (ReturnType<typeof look>)[] = [];
  const inRows: Promise<unknown>[] = [];
  const rows = () =>
    world.store.sql<{ epoch: unknown; tip: number; snapshots: number }[]>`
      select (select value from devnet_entry where kind = 'epoch') as epoch,
        (select max(height) from devnet_block)::int as tip,
        (select count(*)::int from devnet_entry where kind = 'snapshots' and key = '1') as snapshots`
      .then(([row]) => row!);
  let ended = false;
  seen.push(look());
  const boundary = devnet.enterNextEpoch().finally(() => ended = true);
  while (!ended) {
    if (seen.length < 50) seen.push(look());
    if (inRows.length < 200) inRows.push(rows());
    await setImmediate();
  }
  valueOf(await boundary);
  seen.push(look());
  const states = await Promise.all(seen);
  expect(new Set(states.map((state) => state?.[0]))).toEqual(new Set([0, 1]));
  expect(states.every((state) => state?.[1] === lovelace)).toBe(true);
  const distinct = new Set((await Promise.all([...inRows, rows()])).map((row) => JSON.stringify(row)));
  expect([...distinct].sort()).toEqual([
    JSON.stringify({ epoch: 0, tip: null, snapshots: 0 }),
    JSON.stringify({ epoch: 1, tip: 0, snapshots: 1 }),
  ].sort());
});

test("a snapshot behind a boundary is restored after a rollback across it, and the index is that of its blocks", async () => {
  const devnet = await greatDevnet();
  valueOf(await devnet.enterNextEpoch());
  const after = await ledger(devnet);
  const index = await indexRows(world.store);
  valueOf(await devnet.snapshots.save("great", { replace: false }));
  valueOf(await devnet.rollback({ height: -1 }));
  valueOf(await devnet.snapshots.restore("great"));
  expect(await ledger(devnet)).toEqual(after);
  expect(await indexRows(world.store)).toEqual(index);
});
