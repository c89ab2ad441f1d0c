/** Processes that tests start and end. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Environment and arguments with which Deno runs a script of `test/support`; its settings are JSON in a variable. */
function commandOf(name: string, variable: string, settings: unknown) {
  const script = fileURLToPath(new URL(`../${name}`, import.meta.url));
  return { args: ["run", "-A", script], env: { ...process.env, [variable]: JSON.stringify(settings) } };
}

/** Runs a script of `test/support` with Deno, its settings as JSON in a variable; its output goes to the test's output. */
export function runScript(name: string, variable: string, settings: unknown): ChildProcess {
  const { args, env } = commandOf(name, variable, settings);
  return spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"], env });
}

/**
 * Runs a script in the same way until it ends and returns its standard output; rejects with its standard error if it
 * fails.
 */
export async function outputOf(name: string, variable: string, settings: unknown): Promise<string> {
  const { args, env } = commandOf(name, variable, settings);
  return (await promisify(execFile)(process.execPath, args, { env })).stdout;
}

/** Sends a process a signal and waits for its exit; the process may have ended already. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  // Deno's own kill of a child sends only the first signal.
  process.kill(child.pid!, signal);
  await gone;
}
