/** The program `arbor`. */
import process from "node:process";
import { arborProgram } from "#src/cli/arbor/program.ts";
import { run } from "#src/cli/run.ts";

await run(arborProgram(), process.argv);
