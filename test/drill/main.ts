/**
 * `deno task drill:restore`: a drill of a restore to a point in time, with a report; `--database-url URL` (or
 * ARBOR_DRILL_DATABASE_URL) names a database to begin with a copy of. It needs PostgreSQL's programs on this machine, of the
 * major version of the database.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { reason } from "#src/base/log.ts";
import { openStore } from "#src/store/store.ts";
import { findPostgres } from "../support/infra/postgresServer.ts";
import { drillRestore } from "./restore.ts";

const { values } = parseArgs({ options: { "database-url": { type: "string" } } });
const databaseUrl = values["database-url"] ?? process.env.ARBOR_DRILL_DATABASE_URL;
try {
  const native = findPostgres(databaseUrl === undefined ? undefined : await majorOf(databaseUrl));
  if (native === undefined) process.exit(1);
  const onStep = (step: string, ms: number) => console.log(`${(ms / 1_000).toFixed(1).padStart(6)} s  ${step}`);
  const { checks, restoreMs, generation } = await drillRestore({ native, databaseUrl, onStep });
  console.log(
    `\nRestored in ${(restoreMs / 1_000).toFixed(1)} s; generation ${generation.id}: ${generation.reason}.\n`,
  );
  for (const { what, held } of checks) console.log(`${held ? "ok    " : "FAILED"}  ${what}`);
  process.exit(checks.every(({ held }) => held) ? 0 : 1);
} catch (error) {
  console.error(`The drill failed: ${reason(error)}`);
  process.exit(1);
}

/** The major version of a database's server. */
async function majorOf(url: string): Promise<number> {
  const store = openStore(url, { max: 1, application: "arbor drill" });
  try {
    const [row] = await store.sql<{ version: string }[]>`select current_setting('server_version_num') as version`;
    return Math.floor(Number(row?.version) / 10_000);
  } finally {
    await store.close();
  }
}
