/** Schema changes, each applied once, in the order they are handed over; several processes may start at the same time. */
import type { Store } from "#src/store/store.ts";

/** One step of the schema. `id` is for ever: `<room>-<number>`. */
export interface Migration {
  readonly id: string;
  readonly sql: string;
}

const LOCK = 4_127_001;

/** Applies what is missing, in one transaction under an advisory lock; gives the ids applied now. */
export async function migrate(store: Store, migrations: readonly Migration[]): Promise<string[]> {
  return await store.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`;
    await sql`create table if not exists migration (id text primary key, applied_at timestamptz not null default now())`;
    const known = new Set((await sql<{ id: string }[]>`select id from migration`).map((row) => row.id));
    const missing = migrations.filter((migration) => !known.has(migration.id));
    for (const migration of missing) {
      await sql.unsafe(migration.sql);
      await sql`insert into migration (id) values (${migration.id})`;
    }
    return missing.map((migration) => migration.id);
  }) as string[];
}
