/** Builds the relay with Go before the tests; where that cannot be done, says so aloud, and the tests are skipped. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** Program of the relay; empty where it could not be built. */
    relay: string;
  }
}

const source = fileURLToPath(new URL("gouroboros", import.meta.url));
const program = fileURLToPath(new URL("../../.arbor/interop/relay", import.meta.url));

export default function setup(project: TestProject): void {
  mkdirSync(path.dirname(program), { recursive: true });
  const built = spawnSync("go", ["build", "-buildvcs=false", "-mod=readonly", "-o", program, "."], {
    cwd: source,
    encoding: "utf8",
    timeout: 600_000,
    env: { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local" },
  });
  const done = built.status === 0;
  if (!done) {
    const installed = (built.error as { code?: string } | undefined)?.code !== "ENOENT";
    const said = built.error?.message ?? built.stderr.split("\n").findLast((line) => line.trim() !== "")?.trim();
    const why = installed ? `Go could not build the relay: ${said}` : "Go is not installed";
    console.warn(`SKIPPED: ${why}. Without it no other implementation can be put on the node's socket.`);
  }
  project.provide("relay", done ? program : "");
}
