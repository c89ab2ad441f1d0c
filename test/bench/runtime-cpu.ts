/** CPU time and memory of processes, as Linux counts them. */
import { readdirSync, readFileSync } from "node:fs";

/** Seconds of CPU that each group of processes has used, including all threads and child processes. */
export function cpuOf<Name extends string>(groups: Readonly<Record<Name, readonly number[]>>): Record<Name, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(Number(name));
    if (fields !== undefined) parents.set(Number(name), Number(fields[1]));
  }
  const within = (pid: number | undefined, roots: ReadonlySet<number>): boolean =>
    pid !== undefined && (roots.has(pid) || within(parents.get(pid), roots));
  const seconds = {} as Record<Name, number>;
  for (const name of Object.keys(groups) as Name[]) {
    const roots = new Set(groups[name]);
    let ticks = 0;
    for (const pid of parents.keys()) {
      if (!within(pid, roots)) continue;
      const fields = statOf(pid);
      // Its own, and those of its ended children.
      if (fields !== undefined) ticks += [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0);
    }
    seconds[name] = ticks / 100;
  }
  return seconds;
}

/** The fields of /proc/<pid>/stat from the third on. */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, "").split(" ");
  } catch {
    return undefined;
  }
}

/** Resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024);
  } catch {
    return NaN;
  }
}
