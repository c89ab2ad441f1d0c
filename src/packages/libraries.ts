/**
 * Fetches the libraries that a checkout's programs need, before their tasks in `deno.json` start: those of production, as
 * `deno.prod.lock` has them, and not those of development, which Deno would install with them. What is there stays: also the
 * libraries of development, which other tasks install. Loads no library itself.
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
/** What was fetched here last. */
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

if (!has(dependencies) || (text(FETCHED) !== digest && !has(devDependencies))) {
  console.log("Fetching libraries (225 MB, only now)");
  const args = ["install", "--quiet", "--prod", "--frozen", `--lock=${LOCK}`];
  const { status } = spawnSync(process.execPath, args, { cwd: fileURLToPath(root), stdio: "inherit" });
  if (status !== 0) process.exit(1);
  writeFileSync(new URL(FETCHED, root), digest);
}
