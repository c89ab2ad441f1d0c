/** The statement of a turn on a real database: its fence, its anti-join, its groups. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Json } from "#src/base/json.ts";
import { ok } from "#src/base/result.ts";
import { type EntityState, fold, type TurnItem } from "#src/runtime/turns/fold.ts";
import { createLoader } from "#src/runtime/turns/loader.ts";
import { createPartitions } from "#src/runtime/placement/partitions.ts";
import { type StatementResult, turnStatement, type TurnWrite } from "#src/runtime/turns/statement.ts";
import { turnStore } from "#src/runtime/turns/connections.ts";
import { createWriter } from "#src/runtime/turns/writer.ts";
import { migrate } from "#src/store/migrations.ts";
import { onlyRow } from "#src/store/rows.ts";
import { openStore, type Queries, type Store } from "#src/store/store.ts";
import { migrationsOf } from "../../../support/infra/migrationsOf.ts";
import { accountKind, accountMigrations, wire } from "../../../support/runtime/account.ts";
import { type Infra, sharedInfra } from "../../../support/infra/infra.ts";
import { untilBlocked } from "../../../support/infra/locks.ts";

let infra: Infra;
let store: Store;
const nothing: EntityState = { snapshot: undefined, version: 0, inputSeq: 0 };

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 4 });
  await migrate(store, [...migrationsOf("runtime"), ...accountMigrations]);
  await createPartitions(store, 4);
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});
beforeEach(async () => {
  await store.sql`update partition set epoch = 5, checked = 5, owner = 'me', expires = now() + interval '1 hour'`;
  await store
    .sql`truncate actor, command_result, outbox, outbox_unpublished, actor_snapshot, effect, reminder, input_log, dead_letter, test_balance`;
});

function add(id: string, amount = 1): TurnItem {
  return { from: "command", id, event: { type: "ADD", amount } };
}

function turn(
  id: string,
  items: TurnItem[],
  more: { held?: EntityState; partition?: number; epoch?: number } = {},
): TurnWrite {
  const entity = { kind: "account", id };
  const held = more.held ?? nothing;
  return {
    entity,
    partition: more.partition ?? 1,
    epoch: more.epoch ?? 5,
    was: held.version,
    seen: held.inputSeq,
    machineVersion: 1,
    at: 1_000,
    rows: fold(accountKind(wire(store)), entity, held, items, 1_000),
  };
}

async function run(sql: Queries, turns: TurnWrite[]): Promise<StatementResult> {
  const { text, parameters } = turnStatement(turns);
  const [row] = await sql.unsafe<StatementResult[]>(text, parameters as never[]);
  return row!;
}

async function version(id: string): Promise<number> {
  const [row] = await store.sql<{ version: bigint }[]>`select version from actor where id = ${id}`;
  return Number(row?.version ?? 0);
}

test("while a turn is being written the epoch cannot be raised, but the lease can be renewed", async () => {
  const order: string[] = [];
  let raised: Promise<unknown> | undefined;
  await store.sql.begin(async (sql) => {
    expect((await run(sql, [turn("a", [add("c1")])])).written).toEqual([1]);
    await store.sql`update partition set expires = now() + interval '2 hours' where id = 1`;
    order.push("renewed");
    raised = store.sql`update partition set epoch = 6, checked = 6 where id = 1`.then(() => order.push("raised"));
    await untilBlocked(store);
    order.push("committed");
  });
  await raised;
  expect(order).toEqual(["renewed", "committed", "raised"]);
});

test("a turn that waits for a takeover is not written", async () => {
  let late: Promise<StatementResult> | undefined;
  await store.sql.begin(async (sql) => {
    await sql`update partition set epoch = 6, checked = 6 where id = 1`;
    late = run(store.sql, [turn("a", [add("c1")]), turn("b", [add("c1")], { partition: 2 })]);
    await untilBlocked(store);
  });
  expect(await late).toMatchObject({ written: [2], owned: [2] });
  expect(await version("a")).toBe(0);
  expect(await store.sql`select 1 from outbox where id = 'a'`).toHaveLength(0);
  expect(await store.sql`select 1 from command_result where id = 'a'`).toHaveLength(0);
});

test("a fold with one known command writes nothing of that entity, and everything of the others", async () => {
  await run(store.sql, [turn("a", [add("c2", 7)])]);
  const held = (await createLoader(store)({
    kind: accountKind(wire(store)),
    entity: { kind: "account", id: "a" },
    partition: 1,
  })) as { state: EntityState };
  const answer = await run(store.sql, [
    turn("a", [add("c1"), add("c2"), add("c3")], { held: held.state }),
    turn("b", [add("c1")]),
  ]);
  expect(answer.written).toEqual([2]);
  expect(answer.known).toEqual([{ place: 1, command: "c2", result: { ok: true, value: { adds: 1, balance: 7 } } }]);
  expect([await version("a"), await version("b")]).toEqual([1, 1]);
  const commands = await store.sql`select command from command_result where id = 'a'`;
  expect(commands.map((row) => row.command)).toEqual(["c2"]);
});

test("a turn on an outdated version writes nothing", async () => {
  await run(store.sql, [turn("a", [add("c1")])]);
  expect(await run(store.sql, [turn("a", [add("c2")])])).toMatchObject({ written: [], owned: [1], known: null });
  expect(await store.sql`select 1 from outbox where id = 'a'`).toHaveLength(1);
});

test("one entity whose rows are refused does not prevent the write of the others of its group", async () => {
  const single = openStore(infra.databaseUrl, { max: 1 });
  const write = createWriter(single);
  const bad = turn("bad", [{ from: "command", id: "c1", event: { type: "ADD", amount: 1, text: "a\0b" } }]);
  const verdicts = await Promise.all([write(turn("a", [add("c1")])), write(bad), write(turn("b", [add("c1")]))]);
  expect(verdicts.map(({ is }) => is)).toEqual(["written", "failed", "written"]);
  // The connection on which a statement failed gives right answers afterwards.
  expect(await write(bad)).toMatchObject({ is: "failed" });
  const rows = await single.sql`select id from actor where id in ('a', 'b') order by id`;
  expect(rows.map((row) => row?.id)).toEqual(["a", "b"]);
  await single.close();
});

test("a turn that is not JSON does not prevent the write of the others of its group", async () => {
  const write = createWriter(store);
  const good = turn("a", [add("c1")]);
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const bad = turn("bad", [add("c1")]);
  const effects = [{ n: 1, name: "wire", input: cyclic as Json }];
  const verdicts = await Promise.all([write(good), write({ ...bad, rows: { ...bad.rows, effects } })]);
  expect(verdicts).toMatchObject([{ is: "written" }, { is: "failed", reason: expect.any(String) }]);
  expect(await version("bad")).toBe(0);
});

test("a locked row prevents the write of its entity, and of no other", async () => {
  const hot = turnStore(store);
  const write = createWriter(hot);
  await write(turn("a", [add("c1")]));
  const load = async (id: string) =>
    (await createLoader(store)({ kind: accountKind(wire(store)), entity: { kind: "account", id }, partition: 1 }) as {
      state: EntityState;
    })
      .state;
  const held = await load("a");
  await store.sql.begin(async (sql) => {
    await sql`select 1 from actor where id = 'a' for update`;
    const first = await Promise.all([write(turn("a", [add("c2")], { held })), write(turn("b", [add("c1")]))]);
    expect(first.map(({ is }) => is)).toEqual(["unknown", "written"]);
    let ended = false;
    const again = write(turn("a", [add("c2")], { held })).finally(() => ended = true);
    expect(await write(turn("c", [add("c1")]))).toEqual({ is: "written" });
    expect(ended).toBe(false);
    expect(await again).toMatchObject({ is: "unknown" });
  });
  expect(await write(turn("a", [add("c2")], { held }))).toEqual({ is: "written" });
  await hot.close();
});

test("an effect and a reminder are consumed once", async () => {
  const write = createWriter(store);
  const kind = accountKind(wire(store));
  const entity = { kind: "account", id: "a" };
  await write(turn("a", [add("c1", 9), { from: "command", id: "c2", event: { type: "REMEMBER", at: 5 } }]));
  await write(turn("a", [{ from: "command", id: "c3", event: { type: "PAY", amount: 2 } }], {
    held: (await createLoader(store)({ kind, entity, partition: 1 }) as { state: EntityState }).state,
  }));
  const [effect] = await store.sql<{ n: bigint }[]>`select n from effect`;
  const [reminder] = await store.sql<{ n: bigint }[]>`select n from reminder`;
  const paid: TurnItem = { from: "outcome", n: Number(effect!.n), event: { type: "PAID", n: 1 } };
  const woken: TurnItem = { from: "reminder", name: "wake", n: Number(reminder!.n), event: { type: "WOKEN" } };
  const load = async () => (await createLoader(store)({ kind, entity, partition: 1 }) as { state: EntityState }).state;
  expect(await write(turn("a", [paid, woken], { held: await load() }))).toEqual({ is: "written" });
  expect(await version("a")).toBe(5);
  const [result] = await store.sql`select result from command_result where command = 'c3'`;
  expect(result!.result).toEqual({ ok: true, value: { paid: 1 } });
  const again = await write(turn("a", [paid, woken], { held: await load() }));
  expect(again).toEqual({
    is: "known",
    results: new Map(),
    effects: new Set([Number(effect!.n)]),
    reminders: new Set([Number(reminder!.n)]),
  });
  expect(await version("a")).toBe(5);
});

test("a refused reminder does not remove one that was set again by a turn with an unknown result", async () => {
  const kind = accountKind(wire(store));
  const load = async () =>
    (await createLoader(store)({ kind, entity: { kind: "account", id: "a" }, partition: 1 }) as { state: EntityState })
      .state;
  const remember = (id: string, at: number): TurnItem => ({ from: "command", id, event: { type: "REMEMBER", at } });
  await run(store.sql, [turn("a", [remember("c1", 5)])]);
  const held = await load();
  const [reminder] = await store.sql<{ n: bigint }[]>`select n from reminder`;
  const fired: TurnItem = { from: "reminder", name: "wake", n: Number(reminder!.n), event: { type: "NONSENSE" } };
  let late: Promise<StatementResult> | undefined;
  await store.sql.begin(async (sql) => {
    await run(sql, [turn("a", [remember("c2", 7)], { held })]);
    late = run(store.sql, [turn("a", [fired], { held })]);
    await untilBlocked(store);
  });
  expect((await late!).written).toEqual([]);
  expect(await store.sql`select 1 from reminder where name = 'wake'`).toHaveLength(1);
});

test("a turn that stays in its state changes no indexed column of the actor's row", async () => {
  const rows = await store.sql<{ name: string }[]>`
    select distinct a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indexrelid
    where i.indrelid = 'actor'::regclass`;
  const indexed = rows.map(({ name }) => name);
  expect(indexed).toContain("state");
  const first = turn("calm", [add("1")]);
  await run(store.sql, [first]);
  const read = async () => await store.sql`select * from actor where id = 'calm'`;
  const [before] = await read();
  await run(store.sql, [turn("calm", [add("2")], { held: first.rows.next })]);
  const [after] = await read();
  expect(after).not.toEqual(before);
  for (const name of indexed) expect(after![name]).toEqual(before![name]);
});

test("rows of large tables are found by their whole keys, by a plan that was made while they were empty", async () => {
  const one = turn("a", [add("c1")]);
  const rows = {
    ...one.rows,
    ended: [1],
    fired: [{ name: "later", n: 1 }],
    reminders: new Map([["later", undefined]]),
    answers: new Map([["c0", ok(null)]]),
    attributes: [{ name: "owner", text: null, number: null }],
  };
  const { text } = turnStatement([{ ...one, rows }, turn("b", [add("c1")])]);
  const plan = await store.sql.begin(async (sql) => {
    await sql`set local enable_seqscan = off`;
    await sql`set local plan_cache_mode = force_generic_plan`;
    await sql.unsafe(`prepare turns as ${text}`);
    const { count } = await onlyRow(sql<{ count: number }[]>`
      select cardinality(parameter_types) as count from pg_prepared_statements where name = 'turns'`);
    const lines = await sql.unsafe<{ "QUERY PLAN": string }[]>(
      `explain execute turns (${Array(count).fill("null").join()})`,
    );
    return lines.map((line) => line["QUERY PLAN"].trim());
  });
  const keys = {
    effect: ["kind", "id", "n"],
    reminder: ["kind", "id", "name"],
    command_result: ["kind", "id", "command"],
    actor_attribute: ["kind", "id", "name"],
  };
  for (const [table, key] of Object.entries(keys)) {
    const scans = plan.flatMap((line, i) =>
      new RegExp(` on ${table}( |$)`).test(line) && !/^-> {2}(Update|Insert|Delete)/.test(line) ? i : []
    );
    expect(scans, table).toHaveLength(table === "actor_attribute" ? 1 : 2);
    for (const scan of scans) {
      expect(plan[scan]).toContain(`Index Scan using ${table}_pkey`);
      for (const column of key) expect(plan[scan + 1]).toMatch(new RegExp(`^Index Cond: .*\\(${column} = `));
    }
  }
});

test("an outcome that an outdated state refuses is not consumed", async () => {
  const kind = accountKind(wire(store));
  const load = async () =>
    (await createLoader(store)({ kind, entity: { kind: "account", id: "a" }, partition: 1 }) as { state: EntityState })
      .state;
  await run(store.sql, [turn("a", [add("c1", 9)])]);
  const held = await load();
  await run(store.sql, [turn("a", [{ from: "command", id: "c2", event: { type: "PAY", amount: 2 } }], { held })]);
  const [effect] = await store.sql<{ n: bigint }[]>`select n from effect`;
  const paid: TurnItem = { from: "outcome", n: Number(effect!.n), event: { type: "PAID", n: 1 } };
  for (const outdated of [held, nothing]) {
    expect((await run(store.sql, [turn("a", [paid], { held: outdated })])).written).toEqual([]);
  }
  expect(await store.sql`select 1 from effect where not done`).toHaveLength(1);
  expect((await run(store.sql, [turn("a", [paid], { held: await load() })])).written).toEqual([1]);
});
