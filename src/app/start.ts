/** The program `start`. */
import process from "node:process";
import { HELP, readOptions } from "#src/app/options.ts";
import { run } from "#src/app/run.ts";

await run(readOptions(process.argv.slice(2)), HELP);
