/**
 * One process at a time has a folder open.
 *
 * Each contender writes a file of its own, with its pid and the moment it began, and then looks for those of others: whoever
 * sees a living one withdraws. Two can never both hold; two that come at the same moment may both withdraw, and try again.
 * The file of a process that has ended may be removed by anybody at any time, since its name is never used again.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { sleep } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";
import { EmbeddedError } from "#src/embedded/errors.ts";
import { explainEnd } from "#src/embedded/explain.ts";
import { birthOf } from "#src/embedded/processes.ts";

const SUFFIX = ".lock";

/** The pid of a living process whose file stands in the folder beside ours. */
function otherHolder(folder: string, own: string): number | undefined {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(SUFFIX) || name === own) continue;
    let text: string;
    try {
      text = readFileSync(join(folder, name), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
      throw error;
    }
    const [pid, birth] = text.split("\n");
    if (birth && birthOf(Number(pid)) === birth) return Number(pid);
    rmSync(join(folder, name), { force: true });
  }
  return undefined;
}

/** Takes a folder for this process, which `release` gives back; throws `in_use` where another process (or this one) has it. */
export async function holdFolder(folder: string): Promise<{ release(): void }> {
  const birth = birthOf(process.pid) ?? "";
  for (let attempt = 1;; attempt++) {
    const name = `${process.pid}-${randomBytes(6).toString("hex")}${SUFFIX}`;
    const path = join(folder, name);
    // Written under another name first, so that nobody reads half of it and takes it for a dead one.
    try {
      writeFileSync(`${path}.new`, `${process.pid}\n${birth}\n`);
    } catch (error) {
      throw explainEnd(folder, reason(error)) ??
        new EmbeddedError("not_reachable", `${folder} cannot be written: ${reason(error)}`);
    }
    renameSync(`${path}.new`, path);
    const release = () => rmSync(path, { force: true });
    const other = otherHolder(folder, name);
    if (other === undefined) return { release };
    release();
    if (attempt === 4) {
      throw new EmbeddedError(
        "in_use",
        `${folder} is in use by process ${other}; end that one first, or choose another folder.`,
        { folder, pid: other },
      );
    }
    await sleep(20 + Math.random() * 100);
  }
}
