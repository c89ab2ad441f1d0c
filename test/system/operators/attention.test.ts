/** The last hour and what needs attention over HTTP, in front of one worker process with a wrong clock. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as api from "#src/operators/api/operator.ts";
import { Activity } from "#src/runtime/operations/activity.ts";
import { migrate } from "#src/store/migrations.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { accountKind, wire } from "../../support/runtime/account.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { type OperatorClient, startOperator } from "../../support/runtime/operatorService.ts";
import { type Cluster, startCluster, type WorkerProcess } from "../../support/runtime/cluster.ts";
import { until } from "../../support/base/until.ts";

const SKEW_MS = 5_000;
const REFUSED = { kind: "transaction", type: "REFUSED" };
const quarantined = [{ tokenId: "ab".repeat(32), reason: "An unknown datum." }];
let cluster: Cluster;
let operator: OperatorClient;
let worker: WorkerProcess;

beforeAll(async () => {
  cluster = await startCluster(await sharedInfra());
  await migrate(cluster.store, migrationsOf("chain/index"));
  worker = await cluster.start("skewed", undefined, SKEW_MS);
  await cluster.settled([worker]);
  operator = await startOperator(cluster, [accountKind(wire(cluster.store))], { loopback: true }, undefined, {
    quarantined: async () => quarantined,
    failingChecks: async () => [{ name: "nats", why: "it does not answer" }, { name: "partitions", why: "some" }],
  });
});
afterAll(async () => {
  await operator?.stop();
  await cluster?.stop();
});

const ask = (id: string, event: { type: string; [member: string]: unknown }, commandId?: string) =>
  cluster.ask.ask({ kind: "account", id }, event, commandId === undefined ? {} : { commandId });
const attention = () => operator.read("/attention", api.attention);
const failedAttempts = (minutes: readonly { readonly failedEffects: number }[]) =>
  minutes.reduce((sum, { failedEffects }) => sum + failedEffects, 0);
const item = async (id: RegExp) => (await attention()).items.find((one) => id.test(one.id));

describe("the last hour", () => {
  /** Rows of the log as other processes wrote them, `minutes` ago. */
  const past = (kind: string, minutes: number, rows: number, type = "ADD") =>
    cluster.store.sql`
      insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, created)
      select ${kind}, ${`${type}-${minutes}`}, v, 0, 'a', 'b', ${type}, 'c' || v, '{}', t, t
      from generate_series(1, ${rows}) v, (select date_trunc('minute', now()) - ${minutes} * interval '1 minute' as t) x`;
  const totals = (minutes: readonly { transitions: Readonly<Record<string, number>> }[], kind: string) =>
    minutes.map(({ transitions }) => transitions[kind] ?? 0);

  test("counts transitions by minute and kind, each row once, and leaves out what is older", async () => {
    await past("old", 70, 5);
    await past("past", 59, 3);
    await past("past", 30, 4);
    await past("past", 30, 2, "REFUSED");
    await past("transaction", 30, 2, "REFUSED");
    const { minutes } = await operator.read("/activity", api.activity);
    expect(minutes).toHaveLength(60);
    const times = minutes.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.map((_, i) => times[0]! + i * 60_000));
    expect(Math.abs(times[59]! - Date.now())).toBeLessThan(120_000);
    expect(totals(minutes, "old").every((n) => n === 0)).toBe(true);
    // A minute may begin between writing and reading.
    expect(totals(minutes, "past").filter((n) => n > 0).slice(-2).at(-1)).toBe(6);
    expect(minutes.map(({ refused }) => refused).filter((n) => n > 0)).toEqual([2]);
  });

  test("reads no row twice, counts those of open transactions, and forgets what is older than an hour", async () => {
    const { sql } = cluster.store;
    const activity = new Activity(cluster.store, REFUSED);
    const sum = async () => totals((await activity.read()).map(objectOf), "live").reduce((a, b) => a + b, 0);
    expect(await sum()).toBe(0);
    await past("live", 1, 10);
    expect([await sum(), await sum()]).toEqual([10, 10]);
    // A transaction that began before the reading ends after it: its rows are counted then.
    await sql.begin(async (transaction) => {
      await transaction`insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at)
        values ('live', 'late', 1, 0, 'a', 'b', 'ADD', 'c', '{}', now())`;
      expect(await sum()).toBe(10);
      await past("live", 2, 1);
      expect(await sum()).toBe(11);
    });
    expect([await sum(), await sum()]).toEqual([12, 12]);
    expect(await new Activity(cluster.store, REFUSED).read().then((all) => totals(all.map(objectOf), "live"))).toEqual(
      totals((await activity.read()).map(objectOf), "live"),
    );
  });

  test("has the newest transitions of all actors, newest first", async () => {
    for (let i = 0; i < 3; i++) await ask(`new-${i}`, { type: "ADD", amount: 1 }, `add-${i}`);
    const { transitions } = await operator.read("/transitions?limit=3", api.recentTransitions);
    expect(transitions.map(({ at: _, ...rest }) => rest)).toEqual(
      [2, 1, 0].map((i) => ({
        entity: { kind: "account", id: `new-${i}` },
        version: 1,
        from: "open",
        to: "open",
        event: "ADD",
        cause: `add-${i}`,
      })),
    );
    expect(await operator.get("/transitions?limit=0")).toMatchObject({ status: 400, body: { code: "bad_request" } });
  });
});

describe("what needs attention", () => {
  test("a check that fails, a quarantined token and a wrong clock, with what to do", async () => {
    const { count, items } = await attention();
    expect(count).toBe(items.length);
    expect(items.find(({ id }) => id === "check nats")).toMatchObject({
      severity: "bad",
      title: 'The check "nats" of this process fails.',
      detail: "it does not answer",
    });
    expect(items.map(({ id }) => id)).not.toContain("check partitions");
    expect(items.find(({ category }) => category === "quarantine")).toMatchObject({
      detail: "An unknown datum.",
      page: `/ui/actors/token/${quarantined[0]!.tokenId}`,
    });
    const clock = items.find(({ category }) => category === "clock");
    expect(clock?.title).toMatch(
      /^The clock of the worker skewed is (4\.9|5(\.\d)?) s ahead of the clock of the database\.$/,
    );
    for (const { title, advice, page } of items) {
      expect(title).toMatch(/\.$/);
      expect(advice).toMatch(/\.$/);
      expect(page).toMatch(/^\/(ui\/|$)/);
    }
    const { workers } = await operator.read("/workers", api.workers);
    expect(Math.abs(workers[0]!.clockAheadMs - SKEW_MS)).toBeLessThan(1_000);
  });

  test("an effect that fails, with its error and its next attempt; and in the last hour", async () => {
    await ask("stuck", { type: "ADD", amount: 1 });
    // No external payment of half a unit is possible.
    void ask("stuck", { type: "PAY", amount: 0.5 }).catch(() => {});
    await until("the item", () => item(/^effect account wire/));
    const found = (await item(/^effect account wire/))!;
    expect(found).toMatchObject({
      category: "effect",
      title: "The effect wire of an actor of the kind account fails.",
      page: "/ui/actors/account/stuck",
      actors: [{ kind: "account", id: "stuck" }],
      count: 1,
    });
    expect(found.detail).toContain("bigint");
    expect(Math.abs(Date.parse(found.nextAttempt!) - Date.now())).toBeLessThan(60_000);
    await until("the attempts", async () => {
      const { minutes } = await operator.read("/activity", api.activity);
      return failedAttempts(minutes) >= 5;
    });
    await cluster.store.sql`update effect set done = true where id = 'stuck'`;
    await until("it is gone", async () => (await item(/^effect/)) === undefined);
  });

  test("dead letters, webhooks that fail, overdue work, and pauses as notices", async () => {
    const { sql } = cluster.store;
    await sql`insert into dead_letter (kind, id, source, cause, event, error)
      values ('account', 'x', 'command', 'c', '{"type":"ADD"}', 'no')`;
    await sql`insert into webhook (id, url, secret, status, reason, position) values
      ('wh_a', 'https://one.example/hook', 'x', 'failing', 'answered 500', '0'),
      ('wh_b', 'https://two.example/hook', 'x', 'disabled', 'answered 410', '0'),
      ('wh_c', 'https://three.example/hook', 'x', 'active', null, '0')`;
    await ask("held", { type: "ADD", amount: 1 });
    await operator.post("/actors/account/held/pause");
    await sql`insert into input_log (kind, id, partition, event, created)
      values ('account', 'held', 0, '{"type":"SEEN","n":1}', now() - interval '5 minutes')`;
    await until("the items", async () => (await attention()).items.some(({ category }) => category === "paused"));
    const { count, items } = await attention();
    const of = (category: string) =>
      items.filter((one) => one.category === category).map(({ severity, title }) => [severity, title]);
    expect(of("dead-letter")).toEqual([["bad", "1 event could not be applied."]]);
    expect(of("webhook")).toEqual([
      ["bad", "The webhook to two.example is disabled, 0 deliveries wait."],
      ["warning", "Deliveries of the webhook to one.example fail, 0 wait."],
    ]);
    expect(of("lag")).toEqual([[
      "bad",
      expect.stringMatching(/^1 event of the chain waits for its actor, for 30\d s\.$/),
    ]]);
    expect(of("paused")).toEqual([["notice", "1 actor is paused."]]);
    expect(items.at(-1)!.category).toBe("paused");
    expect(count).toBe(items.length - 1);
    await sql`delete from webhook`;
    await sql`delete from dead_letter`;
    await sql`delete from input_log where id = 'held'`;
  });

  test("one stream and several that lack earlier transitions", async () => {
    const { sql } = cluster.store;
    const title = (said: string) =>
      until(`the title "${said}"`, async () => ((await item(/^stream$/))?.title ?? "") === said, 10_000);
    await sql`insert into event_stream (name, created, incomplete) values ('ARBOR_EVENTS', 'today', true)`;
    await title("The stream ARBOR_EVENTS lacks transitions that were published before.");
    await sql`insert into event_stream (name, created, incomplete) values ('ARBOR_CONTENT', 'today', true)`;
    await title("The streams ARBOR_CONTENT and ARBOR_EVENTS lack transitions that were published before.");
    await sql`delete from event_stream`;
    await title("");
  });

  test("a worker that is gone, its partitions, and the failed attempts that it made", async () => {
    worker.signal("SIGKILL");
    await worker.exited;
    await until("the items", async () => (await attention()).items.some(({ category }) => category === "partition"));
    expect(await item(/^partitions$/)).toMatchObject({
      severity: "bad",
      title: "16 partitions have no worker.",
      count: 16,
    });
    expect(await item(/^worker skewed$/)).toMatchObject({ title: "The worker skewed is gone." });
    const { minutes } = await operator.read("/activity", api.activity);
    expect(failedAttempts(minutes)).toBeGreaterThanOrEqual(5);
  });
});

const objectOf = ({ transitions }: { transitions: ReadonlyMap<string, number> }) => ({
  transitions: Object.fromEntries(transitions),
});
