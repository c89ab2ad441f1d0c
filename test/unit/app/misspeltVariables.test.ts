/** Variables of the environment that are nearly those of a start: it warns of them, and of no others. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { misspeltVariables } from "#src/app/optionReader.ts";
import { runCli } from "../../support/cli/arborCli.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

it.each([
  ["ARBOR_TOKN_PORT", "ARBOR_TOKEN_PORT"],
  ["ARBOR_OPERATOR_TOKENS", "ARBOR_OPERATOR_TOKEN"],
  ["ARBOR_DATABASE_URL", "DATABASE_URL"],
  ["ARBOR_NATS_URL", "NATS_URL"],
  ["ARBOR_TOKENS_URLS", "ARBOR_TOKENS_URL"],
])("%s is reported with %s, without its value", (name, nearest) => {
  expect(misspeltVariables({ [name]: "secret" })).toEqual([
    `Nothing reads the variable ${name}; the nearest one is ${nearest}.`,
  ]);
  expect(misspeltVariables({ [name]: "" })).toEqual([]);
});

it("are none that this repository or Kubernetes has", () => {
  const files = ["src", "test", "examples", "docs"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:tsx?|md|ya?ml|sh|service|env|tpl)$/.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name))
  );
  const names = [...files, path.join(root, "compose.yaml"), path.join(root, "Dockerfile")]
    .filter((file) => file !== fileURLToPath(import.meta.url))
    .flatMap((file) => readFileSync(file, "utf8").match(/\bARBOR_[A-Z_]*[A-Z]\b/g) ?? []);
  expect(names).toEqual(expect.arrayContaining(["ARBOR_SCENARIO_PROVIDER", "ARBOR_PROGRAMS", "ARBOR_REVISION"]));
  const links = ["SERVICE_HOST", "SERVICE_PORT", "PORT", "PORT_3000_TCP", "PORT_3000_TCP_ADDR"];
  const all = [...names, ...links.map((name) => `ARBOR_${name}`)];
  expect(misspeltVariables(Object.fromEntries(all.map((name) => [name, "x"])))).toEqual([]);
});

it("are a line in the log of a start", async () => {
  // a start that ends: its folder cannot be below a file
  const folder = path.join(fileURLToPath(import.meta.url), "below");
  const { code, stderr } = await runCli(["start", "--folder", folder, "--devnet-without", "tcp,ogmios,kupo,utxorpc"], {
    env: {
      ...Object.fromEntries(
        ["TOKEN", "WALLET", "OPERATOR", "DEVNET", "INDEXER", "NATS"].map((name) => [`ARBOR_${name}_PORT`, "0"]),
      ),
      ARBOR_OPERATOR_TOKN: "secret-value-of-16",
    },
  });
  const [line = "", ...rest] = stderr.trimEnd().split("\n");
  expect([code, JSON.parse(line), rest]).toEqual([
    1,
    expect.objectContaining({
      level: "warn",
      message: "Nothing reads the variable ARBOR_OPERATOR_TOKN; the nearest one is ARBOR_OPERATOR_TOKEN.",
    }),
    [expect.stringContaining("cannot be created")],
  ]);
  expect(stderr).not.toContain("secret-value");
});
