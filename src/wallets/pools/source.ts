/** Source of pool metadata: none, the URL of each registration, or a SMASH server. */
import type { Queries, Store } from "#src/store/store.ts";

/** `none`, `direct`, or the URL of a SMASH server without trailing slash. */
export type PoolSource = string;

const SETTING = "pool_metadata_source";
const URL_FORM = /^https?:\/\/[a-zA-Z0-9-_~.]+(:[0-9]+)?\/?$/;

/** Whether a text is the URL of a SMASH server: scheme, host, optional port, no path. */
export const isServer = (text: string): boolean => URL_FORM.test(text);

/** Parses a source; `undefined` where it is invalid. */
export function parseSource(text: string): PoolSource | undefined {
  if (text === "none" || text === "direct") return text;
  return isServer(text) ? text.replace(/\/$/, "") : undefined;
}

/** The source in use. */
export async function readSource(sql: Queries): Promise<PoolSource> {
  const [row] = await sql<{ value: string }[]>`select value from wallet_setting where name = ${SETTING}`;
  return row?.value ?? "none";
}

/** Sets the source and deletes what came from another one. */
export async function writeSource(store: Store, source: PoolSource): Promise<void> {
  await store.sql.begin(async (sql) => {
    const changed = await sql`insert into wallet_setting (name, value) values (${SETTING}, ${source})
      on conflict (name) do update set value = excluded.value where wallet_setting.value <> excluded.value returning 1`;
    if (changed.length === 0) return;
    await sql`delete from pool_metadata`;
    await sql`delete from pool_delisted`;
    await sql`delete from pool_source`;
  });
}

/** Sets the initial source; does nothing where one is set. */
export async function beginSource(store: Store, source: PoolSource): Promise<void> {
  await store.sql`insert into wallet_setting (name, value) values (${SETTING}, ${source}) on conflict do nothing`;
}
