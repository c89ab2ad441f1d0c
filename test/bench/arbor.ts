/** The whole product as a user starts it: one process with its embedded PostgreSQL, under a folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { endChild } from "../support/base/processes.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A running service. */
export interface Running {
  /** Milliseconds from the start of the process until it reported that it is ready. */
  readonly readyMs: number;
  readonly folder: string;
  readonly tokens: string;
  /** With its prefix. */
  readonly wallets: string;
  readonly devnet: string;
  /** The Blockfrost API, with its prefix. */
  readonly blockfrost: string;
  readonly operator: string;
  /** Ends the process and waits for its exit: orderly, or at once by SIGKILL. */
  end(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Current resident memory. */
  memory(): Memory;
  /** CPU that Arbor and PostgreSQL have used so far, in ms. */
  cpu(): number;
}

/** Megabytes. */
export interface Memory {
  /** Of Arbor's process, including its threads and its NATS endpoint. */
  readonly arbor: number;
  /** Of all processes of PostgreSQL; shared memory is counted once. */
  readonly postgres: number;
}

/** Starts it on free ports and waits until it is ready; `options` go to its command line. */
export async function startArbor(folder: string, options: readonly string[] = []): Promise<Running> {
  const begun = performance.now();
  const ports = ["token", "wallet", "devnet", "indexer", "node", "nats", "operator"].flatMap((
    name,
  ) => [`--${name}-port`, "0"]);
  const child = spawn(
    process.execPath,
    ["run", "-A", "src/app/start.ts", "--folder", folder, ...ports, ...options],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  const text = await said(child);
  const readyMs = performance.now() - begun;
  const at = (name: string) => new RegExp(`^${name} +(http\\S+)`, "m").exec(text)![1]!;
  return {
    readyMs,
    folder,
    tokens: at("token service"),
    wallets: at("wallet service"),
    devnet: at("devnet and faucet"),
    blockfrost: at("Blockfrost API of the devnet"),
    operator: at("operator service"),
    end: (signal = "SIGTERM") => endChild(child, signal),
    memory: () => ({
      arbor: inMemory(child.pid!, "Rss"),
      postgres: total(postgresOf(path.join(folder, "postgres", "data")), (pid) => inMemory(pid, "Pss")),
    }),
    cpu: () => total([child.pid!, ...postgresOf(path.join(folder, "postgres", "data"))], cpuOf),
  };
}

/** What a start prints until it is ready. */
function said(child: ChildProcess): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    child.stdout!.on("data", (chunk: Uint8Array) => {
      text += new TextDecoder().decode(chunk);
      if (text.includes("Ready after")) resolve(text);
    });
    child.once("exit", (code) => reject(new Error(`the service ended with ${code}`)));
  });
}

/** `Pss` divides shared memory among the processes that share it. NaN if the system does not report it. */
export function inMemory(pid: number, kind: "Rss" | "Pss"): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(new RegExp(`^${kind}:\\s+(\\d+)`, "m").exec(rollup)![1]) / 1_024;
  } catch {
    return NaN;
  }
}

/** CPU of all threads of a process, in ms. */
function cpuOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .reduce(
        (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]),
        0,
      ) / 1e6;
  } catch {
    return NaN;
  }
}

/** The sum of a measurement of some processes. */
export function total(pids: readonly number[], valueOf: (pid: number) => number): number {
  return pids.length === 0 ? NaN : pids.reduce((sum, pid) => sum + (valueOf(pid) || 0), 0);
}

/** The processes of the PostgreSQL that runs on a data folder. */
export function postgresOf(data: string): number[] {
  try {
    const file = path.join(data, "postmaster.pid");
    const postmaster = Number(readFileSync(file, "utf8").split("\n")[0]);
    return [postmaster, ...childrenOf(postmaster)];
  } catch {
    return [];
  }
}

/** The processes that a process started. */
export const childrenOf = (parent: number): number[] =>
  readdirSync("/proc").map(Number).filter((pid) => pid > 0 && parentOf(pid) === parent);

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
  } catch {
    return undefined;
  }
}
