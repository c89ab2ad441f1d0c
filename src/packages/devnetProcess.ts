/**
 * The process of a devnet for tests: the program `start`, which also ends when its standard input does. So it ends with
 * the process that started it, even where that was killed.
 */
import process from "node:process";
import { silentLog } from "#src/base/log.ts";
import { HELP, readOptions } from "#src/app/options.ts";
import { run } from "#src/app/run.ts";
import { createTemporaryFolder, removeAbandonedFolders } from "#src/embedded/postgres/temporaryFolder.ts";

// if the reader of these streams was killed, a write fails; this process still has to stop in order
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

const args = process.argv.slice(2);
if (!args.includes("--in-memory")) {
  // the data are in a given database, and files are not kept
  await removeAbandonedFolders(silentLog);
  const folder = createTemporaryFolder();
  process.on("exit", () => folder.remove());
  args.push("--folder", folder.path);
}
process.exitCode = await run(readOptions(args), HELP, {
  untilInputEnds: true,
  hooks: { sharedDatabase: args.includes("--in-memory"), coldBuilders: true },
});
