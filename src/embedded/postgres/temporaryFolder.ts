/**
 * A folder for the data of one process, which ends with it.
 *
 * A process that was killed leaves its folder behind, and a later one removes it. The name is the proof that the folder
 * is abandoned, and it exists from the first moment: the place where its process ran (host and pid namespace), its pid,
 * and a hash of its start time. A folder of another place is left alone, because its process cannot be seen from here.
 */
import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Log, reason } from "#src/base/log.ts";
import { stopLeftover } from "#src/embedded/postgres/postmaster.ts";
import { startTimeOf } from "#src/embedded/postgres/processes.ts";

/** `arbor-memory-<place>-<pid>-<start>-<random>`. */
const NAME = /^arbor-memory-([0-9a-f]{6})-(\d+)-([0-9a-f]{8})-[0-9a-f]{6}$/;

const digest = (text: string, digits: number) => createHash("sha256").update(text).digest("hex").slice(0, digits);

/** Where this process runs: pids and start times are comparable within it. */
function place(): string {
  const namespace = process.platform === "linux" ? readlinkSync("/proc/self/ns/pid") : "";
  return digest(`${hostname()}\n${namespace}`, 6);
}

/** The start of a process in the name of its folder; undefined if it does not run. */
function startOf(pid: number): string | undefined {
  const time = startTimeOf(pid);
  return time === undefined ? undefined : digest(time, 8);
}

/** A folder, and how it is removed. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** Whether a name is that of a folder whose process ran here and has ended. */
export function isAbandoned(name: string): boolean {
  const [, where, pid, start] = NAME.exec(name) ?? [];
  return where === place() && startOf(Number(pid)) !== start;
}

/** Creates a folder of this process. @throws if the system's folder for temporary files is not writable */
export function createTemporaryFolder(root: string = tmpdir()): TemporaryFolder {
  const name = ["arbor-memory", place(), process.pid, startOf(process.pid) ?? "0".repeat(8)].join("-");
  const path = join(realpathSync(root), `${name}-${randomBytes(3).toString("hex")}`);
  // PostgreSQL may run as another account, which has to pass through
  mkdirSync(path, { mode: 0o711 });
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Removes the folders of processes that no longer run, after it has stopped a server that is left in one. A folder is
 * kept where its process runs, or may run: one of another account, of another host or of another container.
 */
export async function removeAbandonedFolders(log: Log, root: string = tmpdir()): Promise<void> {
  for (const name of readdirSync(root).filter(isAbandoned)) {
    const path = join(realpathSync(root), name);
    try {
      const found = lstatSync(path);
      if (!found.isDirectory() || found.uid !== process.getuid?.()) continue;
      const data = join(path, "postgres", "data");
      if (lstatSync(data, { throwIfNoEntry: false })) await stopLeftover(data, log);
      rmSync(path, { recursive: true, force: true });
      log.info("the data of a process that was killed are removed", { path });
    } catch (error) {
      log.warn("the data of a process that was killed could not be removed", { path, reason: reason(error) });
    }
  }
}
