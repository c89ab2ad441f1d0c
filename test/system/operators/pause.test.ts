/** Pausing actors: at once, before everything that waits, across hand-overs, whatever messages the worker received. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as api from "#src/operators/api/operator.ts";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { appendInputs, notifyInputs } from "#src/runtime/inputLog.ts";
import { startWorker, type Worker, type WorkerOptions } from "#src/runtime/worker.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { accountKind, accountMigrations, wire } from "../../support/runtime/account.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { itLong } from "../../support/base/longTests.ts";
import { type OperatorClient, startOperator } from "../../support/runtime/operatorService.ts";
import { readActor } from "../../support/runtime/readActor.ts";
import { startCluster } from "../../support/runtime/cluster.ts";
import { until } from "../../support/base/until.ts";

const account = (id: string) => ({ kind: "account", id });
const ADD = { type: "ADD", amount: 1 };
const isPaused = { ok: false, error: { code: "paused" } };

describe("one worker in this process", () => {
  let infra: Infra;
  let store: Store;
  let bus: Bus;
  let ask: Ask;
  let operator: OperatorClient;
  const workers: Worker[] = [];

  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl, { max: 8 });
    await migrate(store, [...migrationsOf("runtime", "chain/index"), ...accountMigrations]);
    bus = await connectBus({
      url: infra.natsUrl,
      ...(infra.natsToken === undefined ? {} : { token: infra.natsToken }),
    });
    ask = createAsk({ bus, store });
    operator = await startOperator({ store, bus, ask }, [accountKind(wire(store))]);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });
  afterAll(async () => {
    await operator?.stop();
    ask?.close();
    await bus?.close();
    await store?.close();
    await infra?.stop();
  });

  let number = 0;
  const start = async (more: Partial<WorkerOptions> = {}): Promise<Worker> => {
    const worker = await startWorker({
      id: `p${++number}`,
      store,
      bus,
      kinds: [accountKind(wire(store))],
      log: silentLog,
      partitions: 8,
      leaseMs: 600,
      // No sweep may run in this test.
      sweepMs: 60_000,
      ...more,
    });
    workers.push(worker);
    await until("it serves every partition", async () => worker.state().owned.length === 8);
    return worker;
  };
  /** A bus on which a worker does not receive operators' messages. */
  const deaf = (): Bus => ({
    ...bus,
    subscribe: (subject, handle) => subject.startsWith("arbor.control.") ? () => {} : bus.subscribe(subject, handle),
  });
  const pause = async (id: string) => {
    const said = await operator.post(`/actors/account/${id}/pause`);
    expect(said).toMatchObject({ status: 200, body: { paused: true } });
  };
  const resume = async (id: string) => {
    const said = await operator.post(`/actors/account/${id}/resume`);
    expect(said).toMatchObject({ status: 200, body: { paused: false } });
  };

  test("a pause comes before everything that waits, including the turn that is about to be written", async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    let reached = false;
    await start({
      onStep: ({ at, causes }) => {
        if (at !== "before-commit" || reached || !causes.includes("queue-0")) return;
        reached = true;
        return gate;
      },
    });
    await ask.ask(account("queue"), ADD);
    const first = ask.ask(account("queue"), ADD, { commandId: "queue-0" });
    await until("a turn is about to be written", async () => reached);
    const waiting = Array.from(
      { length: 100 },
      (_, i) => ask.ask(account("queue"), ADD, { commandId: `queue-${i + 1}` }),
    );
    await until("they wait", async () => {
      const { mailbox } = await operator.read("/actors/account/queue", api.actor);
      return mailbox?.depth === 100 && mailbox.inTurn;
    });
    await pause("queue");
    open();
    for (const answer of await Promise.all([first, ...waiting])) expect(answer).toMatchObject(isPaused);
    expect(await readActor(store, account("queue"))).toMatchObject({ version: 1, context: { balance: 1 } });
    expect(await ask.ask(account("queue"), ADD)).toMatchObject(isPaused);
    expect(await ask.build(account("queue"), "quote", { amount: 1 })).toMatchObject(isPaused);
    expect(await operator.read("/actors/account/queue", api.actor)).toMatchObject({ paused: true, version: 1 });
    await resume("queue");
    // The same ids: none of them was applied.
    const again = await Promise.all(
      Array.from({ length: 101 }, (_, i) => ask.ask(account("queue"), ADD, { commandId: `queue-${i}` })),
    );
    expect(again.every(({ ok }) => ok)).toBe(true);
    expect(await readActor(store, account("queue"))).toMatchObject({ version: 102, context: { balance: 102 } });
  });

  test("a turn that was written first stays, and the pause comes after it", async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    let written = false;
    await start({
      onStep: ({ at, causes }) => {
        if (at !== "after-commit" || !causes.includes("stands")) return;
        written = true;
        return gate;
      },
    });
    await ask.ask(account("after"), ADD);
    const first = ask.ask(account("after"), ADD, { commandId: "stands" });
    await until("it is written", async () => written);
    const second = ask.ask(account("after"), ADD);
    await until(
      "the next one waits",
      async () => (await operator.read("/actors/account/after", api.actor)).mailbox?.depth === 1,
    );
    await pause("after");
    open();
    expect(await first).toMatchObject({ ok: true, value: { adds: 2 } });
    expect(await second).toMatchObject(isPaused);
    await resume("after");
  });

  test("a worker that did not receive the message cannot write either", async () => {
    await start({ bus: deaf() });
    await ask.ask(account("deaf"), ADD);
    await pause("deaf");
    expect(await ask.ask(account("deaf"), ADD, { commandId: "deaf-1" })).toMatchObject(isPaused);
    // A command that the machine would refuse is no exception.
    await resume("deaf");
    await ask.ask(account("deaf"), ADD);
    await pause("deaf");
    expect(await ask.ask(account("deaf"), { type: "PAY", amount: 1_000 }, { commandId: "deaf-2" })).toMatchObject(
      isPaused,
    );
    expect(await store.sql`select 1 from command_result where command in ('deaf-1', 'deaf-2')`).toHaveLength(0);
    await resume("deaf");
    expect(await ask.ask(account("deaf"), { type: "PAY", amount: 1_000 }, { commandId: "deaf-2" })).toMatchObject({
      error: { code: "not_possible" },
    });
    expect(await ask.ask(account("deaf"), ADD, { commandId: "deaf-1" })).toMatchObject({ ok: true });
  });

  test("builds stop with it, and reads continue", async () => {
    await start();
    await ask.ask(account("b"), ADD);
    expect(await ask.build(account("b"), "quote", { amount: 1 })).toMatchObject({ ok: true });
    await pause("b");
    expect(await ask.build(account("b"), "quote", { amount: 1 })).toMatchObject(isPaused);
    expect(await operator.read("/actors/account/b", api.actor)).toMatchObject({ paused: true, state: "open" });
    expect((await operator.read("/actors/account/b/history", api.history)).transitions).toHaveLength(1);
    expect((await operator.read("/actors?paused=true", api.actors)).actors).toMatchObject([{ id: "b", paused: true }]);
    await resume("b");
    expect(await ask.build(account("b"), "quote", { amount: 1 })).toMatchObject({ ok: true });
  });

  test("events of the chain wait, and are applied in order as soon as the actor resumes", async () => {
    await start();
    await ask.ask(account("c"), ADD);
    await pause("c");
    for (let n = 1; n <= 5; n++) {
      await store.sql.begin((sql) => appendInputs(sql, [{ entity: account("c"), event: { type: "SEEN", n } }]));
      notifyInputs(bus, [account("c")]);
    }
    await bus.flush();
    await sleep(200);
    expect(await operator.read("/actors/account/c", api.actor)).toMatchObject({
      version: 1,
      unreadInputs: 5,
      context: { seen: [] },
    });
    await resume("c");
    await until("they are applied", async () => (await readActor(store, account("c")))!.version === 6);
    expect((await readActor(store, account("c")))!.context.seen).toEqual([1, 2, 3, 4, 5]);
  });

  test("reminders and effects wait as well, and a reminder cannot be fired manually", async () => {
    await start({ sweepMs: 50 });
    await ask.ask(account("r"), { type: "ADD", amount: 10 });
    await ask.ask(account("r"), { type: "REMEMBER", at: Date.now() + 400 });
    await ask.ask(account("e"), { type: "ADD", amount: 10 });
    const paying = ask.ask(account("e"), { type: "PAY", amount: 4, slowly: true }, { commandId: "e-pay" });
    await until("it pays", async () => (await readActor(store, account("e")))?.state === "paying");
    await pause("r");
    await pause("e");
    // A caller whose reply was left open is not kept waiting, and not answered with a refusal.
    expect(await paying).toMatchObject({
      ok: false,
      error: { code: "unavailable", message: expect.stringMatching(/applied/) },
    });
    expect(await operator.post("/actors/account/r/reminders/wake/fire")).toMatchObject({
      status: 409,
      body: { code: "paused" },
    });
    await sleep(800);
    expect(await operator.read("/actors/account/r", api.actor)).toMatchObject({
      version: 2,
      reminders: [{ name: "wake" }],
    });
    await resume("r");
    await until("it is reminded", async () => (await readActor(store, account("r")))!.context.woken === 1);
    await resume("e");
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await start({ sweepMs: 50 });
    expect(await ask.ask(account("e"), { type: "PAY", amount: 4, slowly: true }, { commandId: "e-pay" })).toMatchObject(
      {
        ok: true,
        value: { paid: expect.any(Number) },
      },
    );
  });

  test("survives a hand-over", async () => {
    await start();
    await ask.ask(account("h"), ADD);
    await pause("h");
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await start();
    expect(await ask.ask(account("h"), ADD)).toMatchObject(isPaused);
    await resume("h");
    expect(await ask.ask(account("h"), ADD)).toMatchObject({ ok: true, value: { adds: 2 } });
  });

  test("pausing twice equals pausing once, and resuming a running actor has no effect", async () => {
    await start();
    await ask.ask(account("t"), ADD);
    await resume("t");
    await pause("t");
    await pause("t");
    await resume("t");
    await resume("t");
    expect(await ask.ask(account("t"), ADD)).toMatchObject({ ok: true });
  });
});

itLong(
  "under load, with a worker killed: nothing is lost, nothing is duplicated, nothing is written while paused",
  async () => {
    const cluster = await startCluster(await sharedInfra(), { plain: true });
    await migrate(cluster.store, migrationsOf("chain/index"));
    const operator = await startOperator(cluster, [accountKind(wire(cluster.store))]);
    try {
      const workers = await Promise.all(["l1", "l2", "l3"].map((id) => cluster.start(id)));
      await cluster.settled(workers);
      const ENTITIES = 20;
      const ids = Array.from({ length: ENTITIES }, (_, i) => `load${i}`);
      for (const id of ids) await cluster.ask.ask(account(id), ADD);
      let stop = false;
      let refused = 0;
      const acked = new Map(ids.map((id) => [id, 1]));
      const clients = Array.from({ length: 16 }, async (_, client) => {
        for (let n = 0; !stop; n++) {
          const id = ids[(client * 7 + n) % ENTITIES]!;
          for (;;) {
            const answer = await cluster.ask.ask(account(id), ADD, {
              commandId: `load-${client}-${n}`,
              deadlineMs: 20_000,
            });
            if (answer.ok) break;
            // Sent again under the same id until it is applied.
            expect(["paused", "unavailable"]).toContain(answer.error.code);
            refused++;
            await sleep(20);
          }
          acked.set(id, acked.get(id)! + 1);
        }
      });
      let pauses = 0;
      for (const until = performance.now() + 6_000; performance.now() < until; pauses++) {
        const id = ids[pauses % ENTITIES]!;
        const path = `/actors/account/${id}`;
        expect(await operator.post(`${path}/pause`)).toMatchObject({ status: 200 });
        const before = await operator.read(path, api.actor);
        await sleep(30);
        expect((await operator.read(path, api.actor)).version).toBe(before.version);
        expect(await operator.post(`${path}/resume`)).toMatchObject({ status: 200 });
        if (pauses === 20) workers[0]!.signal("SIGKILL");
      }
      stop = true;
      await Promise.all(clients);
      const total = [...acked.values()].reduce((sum, n) => sum + n, 0);
      console.log(`${pauses} pauses under load, a worker killed: ${total} commands applied once, ${refused} refusals`);
      expect(refused).toBeGreaterThan(0);
      for (const id of ids) {
        const actor = await readActor(cluster.store, account(id));
        expect(actor).toMatchObject({ version: acked.get(id), context: { balance: acked.get(id) } });
        const versions = await cluster.store.sql<{ version: bigint }[]>`
        select version from outbox where kind = 'account' and id = ${id} order by version`;
        expect(versions.map(({ version }) => Number(version))).toEqual(
          Array.from({ length: acked.get(id)! }, (_, i) => i + 1),
        );
      }
    } finally {
      await operator.stop();
      await cluster.stop();
    }
  },
);
