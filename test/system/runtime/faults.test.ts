/** Workers that are killed, stopped and continued, at any step of their work. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { appendInputs, notifyInputs } from "#src/runtime/inputLog.ts";
import type { EntityRef, WorkerStage } from "#src/runtime/types.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { readActor } from "../../support/runtime/readActor.ts";
import { type Cluster, startCluster, type WorkerProcess } from "../../support/runtime/cluster.ts";
import { until } from "../../support/base/until.ts";

let cluster: Cluster;
let steady: WorkerProcess;
let subscriber: Bus;
/** Versions in the order in which a subscriber without a token first received them, by entity. */
const heard = new Map<string, number[]>();
let number = 0;

beforeAll(async () => {
  cluster = await startCluster(await sharedInfra());
  steady = await cluster.start("steady");
  subscriber = await connectBus({ url: cluster.natsUrl });
  subscriber.subscribe("arbor.event.>", (body) => {
    const { entity, version } = (body as unknown as { data: { entity: EntityRef; version: number } }).data;
    const versions = heard.get(entity.id) ?? [];
    if (!versions.includes(version)) versions.push(version);
    heard.set(entity.id, versions);
  });
  await subscriber.flush();
});
afterAll(async () => {
  await subscriber?.close();
  await cluster?.stop();
});

/** Another worker, which shares the partitions with the steady one. */
async function joined(): Promise<WorkerProcess> {
  const worker = await cluster.start(`shaky${++number}`);
  await cluster.settled([steady, worker]);
  return worker;
}

/** Versions of an entity's history and of its row: 1, 2, 3 … n, and n. */
async function expectWhole(entity: EntityRef, versions: number): Promise<void> {
  const rows = await cluster.store.sql<{ version: bigint }[]>`
    select version from outbox where kind = ${entity.kind} and id = ${entity.id} order by version`;
  const whole = Array.from({ length: versions }, (_, i) => i + 1);
  expect(rows.map((row) => Number(row.version))).toEqual(whole);
  expect((await readActor(cluster.store, entity))!.version).toBe(versions);
  await until("every transition is published", async () => heard.get(entity.id)?.length === versions);
  expect(heard.get(entity.id)).toEqual(whole);
}

const steps: readonly { at: WorkerStage["at"]; of: "command" | "effect"; outside: number }[] = [
  { at: "before-commit", of: "command", outside: 1 },
  { at: "after-commit", of: "command", outside: 1 },
  { at: "before-reply", of: "command", outside: 1 },
  { at: "before-publish", of: "command", outside: 1 },
  { at: "before-effect", of: "effect", outside: 1 },
  { at: "after-effect", of: "effect", outside: 2 },
  { at: "before-commit", of: "effect", outside: 2 },
  { at: "after-commit", of: "effect", outside: 1 },
  { at: "before-reply", of: "effect", outside: 1 },
  { at: "before-publish", of: "effect", outside: 1 },
];

describe("kill -9", () => {
  test.each(steps)(
    "$at of the $of: nothing lost, nothing duplicated, the caller answered",
    async ({ at, of, outside }) => {
      const { ask } = cluster.ask;
      const shaky = await joined();
      const entity = await cluster.ownedBy(shaky);
      await ask(entity, { type: "ADD", amount: 10 });
      const id = `pay-${entity.id}`;
      const cause = of === "command" ? id : `effect:account/${entity.id}:`;
      await shaky.arm({ at, cause, signal: "SIGKILL" });
      const answer = await ask(entity, { type: "PAY", amount: 4 }, { commandId: id, deadlineMs: 20_000 });
      expect(answer).toMatchObject({ ok: true, value: { paid: expect.any(Number) } });
      await shaky.exited;
      expect(await ask(entity, { type: "PAY", amount: 4 }, { commandId: id })).toEqual(answer);
      expect(await readActor(cluster.store, entity)).toMatchObject({
        state: "open",
        context: { balance: 6, payments: 1 },
      });
      const touched = await cluster.store.sql<{ effect: string }[]>`
      select effect from test_outside where effect like ${`effect:account/${entity.id}:%`}`;
      // at least: a sweep runs an effect again whose end it does not know
      expect(touched.length).toBeGreaterThanOrEqual(outside);
      // and all of them are one effect
      expect(new Set(touched.map(({ effect }) => effect)).size).toBe(1);
      await expectWhole(entity, 3);
    },
  );
});

describe("SIGSTOP longer than the lease", () => {
  test("the worker that continues cannot write", async () => {
    const { ask } = cluster.ask;
    const shaky = await joined();
    const entity = await cluster.ownedBy(shaky);
    await ask(entity, { type: "ADD", amount: 1 });
    await shaky.arm({ at: "before-commit", cause: "stale-1", signal: "SIGSTOP" });
    const first = ask(entity, { type: "ADD", amount: 10 }, { commandId: "stale-1", deadlineMs: 20_000 });
    await cluster.struck("stale-1");
    expect(await first).toEqual({ ok: true, value: { balance: 11, adds: 2 } });
    expect(await ask(entity, { type: "ADD", amount: 100 })).toEqual({ ok: true, value: { balance: 111, adds: 3 } });
    shaky.signal("SIGCONT");
    await until("the stale write is fenced", async () => (await shaky.state()).fenced > 0);
    console.log(`stale writes fenced: ${(await shaky.state()).fenced}`);
    expect(await readActor(cluster.store, entity)).toMatchObject({ version: 3, context: { balance: 111 } });
    // It is a worker again, under new epochs.
    await cluster.settled([steady, shaky]);
    const other = await cluster.ownedBy(shaky);
    expect(await ask(other, { type: "ADD", amount: 1 })).toMatchObject({ ok: true });
    await expectWhole(entity, 3);
    shaky.signal("SIGTERM");
    await shaky.exited;
  });
});

describe("SIGTERM", () => {
  test("releases the partitions at once", async () => {
    const shaky = await joined();
    const entity = await cluster.ownedBy(shaky);
    await cluster.ask.ask(entity, { type: "ADD", amount: 1 });
    shaky.signal("SIGTERM");
    const started = performance.now();
    expect(await cluster.ask.ask(entity, { type: "ADD", amount: 1 })).toMatchObject({ ok: true });
    console.log(`answered by the next owner after ${Math.round(performance.now() - started)} ms`);
    await shaky.exited;
    const rows = await cluster.store.sql`select 1 from partition where owner = ${shaky.id}`;
    expect(rows).toHaveLength(0);
  });
});

describe("reminders", () => {
  test("that came due while no worker served them fire once", async () => {
    const shaky = await joined();
    const entity = await cluster.ownedBy(shaky);
    await cluster.ask.ask(entity, { type: "REMEMBER", at: Date.now() + 300 });
    shaky.signal("SIGKILL");
    await shaky.exited;
    await until("the reminder", async () => (await readActor(cluster.store, entity))!.context.woken === 1);
    // a deleted row cannot fire again
    await until(
      "its row is gone",
      async () => (await cluster.store.sql`select 1 from reminder where id = ${entity.id}`).length === 0,
    );
    await expectWhole(entity, 2);
  });
});

describe("the input log", () => {
  test("is applied exactly, in order, whatever process dies in the meantime", async () => {
    const entities: EntityRef[] = Array.from({ length: 12 }, (_, i) => ({ kind: "account", id: `log${i}` }));
    const each = 60;
    let shaky = await joined();
    for (let n = 0; n < each; n++) {
      await cluster.store.sql.begin((sql) =>
        appendInputs(sql, entities.map((entity) => ({ entity, event: { type: "SEEN", n } })))
      );
      notifyInputs(cluster.bus, entities);
      if (n === 15 || n === 40) {
        shaky.signal("SIGKILL");
        await shaky.exited;
        if (n === 15) shaky = await cluster.start(`shaky${++number}`);
      }
      if (n % 8 === 0) await sleep(50);
    }
    const numbers = Array.from({ length: each }, (_, n) => n);
    for (const entity of entities) {
      const seen = async () => (await readActor(cluster.store, entity))?.context.seen as number[] ?? [];
      await until(`${entity.id} has read everything`, async () => (await seen()).length >= each);
      expect(await seen()).toEqual(numbers);
      await expectWhole(entity, each);
    }
  });
});
