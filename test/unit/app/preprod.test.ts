/** The starts of the runbook for pre-production, which are not run here: the option parser accepts them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { readOptions } from "#src/app/options.ts";
import { blocksOf, readPage } from "../../support/docs/pages.ts";

const HASH = "ab".repeat(32);

const starts = blocksOf(readPage("docs/preprod.md")).flatMap(({ code }) => code.split("\n")).flatMap((line) => {
  const [, args] = /^npx -y deno@\S+ task start (.*)$/.exec(line) ?? [];
  return args === undefined ? [] : [args.replace('"$FROM"', HASH).split(" ")];
});

test("the runbook starts each provider of pre-production", () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-"));
  try {
    const file = path.join(folder, "preprod.id");
    writeFileSync(file, "preprodExample\n");
    const read = starts.map((args) => readOptions(args.map((arg) => arg === "preprod.id" ? file : arg), {}));
    const common = { networkMagic: 1, folder: ".arbor-preprod", healthPort: 8095 };
    expect(read).toEqual([
      { nodeSocket: "preprod/node.socket" },
      { blockfrost: { url: "https://cardano-preprod.blockfrost.io/api/v0", projectId: "preprodExample", from: HASH } },
      { yaci: { url: "http://127.0.0.1:8080/api/v1", from: HASH } },
    ].map((one) => ({ ok: true, value: expect.objectContaining({ ...common, ...one }) })));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a Yaci Store is one of a public network, or has an admin host", () => {
  const read = (...args: string[]) => {
    const options = readOptions(["--provider", "yaci", ...args], {});
    if (!options.ok) return options.error.message;
    return options.value === "help" ? "help" : options.value.yaci;
  };
  const url = "http://127.0.0.1:8080/api/v1";
  expect(read()).toMatch(/requires --yaci-url/);
  expect(read("--yaci-url", url)).toMatch(/requires --yaci-admin-url URL for networks other than/);
  expect(read("--yaci-url", url, "--network-magic", "2")).toEqual({ url });
  const adminUrl = "http://127.0.0.1:10000";
  expect(read("--yaci-url", url, "--yaci-admin-url", adminUrl)).toEqual({ url, adminUrl });
  expect(read("--yaci-url", url, "--yaci-admin-url", `${adminUrl}/local-cluster`)).toMatch(/without a path/);
  for (const wrong of ["store", "ftp://store", "https://me:secret@x/api", "https://x/api?key=1"]) {
    expect(read("--yaci-url", wrong, "--network-magic", "1")).toMatch(/--yaci-url must be a URL like/);
  }
  expect(read("--yaci-url", url, "--network-magic", "1", "--yaci-from", "tip")).toMatch(/must be a block hash/);
  expect(read("--yaci-url", url, "--network-magic", "1", "--blockfrost-url", url)).toMatch(
    /--blockfrost-url requires --provider blockfrost/,
  );
  expect(read("--yaci-url", url, "--network-magic", "1", "--roles", "devnet")).toMatch(/the role devnet requires/);
});
