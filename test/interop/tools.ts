/** Tools that build and install other implementations, and where their results are kept. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Path of a file beside this one. */
export const here = (at: string) => fileURLToPath(new URL(at, import.meta.url));
/** Folder of what was built and installed. */
export const root = here("../../.arbor/interop");

/** Runs a tool; returns its output, or prints why it failed and what is not tested because of that. */
export function printed(
  tool: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  without: string,
) {
  const ran = spawnSync(tool, args, { cwd, encoding: "utf8", timeout: 1_800_000, env: { ...process.env, ...env } });
  if (ran.status === 0) return ran.stdout;
  const installed = (ran.error as { code?: string } | undefined)?.code !== "ENOENT";
  const said = ran.error?.message ?? ran.stderr.split("\n").findLast((line) => line.trim() !== "")?.trim();
  console.warn(`SKIPPED: ${installed ? `${tool} failed: ${said}` : `${tool} is not installed`}. ${without}`);
  return undefined;
}

/** Runs a tool; returns whether it succeeded. */
export function done(...run: Parameters<typeof printed>): boolean {
  return printed(...run) !== undefined;
}
