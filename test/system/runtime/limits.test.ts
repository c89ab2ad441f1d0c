/** What a worker refuses, delays or skips. The workers run in this process. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { assign, setup } from "xstate";
import { z } from "zod";
import { sleep, VirtualClock } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { turnActions } from "#src/base/turn.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { appendInputs } from "#src/runtime/inputLog.ts";
import { createPartitions, partitionOf } from "#src/runtime/placement/partitions.ts";
import { workerSubject } from "#src/runtime/bus/protocol.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { createPublisher } from "#src/runtime/events/publisher.ts";
import { type ActorKind, defineBuild, type EffectRun, Unfinished } from "#src/runtime/types.ts";
import { startWorker, type Worker, type WorkerOptions } from "#src/runtime/worker.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { accountKind, accountMigrations, wire } from "../../support/runtime/account.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { readActor } from "../../support/runtime/readActor.ts";
import { until } from "../../support/base/until.ts";

let infra: Infra;
let store: Store;
let bus: Bus;
let ask: Ask;
const workers: Worker[] = [];
const account = (id: string) => ({ kind: "account", id });

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 8 });
  await migrate(store, [...migrationsOf("runtime"), ...accountMigrations]);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken === undefined ? {} : { token: infra.natsToken }) });
  ask = createAsk({ bus, store });
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});
afterAll(async () => {
  ask?.close();
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

let number = 0;
async function start(kinds: ActorKind[], more: Partial<WorkerOptions> = {}): Promise<Worker> {
  const id = `w${++number}`;
  const worker = await startWorker({ id, store, bus, kinds, log: silentLog, partitions: 8, leaseMs: 600, ...more });
  workers.push(worker);
  await until("it serves", async () => worker.state().owned.length > 0);
  return worker;
}

test("a full mailbox refuses, and accepted commands are applied", async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => open = resolve);
  let reached = false;
  await start([accountKind(wire(store))], {
    waiting: { entity: 5, all: 100 },
    onStep: ({ at, causes }) => {
      if (at !== "before-commit" || !causes.includes("slow")) return;
      reached = true;
      return gate;
    },
  });
  const first = ask.ask(account("full"), { type: "ADD", amount: 1 }, { commandId: "slow" });
  await until("the first is being written", async () => reached);
  const others = Array.from({ length: 9 }, () => ask.ask(account("full"), { type: "ADD", amount: 1 }));
  let answered = 0;
  for (const answer of others) void answer.then(() => answered++);
  await until("the excess is refused", async () => answered === 4);
  open();
  const codes = (await Promise.all([first, ...others])).map((answer) => answer.ok ? "ok" : answer.error.code);
  expect(codes).toEqual([...Array(6).fill("ok"), ...Array(4).fill("overloaded")]);
  expect((await readActor(store, account("full")))!.version).toBe(6);
});

test("a command that is sent again while it waits uses no more capacity, and is not refused as one too many", async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => open = resolve);
  let reached = false;
  const worker = await start([accountKind(wire(store))], {
    waiting: { entity: 5, all: 100 },
    onStep: ({ at, causes }) => {
      if (at !== "before-commit" || !causes.includes("again-1")) return;
      reached = true;
      return gate;
    },
  });
  const add = (commandId: string) => ask.ask(account("again"), { type: "ADD", amount: 1 }, { commandId });
  const taken = [add("again-1")];
  await until("the first is being written", async () => reached);
  // A caller that no longer waits uses no capacity either.
  for (let i = 0; i < 3; i++) {
    const late = await ask.ask(account("again"), { type: "ADD", amount: 1 }, { deadlineMs: 50 });
    expect(late).toMatchObject({ error: { code: "unavailable" } });
  }
  for (let i = 2; i <= 6; i++) taken.push(add(`again-${i}`));
  await until("five wait", async () => worker.state().waiting === 5);
  // Longer than a caller waits before it repeats its request.
  await sleep(2_000);
  expect(worker.state().waiting).toBe(5);
  expect(await add("again-7")).toMatchObject({ error: { code: "overloaded" } });
  open();
  expect((await Promise.all(taken)).map((answer) => answer.ok)).toEqual(Array(6).fill(true));
  expect((await readActor(store, account("again")))!.version).toBe(6);
});

test("a command whose deadline passes before its turn is not applied", async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => open = resolve);
  let reached = false;
  await start([accountKind(wire(store))], {
    onStep: ({ at, causes }) => {
      if (at !== "before-commit" || !causes.includes("late-1")) return;
      reached = true;
      return gate;
    },
  });
  const first = ask.ask(account("late"), { type: "ADD", amount: 1 }, { commandId: "late-1" });
  await until("the first is being written", async () => reached);
  const late = await ask.ask(account("late"), { type: "ADD", amount: 1 }, { deadlineMs: 150 });
  expect(late).toMatchObject({ ok: false, error: { code: "unavailable" } });
  open();
  expect(await first).toMatchObject({ ok: true });
  // a later one has its turn, so the late one would have had it
  expect(await ask.ask(account("late"), { type: "ADD", amount: 1 })).toMatchObject({ ok: true, value: { adds: 2 } });
  expect((await readActor(store, account("late")))!.version).toBe(2);
});

test("a paused entity reports that, and continues when it is resumed", async () => {
  const worker = await start([accountKind(wire(store))]);
  await ask.ask(account("p"), { type: "ADD", amount: 1 });
  await worker.stop();
  workers.length = 0;
  await store.sql`update actor set paused = true where id = 'p'`;
  await start([accountKind(wire(store))]);
  expect(await ask.ask(account("p"), { type: "ADD", amount: 1 })).toMatchObject({ error: { code: "paused" } });
  expect(await ask.build(account("p"), "quote", { amount: 1 })).toMatchObject({ error: { code: "paused" } });
  expect(await readActor(store, account("p"))).toMatchObject({ version: 1 });
  await store.sql`update actor set paused = false where id = 'p'`;
  expect(await ask.ask(account("p"), { type: "ADD", amount: 1 })).toMatchObject({ ok: true });
});

test("a response that does not fit into a message is refused with its size", async () => {
  const kind = accountKind(wire(store));
  const large = defineBuild({
    input: z.object({ n: z.number() }),
    run: async (_, { n }) => ({ ok: true, value: "x".repeat(n) }),
  });
  await start([{ ...kind, builds: { large } }]);
  expect(await ask.build(account("l"), "large", { n: 500_000 })).toMatchObject({ ok: true });
  expect(await ask.build(account("l"), "large", { n: 2_000_000 })).toMatchObject({
    ok: false,
    error: { code: "too_large", message: expect.stringContaining("bytes") },
  });
});

test("a build that takes too long, or throws, ends with a reason", async () => {
  const slow = defineBuild({
    input: z.object({}),
    run: (_, __, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const broken = defineBuild({ input: z.object({}), run: () => Promise.reject(new Error("no such thing")) });
  await start([{ ...accountKind(wire(store)), builds: { slow, broken } }]);
  expect(await ask.build(account("b"), "slow", {}, { deadlineMs: 300 })).toMatchObject({
    error: { code: "unavailable" },
  });
  expect(await ask.build(account("b"), "broken", {})).toMatchObject({
    error: { code: "failed", message: expect.stringContaining("no such thing") },
  });
});

test("a request states how long its caller waits, whatever the caller's clock", async () => {
  const worker = await start([accountKind(wire(store))]);
  const entity = account("clock");
  const question = { ask: "command", id: "clock-1", entity, event: { type: "ADD", amount: 1 } };
  const put = (deadline: number) =>
    bus.request(workerSubject(worker.id), { ...question, deadline, until: 2_000 }, 2_000);
  expect(await put(-1)).toMatchObject({ ok: false, error: { code: "unavailable" } });
  expect(await put(2_000)).toMatchObject({ ok: true });
});

test("without a worker the result is `unavailable` at the deadline", async () => {
  const startedAt = performance.now();
  expect(await ask.ask(account("n"), { type: "ADD", amount: 1 }, { deadlineMs: 400 })).toMatchObject({
    error: { code: "unavailable" },
  });
  expect(performance.now() - startedAt).toBeLessThan(1_500);
});

test("a bus that goes away and comes back loses no command and no transition", async () => {
  const token = "t".repeat(16);
  let endpoint = await startNatsEndpoint({ port: 0, token, log: silentLog });
  const { url, port } = endpoint;
  const [mine, theirs, open] = await Promise.all([
    connectBus({ url, token }),
    connectBus({ url, token }),
    connectBus({ url }),
  ]);
  const heard: number[] = [];
  open.subscribe("arbor.event.account.outage.*", (body) => {
    const { version } = (body as unknown as { data: { version: number } }).data;
    if (!heard.includes(version)) heard.push(version);
  });
  await open.flush();
  // A guest that has not reconnected receives nothing: the turn after the outage waits for it.
  let back = Promise.resolve();
  const worker = await start([accountKind(wire(store))], {
    bus: mine,
    sweepMs: 100,
    onStep: ({ at }) => at === "before-commit" ? back : undefined,
  });
  const asker = createAsk({ bus: theirs, store });
  const add = (deadlineMs: number) => asker.ask(account("outage"), { type: "ADD", amount: 1 }, { deadlineMs });
  expect(await add(5_000)).toMatchObject({ ok: true });
  // A reply comes before its transition is published.
  await until("the first transition is published", async () => heard.length === 1);
  back = new Promise((resolve) => open.onReconnect(() => void open.flush().then(resolve)));
  await endpoint.stop();
  const during = add(20_000);
  await sleep(300);
  endpoint = await startNatsEndpoint({ port, token, log: silentLog });
  expect(await during).toMatchObject({ ok: true });
  expect(await add(5_000)).toMatchObject({ ok: true, value: { adds: 3 } });
  await until("every transition is published", async () => heard.length === 3);
  expect(heard).toEqual([1, 2, 3]);
  await worker.stop();
  workers.length = 0;
  asker.close();
  await Promise.all([mine.close(), theirs.close(), open.close()]);
  await endpoint.stop();
});

test("a turn whose commit was not acknowledged is published before the next one", async () => {
  const entity = account("doubtful");
  const heard: number[] = [];
  const end = bus.subscribe(`arbor.event.account.${entity.id}.*`, (body) => {
    heard.push((body as unknown as { data: { version: number } }).data.version);
  });
  await bus.flush();
  // Written, and the connection is lost before the acknowledgement.
  let lose = false;
  const losing = (real: Store): Store => ({
    ...real,
    beside: (options) => losing(real.beside(options)),
    sql: new Proxy(real.sql, {
      get: (sql, name) => {
        const found = Reflect.get(sql, name);
        if (name !== "unsafe") return found;
        return async (...args: Parameters<Store["sql"]["unsafe"]>) => {
          const rows = await sql.unsafe(...args);
          if (!lose) return rows;
          lose = false;
          throw Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
        };
      },
    }),
  });
  await start([accountKind(wire(store))], { store: losing(store) });
  const add = () => ask.ask(entity, { type: "ADD", amount: 1 });
  expect(await add()).toMatchObject({ ok: true, value: { adds: 1 } });
  lose = true;
  expect(await add()).toMatchObject({ ok: true, value: { adds: 2 } });
  expect(lose).toBe(false);
  expect(await add()).toMatchObject({ ok: true, value: { adds: 3 } });
  await until("all are published", async () => heard.length >= 3);
  expect(heard).toEqual([1, 2, 3]);
  end();
});

test("a bus of several servers is reached through any of them", async () => {
  const token = "t".repeat(16);
  const [one, two] = [
    await startNatsEndpoint({ port: 0, token, log: silentLog }),
    await startNatsEndpoint({ port: 0, token, log: silentLog }),
  ];
  const urls = `${one.url}, ${two.url}`;
  await one.stop();
  const bus = await connectBus({ url: urls, token });
  await bus.flush();
  await bus.close();
  await two.stop();
});

test("transitions are published one round after the other, whichever process finds them; and a backlog is detected", async () => {
  await start([accountKind(wire(store))]);
  await ask.ask(account("rounds"), { type: "ADD", amount: 1 });
  let atOnce = 0;
  let most = 0;
  const slow: Bus = {
    ...bus,
    publish: () => {},
    flush: async () => {
      most = Math.max(most, ++atOnce);
      await sleep(50);
      atOnce--;
    },
  };
  await store.sql`update outbox set published = false`;
  const publisher = createPublisher({
    store,
    bus: slow,
    log: silentLog,
    contents: NO_CONTENTS,
    partitions: 64,
    owned: () => [],
  });
  const one = { entity: account("many"), from: "a", to: "b", type: "GO", cause: "c", at: 0 };
  publisher.push(Array.from({ length: 1_000 }, (_, i) => ({ ...one, version: i + 1 })));
  expect(publisher.behind()).toBe(true);
  // Transitions that a worker of an earlier version wrote.
  const partition = partitionOf(account("rounds"), 8);
  expect(await publisher.sweep([partition], 0)).toBeGreaterThan(0);
  expect([...await store.sql`select 1 from outbox where not published and partition = ${partition}`]).toEqual([]);
  await until("all are published", async () => !publisher.behind());
  await publisher.stop(1_000);
  expect(most).toBe(1);
});

test("reminders go by the worker's clock", async () => {
  const clock = new VirtualClock(1_000_000);
  await start([accountKind(wire(store))], { clock, sweepMs: 50 });
  await ask.ask(account("v"), { type: "REMEMBER", at: 1_000_000 + 3_600_000 });
  await sleep(300);
  expect((await readActor(store, account("v")))!.context.woken).toBe(0);
  clock.advance(3_600_000);
  await until("an hour later", async () => (await readActor(store, account("v")))!.context.woken === 1);
});

test("an effect with more work continues in later attempts, and has not failed", async () => {
  const attempts: number[] = [];
  const slices: EffectRun = (_, { attempt }) => {
    attempts.push(attempt);
    return Promise.resolve(attempts.length < 4 ? new Unfinished(1) : { type: "PAID", n: 7 });
  };
  await start([accountKind(slices)], { sweepMs: 20 });
  await ask.ask(account("sliced"), { type: "ADD", amount: 5 });
  expect(await ask.ask(account("sliced"), { type: "PAY", amount: 5 })).toEqual({ ok: true, value: { paid: 7 } });
  expect(attempts).toEqual([1, 1, 1, 1]);
});

test("an effect of a partition that moved away is aborted here and run there", async () => {
  const runs: string[] = [];
  const stuck = (name: string): EffectRun => async (_, { signal }) => {
    runs.push(`${name} starts`);
    if (name === "there") return { type: "PAID", n: 7 };
    return await new Promise((_, reject) =>
      signal.addEventListener("abort", () => {
        runs.push(`${name} aborted`);
        reject(signal.reason);
      })
    );
  };
  const here = await start([accountKind(stuck("here"))]);
  await ask.ask(account("m"), { type: "ADD", amount: 5 });
  const paid = ask.ask(account("m"), { type: "PAY", amount: 5 }, { commandId: "m-pay" });
  await until("it runs here", async () => runs.length === 1);
  await start([accountKind(stuck("there"))]);
  await here.stop();
  workers.shift();
  expect(await paid).toEqual({ ok: true, value: { paid: 7 } });
  expect(runs).toEqual(["here starts", "here aborted", "there starts"]);
});

test("input of an entity that cannot be loaded is retried at increasing intervals, and blocks no other", async () => {
  let runs = 0;
  const unreadable: EffectRun = async () => {
    if (++runs === 1) await store.sql`update actor set machine_version = 99, version = version + 1 where id = 'odd'`;
    return { type: "PAID", n: 1 };
  };
  await start([accountKind(unreadable)], { sweepMs: 50 });
  await ask.ask(account("even"), { type: "ADD", amount: 5 });
  await ask.ask(account("odd"), { type: "ADD", amount: 5 });
  void ask.ask(account("odd"), { type: "PAY", amount: 5 }, { deadlineMs: 500 });
  const attempts = async () => (await store.sql`select attempts from effect where id = 'odd'`)[0]?.attempts as number;
  await until("it is put off", async () => await attempts() >= 3, 60_000);
  expect(runs).toBeLessThanOrEqual(await attempts() + 1);
  expect(await ask.ask(account("odd"), { type: "ADD", amount: 5 })).toMatchObject({
    ok: false,
    error: { code: "newer_version", message: expect.stringContaining("later version of Arbor") },
  });
  await store.sql`
    insert into reminder (kind, id, name, n, partition, at, event)
    select 'account', 'odd', 'r' || n, n, ${
    partitionOf(account("odd"), 8)
  }, now() - interval '1 hour', '{"type":"WOKEN"}'::jsonb
    from generate_series(1, 1000) n`;
  await store.sql`
    insert into reminder (kind, id, name, n, partition, at, event)
    values ('account', 'even', 'wake', 1, ${partitionOf(account("even"), 8)}, now(), '{"type":"WOKEN"}'::jsonb)`;
  await until("another's is due", async () => (await readActor(store, account("even")))!.context.woken === 1, 60_000);
  await store.sql`delete from reminder`;
  await store.sql`update effect set done = true`;
});

test("an answer, an effect or a row that is not JSON fails by itself, and the entity continues", async () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const kind = accountKind(wire(store));
  const round = defineBuild({ input: z.object({}), run: async () => ({ ok: true, value: cyclic as Json }) });
  const machine = setup({ actions: turnActions }).createMachine({
    initial: "open",
    states: { open: { on: { ADD: { actions: { type: "reply", params: { ok: cyclic as Json } } } } } },
  });
  await start([{ ...kind, builds: { round } }, { ...kind, kind: "round", machine }]);
  expect(await ask.build(account("r"), "round", {})).toMatchObject({ error: { code: "failed" } });
  for (const commandId of ["round-1", "round-2"]) {
    const answer = await ask.ask({ kind: "round", id: "r" }, { type: "ADD", amount: 1 }, {
      commandId,
      deadlineMs: 3_000,
    });
    expect(answer).toMatchObject({ error: { code: "failed" } });
  }
  expect(await store.sql`select cause from dead_letter where kind = 'round' order by cause`).toMatchObject(
    [{ cause: "round-1" }, { cause: "round-2" }],
  );
});

test("a turn in which the worker's code throws leaves no caller waiting without an end", async () => {
  const kind = accountKind(async () => ({ type: "PAID", n: 3 }));
  let broken = 2;
  await start([kind], {
    sweepMs: 50,
    onStep: ({ at, causes }) => {
      if (at === "before-commit" && causes.some((cause) => cause.startsWith("effect:")) && broken-- > 0) {
        throw new Error("x");
      }
    },
  });
  await ask.ask(account("throws"), { type: "ADD", amount: 5 });
  expect(await ask.ask(account("throws"), { type: "PAY", amount: 5 }, { deadlineMs: 8_000 })).toEqual({
    ok: true,
    value: { paid: 3 },
  });
});

test("an older machine's snapshot is migrated when it is loaded", async () => {
  const events = z.object({ type: z.literal("GO") });
  const machine = (by: number) =>
    setup({ types: { context: {} as { n: number }, events: {} as { type: "GO" } }, actions: turnActions })
      .createMachine({
        context: { n: 0 },
        on: {
          GO: {
            actions: [assign({ n: ({ context }) => context.n + by }), {
              type: "reply",
              params: ({ context }) => ({ ok: context.n }),
            }],
          },
        },
      });
  const base = { kind: "counter", commands: events, inputs: z.never(), outcomes: z.never() };
  const old = await start([{ ...base, version: 1, machine: machine(1) }]);
  const counter = { kind: "counter", id: "c" };
  expect(await ask.ask(counter, { type: "GO" })).toEqual({ ok: true, value: 1 });
  await old.stop();
  workers.length = 0;
  await start([{
    ...base,
    version: 2,
    machine: machine(100),
    migrate: (snapshot) => {
      const { context, ...rest } = snapshot as { context: { n: number } };
      return { ...rest, context: { n: context.n * 10 } };
    },
  }]);
  expect(await ask.ask(counter, { type: "GO" })).toEqual({ ok: true, value: 110 });
  const [row] = await store.sql`select machine_version from actor where kind = 'counter'`;
  expect(row!.machine_version).toBe(2);
});

test("an event of which one unread row is enough is in the input log once while its entity has not read it", async () => {
  await createPartitions(store, 8);
  const report = (oneUnread: boolean) =>
    appendInputs(store.sql, [{
      entity: account("unread"),
      event: { type: "SEEN", n: 1 },
      ...(oneUnread ? { oneUnread: true as const } : {}),
    }]);
  const count = async () => (await store.sql`select 1 from input_log where id = 'unread'`).length;
  await report(true);
  await report(true);
  expect(await count()).toBe(1);
  await report(false);
  expect(await count()).toBe(2);
  await store.sql`update input_log set read = true where id = 'unread'`;
  await report(true);
  expect(await count()).toBe(3);
});

test("a kind that cannot run prevents the worker from starting", async () => {
  const machine = setup({}).createMachine({ initial: "a", states: { a: { after: { 5: "b" } }, b: {} } });
  await expect(start([{ ...accountKind(wire(store)), machine }])).rejects.toThrow(/delayed transition/);
});
