/** Explains the output of PostgreSQL's programs, where the cause is known. */
import { statfsSync } from "node:fs";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";

const MEGABYTE = 1024 * 1024;

/**
 * Free bytes that a new database needs: a new data folder takes 40 MB, and its write-ahead log grows by files of 16 MB.
 */
const MIN_FREE = 128 * MEGABYTE;

/** Throws `no_space` if the volume of a folder is too full for a new database. */
export function checkSpace(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= MIN_FREE) return;
  throw noSpace(
    folder,
    `${Math.floor(free / MEGABYTE)} MB are free there, and a new database needs ${MIN_FREE / MEGABYTE} MB`,
  );
}

/** The error for the output of a program that failed on a folder; undefined if the cause is not known. */
export function explainOutput(data: string, said: string): EmbeddedError | undefined {
  if (/No space left on device|Check free disk space|Disk quota exceeded/i.test(said)) {
    return noSpace(data, "the volume is full");
  }
  const made = /initialized by PostgreSQL version (\S+),.*not compatible with this version (\d+)/.exec(said);
  if (made) {
    return new EmbeddedError(
      "other_version",
      `The database in ${data} was created by PostgreSQL ${made[1]}; this version of Arbor has PostgreSQL ${
        made[2]
      }. ` +
        "Start the version of Arbor that created it, or use another --folder.",
    );
  }
  return undefined;
}

function noSpace(folder: string, why: string): EmbeddedError {
  return new EmbeddedError(
    "no_space",
    `There is not enough space for the database in ${folder}: ${why}. Make space, or use another --folder.`,
  );
}
