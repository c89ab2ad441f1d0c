/** Content of a database that `writePendingWork.ts` made, and how to restore it. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Prefix } from "#src/client/wallets.ts";
import { openStore } from "#src/store/store.ts";
import { frozenPath } from "../base/frozenFiles.ts";

export interface PendingWork {
  readonly commit: string;
  readonly note: string;
  /** When the database was dumped, in ms since 1970. */
  readonly dumpedAt: number;
  readonly passphrase: string;
  /** By label; `words` if the wallet has a root key. */
  readonly wallets: Record<
    string,
    { readonly id: string; readonly prefix: Prefix; readonly words?: readonly string[] }
  >;
  /** Seed of the tokens' owner. */
  readonly owner: string;
  /** By label, with the facts that they have when all work is finished. */
  readonly tokens: Record<string, { readonly id: string; readonly facts: Record<string, string> }>;
  /** `<hash>-<index>` by label. */
  readonly requests: Record<string, string>;
  readonly transactions: Record<string, { readonly id: string; readonly wallet?: string }>;
  pools: readonly string[];
  /** Transactions of a wallet migration. */
  migrated: readonly string[];
  /** A payment with an idempotency key whose answer was lost. */
  keyed: { readonly key: string; readonly body: object };
  webhook: string;
  deadLetters: number;
}

export function readPendingWork(name: string): PendingWork {
  return JSON.parse(readFileSync(frozenPath(`${name}.json`), "utf8"));
}

/**
 * Restores the dump into an empty database, as if it had been made just now: every point in time is moved by the time
 * that has passed since, including the devnet's first slot, and the server's transaction ids are advanced to those of
 * the dump.
 */
export async function restorePendingWork(name: string, { dumpedAt }: PendingWork, databaseUrl: string): Promise<void> {
  const dump = gunzipSync(readFileSync(frozenPath(`${name}.sql.gz`))).toString("utf8");
  const restoring = openStore(databaseUrl, { max: 1 });
  await restoring.sql.unsafe(dump);
  await restoring.close();
  // a separate session: the dump changes its search path
  const store = openStore(databaseUrl, { max: 1 });
  const { sql } = store;
  const columns = await sql<{ table: string; column: string }[]>`
    select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = 'public' and data_type = 'timestamp with time zone'`;
  const passed = Date.now() - dumpedAt;
  for (const { table, column } of columns) {
    await sql`update ${sql(table)} set ${sql(column)} = ${sql(column)} + ${passed} * interval '1 millisecond'
      where isfinite(${sql(column)})`;
  }
  await sql`update devnet_meta set genesis_time = genesis_time + ${passed}`;
  const [row] = await sql<{ newest: string }[]>`select max(tx)::text as newest from outbox`;
  await sql.unsafe(`do $$ begin
    while pg_current_xact_id()::text::bigint <= ${row!.newest} loop commit; end loop; end $$`);
  await store.close();
}
