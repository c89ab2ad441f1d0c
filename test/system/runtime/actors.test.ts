/** A healthy runtime of two workers as seen by its callers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { appendInputs, notifyInputs } from "#src/runtime/inputLog.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { readActor } from "../../support/runtime/readActor.ts";
import { type Cluster, startCluster, type WorkerProcess } from "../../support/runtime/cluster.ts";
import { until } from "../../support/base/until.ts";

let cluster: Cluster;
let workers: WorkerProcess[];
const account = (id: string) => ({ kind: "account", id });

beforeAll(async () => {
  cluster = await startCluster(await sharedInfra());
  workers = await Promise.all([cluster.start("one"), cluster.start("two")]);
  await cluster.settled(workers);
});
afterAll(() => cluster?.stop());

describe("commands", () => {
  test("change an entity and its table, and return the same answer when sent again", async () => {
    const { ask } = cluster.ask;
    const first = await ask(account("a"), { type: "ADD", amount: 5 }, { commandId: "a-1" });
    expect(first).toEqual({ ok: true, value: { balance: 5, adds: 1 } });
    expect(await ask(account("a"), { type: "ADD", amount: 7 })).toEqual({ ok: true, value: { balance: 12, adds: 2 } });
    expect(await ask(account("a"), { type: "ADD", amount: 5 }, { commandId: "a-1" })).toEqual(first);
    expect(await readActor(cluster.store, account("a"))).toMatchObject({
      state: "open",
      version: 2,
      context: { balance: 12 },
    });
    const rows = await cluster.store.sql`select balance from test_balance where account = 'a'`;
    expect(rows[0]!.balance).toBe(12n);
    expect(await ask(account("a"), { type: "CLOSE" })).toEqual({ ok: true, value: "closed" });
    expect(await cluster.store.sql`select 1 from test_balance where account = 'a'`).toHaveLength(0);
  });

  test("that the state does not allow are refused, write only the refusal, and stay refused", async () => {
    const { ask } = cluster.ask;
    const refused = await ask(account("poor"), { type: "PAY", amount: 1 }, { commandId: "poor-1" });
    expect(refused).toMatchObject({
      ok: false,
      error: { code: "not_possible", details: { state: "open", event: "PAY" } },
    });
    expect(await readActor(cluster.store, account("poor"))).toBeUndefined();
    await ask(account("poor"), { type: "ADD", amount: 1 });
    expect(await ask(account("poor"), { type: "PAY", amount: 1 }, { commandId: "poor-1" })).toEqual(refused);
    expect((await readActor(cluster.store, account("poor")))!.version).toBe(1);
  });

  test("that are malformed, unknown or too large are refused with a reason", async () => {
    const { ask } = cluster.ask;
    expect(await ask(account("m"), { type: "ADD", amount: "5" })).toMatchObject({
      ok: false,
      error: { code: "invalid", details: [{ path: "amount" }] },
    });
    expect(await ask(account("m"), { type: "SEEN", n: 1 })).toMatchObject({ ok: false, error: { code: "invalid" } });
    expect(await ask({ kind: "nothing", id: "m" }, { type: "ADD" })).toMatchObject({
      ok: false,
      error: { code: "unknown_kind" },
    });
    expect(await ask(account(""), { type: "ADD", amount: 5 })).toMatchObject({ ok: false, error: { code: "invalid" } });
    expect(await ask(account("m"), { type: "NOTE", text: "x".repeat(2_000_000) })).toMatchObject({
      ok: false,
      error: { code: "too_large" },
    });
    expect(await readActor(cluster.store, account("m"))).toBeUndefined();
  });

  test("that invalidate a snapshot or cannot be written are set aside, and the entity continues", async () => {
    const { ask } = cluster.ask;
    await ask(account("s"), { type: "ADD", amount: 1 });
    const answers = await Promise.all([
      ask(account("s"), { type: "ADD", amount: 1 }),
      ask(account("s"), { type: "NOTE", text: "x".repeat(20_000) }),
      ask(account("s"), { type: "ADD", amount: 1 }),
      ask(account("s"), { type: "NOTE", text: "a\0b" }),
      ask(account("s"), { type: "ADD", amount: 1 }),
    ]);
    expect(answers.map((answer) => answer.ok)).toEqual([true, false, true, false, true]);
    expect(answers[1]).toMatchObject({ error: { code: "failed", message: expect.stringContaining("16384") } });
    expect(answers[4]).toEqual({ ok: true, value: { balance: 4, adds: 4 } });
    const dead = await cluster.store.sql`select event::text as event from dead_letter where id = 's' order by n`;
    expect(dead.map((row) => JSON.parse(row.event).text.length)).toEqual([20_000, 3]);
  });

  test("of one busy entity are folded, each with its own answer and version", async () => {
    const before = await Promise.all(workers.map((worker) => worker.state()));
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => cluster.ask.ask(account("hot"), { type: "ADD", amount: 1 })),
    );
    const adds = answers.map((answer) => (answer as unknown as { value: { adds: number } }).value.adds);
    expect(adds.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    const after = await Promise.all(workers.map((worker) => worker.state()));
    const sum = (states: typeof before, of: "turns" | "events") => states.reduce((n, state) => n + state[of], 0);
    expect(sum(after, "events") - sum(before, "events")).toBe(200);
    expect(sum(after, "turns") - sum(before, "turns")).toBeLessThan(100);
    const rows = await cluster.store.sql<{ version: bigint }[]>`
      select version from outbox where kind = 'account' and id = 'hot' order by version`;
    expect(rows.map((row) => Number(row.version))).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
  });

  test("whose id repeats within one fold are applied once", async () => {
    const pending = Array.from(
      { length: 40 },
      (_, i) => cluster.ask.ask(account("twice"), { type: "ADD", amount: 1 }, { commandId: `twice-${i % 8}` }),
    );
    const answers = await Promise.all(pending);
    expect(answers.every((answer) => answer.ok)).toBe(true);
    expect(answers[0]).toEqual(answers[8]);
    expect((await readActor(cluster.store, account("twice")))!.version).toBe(8);
  });
});

describe("effects", () => {
  test("run after the commit, and the open reply comes with their outcome", async () => {
    const { ask } = cluster.ask;
    await ask(account("e"), { type: "ADD", amount: 10 });
    const both = await Promise.all([
      ask(account("e"), { type: "PAY", amount: 4 }, { commandId: "e-pay" }),
      ask(account("e"), { type: "PAY", amount: 4 }, { commandId: "e-pay" }),
    ]);
    expect(both[0]).toMatchObject({ ok: true, value: { paid: expect.any(Number) } });
    expect(both[1]).toEqual(both[0]);
    expect(await ask(account("e"), { type: "PAY", amount: 4 }, { commandId: "e-pay" })).toEqual(both[0]);
    const rows = await cluster.store.sql`select amount from test_outside where effect like 'effect:account/e:%'`;
    expect(rows).toHaveLength(1);
    expect(await readActor(cluster.store, account("e"))).toMatchObject({ state: "open", version: 3 });
  });

  test("that throw run again, at increasing intervals, until there is an outcome", async () => {
    const { ask } = cluster.ask;
    await ask(account("f"), { type: "ADD", amount: 10 });
    await cluster.store.sql`alter table test_outside add constraint no_sevens check (amount <> 7)`;
    const paid = ask(account("f"), { type: "PAY", amount: 7 }, { commandId: "f-pay", deadlineMs: 30_000 });
    const effect = () => cluster.store.sql`select attempts, error, done from effect where id = 'f'`;
    await until("two failures", async () => ((await effect())[0]?.attempts ?? 0) >= 2);
    expect((await effect())[0]!.error).toContain("no_sevens");
    await cluster.store.sql`alter table test_outside drop constraint no_sevens`;
    expect(await paid).toMatchObject({ ok: true });
    expect((await effect())[0]).toMatchObject({ done: true, error: null });
  });
});

describe("reminders", () => {
  test("apply their event once, in time; a cancelled one does not", async () => {
    const { ask } = cluster.ask;
    const at = Date.now() + 700;
    expect(await ask(account("r"), { type: "REMEMBER", at })).toEqual({ ok: true, value: null });
    await ask(account("r2"), { type: "REMEMBER", at });
    await ask(account("r2"), { type: "FORGET" });
    await until("the reminder", async () => (await readActor(cluster.store, account("r")))!.context.woken === 1);
    expect(Date.now()).toBeGreaterThanOrEqual(at);
    await sleep(500);
    expect((await readActor(cluster.store, account("r")))!.context.woken).toBe(1);
    expect((await readActor(cluster.store, account("r2")))!.context.woken).toBe(0);
  });
});

describe("the input log", () => {
  const append = (id: string, numbers: number[]) =>
    cluster.store.sql.begin((sql) =>
      appendInputs(sql, numbers.map((n) => ({ entity: account(id), event: { type: "SEEN", n } })))
    );
  test("is read in order, with a notification and without one; an event that does not fit is skipped", async () => {
    await append("i", [1, 2, -3, 4]);
    notifyInputs(cluster.bus, [account("i")]);
    const seen = async () => (await readActor(cluster.store, account("i")))?.context.seen as number[] ?? [];
    await until("the ring", async () => (await seen()).length === 3);
    expect(await seen()).toEqual([1, 2, 4]);
    await append("i", [5]);
    await until("the sweep", async () => (await seen()).length === 4);
    // The history has what was applied; the log keeps only what failed.
    expect([...await cluster.store.sql`select 1 from input_log where id = 'i'`]).toEqual([]);
    const rows = await cluster.store.sql`select (body->>'n')::int as n from outbox where id = 'i' order by version`;
    expect(rows.map((row) => row.n)).toEqual([1, 2, 4, 5]);
  });
  test("comes before the commands of the same turn when an entity is loaded", async () => {
    await append("j", [1]);
    await cluster.ask.ask(account("j"), { type: "ADD", amount: 1 });
    const rows = await cluster.store.sql`select type from outbox where id = 'j' order by version`;
    expect(rows.map((row) => row.type)).toEqual(["SEEN", "ADD"]);
  });
});

describe("builds", () => {
  test("see the state, change nothing, and are validated", async () => {
    await cluster.ask.ask(account("b"), { type: "ADD", amount: 9 });
    expect(await cluster.ask.build(account("b"), "quote", { amount: 4 })).toEqual({
      ok: true,
      value: { state: "open", after: 5, version: 1 },
    });
    expect(await cluster.ask.build(account("new"), "quote", { amount: 4 })).toMatchObject({ value: { version: 0 } });
    expect(await cluster.ask.build(account("b"), "quote", {})).toMatchObject({ error: { code: "invalid" } });
    expect(await cluster.ask.build(account("b"), "other", {})).toMatchObject({ error: { code: "unknown_kind" } });
    expect(await readActor(cluster.store, account("new"))).toBeUndefined();
  });
});

describe("subscribers", () => {
  test("without a token receive every transition, and can publish nothing", async () => {
    const bus = await connectBus({ url: cluster.natsUrl });
    const heard: { subject: string; body: unknown }[] = [];
    bus.subscribe("arbor.event.>", (body, _, subject) => void heard.push({ subject, body }));
    await bus.flush();
    const { ask } = cluster.ask;
    await ask(account("x.y z"), { type: "ADD", amount: 5 }, { commandId: "x-1" });
    await ask(account("x.y z"), { type: "PAY", amount: 5 }, { commandId: "x-2" });
    await until("three events", async () => heard.filter(({ subject }) => subject.includes("x%2Ey%20z")).length >= 3);
    const mine = heard.filter(({ subject }) => subject.includes("x%2Ey%20z"));
    expect(mine.map(({ subject }) => subject.split(".").at(-1))).toEqual(["add", "pay", "paid"]);
    expect(mine[1]!.body).toMatchObject({
      specversion: "1.0",
      id: "account/x.y z:2",
      source: "/arbor/account/x%2Ey%20z",
      type: "arbor.account.pay",
      data: {
        entity: { kind: "account", id: "x.y z" },
        version: 2,
        from: "open",
        to: "paying",
        cause: "x-2",
      },
    });
    expect((mine[2]!.body as { data: { cause: string } }).data.cause).toMatch(/^effect:account\/x\.y z:\d+$/);
    await until("all are marked as published", async () => {
      const rows = await cluster.store.sql`select 1 from outbox_unpublished`;
      return rows.length === 0;
    });
    await expect(bus.request("test.state.one", null, 500)).rejects.toThrow();
    await bus.close();
  });
});
