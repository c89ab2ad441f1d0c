/** The machine of a measurement, and tables of results. */
import { readFileSync } from "node:fs";
import os from "node:os";
import process from "node:process";

/** One line: processor, cores, memory, runtime, load. */
export function machine(): string {
  const runtime = "Deno" in globalThis ? `Deno ${Deno.version.deno}` : `Node ${process.versions.node}`;
  const memory = Math.round(os.totalmem() / 2 ** 30);
  const load = os.loadavg()[0]!.toFixed(1);
  return `${
    os.cpus()[0]?.model ?? "?"
  }, ${os.availableParallelism()} cores, ${memory} GiB, ${os.type()}, ${runtime}, load ${load}`;
}

/** Lines of a table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

/** The quantile of sorted values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Processor time of this process and of a database connection, in ms. */
export function processorMs(pid: number): number {
  const { user, system } = process.cpuUsage();
  const [ns] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
  return (user + system) / 1e3 + Number(ns) / 1e6;
}

/** Milliseconds of some work without waiting, on average over 200 ms. */
export function mean(work: () => unknown): number {
  let rounds = 0;
  const began = performance.now();
  while (performance.now() - began < 200) {
    work();
    rounds++;
  }
  return (performance.now() - began) / rounds;
}
