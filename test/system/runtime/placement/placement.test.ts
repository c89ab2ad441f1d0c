/** Partition ownership: workers that join, leave, die, lose the bus, and are given a partition. */
import { afterEach, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { metrics } from "#src/base/metrics.ts";
import { movePartition } from "#src/runtime/placement/movePartition.ts";
import { partitionOf } from "#src/runtime/placement/partitions.ts";
import { PLACEMENT } from "#src/runtime/placement/failureDetector.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import { exposition } from "../../../support/runtime/prometheusText.ts";
import { sharedInfra } from "../../../support/infra/infra.ts";
import { startProxy } from "../../../support/infra/tcpProxy.ts";
import { readActor } from "../../../support/runtime/readActor.ts";
import { type Cluster, type ClusterOptions, startCluster } from "../../../support/runtime/cluster.ts";
import { until } from "../../../support/base/until.ts";

/** Longer than any test takes: no worker gets a partition because a lease expired. */
const LONG_MS = 600_000;

let cluster: Cluster;
afterEach(() => cluster?.stop());

async function start(options: ClusterOptions): Promise<void> {
  cluster = await startCluster(await sharedInfra(), { plain: true, ...options });
}

/** Owner and epoch of each partition. */
async function placement(): Promise<{ owner: string | null; epoch: number }[]> {
  const rows = await cluster.store.sql<{ owner: string | null; epoch: bigint }[]>`
    select owner, epoch from partition order by id`;
  return rows.map(({ owner, epoch }) => ({ owner, epoch: Number(epoch) }));
}

/** The partitions that changed owners between two readings. */
function moved(before: { epoch: number }[], after: { epoch: number }[]): number[] {
  return after.flatMap(({ epoch }, id) => epoch === before[id]!.epoch ? [] : [id]);
}

const add = (entity: EntityRef, amount = 1) => cluster.ask.ask(entity, { type: "ADD", amount }, { deadlineMs: 20_000 });

/**
 * Sends a command to a new entity every few milliseconds, one after the other, until the returned function is called;
 * that returns the longest wait.
 */
function asking(prefix: string): () => Promise<{ count: number; worstMs: number }> {
  const refused: unknown[] = [];
  let over = false;
  let count = 0;
  let worstMs = 0;
  const clients = Array.from({ length: 8 }, async (_, client) => {
    while (!over) {
      const began = performance.now();
      const answer = await add({ kind: "account", id: `${prefix}${client}-${count++ % 50}` });
      worstMs = Math.max(worstMs, performance.now() - began);
      if (!answer.ok) refused.push(answer.error);
    }
  });
  return async () => {
    over = true;
    await Promise.all(clients);
    expect(refused).toEqual([]);
    return { count: count, worstMs: Math.round(worstMs) };
  };
}

describe("shares", () => {
  test("a worker that joins gets a share, one that leaves gives it to the others, and nothing else moves", async () => {
    await start({ partitions: 64, leaseMs: LONG_MS });
    const one = await cluster.start("one");
    const two = await cluster.start("two");
    await cluster.settled([one, two]);
    const stop = asking("join");
    const before = await placement();
    const three = await cluster.start("three");
    await cluster.settled([one, two, three]);
    const joined = await placement();
    const came = moved(before, joined);
    // 64 among three: one has 22, and keeps it.
    expect(came).toHaveLength(21);
    expect(came.every((id) => joined[id]!.owner === "three")).toBe(true);
    console.log(`a join moved ${came.length} of 64 partitions; answers meanwhile:`, await stop());

    const again = asking("leave");
    three.signal("SIGTERM");
    await three.exited;
    await cluster.settled([one, two]);
    const left = await placement();
    expect(moved(joined, left)).toEqual(joined.flatMap(({ owner }, id) => owner === "three" ? [id] : []));
    console.log("a SIGTERM; answers meanwhile:", await again());
    expect(await cluster.store.sql`select 1 from worker where id = 'three'`).toHaveLength(0);
  });

  test("a worker that ends releases a long-running effect, and the next owner runs it", async () => {
    await start({ leaseMs: LONG_MS });
    const one = await cluster.start("one");
    const two = await cluster.start("two");
    await cluster.settled([one, two]);
    const entity = await cluster.ownedBy(two);
    await add(entity, 10);
    const paid = cluster.ask.ask(entity, { type: "PAY", amount: 4, slowly: true }, { deadlineMs: 30_000 });
    await until("the effect runs", async () => (await two.state()).effects === 1);
    const began = performance.now();
    two.signal("SIGTERM");
    await two.exited;
    console.log(`ended after ${Math.round(performance.now() - began)} ms`);
    // The first attempt of a slow payment never ends; the second one does.
    expect(await paid).toMatchObject({ ok: true, value: { paid: expect.any(Number) } });
    expect(await readActor(cluster.store, entity)).toMatchObject({ context: { balance: 6, payments: 1 } });
  });
});

describe("failure detection", () => {
  test("takes the partitions of a killed worker before their leases end", async () => {
    await start({ leaseMs: LONG_MS });
    const one = await cluster.start("one");
    const two = await cluster.start("two");
    await cluster.settled([one, two]);
    const entity = await cluster.ownedBy(two);
    await add(entity);
    two.signal("SIGKILL");
    await two.exited;
    const began = performance.now();
    expect(await add(entity)).toEqual({ ok: true, value: { balance: 2, adds: 2 } });
    console.log(`answered ${Math.round(performance.now() - began)} ms after the kill`);
    await cluster.settled([one]);
  });

  test("detects a worker killed with the only request before the request times out", async () => {
    await start({ leaseMs: LONG_MS, plain: false });
    const one = await cluster.start("one");
    const two = await cluster.start("two");
    await cluster.settled([one, two]);
    const entity = await cluster.ownedBy(two);
    const timeouts = async () =>
      exposition(await metrics.text()).get("arbor_asked_again_total")!.samples.find(({ labels }) =>
        labels.reason === "timeout"
      )?.value;
    const givenUp = await timeouts();
    await two.arm({ at: "after-commit", cause: "in-hand", signal: "SIGKILL" });
    const answer = cluster.ask.ask(entity, { type: "ADD", amount: 1 }, { commandId: "in-hand", deadlineMs: 20_000 });
    expect(await answer).toEqual({ ok: true, value: { balance: 1, adds: 1 } });
    await two.exited;
    expect(await timeouts()).toBe(givenUp);
    await cluster.settled([one]);
  });

  test("takes nothing from a live worker that is suspected; the suspicion lapses", async () => {
    await start({ leaseMs: LONG_MS });
    const one = await cluster.start("one");
    const two = await cluster.start("two");
    await cluster.settled([one, two]);
    const before = await placement();
    await cluster.store.sql`update worker set suspect = now() where id = 'two'`;
    cluster.bus.publish(PLACEMENT, { suspect: "two" });
    const marked = async () => (await cluster.store.sql`select 1 from worker where suspect is not null`).length > 0;
    await until("the mark has lapsed", async () => !(await marked()));
    await sleep(300);
    expect(moved(before, await placement())).toEqual([]);
    expect(await add(await cluster.ownedBy(two))).toMatchObject({ ok: true });
  });

  test("replaces a worker that lost the bus and renews its leases; it cannot write, and returns with the bus", async () => {
    await start({ leaseMs: 4_000 });
    const { hostname, port } = new URL(cluster.natsUrl.replace("nats:", "http:"));
    const proxy = await startProxy({ host: hostname, port: Number(port) });
    const one = await cluster.start("one");
    const two = await cluster.start("two", `nats://127.0.0.1:${proxy.port}`);
    await cluster.settled([one, two]);
    const entity = await cluster.ownedBy(two);
    await add(entity);
    await proxy.cut();
    expect(await add(entity)).toEqual({ ok: true, value: { balance: 2, adds: 2 } });
    await until("the other serves everything", async () => (await one.state()).owned.length === 16);
    const [row] = await cluster.store.sql<{ fresh: boolean }[]>`
      select seen > now() - interval '3 seconds' as fresh from worker where id = 'two'`;
    expect(row!.fresh).toBe(true);
    // Without the bus, it takes nothing back.
    await sleep(1_500);
    expect((await placement()).every(({ owner }) => owner === "one")).toBe(true);
    await proxy.mend();
    await cluster.settled([one, two]);
    expect(await add(entity)).toEqual({ ok: true, value: { balance: 3, adds: 3 } });
    await proxy.cut();
  });
});

describe("a partition that is moved", () => {
  test("stays where it was moved to while the shares allow it; another moves instead", async () => {
    await start({ leaseMs: 1_000 });
    const one = await cluster.start("one");
    const two = await cluster.start("two");
    await cluster.settled([one, two]);
    const entity = await cluster.ownedBy(one);
    const id = partitionOf(entity, 16);
    await add(entity);
    const stop = asking("move");
    expect(await movePartition(cluster, id, "two")).toEqual({ ok: true, value: { partition: id, owner: "two" } });
    expect(await add(entity)).toMatchObject({ ok: true, value: { adds: 2 } });
    await cluster.settled([one, two]);
    console.log("a move; answers meanwhile:", await stop());
    // Over several renewals, and over a join and a leave.
    await sleep(1_200);
    const three = await cluster.start("three");
    await cluster.settled([one, two, three]);
    three.signal("SIGTERM");
    await three.exited;
    await cluster.settled([one, two]);
    expect((await placement())[id]!.owner).toBe("two");
    // Without a named worker it moves to the only other one; with its owner named it stays.
    expect(await movePartition(cluster, id)).toEqual({ ok: true, value: { partition: id, owner: "one" } });
    expect(await movePartition(cluster, id, "one")).toEqual({ ok: true, value: { partition: id, owner: "one" } });
    await cluster.settled([one, two]);
    // When its worker leaves, any other may have it.
    one.signal("SIGTERM");
    await one.exited;
    await cluster.settled([two]);
    expect(await movePartition(cluster, id)).toMatchObject({ ok: false, error: { code: "no_other_worker" } });
    expect(await movePartition(cluster, id, "one")).toMatchObject({ ok: false, error: { code: "worker_unknown" } });
    expect(await movePartition(cluster, 16)).toMatchObject({ ok: false, error: { code: "partition_unknown" } });
  });

  test("all partitions moved to one worker do not stay there", async () => {
    await start({ leaseMs: 1_000 });
    const one = await cluster.start("one");
    const two = await cluster.start("two");
    await cluster.settled([one, two]);
    for (let id = 0; id < 16; id++) expect(await movePartition(cluster, id, "two")).toMatchObject({ ok: true });
    await cluster.settled([one, two]);
    const before = await placement();
    await sleep(1_200);
    expect(moved(before, await placement())).toEqual([]);
  });
});

describe("10,000 known entities", () => {
  test("cost workers that start no more than their rows", async () => {
    await start({ partitions: 64, leaseMs: 2_000 });
    const one = await cluster.start("one");
    await add({ kind: "account", id: "known0" });
    const known = Array.from({ length: 10_000 }, (_, i) => ({ kind: "account", id: `known${i}` }));
    await cluster.store.sql`
      insert into actor (kind, id, partition, version, input_seq, snapshot, state, machine_version)
      select a.kind, x.id, x.partition, a.version, a.input_seq, a.snapshot, a.state, a.machine_version from actor a,
        unnest(${known.map(({ id }) => id)}::text[], ${
      known.map((one) => partitionOf(one, 64))
    }::int[]) as x(id, partition)
      where a.id = 'known0' and x.id <> a.id`;
    one.signal("SIGTERM");
    await one.exited;
    // The reads of workers' backends are counted when they end.
    const read = async () => {
      const [row] = await cluster.store.sql<{ scans: bigint; rows: bigint }[]>`
        select seq_scan as scans, seq_tup_read + idx_tup_fetch as rows from pg_stat_user_tables where relname = 'actor'`;
      return { scans: Number(row!.scans), rows: Number(row!.rows) };
    };
    const counted = async () => {
      await until("the backends of workers have ended", async () =>
        (await cluster.store.sql`
          select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
            and application_name like '%two%'`).length === 0);
      await cluster.store.sql`select pg_stat_clear_snapshot()`;
      return await read();
    };
    await sleep(1_200);
    const before = await counted();
    const began = performance.now();
    const two = await cluster.start("two");
    await cluster.settled([two]);
    const started = Math.round(performance.now() - began);
    expect((await two.state()).resident).toBe(0);
    const some = known.slice(0, 100);
    const answers = await Promise.all(some.map((entity) => add(entity)));
    expect(answers.every((answer) => answer.ok)).toBe(true);
    expect((await two.state()).resident).toBe(100);
    console.log(
      `10,000 known: a worker serves after ${started} ms, 100 answered after ${
        Math.round(performance.now() - began)
      } ms`,
    );
    // Several sweeps later.
    await sleep(1_500);
    expect((await two.state()).resident).toBe(100);
    two.signal("SIGTERM");
    await two.exited;
    const after = await counted();
    console.log(`rows of actors read: ${after.rows - before.rows}, whole scans: ${after.scans - before.scans}`);
    expect(after.scans - before.scans).toBe(0);
    expect(after.rows - before.rows).toBeGreaterThan(0);
    expect(after.rows - before.rows).toBeLessThan(1_000);
  });
});
