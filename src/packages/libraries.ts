/**
 * Fetches the libraries that a checkout needs, before its tasks in `deno.json` start: for programs those of production, as
 * `deno.prod.lock` has them, without those of development; with `--all`, for tasks of development, all of them. Where the
 * libraries are current it does nothing, and those of development stay where they are. Loads no library itself.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const LOCK = "deno.prod.lock";
const root = new URL("../../", import.meta.url);
const text = (file: string) => {
  const url = new URL(file, root);
  return existsSync(url) ? readFileSync(url, "utf8") : undefined;
};
const digest = createHash("sha256").update(text(LOCK) ?? "").digest("hex");
/** The digest of the lock file whose libraries are here, without those of development. */
const FETCHED = "node_modules/.arbor-libraries";

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const read = (file: string) => JSON.parse(text(file) ?? "{}") as Partial<Manifest>;
const { dependencies = {}, devDependencies = {} } = read("package.json");
const has = (libraries: Readonly<Record<string, string>>) =>
  Object.entries(libraries).every(([name, version]) => read(`node_modules/${name}/package.json`).version === version);

const fetch = (line: string, ...args: readonly string[]) => {
  console.error(line);
  const { status } = spawnSync(process.execPath, ["install", "--quiet", "--frozen", ...args], {
    cwd: fileURLToPath(root),
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) process.exit(1);
};
const development = process.argv.includes("--all") || text("node_modules/vitest/package.json") !== undefined;
if (development) {
  if (!has({ ...dependencies, ...devDependencies })) {
    fetch("Fetching libraries of the programs and of development (370 MB, only now)");
  }
} else if (!has(dependencies) || text(FETCHED) !== digest) {
  // with a lock file that has others too, Deno fetches those
  fetch("Fetching libraries (195 MB, only now)", "--prod", `--lock=${LOCK}`);
  writeFileSync(new URL(FETCHED, root), digest);
}
