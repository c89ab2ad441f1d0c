/**
 * Comparison of Plutus machines: the conformance suite, our contract, loading and memory. Each runs in a process of its
 * own.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { table } from "./machine.ts";
import type { MachineFigures } from "./plutus-machine.ts";

const execute = promisify(execFile);
const child = fileURLToPath(new URL("plutus-machine.ts", import.meta.url));
const MOST = 600_000;

/** Peers that are no dependency, in compatible versions. */
const PEERS = [
  "@harmoniclabs/plutus-machine@3.0.2",
  "@harmoniclabs/uplc@2.0.7",
  "@harmoniclabs/plutus-data@2.0.1",
  "@harmoniclabs/pair@1.0.0",
];

const MACHINES = [
  ["arbor", "src/plutus/machine"],
  ["scalus", "scalus 0.17"],
  ["harmoniclabs", "@harmoniclabs/plutus-machine 3.0.2"],
  ["blaze", "@blaze-cardano/uplc (transactions only)"],
] as const;

/** Installs the peers once in a temporary folder. */
async function installPeers(folder: string): Promise<void> {
  if (existsSync(`${folder}/node_modules/@harmoniclabs/plutus-machine`)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, "{}");
  const options = ["--legacy-peer-deps", "--no-audit", "--no-fund"];
  await execute("npm", ["install", ...options, ...PEERS], { cwd: folder, timeout: MOST });
}

const share = (part: number | undefined, whole: number) => part === undefined ? "not shown" : `${part} of ${whole}`;

function row(label: string, { load, memory, suite, contract }: MachineFigures): (string | number)[] {
  return [
    label,
    Math.round(load),
    Math.round(memory),
    suite ? share(suite.verdicts, suite.programs) : "",
    suite ? share(suite.results, suite.programs) : "",
    suite ? share(suite.budgets, suite.budgeted) : "",
    suite ? Math.round(suite.time) : "",
    contract ? share(contract.agreed, contract.runs) : "",
    contract ? (contract.steps / contract.time / 1000).toFixed(1) : "",
  ];
}

/** Prints how the machines agree with the suite and with ours on the contract, their load time, and their speed. */
export async function benchPlutus(print: (line: string) => void = console.log): Promise<void> {
  const folder = path.join(os.tmpdir(), "arbor-bench-plutus");
  const rows: (string | number)[][] = [];
  for (const [name, label] of MACHINES) {
    try {
      if (name === "harmoniclabs") await installPeers(folder);
      const { stdout } = await execute(process.execPath, ["run", "-A", child, name, folder], {
        timeout: MOST,
        maxBuffer: 2 ** 24,
      });
      rows.push(row(label, JSON.parse(stdout.trim().split("\n").at(-1)!) as MachineFigures));
    } catch (error) {
      print(`${label} is not measured: ${(error as Error).message.split("\n")[0]}\n`);
    }
  }
  table(
    [
      "machine",
      "load, ms",
      "memory, MB",
      "suite: verdicts",
      "results",
      "budgets",
      "time, ms of processor",
      "contract: verdict and budget",
      "million steps a second",
    ],
    rows,
  ).forEach((line) => print(line));
}
