/**
 * Webhooks: signed, in order, at least once; receivers that fail, hang, redirect or are private; senders that are
 * killed.
 */
import { CloudEvent } from "cloudevents";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createLog } from "#src/base/log.ts";
import { webhookRoutes } from "#src/operators/http/webhooks.ts";
import { createEventLog, type EventLog } from "#src/runtime/events/eventLog.ts";
import type { Lease } from "#src/runtime/placement/namedLease.ts";
import { pruneEvents } from "#src/runtime/events/replay.ts";
import { startWebhooks } from "#src/runtime/webhooks/deliverer.ts";
import { endChild, runScript } from "../../support/base/processes.ts";
import { expectInOrder } from "../../support/runtime/subscribers.ts";
import { accountMachine } from "../../support/runtime/account.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { load } from "../../support/runtime/load.ts";
import { itLong } from "../../support/base/longTests.ts";
import { serveParts } from "../../support/runtime/operatorParts.ts";
import { type Receiver, startReceiver } from "../../support/runtime/webhookReceiver.ts";
import { type Cluster, startCluster } from "../../support/runtime/cluster.ts";
import { until } from "../../support/base/until.ts";

let infra: Infra;
let cluster: Cluster;
let events: EventLog;
let sender: Lease;
let service: Awaited<ReturnType<typeof serveParts>>;
let strict: Awaited<ReturnType<typeof serveParts>>;
const receivers: Receiver[] = [];
const lines: string[] = [];
const log = createLog("info", {}, (line) => void lines.push(line));

const start = () =>
  startWebhooks({
    store: cluster.store,
    bus: cluster.bus,
    events,
    owner: "test",
    ttlMs: 1_000,
    log,
    allowPrivate: true,
    retries: { most: 6, firstMs: 40, longestMs: 200 },
    timeoutMs: 400,
  });

beforeAll(async () => {
  infra = await sharedInfra();
  cluster = await startCluster(infra);
  await cluster.start("one");
  events = createEventLog({ store: cluster.store, bus: cluster.bus, log });
  sender = start();
  const { store, bus } = cluster;
  service = await serveParts(webhookRoutes({ store, bus, kinds: KINDS, allowPrivate: true }));
  strict = await serveParts(webhookRoutes({ store, bus, kinds: KINDS, allowPrivate: false }));
});
afterEach(async () => {
  const { webhooks } = await call("GET", "/webhooks");
  for (const { id } of webhooks) await call("DELETE", `/webhooks/${id}`);
  await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
});
afterAll(async () => {
  await sender?.stop();
  events?.close();
  await Promise.all([service?.stop(), strict?.stop()]);
  await cluster?.stop();
});

// deno-lint-ignore no-explicit-any -- answers are checked by the tests, not by types
async function call(method: string, path: string, body?: unknown, status = 200, on = service): Promise<any> {
  const response = await fetch(on.url + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  expect([response.status, answer]).toEqual([status, answer]);
  return answer;
}
async function receive(filter: Record<string, string> = {}): Promise<Receiver & { id: string }> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const made = await call("POST", "/webhooks", { url: receiver.url, ...filter });
  receiver.secret = made.secret;
  return Object.assign(receiver, { id: made.id as string });
}
const KINDS = [{ kind: "account", machine: accountMachine }, { kind: "nothing", machine: accountMachine }];
const account = (id: string) => ({ kind: "account", id });
const add = (id: string) => cluster.ask.ask(account(id), { type: "ADD", amount: 1 }, { deadlineMs: 20_000 });
const first = (receiver: Receiver) => [...new Set(receiver.taken.map((event) => event.id))];

describe("webhooks", () => {
  test("get every transition, signed, as CloudEvents, the versions of each actor in order", async () => {
    const receiver = await receive();
    await load(cluster.ask, { prefix: "w", count: 800, clients: 16, entities: 30 });
    await until("800 deliveries", async () => first(receiver).length >= 800);
    expectInOrder(first(receiver));
    expect(receiver.forged).toBe(0);
    for (const event of receiver.taken.slice(0, 20)) {
      expect(new CloudEvent(event as never).validate()).toBe(true);
    }
    expect(receiver.headers[0]!["content-type"]).toMatch(/^application\/cloudevents\+json/);
    await until("all are noted", async () => (await call("GET", `/webhooks/${receiver.id}`)).pending === 0);
    const { deliveries, next } = await call("GET", `/webhooks/${receiver.id}/deliveries?limit=5`);
    expect(deliveries).toHaveLength(5);
    expect(deliveries[0]).toMatchObject({
      status: "delivered",
      attempts: 1,
      code: 204,
      error: null,
      nextAttempt: null,
    });
    const more = await call("GET", `/webhooks/${receiver.id}/deliveries?limit=5&after=${next}`);
    expect(more.deliveries[0].n).toBe(deliveries[4].n - 1);
  });

  test("filter like readers, and start at their configured position", async () => {
    for (const id of ["f1", "f2"]) await add(id);
    const one = await receive({ kind: "account", id: "f1", from: "start" });
    const paid = await receive({ transition: "paid" });
    await add("f1");
    await cluster.ask.ask(account("f1"), { type: "PAY", amount: 2 });
    await until("four", async () => one.taken.length >= 4);
    await until("one", async () => paid.taken.length >= 1);
    expect(one.taken.map(({ id }) => id)).toEqual([1, 2, 3, 4].map((n) => `account/f1:${n}`));
    expect(paid.taken.map(({ id }) => id)).toEqual(["account/f1:4"]);
  });

  test("a receiver that fails, hangs or redirects is retried; others' transitions continue", async () => {
    const receiver = await receive();
    let trouble = 3;
    receiver.refuse = (event, response) => {
      if (!event.id.startsWith("account/bad") || trouble-- <= 0) return false;
      if (trouble === 2) response.writeHead(500).end("out of order: ".repeat(200));
      else if (trouble === 1) response.writeHead(307, { location: receiver.url }).end();
      return true;
    };
    await add("bad");
    await add("bad");
    for (let i = 0; i < 5; i++) await add("good");
    await until("seven", async () => first(receiver).length >= 7);
    expectInOrder(first(receiver));
    expect(receiver.taken.map(({ id }) => id).indexOf("account/bad:1")).toBeGreaterThan(0);
    await until("it is well again", async () => (await call("GET", `/webhooks/${receiver.id}`)).status === "active");
    const bad = async () =>
      (await call("GET", `/webhooks/${receiver.id}/deliveries`)).deliveries
        .find(({ event }: { event: string }) => event === "account/bad:1");
    // the receiver takes it before the delivery is noted; on a busy machine a good answer can be late, and is one attempt more
    await until("the delivery is noted", async () => (await bad()).status === "delivered");
    expect((await bad()).attempts).toBeGreaterThanOrEqual(4);
    expect(lines.some((line) => line.includes("a webhook fails"))).toBe(true);
  });

  test("too many failures disable it, with the reason; after a resume it gets all waiting transitions", async () => {
    const receiver = await receive();
    receiver.refuse = (_, response) => {
      response.writeHead(503).end("x".repeat(5_000));
      return true;
    };
    await add("off");
    const path = `/webhooks/${receiver.id}`;
    await until("it is disabled", async () => (await call("GET", path)).status === "disabled");
    expect((await call("GET", path)).reason).toBe("Delivery 1 failed 6 times. The receiver responded with 503.");
    await add("off");
    const [failed] = (await call("GET", `${path}/deliveries?status=pending`)).deliveries;
    expect(failed).toMatchObject({ event: "account/off:1", attempts: 6, code: 503 });
    expect(failed.answer).toHaveLength(1_024);
    receiver.refuse = () => false;
    await call("POST", `${path}/resume`);
    await until("both", async () => receiver.taken.length >= 2);
    expect(receiver.taken.map(({ id }) => id)).toEqual(["account/off:1", "account/off:2"]);
    receiver.refuse = (_, response) => {
      response.writeHead(410).end();
      return true;
    };
    await add("off");
    await until("it gets no more", async () => (await call("GET", path)).status === "disabled");
  });

  itLong("the sending process is killed repeatedly: nothing is lost, and first deliveries stay in order", async () => {
    await sender.stop();
    const receiver = await receive();
    receiver.refuse = (event, response) => {
      // Some answers never arrive.
      if (event.data.version % 7 !== 3 || receiver.taken.some(({ id }) => id === event.id)) return false;
      (receiver.taken as typeof receiver.taken[number][]).push(event);
      response.destroy();
      return true;
    };
    const spawnSender = (owner: string) =>
      runScript("runtime/webhooksProcess.ts", "ARBOR_TEST_WEBHOOKS", { ...infra, owner });
    let over = false;
    const writing = (async () => {
      while (!over) await load(cluster.ask, { prefix: "k", count: 100, clients: 4, entities: 10 });
    })();
    const processes = [spawnSender("a0"), spawnSender("b0")];
    const killed: number[] = [];
    for (let i = 1; i <= 3; i++) {
      await until("one process sends", async () => receiver.taken.length > 50 * i, 30_000);
      const owner = async () =>
        (await cluster.store.sql<{ owner: string | null }[]>`select owner from lease where name = 'webhooks'`)[0]!
          .owner;
      const held = await owner();
      const holder = held?.startsWith("a") ? 0 : 1;
      await endChild(processes[holder]!, "SIGKILL");
      killed.push(receiver.taken.length);
      processes[holder] = spawnSender(`${"ab"[holder]}${i}`);
      await until("another sends", async () => ![held, null].includes(await owner()));
    }
    over = true;
    await writing;
    const [{ n }] = await cluster.store.sql<[{ n: bigint }]>`select count(*) as n from outbox where id ~ '^k[0-9]'`;
    const mine = () => first(receiver).filter((id) => id.startsWith("account/k"));
    await until("everything is delivered", async () => mine().length === Number(n), 60_000);
    expectInOrder(mine());
    console.log(`${n} transitions, ${receiver.taken.length - first(receiver).length} came twice, killed at`, killed);
    await Promise.all(processes.map((child) => endChild(child, "SIGKILL")));
    sender = start();
  });

  test("transitions that were deleted before their delivery are reported", async () => {
    const receiver = await receive();
    await call("GET", `/webhooks/${receiver.id}`);
    await sender.stop();
    await add("gone");
    await until(
      "all are published",
      async () => (await cluster.store.sql`select 1 from outbox_unpublished`).length === 0,
    );
    await until("older transactions of other tests end", async () => await pruneEvents(cluster.store, 0) > 0);
    await add("kept");
    receiver.refuse = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
    const before = lines.length;
    sender = start();
    await until(
      "the log says so",
      async () => lines.slice(before).some((line) => line.includes("were deleted before they were delivered")),
    );
    receiver.refuse = () => false;
    await until("the rest", async () => receiver.taken.some(({ id }) => id === "account/kept:1"));
  });

  test("secrets and addresses: shown once, in no list or line; private ones refused", async () => {
    const made = await call("POST", "/webhooks", { url: "http://127.0.0.1:9/hook?key=hidden" });
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const lists = JSON.stringify([
      await call("GET", "/webhooks"),
      await call("GET", `/webhooks/${made.id}`),
      await call("GET", `/webhooks/${made.id}/deliveries`),
    ]);
    expect(lists).not.toContain(made.secret);
    expect(lists).not.toMatch(/whsec|secret/);
    await add("s1");
    await until("it fails", async () => (await call("GET", `/webhooks/${made.id}`)).status !== "active");
    expect(lines.join("\n")).not.toMatch(/whsec|hidden/);
    expect(lines.join("\n")).not.toContain(made.secret.slice(6));

    for (
      const url of [
        "http://example.com/",
        "https://127.0.0.1/",
        "https://localhost/x",
        "https://169.254.169.254/latest",
      ]
    ) {
      expect((await call("POST", "/webhooks", { url }, 422, strict)).code).toBe("bad_url");
    }
    // Created when it was allowed: refused again when sending.
    const tested = await call("POST", `/webhooks/${made.id}/test`, undefined, 200, strict);
    expect(tested).toMatchObject({ delivered: false, code: null, error: expect.stringContaining("do not go to") });
    await call("POST", "/webhooks", { url: "https://example.com/", kind: "No" }, 400);
    await call("POST", "/webhooks", { url: "https://example.com/", kind: "bogus" }, 400);
    const bogus = { url: "https://example.com/", kind: "account", transition: "bogus" };
    expect(await call("POST", "/webhooks", bogus, 400)).toMatchObject({ code: "bad_transition" });
    await call("POST", "/webhooks", { url: "https://example.com/", secret: "mine" }, 400);
    await call("POST", "/webhooks", { url: "https://example.com/", from: "5.x" }, 400);
    await call("GET", "/webhooks/wh_unknown1", undefined, 404);
    await call("DELETE", "/webhooks/wh_unknown1", undefined, 404);
    await call("POST", "/webhooks/wh_unknown1/resume", undefined, 404);
  });

  test("a test event is sent at once, and its result is returned", async () => {
    const receiver = await receive({ kind: "nothing" });
    expect(await call("POST", `/webhooks/${receiver.id}/test`)).toEqual({
      delivered: true,
      code: 204,
      error: null,
      answer: null,
    });
    expect(receiver.taken.map(({ type }) => type)).toEqual(["arbor.webhook.test"]);
    expect(receiver.forged).toBe(0);
    expect(new CloudEvent(receiver.taken[0] as never).validate()).toBe(true);
  });
});
