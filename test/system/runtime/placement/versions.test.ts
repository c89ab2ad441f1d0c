/** Two versions of a kind: conversion of snapshots, a rolling upgrade under load, and workers that are too old. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Result } from "#src/base/result.ts";
import { renewLeases } from "#src/runtime/placement/leaseRows.ts";
import { movePartition } from "#src/runtime/placement/movePartition.ts";
import type { Worker } from "#src/runtime/worker.ts";
import { until } from "../../../support/base/until.ts";
import { type LocalRuntime, startLocalRuntime } from "../../../support/runtime/localRuntime.ts";
import { readActor } from "../../../support/runtime/readActor.ts";
import { tally1, tally2, tally2Alone } from "../../../support/runtime/tally.ts";

let runtime: LocalRuntime;
beforeAll(async () => {
  runtime = await startLocalRuntime();
});
beforeEach(async () => {
  await runtime.store.sql`truncate kind_version, worker, actor, outbox, outbox_unpublished, command_result`;
});
afterEach(() => runtime.stopWorkers());
afterAll(() => runtime?.stop());

const tally = (id: string) => ({ kind: "tally", id });
const add = (id: string, commandId: string = crypto.randomUUID(), deadlineMs = 10_000) =>
  runtime.ask.ask(tally(id), { type: "ADD" }, { commandId, deadlineMs });
const versionOf = async (id: string) =>
  (await runtime.store.sql`select machine_version as v from actor where kind = 'tally' and id = ${id}`)[0]!.v as number;

test("a snapshot of version 1 becomes one of version 2 with the first turn, and stays as it is without a conversion", async () => {
  await runtime.start([tally1]);
  await add("m");
  expect(await add("m")).toEqual({ ok: true, value: { n: 2, version: 1 } });
  await runtime.stopWorkers();

  await runtime.start([tally2Alone]);
  expect(await add("m", "m-3")).toMatchObject({
    error: {
      code: "failed",
      message: expect.stringContaining('a snapshot of version 1 of the machine "tally", which is at 2'),
    },
  });
  expect([await versionOf("m"), (await readActor(runtime.store, tally("m")))!.context]).toEqual([1, { n: 2 }]);
  // What has no snapshot of version 1 runs.
  expect(await add("new")).toEqual({ ok: true, value: { n: 1, version: 2 } });
  await runtime.stopWorkers();

  await runtime.start([tally2]);
  expect(await add("m", "m-3")).toEqual({ ok: true, value: { n: 3, version: 2 } });
  expect([await versionOf("m"), (await readActor(runtime.store, tally("m")))!]).toMatchObject([
    2,
    { state: "live", context: { total: 3 } },
  ]);
});

test("a rolling upgrade under load: both versions serve side by side, and no caller sees a failure", async () => {
  const ENTITIES = 40;
  const replies: Result<{ n: number; version: number }, unknown>[][] = Array.from({ length: ENTITIES }, () => []);
  let over = false;
  let count = 0;
  const old = await Promise.all([runtime.start([tally1]), runtime.start([tally1])]);
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let i = client; !over; i = (i + 8) % ENTITIES) {
      replies[i]!.push(await add(`e${i}`) as Result<{ n: number; version: number }, unknown>);
      count++;
    }
  });
  const more = async (n = 300) => {
    const now = count;
    await until("commands are answered", async () => count >= now + n);
  };
  const owned = (workers: readonly Worker[]) => workers.reduce((sum, worker) => sum + worker.state().owned.length, 0);
  await more();
  const first = await runtime.start([tally2]);
  await until("it has a share", async () => first.state().owned.length >= 2 && owned([...old, first]) === 8);
  expect(owned(old)).toBeGreaterThan(0);
  await more();
  await old[0]!.stop();
  await until("the others serve all", async () => owned([old[1]!, first]) === 8);
  await more();
  const second = await runtime.start([tally2]);
  await old[1]!.stop();
  await until("the new ones serve all", async () => owned([first, second]) === 8);
  await more();
  over = true;
  await Promise.all(clients);
  for (const some of replies) {
    expect(some.map((reply) => reply.ok ? reply.value.n : reply)).toEqual(some.map((_, i) => i + 1));
    const versions = some.map((reply) => reply.ok && reply.value.version);
    expect(versions).toEqual(versions.toSorted());
    expect([versions[0], versions.at(-1)]).toEqual([1, 2]);
  }
});

test("a worker of version 1 takes nothing of what version 2 may have written; the command is applied once there is one", async () => {
  const old = await runtime.start([tally1]);
  const current = await runtime.start([tally2]);
  await until("they share", async () => old.state().owned.length + current.state().owned.length === 8);
  const before = new Set(old.state().owned);
  const { store, bus } = runtime;
  expect(await movePartition({ store, bus }, current.state().owned[0]!, old.id)).toMatchObject({
    ok: false,
    error: { code: "worker_unknown" },
  });
  await current.stop();
  // Several beats of its leases.
  const beat = async () => (await store.sql`select seen from worker where id = ${old.id}`)[0]!.seen.getTime() as number;
  for (let i = 0, last = await beat(); i < 5; i++) {
    last = await until("a beat", async () => {
      const now = await beat();
      return now > last && now;
    });
  }
  expect(old.state().owned.every((partition) => before.has(partition))).toBe(true);
  const served = old.state().owned.length;
  expect(served).toBeLessThan(8);
  const answers = Promise.all(Array.from({ length: 16 }, (_, i) => add(`w${i}`, `w${i}`, 30_000)));
  await until("the old one answers for its share", async () => old.state().turns > 0);
  await runtime.start([tally2]);
  expect((await answers).map((answer) => answer.ok)).toEqual(Array(16).fill(true));
});

test("a release that does not compare versions renews what it has and can take nothing", async () => {
  const { store } = runtime;
  await runtime.start([tally2]);
  await runtime.stopWorkers();
  const before = await store.sql`select * from partition order by id`;
  // The statements of commit 3cb51ef, which took 21 partitions of a newer database.
  const take = () =>
    store.sql`
      update partition p set epoch = p.epoch + 1, owner = 'old', expires = now() + '2000 ms'::interval,
        wanted = case when p.wanted = 'old' then p.wanted end
      from (select id from partition
        where (owner is null or expires < now() or owner = 'old' or owner = any('{}'::text[]))
          and id <> all('{}'::int[]) and (wanted is null or wanted <> all('{}'::text[]))
        order by id limit 21 for update skip locked) free
      where p.id = free.id returning p.id, p.epoch, p.wanted`;
  await expect(take()).rejects.toMatchObject({ code: "23514", constraint_name: "partition_taken_by_checked_release" });
  expect([...await store.sql`select * from partition order by id`]).toEqual([...before]);
  const lease = () =>
    store.sql`
      insert into lease as l (name, epoch, owner, expires) values ('follower', 1, 'old', now() + 2000 * interval '1 ms')
      on conflict (name) do update set epoch = l.epoch + 1, owner = excluded.owner, expires = excluded.expires
      where l.owner is null or l.expires < now() or l.epoch = -1 returning epoch`;
  await expect(lease()).rejects.toMatchObject({ code: "23514", constraint_name: "lease_taken_by_checked_release" });

  // It holds what it took before the upgrade, until it stops.
  await store.sql`update partition set owner = 'old', expires = now() + interval '1 hour' where id < 3`;
  await store.sql`insert into worker (id, seen) values ('old', now())`;
  const kept = await store.sql`
    update partition p set expires = now() + '2000 ms'::interval
    where p.id < 3 and p.owner = 'old' returning p.id`;
  expect(kept).toHaveLength(3);
  const view = await renewLeases(store, { worker: "new", leaseMs: 600, kinds: { tally: 2 }, held: [] });
  expect(view).toMatchObject({ outdated: false, others: [{ worker: "old", partitions: 3, outdated: true }] });
  await store.sql`delete from worker where id = 'old'`;
  await store.sql`update partition set owner = null, expires = '-infinity'`;
});
