/**
 * The programs of the server as functions, for entry files and for the command line. Each gives an exit code: 0 once
 * everything runs, or after a help. What runs ends the process itself, at a signal.
 */
import process from "node:process";
import v8 from "node:v8";
import { HELP, readOptions } from "#src/app/options.ts";
import { run } from "#src/app/run.ts";
import { TRACING_HELP } from "#src/app/serveHelp.ts";
import { readServeOptions, SERVE_HELP } from "#src/app/serveOptions.ts";
import { readSignerOptions, SIGNER_PROGRAM_HELP, SIGNERS_HELP } from "#src/app/signerProgram.ts";

/**
 * V8 lets the heap grow by 30 % between two collections of all of it, in threads too. Deno ignores this call: there it is
 * an argument of `deno run`, `--v8-flags`.
 */
v8.setFlagsFromString("--heap-growing-percent=30");

/** `start`: all services, or the roles that the options name. */
export const start = (args: readonly string[]): Promise<number> => run(readOptions(args), HELP);

/** `signer`: a signing service for one wallet; with `three` a devnet and three of them, for an owner and two requesters. */
export function signer(args: readonly string[], rules: { readonly three: boolean }): Promise<number> {
  return run(readSignerOptions(args, process.env, rules), rules.three ? SIGNERS_HELP : SIGNER_PROGRAM_HELP);
}

/**
 * `serve`: a start with cardano-wallet's options, in memory unless a database is given. With `strict` it has
 * cardano-wallet's rules, and its exit code of a usage error (1).
 */
export async function serve(args: readonly string[], { strict }: { readonly strict: boolean }): Promise<number> {
  if (args.includes("--help-tracing")) {
    process.stdout.write(TRACING_HELP + "\n");
    return 0;
  }
  return await run(readServeOptions(args, process.env, { strict }), SERVE_HELP, {
    untilInputEnds: args.includes("--shutdown-handler"),
    usageCode: strict ? 1 : 2,
  });
}
