/** Checks the version of the PostgreSQL server. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

/** The oldest major version of PostgreSQL that the tests run on. */
export const OLDEST_POSTGRES = 15;

/** Fails when the server is older than `OLDEST_POSTGRES`. Rejects when the server does not respond. */
export async function checkServer(store: Store): Promise<Result<void, Failure<"server_too_old">>> {
  const row = await onlyRow(store.sql<{ number: string }[]>`select current_setting('server_version_num') as number`);
  const major = Math.floor(Number(row.number) / 10_000);
  if (major >= OLDEST_POSTGRES) return ok(undefined);
  return fail(
    "server_too_old",
    `The database is served by PostgreSQL ${major}; Arbor needs at least ${OLDEST_POSTGRES}. Upgrade the server or use another one.`,
    { major, oldest: OLDEST_POSTGRES },
  );
}

/** Resolves when the server answers; rejects where it does not. */
export async function pingDatabase(sql: Queries): Promise<void> {
  await sql`select 1`;
}

/** The snapshot in which a statement sees the database now, as text: equal ones see the same rows (`pg_current_snapshot`). */
export async function readSnapshotId(sql: Queries): Promise<string> {
  const row = await onlyRow(sql<{ snapshot: string }[]>`select pg_current_snapshot()::text as snapshot`);
  return row.snapshot;
}
