/**
 * The program `serve`: a start with cardano-wallet's options, in memory unless a database is given. With
 * `--cardano-wallet` as its first argument it has cardano-wallet's rules, and its exit code of a usage error (1).
 */
import process from "node:process";
import { run } from "#src/app/run.ts";
import { TRACING_HELP } from "#src/app/serveHelp.ts";
import { readServeOptions, SERVE_HELP } from "#src/app/serveOptions.ts";

const strict = process.argv[2] === "--cardano-wallet";
const args = process.argv.slice(strict ? 3 : 2);
if (args.includes("--help-tracing")) process.stdout.write(TRACING_HELP + "\n");
else {
  await run(readServeOptions(args, process.env, { strict }), SERVE_HELP, {
    untilInputEnds: args.includes("--shutdown-handler"),
    usageCode: strict ? 1 : 2,
  });
}
