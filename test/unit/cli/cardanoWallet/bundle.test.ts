/** `cardano-wallet` as npm's consumers run it: one file of JavaScript on Node, which loads nothing of the server. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Metafile } from "esbuild";
import initSqlJs from "sql.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleForNode, hasNode } from "../../../support/cli/programs.ts";

const folder = mkdtempSync(path.join(tmpdir(), "cardano-wallet-bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

if (!hasNode) console.warn("SKIPPED: the bundle was not run, since there is no Node here.");

let metafile: Metafile;

beforeAll(async () => {
  metafile = await bundleForNode({ "cardano-wallet": "src/cli/cardanoWallet/main.ts" }, folder);
});

/** Files of the bundle that a start loads, with what is in them: the entry, and what it imports other than by `import()`. */
function loadedAtStart(): { readonly bytes: number; readonly inputs: readonly string[] } {
  const { outputs } = metafile;
  const entry = Object.keys(outputs).find((name) => outputs[name]!.entryPoint === "src/cli/cardanoWallet/main.ts")!;
  const files = new Set([entry]);
  for (const name of files) {
    for (const { path: to, kind } of outputs[name]!.imports) {
      if (kind === "import-statement" && outputs[to]) files.add(to);
    }
  }
  const loaded = [...files].map((name) => outputs[name]!);
  return {
    bytes: loaded.reduce((sum, { bytes }) => sum + bytes, 0),
    inputs: loaded.flatMap(({ inputs }) => Object.keys(inputs)),
  };
}

describe("the bundle", () => {
  it("holds no module of the server", () => {
    const { inputs, bytes } = loadedAtStart();
    const own = inputs.filter((name) => name.startsWith("src/")).map((name) => name.split("/").slice(0, 2).join("/"));
    expect([...new Set(own)].sort()).toEqual([
      "src/app",
      "src/base",
      "src/cardano",
      "src/cli",
      "src/client",
      "src/wallets",
    ]);
    expect(inputs.filter((name) => /^src\/(app|client|wallets)\//.test(name)).sort()).toEqual([
      "src/app/logOptions.ts",
      "src/app/serveHelp.ts",
      "src/client/http.ts",
      "src/wallets/shared/account.ts",
      "src/wallets/shared/script.ts",
      "src/wallets/shared/validate.ts",
    ]);
    const packages = inputs.flatMap((name) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1] ?? []);
    expect([...new Set(packages)].sort()).toEqual([
      "@noble/ciphers",
      "@noble/curves",
      "@noble/hashes",
      "@scure/base",
      "@scure/bip39",
      "commander",
      "lossless-json",
    ]);
    expect(bytes).toBeLessThan(400_000);
  });

  it.skipIf(!hasNode)("answers on Node", () => {
    const cli = (input: string, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync("node", [path.join(folder, "cardano-wallet.js"), ...args], {
        input,
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      expect(status).toBe(0);
      return stdout;
    };
    const words = cli("", "recovery-phrase", "generate", "--size", "15");
    const address = cli(
      cli(cli(words, "key", "from-recovery-phrase", "Shelley"), "key", "child", "1852H/1815H/0H/0/0"),
      "key",
      "public",
    );
    expect(cli(address, "address", "payment", "--network-tag", "mainnet")).toMatch(/^addr1v[02-9ac-hj-np-z]{52}$/);
  });

  it.skipIf(!hasNode)("says first in the help of serve that it has no server", () => {
    const { stdout } = spawnSync("node", [path.join(folder, "cardano-wallet.js"), "serve", "--help"], {
      encoding: "utf8",
    });
    expect(stdout.split("\n")[0]).toBe("The server is not part of this package: install @arbor-cardano/arbor instead.");
  });

  it.skipIf(!hasNode)("reads databases on Node", async () => {
    const { Database } = await initSqlJs();
    const database = new Database();
    database.run("CREATE TABLE private_key (wallet_id VARCHAR NOT NULL, root VARCHAR NOT NULL, hash VARCHAR NOT NULL)");
    database.run("INSERT INTO private_key VALUES ('w', ?, ?)", ["ab".repeat(128), "10" + "cd".repeat(80)]);
    const file = path.join(folder, "she.w.sqlite");
    writeFileSync(file, database.export());
    const { status, stdout, stderr } = spawnSync("node", [
      path.join(folder, "cardano-wallet.js"),
      "wallet-key-export",
      file,
      "w",
    ], {
      input: "Secure Passphrase",
      encoding: "utf8",
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr: "Enter spending passphrase:\nError: wrong passphrase\n",
    });
  });
});
