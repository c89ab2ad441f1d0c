/** PostgreSQL's error output, explained. */
import { expect, test } from "vitest";
import { explainOutput } from "#src/embedded/postgres/explain.ts";

test.each([
  [
    'FATAL:  could not extend file "base/1/2691": wrote only 4096 of 8192 bytes at block 9\nHINT:  Check free disk space.',
    "no_space",
  ],
  ['FATAL:  could not write to file "pg_wal/xlogtemp.1": No space left on device', "no_space"],
  [
    "FATAL:  database files are incompatible with server\nDETAIL:  The data directory was initialized by PostgreSQL version 19," +
    " which is not compatible with this version 18.4.",
    "other_version",
  ],
  ["FATAL:  could not load /etc/something", undefined],
])("%s", (said, code) => {
  const explained = explainOutput("/data", said);
  expect(explained?.code).toBe(code);
  if (explained !== undefined) expect(explained.message).toMatch(/\/data.*--folder\.$/);
});
