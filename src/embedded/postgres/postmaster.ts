/**
 * Stopping a PostgreSQL server, also one that an earlier process left running.
 *
 * `postmaster.pid` in the data folder names it. Only a process that runs `postgres` with the mark of this data folder
 * is ever signalled; a pid that was reused by another program is left alone.
 */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Log } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { commandOf, signal, startTimeOf, waitForEnd } from "#src/embedded/postgres/processes.ts";

/** Larger than any pid of Linux or macOS, so no process has it. */
const UNUSED_PID = 2_147_483_646;

/** The command-line setting that marks the server of a data folder. */
export function serverMark(data: string): string {
  return `cluster_name=arbor-${createHash("sha256").update(realpathSync(data)).digest("hex").slice(0, 16)}`;
}

/** Reads `postmaster.pid`: line 1 is the pid, line 4 the port, line 8 the state. */
export function readPidFile(data: string): { pid: number; port: number; ready: boolean } | undefined {
  try {
    const lines = readFileSync(join(data, "postmaster.pid"), "latin1").split("\n");
    return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === "ready" };
  } catch {
    return undefined;
  }
}

/** Whether a pid is the server with this mark. */
function isServer(pid: number, mark: string): boolean {
  const command = commandOf(pid);
  return command !== undefined && basename(command[0] ?? "") === "postgres" && command.includes(mark);
}

/**
 * Stops a server: a fast shutdown first (open statements are cancelled, everything is written), then harder ones. False
 * if it still runs.
 */
export async function stopServer(pid: number, log: Log): Promise<boolean> {
  for (const [name, ms] of [["SIGINT", 30_000], ["SIGQUIT", 10_000], ["SIGKILL", 5_000]] as const) {
    if (name !== "SIGINT") log.warn("PostgreSQL does not stop", { pid, next: name });
    if (!signal(pid, name) || await waitForEnd(pid, ms)) return true;
  }
  return false;
}

/**
 * Stops the server that an earlier process left running in this data folder, if there is one, and makes sure that
 * PostgreSQL does not take an unrelated process with the same pid for it. The caller holds the folder's lock.
 */
export async function stopLeftover(data: string, log: Log): Promise<void> {
  const left = readPidFile(data);
  if (!left || !Number.isInteger(left.pid) || left.pid <= 0) return;
  if (startTimeOf(left.pid) !== undefined && isServer(left.pid, serverMark(data))) {
    log.info("stopping a PostgreSQL server that was left running", { pid: left.pid, port: left.port });
    if (!await stopServer(left.pid, log)) {
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
  // PostgreSQL would refuse to start if another process has the pid now, so the pid is replaced. The rest of the file
  // stays: with the shared memory that it names, PostgreSQL detects whether processes of the old server still run.
  const path = join(data, "postmaster.pid");
  writeFileSync(path, readFileSync(path, "latin1").replace(/^-?\d+/, String(UNUSED_PID)), "latin1");
}
