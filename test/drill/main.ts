/**
 * `deno task drill:restore`: a drill of a restore to a point in time, with a report; `--database-url URL` (or
 * ARBOR_DRILL_DATABASE_URL) names a database to begin with a copy of. It needs PostgreSQL's programs on this machine.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { reason } from "#src/base/log.ts";
import { findPostgres } from "../support/infra/postgresServer.ts";
import { drillRestore } from "./restore.ts";

const { values } = parseArgs({ options: { "database-url": { type: "string" }, programs: { type: "string" } } });
const databaseUrl = values["database-url"] ?? process.env.ARBOR_DRILL_DATABASE_URL;
const native = values.programs ?? findPostgres();
if (native === undefined) process.exit(1);
try {
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
