/** Examples as processes, as users run them: the file itself on Deno, and bundled with the client on Node. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { endChild } from "../../support/base/processes.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const pathOf = (name: string) => path.join(root, "examples", name);

export const hasNode = spawnSync("node", ["--version"]).status === 0;
if (!hasNode) console.warn("SKIPPED: the examples were not run on Node, which is not installed.");

/** The command line that runs an example on Deno. */
export const onDeno = (name: string): readonly string[] => [process.execPath, "run", "-A", "--quiet", pathOf(name)];

/** The same on Node, from a bundle in a folder; on Deno where there is no Node. */
export async function onNode(name: string, folder: string): Promise<readonly string[]> {
  if (!hasNode) return onDeno(name);
  const { imports } = JSON.parse(readFileSync(path.join(root, "deno.json"), "utf8"));
  const outfile = path.join(folder, name.replace(/\.ts$/, ".mjs"));
  await build({
    ...{ entryPoints: [pathOf(name)], outfile, absWorkingDir: root, alias: imports, logLevel: "error" },
    ...{ bundle: true, format: "esm", platform: "node", target: "node20" },
  });
  return ["node", outfile];
}

/** Examples that run until they are ended. */
export class Running {
  readonly #children = new Set<ChildProcess>();

  /** Starts one; gives the process, and what it has printed so far. */
  start([program, ...args]: readonly string[], env: Readonly<Record<string, string>>) {
    const child = spawn(program!, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    this.#children.add(child);
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => text += chunk);
    return { child, printed: () => text, kill: () => endChild(child, "SIGKILL") };
  }

  async end(): Promise<void> {
    for (const child of this.#children) await endChild(child, "SIGTERM");
  }
}
