/**
 * A PostgreSQL server that an earlier process left behind.
 *
 * `postmaster.pid` in the data folder names it. Only a process that was started as `postgres` with the mark of this very data
 * folder is ever signalled; a pid that now belongs to anything else is left alone.
 */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Log } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/errors.ts";
import { birthOf, commandOf, signal, waitForEnd } from "#src/embedded/processes.ts";

/** Larger than any pid that Linux or macOS gives, so it belongs to nobody. */
const NOBODY = 2_147_483_646;

/** The setting on the command line that marks the server of a data folder. */
export function markOf(data: string): string {
  return `cluster_name=arbor-${createHash("sha256").update(realpathSync(data)).digest("hex").slice(0, 16)}`;
}

/** What `postmaster.pid` says: line 1 is the pid, line 4 the port, line 8 the state. */
export function readPidFile(data: string): { pid: number; port: number; ready: boolean } | undefined {
  try {
    const lines = readFileSync(join(data, "postmaster.pid"), "latin1").split("\n");
    return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === "ready" };
  } catch {
    return undefined;
  }
}

/** Whether a pid is the server of the data folder with this mark. */
export function isServer(pid: number, mark: string): boolean {
  const command = commandOf(pid);
  return command !== undefined && basename(command[0] ?? "") === "postgres" && command.includes(mark);
}

/** Ends a server: open statements are cut and everything is written (fast), then less patiently. False if it will not go. */
export async function endServer(pid: number, log: Log): Promise<boolean> {
  for (const [name, ms] of [["SIGINT", 30_000], ["SIGQUIT", 10_000], ["SIGKILL", 5_000]] as const) {
    if (name !== "SIGINT") log.warn("PostgreSQL does not stop", { pid, next: name });
    if (!signal(pid, name) || await waitForEnd(pid, ms)) return true;
  }
  return false;
}

/**
 * Ends the server that an earlier process left running in this data folder, if there is one, and makes sure that PostgreSQL
 * does not mistake a stranger with the same pid for it. The caller holds the folder.
 */
export async function endLeftover(data: string, log: Log): Promise<void> {
  const left = readPidFile(data);
  if (!left || !Number.isInteger(left.pid) || left.pid <= 0) return;
  if (birthOf(left.pid) !== undefined && isServer(left.pid, markOf(data))) {
    log.info("stopping a PostgreSQL server that was left running", { pid: left.pid, port: left.port });
    if (!await endServer(left.pid, log)) {
      throw new EmbeddedError(
        "in_use",
        `A PostgreSQL server (process ${left.pid}) still runs in ${data} and does not stop.`,
        {
          pid: left.pid,
        },
      );
    }
    return;
  }
  // PostgreSQL would refuse to start where a stranger has the pid by now. The rest of the file stays: by the shared memory it names
  // PostgreSQL still finds out by itself whether processes of the old server are at work.
  const path = join(data, "postmaster.pid");
  writeFileSync(path, readFileSync(path, "latin1").replace(/^-?\d+/, String(NOBODY)), "latin1");
}
