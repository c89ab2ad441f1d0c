/** Processes that tests start and end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Runs a script of this folder with Deno, its settings as JSON in a variable; its output is the test's. */
export function runScript(name: string, variable: string, settings: unknown): ChildProcess {
  const script = fileURLToPath(new URL(name, import.meta.url));
  return spawn(process.execPath, ["run", "-A", script], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, [variable]: JSON.stringify(settings) },
  });
}

/** Sends a process a signal and waits until it is gone, which it may be already. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  // Deno's own kill of a child sends only the first signal.
  process.kill(child.pid!, signal);
  await gone;
}
