/** All rows of the index of a devnet, and the index that its blocks give. */
import { silentLog } from "#src/base/log.ts";
import { readGenesis } from "#src/devnet/genesis/genesis.ts";
import { rebuildIndex } from "#src/devnet/index/rebuild.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Store } from "#src/store/store.ts";

/** Names of the tables of the index, the cursor's among them. */
export async function indexTables({ sql }: Store): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_name like 'devnet\\_index%' order by 1`;
  return rows.map(({ name }) => name);
}

/** Rows by table, in an order that does not depend on how they were written. */
export async function indexRows(store: Store): Promise<Record<string, readonly string[]>> {
  const { sql } = store;
  const tables: [string, readonly string[]][] = [];
  for (const name of await indexTables(store)) {
    const rows = await sql<{ row: string }[]>`select x::text as row from ${sql(name)} x order by 1`;
    tables.push([name, rows.map(({ row }) => row)]);
  }
  return Object.fromEntries(tables);
}

/** Builds the index again from the blocks; gives its rows. No devnet may run. */
export async function rebuiltRows(store: Store): Promise<Record<string, readonly string[]>> {
  const genesis = await readGenesis(store.sql);
  if (!genesis) throw new Error("there is no devnet");
  await store.sql`delete from devnet_index`;
  await rebuildIndex({ sql: store.sql, write: (work) => store.sql.begin(work), genesis, log: silentLog });
  await onlyRow(store.sql`select * from devnet_index`);
  return await indexRows(store);
}
