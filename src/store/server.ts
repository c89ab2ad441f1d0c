/** Checks the version and the settings of the PostgreSQL server, and what is between. */
import { inTime } from "#src/base/clock.ts";
import { errorCode } from "#src/base/errorCode.ts";
import { memberOf } from "#src/base/member.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type Queries, type Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

/** The oldest major version of PostgreSQL that the tests run on. */
export const OLDEST_POSTGRES = 15;

/** Settings of a server that a session cannot change and that lose confirmed commits. */
const DURABLE = { fsync: "on", full_page_writes: "on" } as const;

/**
 * Fails when the server is older than `OLDEST_POSTGRES`, when the database takes no writes or cannot hold every text, or
 * when a pooler lends connections for a transaction. Resolves to what else is not as the service needs it, a sentence
 * each; `replicated` expects that commits wait for a replica. Rejects when the server does not respond.
 */
export async function checkServer(
  store: Store,
  replicated = false,
): Promise<Result<readonly string[], Failure<"server_too_old" | "read_only" | "encoding" | "pooler_mode">>> {
  if (await isPooled(store) && await sharesSessions(store)) {
    return fail(
      "pooler_mode",
      "A pooler in front of PostgreSQL lends connections for a transaction or a statement; Arbor's connections have " +
        "settings and prepared statements of their own. Set the pooler to `pool_mode = session` for this database, or " +
        "name PostgreSQL itself: Arbor has a pool.",
    );
  }
  const names = [
    ...["server_version_num", "server_encoding", "transaction_read_only"],
    ...["synchronous_commit", "synchronous_standby_names", ...Object.keys(DURABLE)],
  ];
  const rows = await store.sql<{ name: string; value: string }[]>`
    select name, current_setting(name) as value from unnest(${names}::text[]) name`;
  const settings = new Map(rows.map(({ name, value }) => [name, value]));
  const major = Math.floor(Number(settings.get("server_version_num")) / 10_000);
  if (major < OLDEST_POSTGRES) {
    return fail(
      "server_too_old",
      `The database is served by PostgreSQL ${major}; Arbor needs at least ${OLDEST_POSTGRES}. Upgrade the server or use another one.`,
      { major, oldest: OLDEST_POSTGRES },
    );
  }
  if (settings.get("transaction_read_only") === "on") {
    return fail(
      "read_only",
      "The database takes no writes: its server is a standby, or read only. Name the primary, or the hosts of all its servers.",
    );
  }
  const encoding = settings.get("server_encoding");
  if (encoding !== "UTF8") {
    return fail(
      "encoding",
      `The database has the encoding ${encoding}; Arbor needs UTF8. Create it with \`encoding 'UTF8'\`.`,
    );
  }
  const warnings = [];
  for (const [name, wanted] of Object.entries(DURABLE)) {
    if (settings.get(name) !== wanted) {
      warnings.push(`PostgreSQL has ${name} = ${settings.get(name)}: a power failure can lose or damage the database.`);
    }
  }
  const commit = settings.get("synchronous_commit");
  if (commit === "off") {
    warnings.push("PostgreSQL has synchronous_commit = off: a crash loses what was confirmed before it.");
  }
  if (replicated && (settings.get("synchronous_standby_names") === "" || commit === "off" || commit === "local")) {
    warnings.push(
      "PostgreSQL waits for no synchronous replica (synchronous_standby_names, synchronous_commit): when a replica is " +
        "promoted, it may lack what was confirmed.",
    );
  }
  return ok(warnings);
}

/** Whether something else answers for the server: the process that it named is not the one that executes. */
async function isPooled({ sql }: Store): Promise<boolean> {
  const rows = await backendOf(sql);
  return memberOf(rows.state, "pid") !== rows[0]?.pid;
}

/** The server's process of a connection; works through every pooler, as it prepares nothing. */
const backendOf = (sql: Queries) => sql.unsafe<{ pid: number }[]>("select pg_backend_pid() as pid");

/** Attempts to see a connection with another process, and the time limit of each in ms. */
const ATTEMPTS = 5;
const ATTEMPT_MS = 1_000;

/**
 * Whether one connection is served by several processes: by another one than before while a second connection, within a
 * transaction, has the process that was used last.
 */
async function sharesSessions(store: Store): Promise<boolean> {
  const [one, other] = [store.beside({ max: 1, settings: {} }), store.beside({ max: 1, settings: {} })];
  const attempt = async () => {
    const before = (await backendOf(one.sql))[0]?.pid;
    return await other.sql.begin(async (sql) => {
      await backendOf(sql);
      // a pooler with one process waits for the end of the transaction
      const after = await inTime(backendOf(one.sql), ATTEMPT_MS);
      return after?.[0]?.pid !== before;
    });
  };
  try {
    for (let i = 0; i < ATTEMPTS; i++) {
      if (await attempt()) return true;
    }
    return false;
  } catch (error) {
    // a pooler in mode `statement` ends a connection that begins a transaction
    if (["08P01", "CONNECTION_CLOSED"].includes(errorCode(error))) return true;
    throw error;
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

/**
 * Writes a row; rejects where the database cannot be written. After a failure of any write it has the table grow, because
 * on a full disk only a write that needs no new page succeeds.
 */
export async function probeWrites(store: Store): Promise<void> {
  const { failure } = store.writes;
  await store.sql`insert into write_probe (one) values (true) on conflict (one) do update set at = now()`;
  if (failure === undefined) return;
  const done = new Error("rolled back");
  await store.sql.begin(async (sql) => {
    await sql`update write_probe set filler = repeat('x', ${PAGE_BYTES}::int)`;
    throw done;
  }).catch((error) => {
    if (error !== done) throw error;
  });
  // A write may have failed in the meantime.
  if (store.writes.failure === failure) store.writes.failure = undefined;
}

/** Bytes of a row that fill a page of a table. */
const PAGE_BYTES = 8_000;

/** The snapshot in which a statement sees the database now, as text: equal ones see the same rows (`pg_current_snapshot`). */
export async function readSnapshotId(sql: Queries): Promise<string> {
  const row = await onlyRow(sql<{ snapshot: string }[]>`select pg_current_snapshot()::text as snapshot`);
  return row.snapshot;
}
