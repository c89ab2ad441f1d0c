/** Old data is deleted, except what is still open, however old. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { appendInputs, notifyInputs } from "#src/runtime/inputLog.ts";
import type { Lease } from "#src/runtime/placement/namedLease.ts";
import { type EndedActors, prune, type RetentionHours, startHousekeeper } from "#src/runtime/operations/retention.ts";
import { startWorker, type Worker } from "#src/runtime/worker.ts";
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
let worker: Worker;
const keepers: Lease[] = [];

const KEEP: RetentionHours = { results: 24, history: 720, effects: 24, deadLetters: 720, transactions: 720 };
const account = (id: string) => ({ kind: "account", id });
const ADD = { type: "ADD", amount: 1 };
const count = async (table: string, id?: string) =>
  (await store.sql.unsafe(
    `select 1 from ${table}${id === undefined ? "" : ` where id = '${id}'`}`,
  )).length;
/** Makes everything older. */
const age = async (hours: number) => {
  const by = store.sql`${hours} * interval '1 hour'`;
  await store.sql`update command_result set created = created - ${by}`;
  await store.sql`update outbox set created = created - ${by}, at = at - ${by}`;
  await store.sql`update effect set next_attempt = next_attempt - ${by}`;
  await store.sql`update input_log set created = created - ${by}`;
  await store.sql`update dead_letter set created = created - ${by}`;
};

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 8 });
  await migrate(store, [...migrationsOf("runtime"), ...accountMigrations]);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken === undefined ? {} : { token: infra.natsToken }) });
  ask = createAsk({ bus, store });
  worker = await startWorker({
    id: "keeper",
    store,
    bus,
    kinds: [accountKind(wire(store))],
    log: silentLog,
    partitions: 4,
    leaseMs: 1_000,
    sweepMs: 50,
  });
  await until("it serves", async () => worker.state().owned.length === 4);
});
afterEach(async () => {
  await Promise.all(keepers.splice(0).map((keeper) => keeper.stop()));
});
afterAll(async () => {
  await worker?.stop();
  ask?.close();
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

/** Has an account do everything once: five results, an effect, two inputs, a dead letter. */
async function live(id: string): Promise<void> {
  await ask.ask(account(id), { type: "ADD", amount: 10 }, { commandId: `${id}-add` });
  await ask.ask(account(id), { type: "PAY", amount: 4 }, { commandId: `${id}-pay` });
  await ask.ask(account(id), { type: "NOTE", text: "x".repeat(20_000) }, { commandId: `${id}-note` });
  const entity = account(id);
  await store.sql.begin((sql) =>
    appendInputs(sql, [{ entity, event: { type: "SEEN", n: 1 } }, { entity, event: { type: "SEEN", n: 2 } }])
  );
  notifyInputs(bus, [entity]);
  await until("it has done everything", async () => (await readActor(store, entity))?.version === 5);
  await until(
    "everything is published",
    async () => (await store.sql`select 1 from outbox_unpublished`).length === 0,
  );
}

test("answers, history, effects, inputs and dead letters are deleted after their retention time, and not before", async () => {
  await live("a");
  // Inputs that were applied are deleted with their turn; this one failed.
  expect(await count("input_log", "a")).toBe(0);
  await store.sql`insert into input_log (kind, id, partition, event, read, outcome)
    values ('account', 'a', 0, '{"type":"SEEN","n":0}', true, 'failed')`;
  expect(await prune(store, KEEP)).toEqual({
    results: 0,
    history: 0,
    effects: 0,
    inputs: 0,
    deadLetters: 0,
    actors: 0,
  });
  await store.sql`insert into effect_failure (minute, partition, failures)
    select floor(extract(epoch from now()) / 60)::int - ago, 1, 3 from unnest('{50, 70}'::int[]) ago`;
  await age(25);
  expect(await prune(store, KEEP)).toEqual({
    results: 3,
    history: 0,
    effects: 1,
    inputs: 1,
    deadLetters: 0,
    actors: 0,
  });
  expect(await store.sql`select failures from effect_failure`).toHaveLength(1);
  // An id whose answer was deleted is a new command.
  expect(await ask.ask(account("a"), { type: "ADD", amount: 10 }, { commandId: "a-add" })).toMatchObject({
    ok: true,
    value: { balance: 16, adds: 2 },
  });
  await until(
    "everything is published",
    async () => (await store.sql`select 1 from outbox_unpublished`).length === 0,
  );
  await age(720);
  // An open transaction of another database delays the deletion of history.
  const deleted = await prune(store, KEEP);
  let { history } = deleted;
  await until(
    "the history is deleted",
    async () => history === 6 || (history += (await prune(store, KEEP)).history) === 6,
  );
  expect({ ...deleted, history }).toEqual({ results: 1, history: 6, effects: 0, inputs: 0, deadLetters: 1, actors: 0 });
  expect(await ask.ask(account("a"), ADD)).toMatchObject({ ok: true, value: { adds: 3 } });
  expect(await readActor(store, account("a"))).toMatchObject({ version: 7, context: { seen: [1, 2] } });
});

test("open items stay: replies, effects, unread input, unpublished transitions", async () => {
  await store.sql`truncate outbox, outbox_unpublished, command_result, effect, input_log, dead_letter`;
  await ask.ask(account("b"), { type: "ADD", amount: 10 }, { commandId: "b-add" });
  const paying = ask.ask(account("b"), { type: "PAY", amount: 4, slowly: true }, { commandId: "b-pay" });
  await until("it pays", async () => (await readActor(store, account("b")))?.state === "paying");
  await until(
    "everything is published",
    async () => (await store.sql`select 1 from outbox_unpublished`).length === 0,
  );
  await ask.ask(account("c"), ADD);
  await store.sql`update actor set paused = true where id = 'c'`;
  await store.sql.begin((sql) => appendInputs(sql, [{ entity: account("c"), event: { type: "SEEN", n: 1 } }]));
  await store.sql`
    insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at)
    values ('account', 'untold', 1, 99, 'open', 'open', 'ADD', 'x', '{}', now())`;
  await store.sql`
    insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, published)
    values ('account', 'queued', 1, 99, 'open', 'open', 'ADD', 'x', '{}', now(), true)`;
  await store.sql`insert into outbox_unpublished (kind, id, version, partition) values ('account', 'queued', 1, 99)`;
  await age(24 * 365);
  const pruned = await prune(store, KEEP);
  expect(pruned).toMatchObject({ effects: 0, inputs: 0 });
  expect(await store.sql`select command from command_result where id = 'b'`).toEqual([{ command: "b-pay" }]);
  expect(await count("effect", "b")).toBe(1);
  expect(await count("input_log", "c")).toBe(1);
  expect(await count("outbox", "untold")).toBe(1);
  expect(await count("outbox", "queued")).toBe(1);
  void paying;
});

test("many rows are deleted in batches, and a signal stops it between two", async () => {
  await store.sql`truncate command_result`;
  await store.sql`
    insert into command_result (kind, id, command, result, created)
    select 'account', 'many', i::text, '{}', now() - interval '2 days' from generate_series(1, 10000) i`;
  await store.sql`
    insert into command_result (kind, id, command, result) select 'account', 'many', 'new' || i, '{}'
    from generate_series(1, 500) i`;
  const stop = new AbortController();
  const stopped = prune(store, KEEP, stop.signal);
  await until("some are deleted", async () => await count("command_result") < 10_500);
  stop.abort();
  const some = (await stopped).results;
  expect(some).toBeGreaterThan(0);
  expect(some % 1_000).toBe(0);
  const begun = performance.now();
  expect((await prune(store, KEEP)).results).toBe(10_000 - some);
  console.log(`${10_000 - some} answers went in ${Math.round(performance.now() - begun)} ms`);
  expect(await count("command_result")).toBe(500);
  const plan = await store.sql.begin(async (sql) => {
    await sql`set local enable_seqscan = off`;
    return await sql`explain
      select kind from command_result where result is not null and created < now() - interval '1 day'
      order by created limit 1000`;
  });
  expect(JSON.stringify(plan)).toContain("command_result_old");
});

test("one process at a time deletes, and another one continues when it ends", async () => {
  await store.sql`truncate command_result`;
  const spend = (n: number) =>
    store.sql`
      insert into command_result (kind, id, command, result, created)
      values ('account', 'house', ${String(n)}, '{}', now() - interval '2 days')`;
  const start = (owner: string) => {
    const keeper = startHousekeeper({ store, owner, keep: KEEP, everyMs: 50, ttlMs: 600 });
    keepers.push(keeper);
    return keeper;
  };
  const one = start("one");
  const two = start("two");
  await until("one of them does it", async () => (one.epoch() === undefined) !== (two.epoch() === undefined));
  await spend(1);
  await until("the old row is deleted", async () => await count("command_result") === 0);
  const [holder, other] = one.epoch() === undefined ? [two, one] : [one, two];
  await holder.stop();
  await spend(2);
  await until("the other one does it", async () => other.epoch() !== undefined && await count("command_result") === 0);
});

describe("actors that have ended", () => {
  /** Closed accounts; `release` keeps those that `kept` names. */
  const closed = (kept: ReadonlySet<string> = new Set()): EndedActors => ({
    which: (sql) => sql`a.kind = 'account' and a.state = 'closed'`,
    hours: 720,
    release: (_, ids) => Promise.resolve(ids.filter((id) => !kept.has(id))),
  });
  const pruned = async (kept?: ReadonlySet<string>) => (await prune(store, KEEP, undefined, [closed(kept)])).actors;
  const left = async () =>
    (await store.sql<{ id: string }[]>`select id from actor where state = 'closed' order by id`).map(({ id }) => id);
  const old = async (ids: readonly string[]) => {
    await store
      .sql`insert into actor (kind, id, partition, version, input_seq, snapshot, state, machine_version, changed, since)
      select 'account', id, 0, 1, 0, '{}', 'closed', 1, now() - interval '721 hours', now() - interval '721 hours' from unnest(${
      store.sql.array([...ids])
    }::text[]) id`;
  };
  beforeEach(async () => {
    await store
      .sql`truncate actor, actor_snapshot, outbox, outbox_unpublished, command_result, effect, input_log, reminder`;
  });

  test("are deleted by age, and begin again when a command comes, also in their worker's memory", async () => {
    await ask.ask(account("gone"), { type: "ADD", amount: 5 });
    await until("it is published", async () => await count("outbox_unpublished") === 0);
    const open: EndedActors = { ...closed(), which: (sql) => sql`a.kind = 'account' and a.state = 'open'` };
    const go = async () => (await prune(store, KEEP, undefined, [open])).actors;
    await store.sql`update actor set changed = changed - interval '719 hours', since = since - interval '719 hours'`;
    await store.sql`truncate outbox`;
    expect(await go()).toBe(0);
    await store.sql`update actor set changed = changed - interval '1 hour', since = since - interval '1 hour'`;
    expect(await go()).toBe(1);
    expect(await readActor(store, account("gone"))).toBeUndefined();
    // Its worker still has it in memory; the turn finds that its row is gone.
    expect(await ask.ask(account("gone"), { type: "ADD", amount: 2 })).toEqual({
      ok: true,
      value: { balance: 2, adds: 1 },
    });
    expect((await readActor(store, account("gone")))?.version).toBe(1);
  });

  test("stay while anything of them is open or still needed", async () => {
    const open = ["outbox", "effect", "reminder", "input", "reply", "paused", "wallet"];
    await old(["free", ...open]);
    const { sql } = store;
    await sql`insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, published)
      values ('account', 'outbox', 1, 99, 'a', 'b', 'X', 'x', '{}', now(), true)`;
    await sql`insert into effect (kind, id, n, partition, name, input, next_attempt)
      values ('account', 'effect', 1, 99, 'wire', '{}', now())`;
    await sql`insert into reminder (kind, id, name, n, partition, at, event)
      values ('account', 'reminder', 'r', 1, 99, now() + interval '1 day', '{}')`;
    await sql`update actor set partition = 99 where id = 'input'`;
    await sql`insert into input_log (kind, id, partition, event) values ('account', 'input', 99, '{"type":"SEEN","n":1}')`;
    await sql`insert into command_result (kind, id, command) values ('account', 'reply', 'c')`;
    await sql`update actor set paused = true where id = 'paused'`;
    expect(await pruned(new Set(["wallet"]))).toBe(1);
    expect(await left()).toEqual([...open].sort());
  });

  test("go in slices: a process that dies between two leaves whole slices, and the next one continues", async () => {
    const ids = Array.from({ length: 450 }, (_, i) => `s${String(i).padStart(3, "0")}`);
    await old(ids);
    await store.sql`insert into actor_snapshot (kind, id, version, machine_version, snapshot)
      select 'account', id, 64, 1, '{}' from actor`;
    const slices: number[] = [];
    const dying: EndedActors = {
      ...closed(),
      release: (_, some) => {
        slices.push(some.length);
        return slices.length === 2 ? Promise.reject(new Error("the process dies")) : Promise.resolve(some);
      },
    };
    await expect(prune(store, KEEP, undefined, [dying])).rejects.toThrow("the process dies");
    expect(slices).toEqual([200, 200]);
    expect(await left()).toEqual(ids.slice(200));
    // One that is still needed does not hold up those after it.
    expect(await pruned(new Set(["s200"]))).toBe(249);
    expect(await left()).toEqual(["s200"]);
    expect((await store.sql`select id from actor_snapshot`).map(({ id }) => id)).toEqual(["s200"]);
  });

  test("wait for a turn that is being written", async () => {
    await old(["busy", "idle"]);
    await store.sql.begin(async (sql) => {
      await sql`update actor set version = 2 where id = 'busy'`;
      expect(await pruned()).toBe(1);
    });
    expect(await left()).toEqual(["busy"]);
  });
});

test("workers that ended without a sign-off are removed once they hold nothing", async () => {
  await store
    .sql`insert into worker (id, seen) values ('gone', now() - interval '6 minutes'), ('late', now() - interval '1 minute')`;
  await prune(store, KEEP);
  const rows = await store.sql<{ id: string }[]>`select id from worker order by id`;
  expect(rows.map(({ id }) => id)).toEqual(["keeper", "late"]);
});
