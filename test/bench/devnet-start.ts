/**
 * Benchmark of devnets for tests, from the packed package on Node: how long one and four at once take to start, and the
 * memory of their processes. A page that several processes share counts in parts (PSS, on Linux).
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { sleep } from "#src/base/clock.ts";
import { pack } from "#src/packages/pack.ts";
import { childrenOf, inMemory, postgresOf, total } from "./arbor.ts";
import { percentile, table } from "./machine.ts";

const STARTS = 5;
/** Milliseconds after which the memory is read. */
const SETTLED_MS = 3_000;

/** Starts devnets, prints the milliseconds that it took, and ends them when its input ends. */
const PROGRAM = `
import { startDevnet } from "@arbor-cardano/devnet";
const began = performance.now();
const devnets = await Promise.all(Array.from({ length: Number(process.argv[2]) }, () => startDevnet()));
console.log(performance.now() - began);
process.stdin.resume();
process.stdin.on("end", () => Promise.all(devnets.map((devnet) => devnet.stop())));
`;

/** Prints the table. */
export async function benchDevnetStart(): Promise<void> {
  const home = await installed();
  try {
    const rows = [];
    const cold = await start(home, 1);
    rows.push(["1, the first on this machine", `${seconds(cold.ms)} s`, "", "", ""]);
    for (const [count, limit] of [[1, "1.5 s"], [4, "4 s, 120 MB each"]] as const) {
      const starts: Start[] = [];
      for (let i = 0; i < STARTS; i++) starts.push(await start(home, count));
      const of = (value: (one: Start) => number) => percentile(starts.map(value), 0.5);
      const times = starts.map(({ ms }) => seconds(ms)).sort().join(", ");
      const [server, postgres] = [of((one) => one.server), of((one) => one.postgres)];
      const each = `${server.toFixed(0)} + ${postgres.toFixed(0)} = ${(server + postgres).toFixed(0)}`;
      rows.push([count, `${seconds(of(({ ms }) => ms))} s`, times, each, limit]);
    }
    const head = ["devnets at once", "median", "all starts", "MB each: process + PostgreSQL", "limit"];
    for (const line of table(head, rows)) console.log(line);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const seconds = (ms: number) => (ms / 1_000).toFixed(2);

/** A project with the packed package and the libraries of the checkout that it names, and an empty temporary folder. */
async function installed(): Promise<string> {
  const home = mkdtempSync(path.join(tmpdir(), "arbor-bench-"));
  execFileSync("chmod", ["755", home]);
  const [packed] = await pack(home, ["devnet"]);
  const modules = path.join(home, "node_modules");
  const scope = path.join(modules, "@arbor-cardano");
  mkdirSync(scope, { recursive: true });
  execFileSync("tar", ["-xzf", packed!.tarball, "-C", scope]);
  execFileSync("mv", [path.join(scope, "package"), path.join(scope, "devnet")]);
  const { dependencies } = JSON.parse(readFileSync(path.join(scope, "devnet", "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    const library = fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url));
    symlinkSync(library, path.join(modules, name));
  }
  writeFileSync(path.join(home, "program.mjs"), PROGRAM);
  mkdirSync(path.join(home, "tmp"));
  execFileSync("chmod", ["755", path.join(home, "tmp")]);
  return home;
}

/** A start of some devnets: its milliseconds, and the memory of each in MB. */
interface Start {
  readonly ms: number;
  readonly server: number;
  readonly postgres: number;
}

async function start(home: string, count: number): Promise<Start> {
  const child = spawn("node", ["program.mjs", String(count)], {
    cwd: home,
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, TMPDIR: path.join(home, "tmp") },
  });
  const [line] = await once(child.stdout, "data");
  await sleep(SETTLED_MS);
  const each = (pids: readonly number[]) => total(pids, (pid) => inMemory(pid, "Pss")) / count;
  const measured = {
    ms: Number(String(line)),
    server: each(childrenOf(child.pid!)),
    postgres: each(postgresOf(sharedData(home))),
  };
  const ended = once(child, "exit");
  child.stdin.end();
  await ended;
  // the server ends after its last devnet
  await sleep(1_000);
  return measured;
}

/** The data folder of the server that the devnets share. */
function sharedData(home: string): string {
  const root = path.join(home, "tmp", `arbor-postgres-${process.getuid?.()}`);
  const server = readdirSync(root).find((name) => name.startsWith("server-")) ?? "";
  return path.join(root, server, "data");
}
