/** Limits of effects within one process: order, rate, slices, failures, cancellation, and a limit that a version adds. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import * as api from "#src/operators/api/operator.ts";
import { takeSlots } from "#src/runtime/effects/slots.ts";
import { createPartitions } from "#src/runtime/placement/partitions.ts";
import { prune, RETENTION_HOURS } from "#src/runtime/operations/retention.ts";
import { type EffectRun, Unfinished } from "#src/runtime/types.ts";
import { migrate } from "#src/store/migrations.ts";
import { until } from "../../../support/base/until.ts";
import { migrationsOf } from "../../../support/infra/migrationsOf.ts";
import { callOf, jobKind, limitedBy } from "../../../support/runtime/job.ts";
import { type LocalRuntime, startLocalRuntime } from "../../../support/runtime/localRuntime.ts";
import { startOperator } from "../../../support/runtime/operatorService.ts";
import { readActor } from "../../../support/runtime/readActor.ts";

let runtime: LocalRuntime;
beforeAll(async () => {
  runtime = await startLocalRuntime();
});
afterEach(() => runtime.stopWorkers());
afterAll(() => runtime?.stop());

const run = async (id: string, key: string, n: number) =>
  expect(await runtime.ask.ask({ kind: "job", id }, { type: "RUN", key, n })).toEqual({ ok: true, value: null });
const stop = (id: string) => runtime.ask.ask({ kind: "job", id }, { type: "STOP" });
const waiting = async (key: string) =>
  (await runtime.store.sql`select epoch from effect_queue where key = ${key} order by seq`).map(({ epoch }) =>
    epoch !== null
  );
const empty = (key: string) => until("the queue is empty", async () => (await waiting(key)).length === 0);

/** Calls that last until the test ends them; `running` has their numbers in the order of their starts. */
function calls() {
  const started: number[] = [];
  const ends = new Map<number, (error?: Error) => void>();
  const call: EffectRun = (input, { signal }) => {
    const { n } = callOf(input);
    started.push(n);
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      ends.set(n, (error) => error === undefined ? resolve({ type: "DONE", n }) : reject(error));
    });
  };
  return { started, call, end: (n: number, error?: Error) => ends.get(n)!(error) };
}

test("of one key two run at once and the others wait in order; another key does not wait for them", async () => {
  const { started, call, end } = calls();
  const kinds = [jobKind(call, limitedBy({ atOnce: 2 }))];
  await Promise.all([runtime.start(kinds), runtime.start(kinds)]);
  for (let n = 1; n <= 6; n++) await run(`a${n}`, "a", n);
  await run("b", "b", 10);
  await until("three run", async () => started.length === 3);
  expect(await waiting("a")).toEqual([true, true, false, false, false, false]);
  // Longer than a sweep.
  await sleep(100);
  expect(started.toSorted((a, b) => a - b)).toEqual([1, 2, 10]);
  for (const [i, n] of [2, 3, 1, 5, 4, 6].entries()) {
    end(n);
    await until("the next one runs", async () => started.length === Math.min(4 + i, 7));
  }
  expect(started.slice(3)).toEqual([3, 4, 5, 6]);
  end(10);
  await empty("a");
  await empty("b");
});

test("operators see the queue of a key: what runs where, how many wait and since when", async () => {
  const { started, call, end } = calls();
  const kind = jobKind(call, limitedBy({ atOnce: 1, rate: { count: 50, perMs: 1_000 } }));
  await migrate(runtime.store, migrationsOf("chain/index"));
  const operator = await startOperator({ ...runtime, ask: runtime.ask }, [kind]);
  const worker = await runtime.start([kind]);
  for (let n = 1; n <= 3; n++) await run(`o${n}`, "o", n);
  await until("one runs", async () => started.length === 1);
  const { limits } = await operator.read("/limits?kind=job", api.limits);
  expect(limits).toMatchObject([{
    effect: "call",
    key: "o",
    atOnce: 1,
    rate: { count: 50, perMs: 1_000 },
    waiting: 2,
    next: ["o2", "o3"],
    running: [{ id: "o1", worker: worker.id }],
  }]);
  expect(Date.parse(limits[0]!.since!)).toBeLessThanOrEqual(Date.parse(limits[0]!.running[0]!.since) + 60_000);
  expect((await operator.read("/lags", api.lags)).effects).toMatchObject({ open: 3, queued: 3, oldestMs: null });
  for (let n = 1; n <= 3; n++) {
    await until("it runs", async () => started.includes(n));
    end(n);
  }
  await empty("o");
  expect((await operator.read("/limits", api.limits)).limits).toEqual([]);
  await operator.stop();
  await prune(runtime.store, RETENTION_HOURS);
  const [row] = await runtime.store.sql`select count(*)::int as n from effect_limit where until < now()`;
  expect(row!.n).toBe(0);
});

test("of takings at the same time no two take the same slot, and none takes more than there are", async () => {
  const { store } = runtime;
  await createPartitions(store, 8);
  await store.sql`
    update partition set epoch = 100, checked = 100, owner = 'taker' || id, expires = now() + interval '1 hour'`;
  await store.sql`
    insert into effect (kind, id, n, partition, name, input, next_attempt, queued)
    select 'job', 't' || i, 1, i % 8, 'call', '{}', now(), true from generate_series(1, 400) i`;
  await store.sql`
    insert into effect_queue (kind, id, n, partition, name, key)
    select 'job', 't' || i, 1, i % 8, 'call', 't' from generate_series(1, 400) i`;
  const key = { kind: "job", name: "call", key: "t" };
  const limit = { atOnce: 37, rate: { count: 60, perMs: 3_600_000 } };
  const pass = async () => {
    const taken = await Promise.all(
      Array.from({ length: 8 }, (_, i) => i).flatMap((i) => [i, i]).map(async (i) => {
        for (let found = 0;;) {
          const { waitedMs, conflict } = await takeSlots(store, `taker${i}`, key, limit, 64);
          found += waitedMs.length;
          if (!conflict) return found;
        }
      }),
    );
    return taken.reduce((sum, n) => sum + n, 0);
  };
  const passes = async (n: number) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += await pass();
    return sum;
  };
  expect(await passes(3)).toBe(37);
  // In their order; the slots of a partition that moved are free, and the rate counts them.
  expect((await waiting("t")).slice(0, 38)).toEqual([...Array(37).fill(true), false]);
  await store.sql`update partition set epoch = epoch + 1, checked = epoch + 1`;
  expect(await passes(3)).toBe(23);
  await store.sql`delete from effect_queue`;
  await store.sql`update effect set done = true`;
  await store.sql`update partition set owner = null, expires = '-infinity'`;
});

test("a failed attempt frees its slot, and is repeated in its old place", async () => {
  const { started, call, end } = calls();
  await runtime.start([jobKind(call, limitedBy({ atOnce: 1 }))]);
  for (let n = 1; n <= 3; n++) await run("f", "f", n);
  await until("the first runs", async () => started.length === 1);
  end(1, new Error("no"));
  await until("the second runs", async () => started.length === 2);
  await until(
    "the first is due",
    async () =>
      (await runtime.store.sql`select 1 from effect where id = 'f' and attempts = 1 and next_attempt < now()`)
        .length === 1,
  );
  end(2);
  await until("the first runs again", async () => started.length === 3);
  end(1);
  await until("the third runs", async () => started.length === 4);
  end(3);
  await empty("f");
  expect(started).toEqual([1, 2, 1, 3]);
});

test("a slice keeps its slot; an effect that waits can be cancelled, and one that runs frees its slot by that", async () => {
  const slices: number[] = [];
  const call: EffectRun = (input, { signal }) => {
    const { n } = callOf(input);
    slices.push(n);
    if (n === 1 && slices.length < 3) return Promise.resolve(new Unfinished(30));
    if (n !== 2) return Promise.resolve({ type: "DONE", n });
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  await runtime.start([jobKind(call, limitedBy({ atOnce: 1 }))]);
  for (const [id, n] of [["s1", 1], ["s2", 2], ["s3", 3], ["s4", 4]] as const) await run(id, "s", n);
  await until("the second runs", async () => slices.includes(2));
  expect(slices).toEqual([1, 1, 1, 2]);
  await stop("s3");
  expect(await waiting("s")).toEqual([true, false]);
  await stop("s2");
  await empty("s");
  expect(slices).toEqual([1, 1, 1, 2, 4]);
});

test("within an interval at most that many start, over two workers and a restart", async () => {
  const PER_MS = 400;
  const { store } = runtime;
  await store.sql.unsafe(`create table test_start (at timestamptz);
    create function test_started() returns trigger language plpgsql as
      $$ begin insert into test_start values (new.started); return null; end $$;
    create trigger test_started after update of started on effect_queue for each row execute function test_started()`);
  let runs = 0;
  const call: EffectRun = (input) => {
    runs++;
    return Promise.resolve({ type: "DONE", n: callOf(input).n });
  };
  const kinds = [jobKind(call, limitedBy({ rate: { count: 3, perMs: PER_MS } }))];
  await Promise.all([runtime.start(kinds), runtime.start(kinds)]);
  await Promise.all(Array.from({ length: 10 }, (_, n) => run(`r${n}`, "r", n)));
  await until("six started", async () => runs >= 6);
  await runtime.stopWorkers();
  await runtime.start(kinds);
  await empty("r");
  expect(runs).toBe(10);
  const starts = (await store.sql<{ at: Date }[]>`select at from test_start order by at`).map(({ at }) => at.getTime());
  await store.sql.unsafe(
    "drop trigger test_started on effect_queue; drop function test_started; drop table test_start",
  );
  expect(starts).toHaveLength(10);
  // Times are in whole milliseconds.
  for (const [i, at] of starts.slice(3).entries()) expect(at - starts[i]!).toBeGreaterThanOrEqual(PER_MS - 1);
});

test("a limit applies to effects that a version without it requested; without it the queue is emptied", async () => {
  const before = calls();
  const kind = jobKind(before.call);
  await runtime.start([kind]);
  for (let n = 1; n <= 3; n++) await run("v", "v", n);
  await until("all run", async () => before.started.length === 3);
  await runtime.stopWorkers();

  const limited = calls();
  await runtime.start([jobKind(limited.call, limitedBy({ atOnce: 1 }))]);
  await until("all are queued", async () => (await waiting("v")).length === 3);
  await until("one runs", async () => limited.started.length === 1);
  await run("v", "v", 4);
  expect(await waiting("v")).toEqual([true, false, false, false]);
  await runtime.stopWorkers();

  const after = calls();
  await runtime.start([jobKind(after.call)]);
  await until("all run", async () => after.started.length === 4);
  for (const n of after.started) after.end(n);
  await until(
    "all are done",
    async () => ((await readActor(runtime.store, { kind: "job", id: "v" }))!.context.done as number[]).length === 4,
  );
});
