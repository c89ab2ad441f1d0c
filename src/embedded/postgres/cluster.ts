/** Creation of a PostgreSQL data folder and the password of its only account. */
import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { reason } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { checkSpace, explainOutput } from "#src/embedded/postgres/explain.ts";
import { HANDED_FILE, launch, type ServerPrograms, waitForExit } from "#src/embedded/postgres/launch.ts";

/** The database account that owns everything. */
export const DATABASE_USER = "arbor";
/** Beginning of the name of a data folder that is not complete. */
const UNFINISHED = "data.new";

/** Reads the password of the database; only the folder's owner can. */
export function readPassword(folder: string): string {
  try {
    return readFileSync(join(folder, "password"), "utf8").trim();
  } catch (error) {
    throw new EmbeddedError(
      "not_reachable",
      `The password of the database in ${folder} cannot be read (${
        reason(error)
      }); start it as the user who created it.`,
    );
  }
}

/**
 * Creates the data folder if there is none: UTF-8, locale C, checksums, and a random password for local connections,
 * because any user of the machine can open a loopback port. The folder gets its name only when it is complete, so an
 * interrupted start leaves nothing that a later one would use. Each start has a folder of its own for that: initdb
 * outlives a process that was killed, and still writes into the one that it was given.
 */
export async function createCluster(folder: string, place: ServerPrograms): Promise<void> {
  const data = join(folder, "data");
  removeUnfinished(folder);
  if (existsSync(join(data, "PG_VERSION"))) return;
  checkSpace(folder);
  const fresh = join(folder, `${UNFINISHED}${randomBytes(8).toString("hex")}`);
  const passwordFile = join(folder, "password");
  const handedFile = join(folder, "password.new");
  rmSync(handedFile, { force: true });
  const password = randomBytes(24).toString("base64url");
  const kept = openSync(passwordFile, "w", 0o600);
  try {
    fchmodSync(kept, 0o600);
    writeSync(kept, password + "\n");
    fsyncSync(kept);
  } finally {
    closeSync(kept);
  }
  writeFileSync(handedFile, password + "\n", { mode: 0o600 });
  mkdirSync(fresh, { mode: 0o700 });
  if (place.account) {
    for (const path of [fresh, handedFile]) chownSync(path, place.account.uid, place.account.gid);
  }
  const file = openSync(handedFile, "r");
  try {
    const child = launch(place, "initdb", fresh, [
      `--username=${DATABASE_USER}`,
      `--pwfile=${HANDED_FILE}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
    ], { file, output: "pipe" });
    const { code, output } = await waitForExit(child);
    if (code !== 0) {
      // the shell's exit codes 126 and 127: the program does not run on this machine, for example on Linux without
      // glibc
      if (code === 126 || code === 127) {
        throw new EmbeddedError(
          "no_binaries",
          `PostgreSQL's programs do not run on this machine (${output.trim()}); set DATABASE_URL to use a server of your own.`,
        );
      }
      throw explainOutput(data, output) ?? new EmbeddedError(
        "start_failed",
        `PostgreSQL could not create its data folder ${data} (initdb ended with ${code}): ${output.trim()}`,
      );
    }
  } finally {
    closeSync(file);
    rmSync(handedFile, { force: true });
  }
  // a folder without PG_VERSION was not created by PostgreSQL; if it is not empty, this throws and its owner has to
  // remove it
  if (lstatSync(data, { throwIfNoEntry: false })) rmSync(data, { recursive: false });
  renameSync(fresh, data);
  // the directory entry must survive a power failure too
  const names = openSync(folder, "r");
  try {
    fsyncSync(names);
  } finally {
    closeSync(names);
  }
}

/** Removes what interrupted starts left; what an initdb of one still writes remains for the next start. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(UNFINISHED))) {
    try {
      rmSync(join(folder, name), { recursive: true, force: true });
    } catch {
      continue;
    }
  }
}
