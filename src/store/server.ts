/** Checks the version and the settings of the PostgreSQL server. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { CONNECTION_SETTINGS, type Queries, type Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

/** The oldest major version of PostgreSQL that the tests run on. */
export const OLDEST_POSTGRES = 15;

/** Settings of a server that a session cannot change and that lose confirmed commits. */
const DURABLE = { fsync: "on", full_page_writes: "on" } as const;

/**
 * Fails when the server is older than `OLDEST_POSTGRES`, or when the database cannot hold every text. Resolves to what
 * else is not as the service needs it, a sentence each. Rejects when the server does not respond.
 */
export async function checkServer(
  store: Store,
): Promise<Result<readonly string[], Failure<"server_too_old" | "encoding">>> {
  const names = [
    ...["server_version_num", "server_encoding", "synchronous_commit"],
    ...Object.keys(DURABLE),
    ...Object.keys(CONNECTION_SETTINGS),
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
  if (settings.get("synchronous_commit") === "off") {
    warnings.push("PostgreSQL has synchronous_commit = off: a crash loses what was confirmed before it.");
  }
  for (const [name, wanted] of Object.entries(CONNECTION_SETTINGS)) {
    const value = settings.get(name);
    if (value !== wanted) {
      warnings.push(`Connections have ${name} = ${value} instead of ${wanted}: a pooler drops their parameters.`);
    }
  }
  return ok(warnings);
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
