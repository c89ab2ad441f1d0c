/** The program `start`. */
import process from "node:process";
import { start } from "#src/app/programs.ts";

process.exitCode = await start(process.argv.slice(2));
