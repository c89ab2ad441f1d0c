/** A file of a node that an option does not take is named by its content, with the file that the option takes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { genesisFiles } from "#src/devnet/genesis/json.ts";
import { readOptions } from "#src/app/options.ts";
import { newGenesis } from "../../support/devnet/genesis.ts";

const folder = mkdtempSync(path.join(tmpdir(), "arbor-node-files-"));
const alone = path.join(folder, "alone");
mkdirSync(alone);
for (const { name, text } of genesisFiles(newGenesis())) {
  writeFileSync(path.join(folder, name), text);
  writeFileSync(path.join(alone, name), text);
}
rmSync(path.join(alone, "config.json"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => path.join(folder, name);

function refused(...args: readonly string[]): string {
  const read = readOptions(args, {});
  if (read.ok) throw new Error(`${args.join(" ")} was read`);
  return read.error.message;
}
const follower = ["--provider", "node", "--node-socket", at("node.socket")];

describe("--utxo-root", () => {
  it.each([
    ["byron-genesis.json", "a Byron genesis"],
    ["shelley-genesis.json", "a Shelley genesis"],
    ["alonzo-genesis.json", "an Alonzo genesis"],
    ["conway-genesis.json", "a Conway genesis"],
    ["topology.json", "the topology of a node"],
  ])("with %s names the configuration", (name, title) => {
    expect(refused(...follower, "--utxo-root", at(name))).toBe(
      `--utxo-root: ${at(name)} is ${title}, not the configuration of a node: give ${at("config.json")}.`,
    );
    const lone = path.join(alone, name);
    expect(refused(...follower, "--utxo-root", lone)).toContain(`${lone} is ${title}`);
    expect(refused(...follower, "--utxo-root", lone)).toMatch(/: give its config\.json\.$/);
  });

  it("takes the configuration, and leaves a file of another machine to the follower there", () => {
    for (const name of ["config.json", "elsewhere.json"]) {
      expect(readOptions([...follower, "--utxo-root", at(name)], {})).toMatchObject({ value: { utxoRoot: at(name) } });
    }
  });

  it("refuses a configuration in YAML, and other JSON", () => {
    writeFileSync(at("config.yaml"), "Protocol: Cardano\nByronGenesisFile: byron-genesis.json\n");
    expect(refused(...follower, "--utxo-root", at("config.yaml"))).toContain("in YAML: give the same in JSON");
    writeFileSync(at("list.json"), "[1]");
    expect(refused(...follower, "--utxo-root", at("list.json"))).toContain("is not the configuration of a node (");
  });
});

it("options of a genesis name the file of that era, also by the configuration", () => {
  const testnet = (name: string) => refused(...follower, "--testnet", at(name));
  expect(testnet("shelley-genesis.json")).toBe(
    `--testnet ${at("shelley-genesis.json")} is a Shelley genesis, not a Byron genesis: give ${
      at("byron-genesis.json")
    }.`,
  );
  expect(testnet("config.json")).toContain(`: give ${at("byron-genesis.json")}.`);
  expect(refused("--conway-genesis", at("config.json"))).toContain(`: give ${at("conway-genesis.json")}.`);
  expect(refused("--conway-genesis", at("topology.json"))).toContain("is the topology of a node, not a Conway genesis");
  writeFileSync(at("other.json"), '{"a":1}');
  expect(refused("--conway-genesis", at("other.json"))).toContain("has no member of a Conway genesis");
  expect(refused("--parameters", at("shelley-genesis.json"))).toBe(
    `--parameters ${
      at("shelley-genesis.json")
    } is a Shelley genesis, not protocol parameters named as in GET /parameters.`,
  );
});
