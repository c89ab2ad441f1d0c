/** The program `serve`. */
import process from "node:process";
import { serve } from "#src/app/programs.ts";

process.exitCode = await serve(process.argv.slice(2), { strict: false });
