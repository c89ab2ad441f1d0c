/** The model of PostgreSQL against a server: the same random statements give the same results and the same tables. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { memberOf } from "#src/base/member.ts";
import { STREAMS } from "#src/runtime/events/jetStream.ts";
import { streamRecord } from "#src/runtime/events/streamRecord.ts";
import { createPartitions } from "#src/runtime/placement/partitions.ts";
import { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import {
  type Execution,
  executionOf,
  memoryStore,
  type SentStatement,
  serverOf,
} from "#src/runtime/testing/memory/store.ts";
import { KEYS } from "#src/runtime/testing/memory/table.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { cases } from "../../support/base/longTests.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { accountMigrations } from "../../support/runtime/account.ts";
import { HOUR, type Operation, PARTITIONS, RandomStatements } from "../../support/runtime/randomStatements.ts";

let infra: Infra;
let server: Store;
let other: Store;
let db: MemoryDatabase;
let model: Store;
let start: number;
const TABLES = Object.keys(KEYS) as (keyof typeof KEYS)[];

beforeAll(async () => {
  infra = await sharedInfra();
  // As the pool of turns, but without its timeout of locks.
  const settings = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off" };
  server = openStore(infra.databaseUrl, { max: 4, settings });
  other = openStore(infra.databaseUrl, { max: 1, settings });
  await migrate(server, accountMigrations);
});
afterAll(async () => {
  await server?.close();
  await other?.close();
  await infra?.stop();
});
beforeEach(reset);

/** Empties both. */
async function reset(): Promise<void> {
  await server.sql.unsafe(`truncate ${TABLES.join(", ")}, test_balance restart identity`);
  const [row] = await server.sql<{ now: Date }[]>`select now() as now`;
  start = row!.now.getTime();
  const since = performance.now();
  db = new MemoryDatabase(() => start + performance.now() - since);
  model = memoryStore(serverOf(db));
  for (const store of [server, model]) {
    await createPartitions(store, PARTITIONS);
    // A publisher looks for its streams in the background.
    for (const name of Object.keys(STREAMS)) await streamRecord(store).found(name, "then", false);
  }
}

test("random statements have the same results", async () => {
  const count = cases(300, 30_000);
  for (let done = 0, seed = 1; done < count; seed++) {
    if (done > 0) await reset();
    const statements = new RandomStatements(db, start, seed);
    for (let i = 0; i < 100; i++, done++) {
      const operation = statements.next();
      const [expected, found] = [await outcome(operation, server), await outcome(operation, model)];
      expect(found, `seed ${seed}, ${i}: ${operation.name}`).toEqual(expected);
      if (i % 5 === 0) await statements.learn(model);
      if (i % 20 === 19) await expectSameTables(`seed ${seed}, ${i}: ${operation.name}`);
    }
  }
});

test("a statement waits for rows that turns have locked, or skips them, as on the server", async () => {
  const waits = { yes: 0, no: 0 };
  for (let seed = 1; seed <= cases(50, 2_000); seed++) {
    if (seed % 50 === 0) await reset();
    const statements = new RandomStatements(db, start, seed);
    for (let i = 0; i < 4; i++) {
      await statements.learn(model);
      const operation = statements.next();
      await outcome(operation, server);
      await outcome(operation, model);
    }
    await statements.learn(model);
    const first = statements.turns();
    const second = seed % 2 === 0 ? statements.next() : statements.turns();
    const isKept = seed % 4 > 0;
    const [expected, found] = [await onServer(first, second, isKept), await inModel(first, second, isKept)];
    expect(found, `seed ${seed}: ${first.name}, then ${second.name}`).toEqual(expected);
    waits[expected.waits ? "yes" : "no"]++;
    await expectSameTables(`seed ${seed}: ${first.name}, then ${second.name}`);
  }
  // Otherwise the test would say nothing.
  expect(Math.min(waits.yes, waits.no)).toBeGreaterThan(5);
});

/** What an operation gives, or the code of its error. */
async function outcome(operation: Operation, store: Store): Promise<unknown> {
  try {
    return plain(await operation.run(store));
  } catch (error) {
    return errorOf(error);
  }
}

function errorOf(error: unknown) {
  const code = memberOf(error, "code");
  if (code === undefined) throw error;
  return { code, constraint: memberOf(error, "constraint_name") };
}

interface Together {
  readonly waits: boolean;
  readonly first: unknown;
  readonly second: unknown;
}

class Undone extends Error {}

/** Runs a second operation while the transaction of the first one is open. */
async function onServer(first: Operation, second: Operation, isKept: boolean): Promise<Together> {
  let waits = false;
  let later: Promise<unknown> | undefined;
  let result: unknown;
  await server.sql.begin(async (sql) => {
    result = await outcome(first, { ...server, sql: sql as unknown as Store["sql"] });
    // Its locks stay until the rollback, unlike those of a statement that is not in a transaction.
    if (memberOf(result, "code") !== undefined) throw new Undone();
    let ended = false;
    later = outcome(second, other).finally(() => ended = true);
    while (!ended && !waits) {
      const rows = await server.sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      waits = rows.length > 0;
    }
    if (!isKept) throw new Undone();
  }).catch((error) => {
    if (!(error instanceof Undone)) throw error;
  });
  return together(waits, result, await later);
}

/** Whether a statement that fails for its values waits before is the server's choice. */
function together(waits: boolean, first: unknown, second: unknown): Together {
  return { waits: waits && !String(memberOf(second, "code")).startsWith("22"), first, second };
}

async function inModel(first: Operation, second: Operation, isKept: boolean): Promise<Together> {
  const dry = db.begin();
  const result = await outcome(first, model);
  dry.undo();
  if (memberOf(result, "code") !== undefined) return { waits: false, first: result, second: undefined };
  let execution: Execution | undefined;
  await first.run(memoryStore({
    ...serverOf(db),
    run: async (sent) => {
      execution = executionOf(db, sent);
      execution.begin();
      return [];
    },
  }));
  let waits = false;
  let end = () => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  const run = async (sent: SentStatement) => {
    const later = executionOf(db, sent);
    if (!later.begin()) {
      waits = true;
      await ended;
      if (!later.begin()) throw new Error("it still waits");
    }
    return later.commit();
  };
  let done = false;
  const later = outcome(second, memoryStore({ ...serverOf(db), run })).finally(() => done = true);
  while (!done && !waits) await new Promise((resolve) => setTimeout(resolve, 0));
  if (isKept) execution?.commit();
  else execution?.cancel();
  end();
  return together(waits, result, await later);
}

/** A value without what differs between two servers that did the same at about the same time. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return hours(value.getTime());
  if (typeof value === "bigint") return Number(value);
  // Times until something happens, the only fractions and large numbers.
  if (typeof value === "number") return Math.abs(value) > HOUR / 10 && value !== HOUR ? hours(value + start) : value;
  if (Array.isArray(value)) {
    const list = [...value].map(plain);
    // Aggregates have no order of their own.
    return list.some((one) => typeof one === "object") ? list.sort((a, b) => text(a) < text(b) ? -1 : 1) : list.sort();
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, one]) => [name, plain(one)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => a < b ? -1 : 1));
}

const text = (value: unknown) => JSON.stringify(value);
/** A time as whole hours from the start. */
const hours = (ms: number) => Number.isFinite(ms) ? `hour ${Math.round((ms - start) / HOUR)}` : "never";

/** Columns that two servers count for themselves. */
const COUNTED = new Set(["tx", "n of dead_letter", "retries", "noted"]);
const TIMES = new Set(["expires", "seen", "suspect", "changed", "since", "created", "next_attempt", "at", "minute"]);

/** Whether all tables have the same rows. */
async function expectSameTables(where: string): Promise<void> {
  const cells = (table: string, row: object) =>
    Object.fromEntries(
      Object.entries(row).filter(([name]) => !COUNTED.has(name) && !COUNTED.has(`${name} of ${table}`)).map((
        [name, value],
      ) => [name, TIMES.has(name) && table !== "event_stream" ? timeOf(name, value) : plain(value)]),
    );
  const sorted = (table: string, rows: readonly object[]) => rows.map((row) => text(plain(cells(table, row)))).sort();
  for (const table of [...TABLES, "test_balance"]) {
    const expected = await server.sql.unsafe<object[]>(`select * from ${table}`);
    const found = table === "test_balance" ? db.ownRows(table) : db.tables[table as keyof typeof KEYS].all();
    expect(sorted(table, found), `${table}, ${where}`).toEqual(sorted(table, expected.map((row) => ({ ...row }))));
  }
}

function timeOf(column: string, value: unknown): unknown {
  if (value === null) return null;
  const time = value instanceof Date ? value.getTime() : Number(value);
  return hours(column === "minute" ? time * 60_000 : time);
}
