/**
 * Transitions over server-sent events: in commit order, without gaps, from any retained position, whatever commits in
 * the meantime.
 */
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { createLog } from "#src/base/log.ts";
import { eventRoutes } from "#src/operators/http/events.ts";
import { createEventLog, type EventLog } from "#src/runtime/events/eventLog.ts";
import { pruneEvents } from "#src/runtime/events/replay.ts";
import { openStore } from "#src/store/store.ts";
import {
  expectAllReceived,
  expectInOrder,
  readSse,
  type Sent,
  subscribeSse,
} from "../../support/runtime/subscribers.ts";
import { accountMachine } from "../../support/runtime/account.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { load } from "../../support/runtime/load.ts";
import { serveParts } from "../../support/runtime/operatorParts.ts";
import { type Cluster, startCluster, type WorkerProcess } from "../../support/runtime/cluster.ts";
import { until } from "../../support/base/until.ts";

let infra: Infra;
let cluster: Cluster;
let workers: WorkerProcess[];
let events: EventLog;
let service: Awaited<ReturnType<typeof serveParts>>;
const lines: string[] = [];

beforeAll(async () => {
  infra = await sharedInfra();
  cluster = await startCluster(infra);
  workers = await Promise.all([cluster.start("one"), cluster.start("two")]);
  await cluster.settled(workers);
  const log = createLog("info", {}, (line) => lines.push(line));
  events = createEventLog({ store: cluster.store, bus: cluster.bus, log, stallMs: 300 });
  service = await serveParts(eventRoutes({ events, kinds: KINDS, keepAliveMs: 300, most: 6 }));
});
afterAll(async () => {
  events?.close();
  await service?.stop();
  await cluster?.stop();
});

const KINDS = [{ kind: "account", machine: accountMachine }, { kind: "nothing", machine: accountMachine }];
const account = (id: string) => ({ kind: "account", id });
const add = (id: string) => cluster.ask.ask(account(id), { type: "ADD", amount: 1 });

/** The next events of a stream that satisfy a condition, at most `count`, within 20 s. */
async function take(
  path: string,
  count: number,
  wanted: (sent: Sent) => boolean,
  headers: Record<string, string> = {},
) {
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), 20_000);
  const taken: Sent[] = [];
  try {
    const response = await fetch(service.url + path, { headers, signal: ended.signal });
    expect(response.status).toBe(200);
    for await (const sent of readSse(response)) {
      if (wanted(sent)) taken.push(sent);
      if (taken.length >= count) break;
    }
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
  return taken;
}
const isTransition = (sent: Sent) => sent.event === "transition";
const idOf = (sent: Sent) => JSON.parse(sent.data!).id as string;

/** Expects that a reader that starts now gets the transition after its start, and none from before. */
async function expectOnlyLater(id: string) {
  await add(id);
  const next = take(`/events?id=${id}&kind=account`, 1, isTransition);
  await until("the reader", async () => events.readers() > 0);
  await sleep(200);
  await add(id);
  expect((await next).map(idOf)).toEqual([`account/${id}:2`]);
}

describe("GET /events", () => {
  test("two workers commit at the same time, a reader reconnects repeatedly: no gap, no duplicate, in order", async () => {
    const steady = subscribeSse(service.url);
    const restless = subscribeSse(service.url, { cutEvery: 37 });
    await load(cluster.ask, { prefix: "e", count: 6_000, clients: 32, entities: 60 });
    const total = await expectAllReceived(cluster.store, steady);
    await expectAllReceived(cluster.store, restless);
    expect(total).toBe(6_000);
    expect(restless.again).toBe(0);
    expect(restless.connections).toBeGreaterThan(20);
    expect(steady.first).toEqual(restless.first);
    const committed = await cluster.store.sql<{ key: string }[]>`
      select kind || '/' || id || ':' || version as key from outbox order by tx, kind, id, version`;
    expect(steady.first).toEqual(committed.map(({ key }) => key));
    console.log(`${total} transitions, ${restless.connections} connections`);
    await Promise.all([steady.stop(), restless.stop()]);
  });

  test("filters by kind, id and transition, and continues after any position", async () => {
    await add("f.1 é");
    await cluster.ask.ask(account("f.1 é"), { type: "PAY", amount: 1 });
    await until("the payment", async () => (await add("f.1 é")).ok);
    const path = `/events?from=start&kind=account&id=${encodeURIComponent("f.1 é")}`;
    const all = await take(path, 4, isTransition);
    expect(all.map(idOf)).toEqual([1, 2, 3, 4].map((n) => `account/f.1 é:${n}`));
    expect(all.map((sent) => JSON.parse(sent.data!).type.split(".").at(-1))).toEqual(["add", "pay", "paid", "add"]);
    const paid = await take("/events?from=start&transition=paid", 1, isTransition);
    expect(idOf(paid[0]!)).toBe("account/f.1 é:3");
    const rest = await take(path, 2, isTransition, { "last-event-id": all[1]!.id! });
    expect(rest.map(idOf)).toEqual(all.slice(2).map(idOf));
    const behind = await take(
      `${path.replace("from=start", `from=${encodeURIComponent(all[2]!.id!)}`)}`,
      1,
      isTransition,
    );
    expect(behind.map(idOf)).toEqual([idOf(all[3]!)]);
  });

  test("a reader that starts at now gets no earlier transition, and new ones at once", async () => {
    await expectOnlyLater("now1");
  });

  test("a reader that starts at now gets no earlier transition while an older transaction of another database is open", async () => {
    const other = postgres(Object.assign(new URL(infra.databaseUrl), { pathname: "/postgres" }).href, { max: 1 });
    try {
      await other.begin(async (sql) => {
        await sql`select pg_current_xact_id()`;
        await expectOnlyLater("now2");
      });
    } finally {
      await other.end();
    }
  });

  test("an idle stream sends keep-alives, which advance the position to resume from", async () => {
    const [first, second] = await take(
      "/events?kind=nothing",
      2,
      (sent) => sent.event === "message" && sent.id !== undefined,
    );
    expect(BigInt(second!.id!)).toBeGreaterThanOrEqual(BigInt(first!.id!));
  });

  test("refuses an invalid position, an unknown kind, and one reader too many", async () => {
    expect((await fetch(`${service.url}/events?from=yesterday`)).status).toBe(400);
    expect((await fetch(`${service.url}/events?from=5.account.1.%25zz`)).status).toBe(400);
    expect((await fetch(`${service.url}/events?kind=No`)).status).toBe(400);
    const bogus = await fetch(`${service.url}/events?kind=bogus`);
    expect(bogus.status).toBe(400);
    expect(await bogus.json()).toMatchObject({ code: "bad_kind", details: { kinds: ["account", "nothing"] } });
    for (const selection of ["transition=bogus", "kind=account&transition=bogus", "kind=account&transition=PAID"]) {
      const unknown = await fetch(`${service.url}/events?${selection}`, { signal: AbortSignal.timeout(5_000) });
      expect([selection, unknown.status]).toEqual([selection, 400]);
    }
    const unknown = await fetch(`${service.url}/events?transition=bogus`);
    expect(await unknown.json()).toMatchObject({
      code: "bad_transition",
      error: expect.stringContaining("add, close"),
      details: { transitions: expect.arrayContaining(["add", "pay", "paid"]) },
    });
    const ended = new AbortController();
    const open = await Promise.all(
      Array.from({ length: 6 }, () => fetch(`${service.url}/events`, { signal: ended.signal })),
    );
    await until("six readers", async () => events.readers() === 6);
    const refused = await fetch(`${service.url}/events`);
    expect([refused.status, (await refused.json()).code]).toEqual([503, "too_many_readers"]);
    ended.abort();
    expect(open.every((response) => response.ok)).toBe(true);
    await until("they are gone", async () => events.readers() === 0);
  });

  test("an open transaction of another database delays nothing; one that writes transitions delays them, and is named", async () => {
    const other = openStore(infra.databaseUrl, { max: 1, application: "patient" });
    // All statements of a pool of one connection are in one session.
    const reserved = other.sql;
    try {
      await reserved`begin`;
      await reserved`insert into test_outside (effect, amount) values ('open for long', 0)`;
      await sleep(100);
      const heard = take("/events?kind=account&id=open1", 2, isTransition);
      await until("the reader", async () => events.readers() > 0);
      await sleep(100);
      await add("open1");
      await add("open1");
      expect((await heard).map(idOf)).toEqual(["account/open1:1", "account/open1:2"]);
      await reserved`rollback`;

      await reserved`begin`;
      await reserved`update outbox set cause = cause where id = 'open1'`;
      const held = subscribeSse(service.url);
      const before = lines.length;
      await add("open2");
      await until(
        "the log names it",
        async () =>
          lines.slice(before).some((line) => line.includes("delays later transitions") && line.includes("patient")),
      );
      expect(held.first.includes("account/open2:1")).toBe(false);
      await reserved`rollback`;
      await expectAllReceived(cluster.store, held);
      await held.stop();
    } finally {
      await other.close();
    }
  });

  test("a reader that was away for longer than transitions are kept is notified, and continues with the retained ones", async () => {
    const [old] = await take("/events?from=start", 1, isTransition);
    await until(
      "all are marked as published",
      async () => (await cluster.store.sql`select 1 from outbox_unpublished`).length === 0,
    );
    const [{ n }] = await cluster.store.sql<[{ n: bigint }]>`select count(*) as n from outbox`;
    // Transitions are kept while a transaction of any test on this server is open that began before them.
    const gone = await until(
      "older transactions end",
      () => pruneEvents(cluster.store, 0, 3_000).then((n) => n || undefined),
    );
    expect(gone).toBeGreaterThan(1_000);
    expect(gone).toBeLessThan(Number(n));
    const seen = await take("/events", 2, (sent) => sent.event !== "message", { "last-event-id": old!.id! });
    expect(seen[0]!.event).toBe("reset");
    const [kept] = await cluster.store.sql<{ key: string }[]>`
      select kind || '/' || id || ':' || version as key from outbox order by tx, kind, id, version limit 1`;
    expect(idOf(seen[1]!)).toBe(kept!.key);
    const on = await take("/events", 1, (sent) => sent.event !== "message", { "last-event-id": seen[0]!.id! });
    expect(idOf(on[0]!)).toBe(kept!.key);
    const start = await take("/events?from=start", 1, (sent) => sent.event !== "message");
    expect(idOf(start[0]!)).toBe(kept!.key);
  });

  test("unpublished transitions are not deleted", async () => {
    await cluster.store.sql`update outbox set published = false where id = 'open1' and version = 1`;
    await pruneEvents(cluster.store, 0);
    const rows = await cluster.store.sql`select 1 from outbox where id = 'open1' and version >= 1`;
    expect(rows).toHaveLength(2);
  });

  test("a reader that does not read costs nothing and misses nothing", async () => {
    const ended = new AbortController();
    const response = await fetch(`${service.url}/events?from=now`, { signal: ended.signal });
    await until("the reader", async () => events.readers() > 0);
    await load(cluster.ask, { prefix: "slow", count: 6_000, clients: 32, entities: 20 });
    const first: string[] = [];
    for await (const sent of readSse(response)) {
      if (sent.event === "reset") throw new Error("reset");
      if (!isTransition(sent)) continue;
      const id = idOf(sent);
      if (id.startsWith("account/slow")) first.push(id);
      if (first.length === 6_000) break;
    }
    ended.abort();
    expectInOrder(first);
  });
});
