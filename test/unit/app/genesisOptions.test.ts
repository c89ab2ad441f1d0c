import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HELP, readOptions } from "#src/app/options.ts";
import { GENESIS_NAMES } from "#src/app/genesisOptions.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "arbor-options-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function genesis(args: readonly string[], env: Record<string, string> = {}) {
  const read = readOptions(args, env);
  if (!read.ok) return read.error.message;
  return read.value === "help" ? "help" : read.value.genesis;
}

test("only given options are set, from the command line or the environment", () => {
  expect(genesis([])).toEqual({});
  expect(
    genesis(["--epoch-slots", "50", "--pools=0", "--reserves-ada", "7", "--accounts", "3"], { ARBOR_SLOT_MS: "50" }),
  ).toEqual({
    epochLength: 50,
    pools: 0,
    reserves: 7_000_000n,
    accounts: 3,
    slotLength: 50,
  });
  expect(genesis(["--protocol-version", "10", "--hard-fork-epoch", "7"])).toMatchObject({
    parameters: { protocolVersion: { major: 10 } },
    hardForkEpoch: 7,
  });
});

test("each option is in the help, with its variable", () => {
  for (const name of GENESIS_NAMES) {
    expect(HELP).toContain(`--${name} `);
    expect(HELP).toContain(` ARBOR_${name.toUpperCase().replaceAll("-", "_")}`);
  }
});

test("an invalid value is reported", () => {
  expect(genesis(["--epoch-slots", "0"])).toMatch(/--epoch-slots must be a whole number from 1/);
  expect(genesis(["--protocol-version", "12"])).toMatch(/from 9 to 11/);
  expect(genesis(["--hard-fork-epoch", "0"])).toMatch(/--hard-fork-epoch must be a whole number from 1/);
  expect(genesis(["--pools", "101"])).toMatch(/from 0 to 100/);
  expect(genesis(["--parameters", path.join(folder, "none.json")])).toMatch(/none.json cannot be read/);
});

test("a file and a version change the parameters, and the source names them", async () => {
  const file = path.join(folder, "mine.json");
  await writeFile(file, '{"keyDeposit":3000000}');
  expect(genesis(["--parameters", file, "--protocol-version", "10"])).toMatchObject({
    parameters: { keyDeposit: 3_000_000n, protocolVersion: { major: 10 }, feePerByte: 44n },
    parametersSource: "mainnet, protocol version 10; changed by mine.json",
  });
  await writeFile(file, '{"keyDeposits":3000000}');
  expect(genesis(["--parameters", file])).toMatch(/keyDeposits"\.$/);
});

test("a protocol version, from an option or a file, selects its cost models", async () => {
  const entries = (args: readonly string[]) => {
    const chosen = genesis(args);
    if (typeof chosen !== "object") throw new Error(chosen);
    const { costModels, protocolVersion } = chosen.parameters!;
    return [protocolVersion.major, ...[0, 1, 2].map((language) => costModels.get(language)!.length)];
  };
  const of = { 9: [9, 166, 175, 251], 10: [10, 166, 175, 297], 11: [11, 332, 332, 350] };
  const file = path.join(folder, "version.json");
  for (const [major, expected] of Object.entries(of)) {
    expect(entries(["--protocol-version", major])).toEqual(expected);
    await writeFile(file, `{"protocolVersion":{"major":${major},"minor":0}}`);
    expect(entries(["--parameters", file])).toEqual(expected);
    expect(entries(["--parameters", file, "--protocol-version", "10"])).toEqual(of[10]);
  }
  await writeFile(file, '{"protocolVersion":{"major":10,"minor":0},"costModels":{"PlutusV1":[1,2]}}');
  expect(entries(["--parameters", file])).toEqual([10, 2, 175, 297]);
});

test("a Conway genesis of a node states governance, and its parameters replace those before", async () => {
  const file = path.join(folder, "conway-genesis.json");
  await writeFile(
    file,
    '{"govActionLifetime":2,"constitution":{"anchor":{"url":"https://example.com","dataHash":"' +
      "12".repeat(32) + '"}}}',
  );
  expect(genesis(["--conway-genesis", file, "--protocol-version", "10", "--dreps", "2", "--committee", "3"]))
    .toMatchObject({
      parameters: { govActionLifetime: 2, protocolVersion: { major: 10 } },
      parametersSource: "mainnet, protocol version 10; changed by conway-genesis.json",
      governance: { constitution: { anchor: { url: "https://example.com" } } },
      dreps: 2,
      committee: 3,
    });
  await writeFile(file, '{"govActionLifetime":"soon"}');
  expect(genesis(["--conway-genesis", file])).toMatch(/--conway-genesis .*govActionLifetime/);
  expect(genesis(["--conway-genesis", path.join(folder, "none.json")])).toMatch(/none.json cannot be read/);
});
