/** The program `serve`: a start with cardano-wallet's options, in memory unless a database is given. */
import process from "node:process";
import { run } from "#src/app/run.ts";
import { readServeOptions, SERVE_HELP } from "#src/app/serveOptions.ts";

const args = process.argv.slice(2);
await run(readServeOptions(args), SERVE_HELP, { untilInputEnds: args.includes("--shutdown-handler") });
