/** The page of `cardano-wallet`: it has every command, and its offline example runs as it is written. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, describe, expect, it } from "vitest";
import { cardanoWalletCommands } from "../../../support/cli/cardanoWalletCommands.ts";
import { bundleForNode, hasNode } from "../../../support/cli/programs.ts";
import { blocksOf, readPage } from "../../../support/docs/pages.ts";

if (!hasNode) console.warn("SKIPPED: the commands of the page were not run, since there is no Node here.");

const PAGE = "docs/cli-cardano-wallet.md";
const folder = mkdtempSync(path.join(tmpdir(), "cardano-wallet-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe(PAGE, () => {
  const text = readPage(PAGE);

  it("has a row for every command, and for no other", () => {
    const rows = [...text.matchAll(/^\| `([a-z][a-z -]+)` +\|/gm)].map(([, command]) => command!);
    const commands = cardanoWalletCommands().map(({ name }) => name).filter((name) => name !== "wallet-key-export");
    expect(rows.sort()).toEqual(commands.sort());
  });

  it("has an example of every command", () => {
    const code = blocksOf(text).map((block) => block.code).join("\n") +
      cardanoWalletCommands().map(({ help }) => help).join("\n");
    const missing = cardanoWalletCommands().filter(({ name }) =>
      !new RegExp(`cardano-wallet ${name}\\b|^ {2}\\$ ${name}`, "m").test(code)
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it.skipIf(!hasNode)("has offline commands that run", async () => {
    const block = blocksOf(text).find(({ notRun }) => notRun?.startsWith("a test of this page runs it"))!;
    const bundle = path.join(folder, "bundle");
    await bundleForNode({ "cardano-wallet": "src/cli/cardanoWallet/main.ts" }, bundle);
    const program = path.join(folder, "cardano-wallet");
    writeFileSync(program, `#!/bin/sh\nexec node "${path.join(bundle, "cardano-wallet.js")}" "$@"\n`);
    chmodSync(program, 0o755);
    const ran = spawnSync("sh", ["-e", "-c", block.code], {
      cwd: folder,
      env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
      encoding: "utf8",
    });
    expect(ran.stderr).toBe("");
    expect(ran.status).toBe(0);
    for (
      const expected of [
        /stake_test1u/,
        /"address_style": "Shelley"/,
        /script1/,
        /008201/,
        /Validated\./,
        /[A-Za-z0-9]{100}/,
      ]
    ) {
      expect(ran.stdout).toMatch(expected);
    }
  });
});
