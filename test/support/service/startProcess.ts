/** The program `start` as tests run it: the same, but builder threads load their code when a job needs it. */
import process from "node:process";
import { HELP, readOptions } from "#src/app/options.ts";
import { run } from "#src/app/run.ts";

process.exitCode = await run(readOptions(process.argv.slice(2)), HELP, { hooks: { coldBuilders: true } });
