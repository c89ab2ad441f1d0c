/**
 * Runs the start and runs it again when a source file changes. Deno's own `--watch` starts the new program in the process of the old
 * one, before that has stopped its database.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { sleep } from "#src/base/clock.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Milliseconds without another change after which the program starts again. */
const QUIET_MS = 300;

let changedAt = 0;
let running: ChildProcess;
let ending = false;

function start(): void {
  running = spawn(process.execPath, ["run", "-A", "src/app/start.ts", ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
    // A signal of the terminal's must reach the program through this process only.
    detached: true,
  });
}

async function stop(): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null) return;
  running.kill("SIGTERM");
  await once(running, "exit");
}

for (const folder of ["src", "actors", "machines"]) {
  watch(path.join(root, folder), { recursive: true }, () => changedAt = performance.now());
}
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    ending = true;
    void stop().then(() => process.exit(0));
  });
}

start();
for (let startedAt = performance.now(); !ending; await sleep(100)) {
  if (changedAt <= startedAt || performance.now() - changedAt < QUIET_MS) continue;
  startedAt = performance.now();
  await stop();
  if (!ending) start();
}
