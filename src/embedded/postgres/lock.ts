/**
 * A lock: one process at a time uses a folder.
 *
 * Each contender writes its own file, with its pid and start time, and then looks for files of other processes; if one
 * of them is alive, it withdraws. Two can never both hold the lock; two that start at the same moment may both withdraw
 * and retry. The file of a process that has ended may be removed by any process at any time, since its name is never
 * reused.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { errorCode } from "#src/base/errorCode.ts";
import { sleep } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { explainOutput } from "#src/embedded/postgres/explain.ts";
import { startTimeOf } from "#src/embedded/postgres/processes.ts";

const SUFFIX = ".lock";

/** The pid of another living process that has a lock file in the folder. */
function otherHolder(folder: string, own: string): number | undefined {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(SUFFIX) || name === own) continue;
    let text: string;
    try {
      text = readFileSync(join(folder, name), "utf8");
    } catch (error) {
      if (errorCode(error) === "ENOENT") continue;
      throw error;
    }
    const [pid, started] = text.split("\n");
    if (started && startTimeOf(Number(pid)) === started) return Number(pid);
    rmSync(join(folder, name), { force: true });
  }
  return undefined;
}

/** The pid of a living process that has locked a folder; undefined where there is none, or no such folder. */
export const lockHolder = (folder: string): number | undefined =>
  existsSync(folder) ? otherHolder(folder, "") : undefined;

/**
 * Locks a folder for this process until `release`. Throws `in_use` if another process, or this one, has locked it, and has
 * it still after `waitMs` milliseconds.
 */
export async function lockFolder(folder: string, waitMs = 0): Promise<{ release(): void }> {
  const started = startTimeOf(process.pid) ?? "";
  const began = performance.now();
  for (let attempt = 1;; attempt++) {
    const name = `${process.pid}-${randomBytes(6).toString("hex")}${SUFFIX}`;
    const path = join(folder, name);
    // written under another name first, so that no process reads a half-written file and takes its writer for ended
    try {
      writeFileSync(`${path}.new`, `${process.pid}\n${started}\n`);
    } catch (error) {
      throw explainOutput(folder, reason(error)) ??
        new EmbeddedError("not_reachable", `${folder} cannot be written: ${reason(error)}`);
    }
    renameSync(`${path}.new`, path);
    const release = () => rmSync(path, { force: true });
    const other = otherHolder(folder, name);
    if (other === undefined) return { release };
    release();
    if (attempt >= 4 && performance.now() - began >= waitMs) {
      throw new EmbeddedError(
        "in_use",
        `${folder} is in use by process ${other}; stop that process first, or choose another folder.`,
        { folder, pid: other },
      );
    }
    await sleep(20 + Math.random() * 100);
  }
}
