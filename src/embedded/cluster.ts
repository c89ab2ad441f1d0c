/** A data folder for PostgreSQL and the password of its only account. */
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, closeSync, existsSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reason } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/errors.ts";
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
  const fresh = join(folder, "data.new");
  const passwordFile = join(folder, "password");
  const handedFile = join(folder, "password.new");
  for (const left of [fresh, handedFile]) rmSync(left, { recursive: true, force: true });
  const password = randomBytes(24).toString("base64url");
  writeFileSync(passwordFile, password + "\n", { mode: 0o600 });
  chmodSync(passwordFile, 0o600);
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
      throw new EmbeddedError(
        code === 126 || code === 127 ? "no_binaries" : "start_failed",
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
}
