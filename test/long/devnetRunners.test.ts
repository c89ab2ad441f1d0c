/**
 * The package of the devnet, installed by npm from its tarball, with the test runners that the checkout does not have: jest
 * with CommonJS, `node:test` and bun. What an installation takes on disk.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pack } from "#src/packages/pack.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const EXAMPLES = ["vesting.test.cjs", "devnet.node.test.mjs", "devnet.bun.test.js"];
const INSTALL_MS = 900_000;
const hasNode = spawnSync("node", ["--version"]).status === 0 && spawnSync("npm", ["--version"]).status === 0;
if (!hasNode) console.warn("SKIPPED: the package of the devnet was not installed, it needs node and npm.");

describe.skipIf(!hasNode)("the package of the devnet, installed", () => {
  let home: string;
  let tarball: string;
  const install = (...packages: readonly string[]) =>
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent", ...packages], { cwd: home });

  beforeAll(async () => {
    home = mkdtempSync(path.join(tmpdir(), "arbor-devnet-runners-"));
    tarball = (await pack(home, ["devnet"]))[0]!.tarball;
    writeFileSync(path.join(home, "package.json"), JSON.stringify({ name: "consumer", private: true }));
    for (const name of EXAMPLES) copyFileSync(path.join(root, "examples", name), path.join(home, name));
    install(tarball);
  }, INSTALL_MS);
  afterAll(() => {
    if (home) rmSync(home, { recursive: true, force: true });
  });

  it("takes at most 120 MB, and nothing reports the installation", () => {
    const megabytes = Number(/^\d+/.exec(execFileSync("du", ["-sm", "node_modules"], { cwd: home, encoding: "utf8" })));
    expect(megabytes).toBeGreaterThan(20);
    expect(megabytes).toBeLessThanOrEqual(120);
    expect(existsSync(path.join(home, "node_modules", "@scarf"))).toBe(false);
  });

  it.each([
    ["jest and CommonJS", "vesting.test.cjs", ["npx", "jest"], /Tests: +1 passed/],
    ["node:test", "devnet.node.test.mjs", ["node", "--test"], /# pass 1/],
    ["bun", "devnet.bun.test.js", ["npx", "bun", "test"], /1 pass/],
  ])("runs the example with %s", (_, file, [program, ...args], passed) => {
    const { dependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const blaze = ["core", "query", "sdk"].map((name) => `@blaze-cardano/${name}`);
    if (!existsSync(path.join(home, "node_modules", "jest"))) {
      install("jest@30", "bun@1", ...blaze.map((name) => `${name}@${dependencies[name]}`));
    }
    const { status, stdout, stderr } = spawnSync(program!, [...args, `./${file}`], { cwd: home, encoding: "utf8" });
    expect([status, stdout + stderr]).toEqual([0, expect.stringMatching(passed)]);
  }, INSTALL_MS);
});
