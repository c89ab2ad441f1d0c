/** Runs a process: starts it, prints where it listens, and stops it on a signal. */
import process from "node:process";
import { createLog, reason } from "#src/base/log.ts";
import { present } from "#src/base/present.ts";
import type { Result } from "#src/base/result.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { openStore } from "#src/store/store.ts";
import { migrateDatabase } from "#src/app/connections.ts";
import { nextSteps } from "#src/app/greeting.ts";
import type { TestHooks } from "#src/app/context.ts";
import { misspeltVariables } from "#src/app/optionReader.ts";
import type { BadOption, Options } from "#src/app/options.ts";
import { startApp, StartError } from "#src/app/application.ts";
import { schemaMigrations } from "#src/app/schema.ts";

/** How long an orderly stop may take, in milliseconds. */
const STOP_MS = 15_000;

interface RunOptions {
  /** Whether the process also stops when its standard input ends. */
  readonly untilInputEnds?: boolean;
  /** Exit code where the options are not valid, 2 by default. */
  readonly usageCode?: number;
  readonly hooks?: TestHooks;
}

/**
 * Runs a process with the options that were read; prints `help`, or why the options are not valid. Gives the exit code of
 * the process, unless that ends by itself later.
 */
export async function run(
  read: Result<Options | "help", BadOption>,
  help: string,
  { untilInputEnds = false, usageCode = 2, hooks = {} }: RunOptions = {},
): Promise<number> {
  if (!read.ok) {
    process.stderr.write(read.error.message + "\n");
    return usageCode;
  }
  if (read.value === "help") {
    process.stdout.write(help + "\n");
    return 0;
  }
  try {
    await (read.value.migrateOnly ? migrateOnly(read.value) : start(read.value, untilInputEnds, hooks));
    return 0;
  } catch (error) {
    const said = error instanceof EmbeddedError || error instanceof StartError;
    process.stderr.write((said ? error.message : `The start failed: ${reason(error)}`) + "\n");
    process.exit(1);
  }
}

/** Applies the schema migrations and prints how many the database lacked. @throws {StartError} */
async function migrateOnly(options: Options): Promise<void> {
  for (const sentence of misspeltVariables(process.env)) process.stderr.write(sentence + "\n");
  const print = (line: string) => process.stdout.write(line + "\n");
  const store = openStore(present(options.databaseUrl, "the database's URL"), {
    max: 1,
    application: "arbor migrations",
  });
  try {
    const applied = await migrateDatabase({ options, progress: print }, store);
    print(`${applied.length} schema migrations applied; the database has all ${schemaMigrations.length}.`);
  } finally {
    await store.close();
  }
}

async function start(options: Options, untilInputEnds: boolean, hooks: TestHooks): Promise<void> {
  const log = createLog(options.log);
  for (const sentence of misspeltVariables(process.env)) log.warn(sentence);
  const begun = performance.now();
  const starting = startApp(options, log, (line) => process.stdout.write(line + "\n"), hooks);

  let stopping: Promise<void> | undefined;
  const stop = (code = 0) => {
    process.stdout.write("\nStopping\n");
    setTimeout(() => {
      process.stderr.write(`Not everything ended within ${STOP_MS / 1_000} s; what is left is cut off.\n`);
      process.exit(1);
    }, STOP_MS);
    stopping = starting.then((app) => app.stop()).then(() => process.exit(code), (error) => {
      process.stderr.write(`${reason(error)}\n`);
      process.exit(1);
    });
  };
  const stopOnSignals = () => {
    // a second interrupt ends the process at once
    process.on("SIGINT", () => stopping ? process.exit(1) : stop());
    // a parent that forwards the signal, and what signals a whole group, make it two
    process.on("SIGTERM", () => stopping ?? stop());
    if (untilInputEnds) process.stdin.once("end", () => stopping ?? stop()).resume();
  };
  // a signal during a start ends the process at once, unless that would leave the temporary data behind
  if (options.inMemory) stopOnSignals();
  const app = await starting;
  if (!options.inMemory) stopOnSignals();
  void app.lost.then((sentence) => {
    if (stopping) return;
    process.stderr.write(sentence + "\n");
    stop(1);
  });
  if (stopping) return;
  const width = Math.max(0, ...app.listening.map(({ name }) => name.length));
  for (const { name, at } of app.listening) process.stdout.write(`${name.padEnd(width)}  ${at}\n`);
  process.stdout.write(`Ready after ${((performance.now() - begun) / 1000).toFixed(1)} s. Ctrl-C ends it.\n`);
  for (const line of nextSteps(app.listening)) process.stdout.write(line + "\n");
}
