/** Schema migrations: SQL files, each applied once, in the given order. Several processes may start at the same time. */
import { readFileSync } from "node:fs";
import { onlyOf } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { LOCKS } from "#src/store/advisoryLock.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** A schema migration. Its `id` must never change. */
export interface Migration {
  readonly id: string;
  readonly sql: string;
}

/** Name of a migration's file: the date of its first commit, and its id. */
const FILE = /\/\d{4}-\d\d-\d\d-([a-z]+(?:-[a-z]+)*-\d+)\.sql$/;

/**
 * Reads a migration from its file, `<date>-<id>.sql`.
 *
 * @throws {Error} where the file cannot be read, or is not named so.
 */
export function readMigration(file: URL): Migration {
  const id = FILE.exec(file.pathname)?.[1];
  if (id === undefined) throw new Error(`"${file.pathname}" is not named as a schema migration: <date>-<id>.sql`);
  return { id, sql: readFileSync(file, "utf8") };
}

/** Applies the missing migrations in one transaction under an advisory lock; resolves to their ids. */
export async function migrate(store: Store, migrations: readonly Migration[]): Promise<string[]> {
  return await locked(store, (sql, applied) => apply(sql, migrations, applied));
}

/**
 * Like `migrate`, for the complete list of a program. A database with a migration that is not in the list was changed
 * by a later version of the program. This version could misread or damage its rows, so it fails and changes nothing.
 * `schema`: the schema of the tables, which is created; the first one in the store's `search_path`.
 */
export async function migrateWhole(
  store: Store,
  migrations: readonly Migration[],
  schema?: string,
): Promise<Result<string[], Failure<"database_newer">>> {
  const ids = new Set(migrations.map(({ id }) => id));
  return await locked(store, async (sql, applied) => {
    const unknown = [...applied].filter((id) => !ids.has(id)).sort();
    if (unknown.length === 0) return ok(await apply(sql, migrations, applied));
    return fail(
      "database_newer",
      `This database was migrated by a later version of Arbor (schema migration ${unknown.join(", ")}). ` +
        "Start that version or a later one, or use another database.",
      { unknown },
    );
  }, schema);
}

/** Runs work in a transaction under the advisory lock, with the ids of the applied migrations. */
async function locked<T>(
  store: Store,
  work: (sql: Queries, applied: ReadonlySet<string>) => Promise<T>,
  schema?: string,
): Promise<T> {
  const results: T[] = [];
  await store.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${LOCKS.migrations})`;
    if (schema !== undefined) await createSchema(sql, schema);
    await sql`create table if not exists migration (id text primary key, applied_at timestamptz not null default now())`;
    const applied = await sql<{ id: string }[]>`select id from migration`;
    results.push(await work(sql, new Set(applied.map((row) => row.id))));
  });
  return onlyOf(results);
}

/** Creates a schema. Where it exists, the role needs no right to create one. */
async function createSchema(sql: Queries, schema: string): Promise<void> {
  const known = await sql`select 1 from pg_namespace where nspname = ${schema}`;
  if (known.length === 0) await sql`create schema ${sql(schema)}`;
}

async function apply(sql: Queries, migrations: readonly Migration[], applied: ReadonlySet<string>): Promise<string[]> {
  const missing = migrations.filter((migration) => !applied.has(migration.id));
  for (const migration of missing) {
    await sql.unsafe(migration.sql);
    await sql`insert into migration (id) values (${migration.id})`;
  }
  return missing.map((migration) => migration.id);
}
