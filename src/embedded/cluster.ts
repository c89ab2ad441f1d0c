/** A data folder for PostgreSQL and the password of its only account. */
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
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { reason } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/errors.ts";
import { checkSpace, explainEnd } from "#src/embedded/explain.ts";
import { HANDED_FILE, launch, outcome, type Place } from "#src/embedded/launch.ts";

/** The account inside the database that owns everything. */
export const DATABASE_USER = "arbor";

/** Reads the password of the database, which only the folder's owner can do. */
export function readPassword(folder: string): string {
  try {
    return readFileSync(join(folder, "password"), "utf8").trim();
  } catch (error) {
    throw new EmbeddedError(
      "not_reachable",
      `The password of the database in ${folder} cannot be read (${reason(error)}); whoever created it can start it.`,
    );
  }
}

/**
 * Makes the data folder where there is none: UTF-8, locale C, checksums, and a random password for connections from this
 * machine, because any of its users can open a loopback port. It appears under its name only when it is whole, so an
 * interrupted start leaves nothing behind that counts.
 */
export async function createCluster(folder: string, place: Place): Promise<void> {
  const data = join(folder, "data");
  if (existsSync(join(data, "PG_VERSION"))) return;
  checkSpace(folder);
  const fresh = join(folder, "data.new");
  const passwordFile = join(folder, "password");
  const handedFile = join(folder, "password.new");
  for (const left of [fresh, handedFile]) rmSync(left, { recursive: true, force: true });
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
    const { code, said } = await outcome(child);
    if (code !== 0) {
      // 126 and 127 are the shell's: the program does not run here at all, as on a Linux without glibc.
      if (code === 126 || code === 127) {
        throw new EmbeddedError(
          "no_binaries",
          `PostgreSQL's programs do not run on this machine (${said.trim()}); set DATABASE_URL to use a server of your own.`,
        );
      }
      throw explainEnd(data, said) ?? new EmbeddedError(
        "start_failed",
        `PostgreSQL could not create its data folder ${data} (initdb ended with ${code}): ${said.trim()}`,
      );
    }
  } finally {
    closeSync(file);
    rmSync(handedFile, { force: true });
  }
  // A folder without PG_VERSION is none of PostgreSQL's making; what somebody put there is theirs to remove.
  if (lstatSync(data, { throwIfNoEntry: false })) rmSync(data, { recursive: false });
  renameSync(fresh, data);
  // The names too must survive a power failure, as the contents do.
  const names = openSync(folder, "r");
  try {
    fsyncSync(names);
  } finally {
    closeSync(names);
  }
}
