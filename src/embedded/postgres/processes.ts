/**
 * Identification of processes. A pid is reused after a crash or in a new container; a pid with the process's start time
 * identifies it.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { sleep } from "#src/base/clock.ts";

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

/** One column of `ps` for a pid, on systems without /proc. */
function ps(pid: number, column: string): string | undefined {
  try {
    const text = execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return text.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The present boot of the machine: another text after a restart. */
export function bootId(): string {
  const id = process.platform === "linux" ? read("/proc/sys/kernel/random/boot_id") : sysctl("kern.bootsessionuuid");
  return id?.trim() ?? "";
}

/** A setting of the kernel, on systems without /proc. */
function sysctl(name: string): string | undefined {
  try {
    return execFileSync("sysctl", ["-n", name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return undefined;
  }
}

/**
 * The start time of a process, as a text that no other process of this machine with the same pid has; undefined if it
 * does not run. A process that has ended and was not reaped yet (a zombie) does not run.
 */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform !== "linux") {
    const state = ps(pid, "state");
    return state === undefined || state.startsWith("Z") ? undefined : ps(pid, "lstart");
  }
  // proc(5): "pid (comm) state …", where comm may hold blanks and brackets; the start time is field 22.
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  return `${bootId()}/${fields[19]}`;
}

/** The command line of a process; undefined if it cannot be read. */
export function commandOf(pid: number): string[] | undefined {
  if (process.platform !== "linux") return ps(pid, "command")?.split(/\s+/);
  const text = read(`/proc/${pid}/cmdline`);
  return text ? text.split("\0").filter((word) => word !== "") : undefined;
}

/** Sends a signal; false if the process is gone. (Deno's `ChildProcess.kill` sends only the first one.) */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/** Waits until a process ends; false if it still runs after `ms` milliseconds. */
export async function waitForEnd(pid: number, ms: number): Promise<boolean> {
  const started = startTimeOf(pid);
  for (const limit = performance.now() + ms; started !== undefined && startTimeOf(pid) === started;) {
    if (performance.now() > limit) return false;
    await sleep(20);
  }
  return true;
}
