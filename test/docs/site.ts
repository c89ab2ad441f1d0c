/**
 * `deno task docs:site`: builds the site of the documentation into `dist/docs`, where services find it.
 *
 * The generator has a manifest and a lock file of its own, in `docs/.vitepress`, because it brings half as many libraries as
 * the product has. They are fetched into `.arbor/docs-site` once, beside a copy of the pages, so that both are found there.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import type { Metafile } from "esbuild";
import { licencesOf } from "#src/packages/licences.ts";
import { root } from "../support/docs/pages.ts";

const docs = path.join(root, "docs");
const generator = path.join(docs, ".vitepress");
const work = path.join(root, ".arbor", "docs-site");
const target = path.resolve(process.argv[2] ?? path.join(root, "dist", "docs"));

/** Runs Deno in the folder of the generator; ends this command with a code where that fails. */
function deno(code: number, ...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, { cwd: work, stdio: "inherit" });
  if (status !== 0) process.exit(code);
}

const lock = readFileSync(path.join(generator, "deno.lock"), "utf8");
const fetched = path.join(work, "fetched.lock");
mkdirSync(work, { recursive: true });
if (!existsSync(fetched) || readFileSync(fetched, "utf8") !== lock) {
  console.error("Fetching the generator of the site (106 MB, only now)");
  for (const file of ["package.json", "deno.lock"]) copyFileSync(path.join(generator, file), path.join(work, file));
  writeFileSync(path.join(work, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
  deno(3, "install", "--quiet", "--frozen");
  writeFileSync(fetched, lock);
}
rmSync(path.join(work, "docs"), { recursive: true, force: true });
cpSync(docs, path.join(work, "docs"), { recursive: true });
deno(1, "run", "-A", "npm:vitepress", "build", "docs", "--outDir", target);
const modules = path.join(target, "modules.json");
const inputs = Object.fromEntries((JSON.parse(readFileSync(modules, "utf8")) as string[]).map((id) => [id, {}]));
const metafile = { outputs: { site: { inputs } } } as unknown as Metafile;
writeFileSync(path.join(target, "THIRD-PARTY-LICENSES.txt"), licencesOf(work, [metafile]));
rmSync(modules);
cpSync(path.join(root, "examples"), path.join(target, "examples"), { recursive: true });
// for programs that read documentation: llms.txt and the pages that it names
cpSync(docs, target, {
  recursive: true,
  filter: (file) => !file.includes(".vitepress") && (statSync(file).isDirectory() || /\.(md|txt)$/.test(file)),
});
