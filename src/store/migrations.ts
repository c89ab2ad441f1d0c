/** Schema changes, each applied once, in the order they are handed over; several processes may start at the same time. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** One step of the schema. `id` is for ever: `<room>-<number>`. */
export interface Migration {
  readonly id: string;
  readonly sql: string;
}

const LOCK = 4_127_001;

/** Applies what is missing, in one transaction under an advisory lock; gives the ids applied now. */
export async function migrate(store: Store, migrations: readonly Migration[]): Promise<string[]> {
  return await locked(store, (sql, applied) => apply(sql, migrations, applied));
}

/**
 * As `migrate`, for a program's whole list. A database with a migration that is not in the list was changed by a later version of
 * the program, whose rows this one could misread or spoil: it is refused and stays as it is.
 */
export async function migrateWhole(
  store: Store,
  migrations: readonly Migration[],
): Promise<Result<string[], Failure<"database_newer">>> {
  const ids = new Set(migrations.map(({ id }) => id));
  return await locked(store, async (sql, applied) => {
    const unknown = [...applied].filter((id) => !ids.has(id)).sort();
    if (unknown.length === 0) return ok(await apply(sql, migrations, applied));
    return fail(
      "database_newer",
      `This database was changed by a later version of Arbor (schema migration ${unknown.join(", ")}). ` +
        "Start that version or a later one, or use another database.",
      { unknown },
    );
  });
}

/** Runs work in a transaction that excludes other starts, with the ids that were applied before. */
async function locked<T>(store: Store, work: (sql: Queries, applied: ReadonlySet<string>) => Promise<T>): Promise<T> {
  return await store.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`;
    await sql`create table if not exists migration (id text primary key, applied_at timestamptz not null default now())`;
    return await work(sql, new Set((await sql<{ id: string }[]>`select id from migration`).map((row) => row.id)));
  }) as T;
}

async function apply(sql: Queries, migrations: readonly Migration[], applied: ReadonlySet<string>): Promise<string[]> {
  const missing = migrations.filter((migration) => !applied.has(migration.id));
  for (const migration of missing) {
    await sql.unsafe(migration.sql);
    await sql`insert into migration (id) values (${migration.id})`;
  }
  return missing.map((migration) => migration.id);
}
