/**
 * Generations of the log of transitions. A restore is imitated by deleting the newest rows; `test/long/restored.test.ts`
 * restores real servers.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { eventRoutes } from "#src/operators/http/events.ts";
import { restoredEndpoints } from "#src/operators/http/restored.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { createEventLog, type EventLog } from "#src/runtime/events/eventLog.ts";
import { beginGeneration, positionStatus, readGeneration, withGenerations } from "#src/runtime/events/generation.ts";
import { type Position, positionText, START } from "#src/runtime/events/position.ts";
import { readPage } from "#src/runtime/events/replay.ts";
import { checkGeneration, restoredSentence, type RestoreWatch, watchRestores } from "#src/runtime/events/restored.ts";
import { numberOf, readLogState, readNumbered } from "#src/runtime/events/sequence.ts";
import { currentPosition } from "#src/runtime/events/settledPosition.ts";
import { eventId } from "#src/runtime/events/transition.ts";
import { Activity } from "#src/runtime/operations/activity.ts";
import { addWebhook } from "#src/runtime/webhooks/rows.ts";
import { memberOf } from "#src/base/member.ts";
import { until } from "../../../support/base/until.ts";
import { serveParts } from "../../../support/runtime/operatorParts.ts";
import { onlyRow } from "#src/store/rows.ts";
import { openOutbox, type Outbox } from "../../../support/runtime/outbox.ts";
import { accountMachine } from "../../../support/runtime/account.ts";

let outbox: Outbox;
beforeEach(async () => {
  outbox = await openOutbox();
  return () => outbox.stop();
});

/** Writes transitions, and waits for the transactions of other tests on this server that were open beside them. */
const write = async (count: number) => {
  for (let i = 0; i < count; i++) await outbox.write();
  const { sql } = outbox.store;
  const { next } = await onlyRow(sql<{ next: string }[]>`select pg_snapshot_xmax(pg_current_snapshot())::text as next`);
  await until("the transitions are settled", async () => {
    const query = sql<{ settled: boolean }[]>`
      select pg_snapshot_xmin(pg_current_snapshot()) >= ${next}::text::xid8 as settled`;
    return (await onlyRow(query)).settled;
  }, 60_000);
};
/**
 * Writes transitions an hour ago. Of later ones it is uncertain whether one of this server's other tests had a transaction
 * open among them.
 */
const writeOld = async (count: number) => {
  await write(count);
  await outbox.store.sql`update outbox set created = created - interval '1 hour'`;
};
const page = (after: Position = START) => readPage(outbox.store, after, {}, 100);
const ids = async (after?: Position) => (await page(after)).events.map(({ transition }) => eventId(transition));
/** What the positions of the log are to the database. */
const statuses = async () =>
  await Promise.all(
    (await page()).events.map(async ({ position }) => (await positionStatus(outbox.store, position)).status),
  );
/** Loses the transitions from a version on, as a restore does, and begins a generation. */
const lose = async (from: number) => {
  await outbox.store.sql`delete from outbox where version >= ${from}`;
  await outbox.store.sql`delete from outbox_unpublished where version >= ${from}`;
  outbox.rewind(from - 1);
};
const begin = (more: object = {}) =>
  withGenerations(outbox.store, (sql) => beginGeneration(sql, { reason: "a test", ...more }));

describe("a database that was never restored", () => {
  test("has ids without a generation, and starts without a new one", async () => {
    await write(2);
    expect(await checkGeneration(outbox.store)).toMatchObject({ n: 0, id: "" });
    const again = await checkGeneration(outbox.store);
    expect(again).toMatchObject({ n: 0, id: "", streamsDue: false });
    expect(restoredSentence(again)).toBeUndefined();
    expect(await ids()).toEqual(["other/x:1", "other/x:2"]);
    const { tx } = await currentPosition(outbox.store);
    expect(await positionStatus(outbox.store, { tx })).toEqual({ status: "known" });
    expect(await positionStatus(outbox.store, { tx: tx + 1_000n })).toEqual({ status: "unknown" });
  });
});

describe("a restored database", () => {
  test("gives new ids and positions to what follows, and keeps those of what was before", async () => {
    await writeOld(2);
    await write(3);
    const before = (await page()).events.map(({ position }) => position);
    await lose(4);
    const { id, restoredTo } = await begin();
    await write(2);
    expect(await ids()).toEqual(["other/x:1", "other/x:2", "other/x:3", `other/x:4@${id}`, `other/x:5@${id}`]);
    // A reader at the last restored transition gets what is new.
    expect(await ids(before[2])).toEqual([`other/x:4@${id}`, `other/x:5@${id}`]);
    const statuses = await Promise.all(before.map((one) => positionStatus(outbox.store, one)));
    const all = statuses.map(({ status }) => status);
    expect([all.slice(0, 2), all.slice(3)]).toEqual([["known", "known"], ["restored", "restored"]]);
    expect(statuses[4]).toEqual({ status: "restored", generation: id, restoredTo: { tx: restoredTo } });
    for (const { position } of (await page()).events.slice(3)) {
      expect(await positionStatus(outbox.store, position)).toEqual({ status: "known" });
    }
    const now = await currentPosition(outbox.store);
    expect(await positionStatus(outbox.store, now)).toEqual({ status: "known" });
    expect(await ids(now)).toEqual([]);
  });

  test("numbers the transitions without gaps, also over several restores", async () => {
    await write(3);
    await readLogState(outbox.store);
    await lose(3);
    await begin();
    await write(2);
    await begin();
    await write(1);
    const { first, last } = await readLogState(outbox.store);
    expect([first, last]).toEqual([1, 5]);
    const numbered = await readNumbered(outbox.store, NO_CONTENTS, first, last, 100);
    expect(numbered.map(({ seq, transition }) => [seq, transition.version])).toEqual(
      [1, 2, 3, 4, 5].map((one) => [one, one]),
    );
    expect(new Set(numbered.map(({ transition }) => transition.generation)).size).toBe(3);
    for (const { position } of (await page()).events.slice(-1)) {
      expect(position.entity && await numberOf(outbox.store, position)).toBe(5);
    }
  });

  test("is counted by minute as before", async () => {
    const activity = new Activity(outbox.store, { kind: "other", type: "NEVER" });
    const counted = async () => {
      const minutes = await activity.read();
      return minutes.reduce((sum, { transitions }) => sum + [...transitions.values()].reduce((a, b) => a + b, 0), 0);
    };
    await write(2);
    expect(await counted()).toBe(2);
    await begin();
    await write(3);
    expect(await counted()).toBe(5);
  });

  test("gives up positions after a transaction that was open when the database was restored", async () => {
    await writeOld(2);
    // It has a lower id than the rows that follow, and ends without a commit.
    const { sql } = outbox.store;
    await sql.begin(async (sql) => {
      await sql`select pg_current_xact_id()`;
      await write(2);
      throw new Error("lost");
    }).catch(() => {});
    await begin();
    expect(await statuses()).toEqual(["known", "known", "restored", "restored"]);
  });

  test("on another server keeps the positions that are older than its last two minutes", async () => {
    await writeOld(2);
    await write(2);
    await begin({ sameServer: false });
    expect(await statuses()).toEqual(["known", "known", "restored", "restored"]);
  });

  test("moves to the generation what was written since the restore", async () => {
    await write(2);
    // The time is read in whole milliseconds.
    await sleep(2);
    const { now } = (await outbox.store.sql<{ now: Date }[]>`select clock_timestamp() as now`)[0]!;
    await write(2);
    const { id } = await begin({ since: now.getTime() });
    await write(1);
    expect(await ids()).toEqual([
      ...["other/x:1", "other/x:2"],
      ...[3, 4, 5].map((version) => `other/x:${version}@${id}`),
    ]);
  });

  test("never gives a webhook's delivery a number that a lost one had", async () => {
    const hook = await addWebhook(outbox.store, {
      url: "https://example.org",
      filter: {},
      position: START,
      secret: new Uint8Array(32),
    });
    await begin();
    const rows = await outbox.store.sql<{ last: bigint }[]>`select last from webhook where id = ${hook!.id}`;
    expect(Number(rows[0]!.last)).toBeGreaterThan(Date.parse("2026-01-01"));
  });
});

describe("a publisher", () => {
  test("publishes turns of the generation, and what was left before it, with the ids of their rows", async () => {
    const { infra } = outbox;
    const bus = await connectBus({ url: infra.natsUrl, token: infra.natsToken });
    const sent: string[] = [];
    bus.subscribe("arbor.event.>", (body) => void sent.push(String(memberOf(body, "id"))));
    await bus.flush();
    await write(2);
    const { id } = await begin();
    const publisher = await outbox.publisher(undefined, silentLog, { generation: () => id });
    const next = await outbox.write();
    // Those before it are found by the sweep.
    await publisher.sweep([0], 0);
    publisher.push([next]);
    await until("all are received", async () => sent.length >= 4, 20_000);
    expect([...new Set(sent)].sort()).toEqual(["other/x:1", "other/x:2", `other/x:3@${id}`]);
    await bus.close();
  });
});

describe("a start", () => {
  const change = (column: "system" | "relation" | "timeline", value: string) =>
    outbox.store.sql.unsafe(`update event_server set ${column} = '${value}'`);

  test.each([["system", "1"], ["relation", "1"], ["timeline", "77"]] as const)(
    "begins a generation, once, where the server has another %s",
    async (column, value) => {
      await write(1);
      await checkGeneration(outbox.store);
      await change(column, value);
      const begun = await checkGeneration(outbox.store);
      expect(begun.n).toBe(1);
      expect(restoredSentence(begun)).toContain("idempotency key");
      expect(await checkGeneration(outbox.store)).toEqual(begun);
    },
  );

  test("begins one where the log has transactions that the server has not reached, as after pg_restore", async () => {
    await write(2);
    await outbox.store.sql`update outbox set tx = '900000000'`;
    expect(await ids()).toEqual([]);
    const { id } = await checkGeneration(outbox.store);
    await write(1);
    expect(await ids()).toEqual(["other/x:1", "other/x:2", `other/x:3@${id}`]);
  });
});

describe("over HTTP", () => {
  let service: Awaited<ReturnType<typeof serveParts>>;
  let events: EventLog;
  let bus: Bus;
  let watch: RestoreWatch;
  beforeEach(async () => {
    const { store, infra } = outbox;
    bus = await connectBus({ url: infra.natsUrl, token: infra.natsToken });
    events = createEventLog({ store, bus, log: silentLog });
    watch = watchRestores({
      ...{ store, bus, log: silentLog, contents: NO_CONTENTS, maxAgeMs: 86_400_000, everyMs: 20 },
      generation: await checkGeneration(store),
    });
    watch.add(events);
    const routes = eventRoutes({ events, kinds: [{ kind: "other", machine: accountMachine }] });
    service = await serveParts((app) => [routes, restoredEndpoints({ store, bus })].forEach((part) => part(app)));
    return async () => {
      events.close();
      await watch.stop();
      await service.stop();
      await bus.close();
    };
  });
  const post = (path: string, body: object) =>
    fetch(service.url + path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", "arbor-operator": "1" },
    });
  const open = (last: string) => fetch(`${service.url}/events`, { headers: { "last-event-id": last } });

  test("an operator says that the database was restored: readers end, and lost positions are 409 with where to begin", async () => {
    await writeOld(1);
    await write(2);
    const [first, , third] = (await page()).events.map(({ position }) => positionText(position));
    const reading = await open(third!);
    expect(reading.status).toBe(200);
    await lose(3);
    const answer = await post("/events/restored", {});
    expect(answer.status).toBe(200);
    const { generation, n, restoredTo } = await answer.json();
    expect(n).toBe(1);
    // The open stream ends, so that the reader comes back with its position.
    await reading.text();
    await until("the generation", async () => watch.generation().id === generation);
    const refused = await open(third!);
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      code: "restored",
      details: { generation, restoredTo, begin: "start" },
    });
    const kept = await open(first!);
    expect(kept.status).toBe(200);
    await kept.body!.cancel();
    const now = await (await fetch(`${service.url}/events/generation`)).json();
    expect(now).toMatchObject({ generation, n: 1 });
    expect((await post("/events/restored", { since: "yesterday" })).status).toBe(400);
    expect((await readGeneration(outbox.store)).n).toBe(1);
  });
});
