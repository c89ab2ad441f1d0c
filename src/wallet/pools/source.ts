/** Where pools' metadata is fetched from: nowhere, from where each pool says, or from a SMASH server that somebody vouches for. */
import type { Queries, Store } from "#src/store/store.ts";

/** `none`, `direct`, or the address of a SMASH server, without a slash at the end. */
export type PoolSource = string;

const SETTING = "pool_metadata_source";
const URL_FORM = /^https?:\/\/[a-zA-Z0-9-_~.]+(:[0-9]+)?\/?$/;

/** Whether a text names a SMASH server: a scheme, a host, perhaps a port, no path. */
export const isServer = (text: string): boolean => URL_FORM.test(text);

/** Reads what people write; `undefined` for what is no source. */
export function parseSource(text: string): PoolSource | undefined {
  if (text === "none" || text === "direct") return text;
  return isServer(text) ? text.replace(/\/$/, "") : undefined;
}

/** The source in use. */
export async function readSource(sql: Queries): Promise<PoolSource> {
  const [row] = await sql<{ value: string }[]>`select value from wallet_setting where name = ${SETTING}`;
  return row?.value ?? "none";
}

/** Sets the source for good; what another one said is forgotten. */
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

/** Sets the source where nobody ever set one. */
export async function beginSource(store: Store, source: PoolSource): Promise<void> {
  await store.sql`insert into wallet_setting (name, value) values (${SETTING}, ${source}) on conflict do nothing`;
}
