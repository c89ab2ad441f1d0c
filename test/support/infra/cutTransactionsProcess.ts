/**
 * A process whose transactions lose their connections at every relevant moment, many times. It prints, as one line of
 * JSON on standard output, how each ended and what is left afterwards. That the process survives is part of the test.
 */
import process from "node:process";
import type { TransactionSql } from "postgres";
import { isRetryable, openStore } from "#src/store/store.ts";
import { type Cut, startCutWay } from "./cuttingProxy.ts";
import { until } from "../base/until.ts";

export interface CutTransactions {
  /**
   * The number of transactions with each result, by moment and way of cutting: "done", "lost" as the store classifies
   * errors, or another error's message.
   */
  readonly outcomes: { readonly [moment: string]: { readonly [outcome: string]: number } };
  /** The same for statements and transactions that waited for a connection while another one's was cut. */
  readonly bystanders: { readonly [outcome: string]: number };
  /** Statements of lost transactions that the server executed although they were issued after the loss. */
  readonly strays: number;
  /** How many transactions were inside the pool at the same time afterwards, each on its own connection. */
  readonly together: number;
  /** The server's connections from the pool afterwards, and after the pool is closed. */
  readonly left: number;
  readonly closed: number;
}

type Transaction = TransactionSql<{ int8: bigint; json: unknown }>;
type Way = Cut | "terminate";

/** What a transaction can do to its connection. */
interface Moment {
  /** Cuts it. */
  cut(): Promise<void>;
  /** Resolves when the transaction was refused, so its connection is known to be lost. */
  readonly lost: Promise<void>;
}

const { databaseUrl, rounds } = JSON.parse(process.env.CUT_TRANSACTIONS!) as { databaseUrl: string; rounds: number };
const MAX = 3;
const application = `cut-${process.pid}`;
const way = await startCutWay(new URL(databaseUrl));
const url = new URL(databaseUrl);
url.port = String(way.port);
// The server detects during its sleep that its client has gone.
const store = openStore(url.href, { max: MAX, application, settings: { client_connection_check_interval: "50" } });
const control = openStore(databaseUrl, { max: 1, application: "cut-beside" });
await control.sql`create table stray (n int)`;

const swallow = () => {};
const own = new Error("an error of the work's own");

/** What transactions do around the loss of their connection, by name. */
const moments: { readonly [name: string]: (sql: Transaction, moment: Moment) => Promise<unknown> } = {
  "a statement under way, then the rollback": async (sql, { cut }) => {
    const sleeping = sql`select pg_sleep(60)`;
    await Promise.all([sleeping, cut()]);
  },
  "a statement under way, whose error becomes another": async (sql, { cut }) => {
    const sleeping = sql`select pg_sleep(60)`.catch(() => Promise.reject(own));
    await Promise.all([sleeping, cut()]);
  },
  "a statement under way, then another one": async (sql, { cut }) => {
    const sleeping = sql`select pg_sleep(60)`;
    await Promise.all([sleeping.catch(() => sql`insert into stray values (1)`), cut()]);
  },
  "a failed statement, the loss, the rollback": async (sql, { cut, lost }) => {
    try {
      await sql`select 1 / ${0}::int`;
    } catch (error) {
      await cut();
      await lost;
      throw error;
    }
  },
  "the loss, then the commit": async (_, { cut, lost }) => {
    await cut();
    await lost;
  },
  "the loss and at once the commit": async (_, { cut }) => await cut(),
  "the loss and at once an error": async (_, { cut }) => {
    await cut();
    throw own;
  },
  "the loss, then statements of every kind": async (sql, { cut, lost }) => {
    const made = sql`insert into stray values (2)`;
    await cut();
    await lost;
    await Promise.allSettled([
      made,
      sql`insert into stray values (${3})`,
      sql.unsafe("insert into stray values (4)"),
      sql.savepoint((sql) => sql`insert into stray values (5)`),
    ]);
  },
  "a savepoint, the loss, its rollback": (sql, { cut, lost }) =>
    sql.savepoint(async (sql) => {
      await sql`select 1`;
      await cut();
      await lost;
      throw own;
    }),
  "statements that wait behind one another": async (sql, { cut }) => {
    const all = Promise.allSettled(Array.from({ length: 5 }, (_, i) => sql`select ${i}::int, pg_sleep(60)`));
    await cut();
    const settled = await all;
    await Promise.reject((settled.find(({ status }) => status === "rejected") as PromiseRejectedResult).reason);
  },
};

const outcomes: Record<string, Record<string, number>> = {};
const bystanders: Record<string, number> = {};

const add = (counts: Record<string, number>, outcome: string) => void (counts[outcome] = (counts[outcome] ?? 0) + 1);

/** A connection that hangs is abandoned after the connect timeout: that is not a loss, although it can be retried. */
const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) =>
      isRetryable(error) && (error as { code: string }).code !== "CONNECT_TIMEOUT" ? "lost" : String(error),
  );

/**
 * Runs one transaction among others and statements that wait for connections, until all of them and its own work have
 * ended.
 */
async function run(
  name: string,
  how: Way,
  work: (sql: Transaction, moment: Moment) => Promise<unknown>,
): Promise<void> {
  let known: () => void = swallow;
  const lost = new Promise<void>((resolve) => known = resolve);
  let settled: Promise<unknown> = Promise.resolve();
  const done = store.sql.begin((sql) => {
    settled = (async () => {
      const [row] = await sql`select pg_backend_pid() as pid`;
      const pid = (row as { pid: number }).pid;
      const cut = async () => {
        if (how === "terminate") await control.sql`select pg_terminate_backend(${pid}, 10000)`;
        else way.cut(pid, how);
      };
      await work(sql, { cut, lost });
    })();
    settled.catch(swallow);
    return settled;
  });
  const others = Array.from({ length: MAX + 1 }, (_, i) => [
    store.sql`select ${i}::int, pg_sleep(0.002)`,
    store.sql.begin((sql) => sql`select ${i}::int, pg_sleep(0.002)`),
  ]).flat().map((each) => outcomeOf(each).then((outcome) => add(bystanders, outcome)));
  add(outcomes[`${name} (${how})`] ??= {}, await outcomeOf(done));
  known();
  await Promise.all([...others, settled.catch(swallow)]);
}

for (const [name, work] of Object.entries(moments)) {
  for (const how of ["end", "reset", "terminate"] as const) {
    for (let round = 0; round < rounds; round++) await run(name, how, work);
  }
}

/**
 * The critical moment: the connection ends at the response that makes the library roll back, or at its rollback or
 * commit.
 */
const fail = (sql: Transaction) => sql`select 1 / ${0}::int`;
for (
  const [name, from, text, work] of [
    ["cut at the error's answer", "server", "22012", fail],
    // whole statements: what a connection sets at its start has the word "committed"
    ["cut at the rollback", "client", "rollback\0", fail],
    ["cut at the commit", "client", "commit\0", (sql: Transaction) => sql`select 1`],
  ] as const
) {
  for (const how of ["end", "reset"] as const) {
    for (let round = 0; round < rounds; round++) {
      way.cutAt(from, text, how);
      const outcome = await store.sql.begin((sql) => work(sql))
        .then(
          () => "done",
          (error: unknown) => isRetryable(error) ? "lost" : String((error as { code?: string }).code),
        );
      way.spare();
      const count = outcomes[`${name} (${how})`] ??= {};
      count[outcome] = (count[outcome] ?? 0) + 1;
    }
  }
}

/** The number of the server's connections from the pool. */
const counted = async () => {
  const [row] = await control
    .sql`select count(*)::int as n from pg_stat_activity where application_name = ${application}`;
  return (row as { n: number }).n;
};

// As many transactions as the pool has connections wait for each other inside: one connection that hangs would block
// them all.
let inside = 0;
let open: () => void = swallow;
const gate = new Promise<void>((resolve) => open = resolve);
const pids = await Promise.all(Array.from({ length: MAX }, () =>
  store.sql.begin(async (sql) => {
    const [row] = await sql`select pg_backend_pid() as pid`;
    if (++inside === MAX) open();
    await gate;
    return (row as { pid: number }).pid;
  })));
const strays = (await control.sql`select n from stray`).length;
// A pool that was replaced may still be closing.
const left = await until("the replaced pools end", async () => await counted() === MAX && MAX).catch(counted);
await store.close();
const closed = await until("the pool ends", async () => await counted() === 0 && "0").then(Number, counted);
await control.close();
await way.close();
const report: CutTransactions = { outcomes, bystanders, strays, together: new Set(pids).size, left, closed };
console.log(JSON.stringify(report));
