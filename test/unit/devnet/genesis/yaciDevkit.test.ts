/** A genesis like that of Yaci DevKit, by the options of a start. */
import { expect, test } from "vitest";
import { parseJson } from "#src/base/json.ts";
import { readOptions } from "#src/app/options.ts";
import { genesisDefaults, genesisEntries, type GenesisOptions, genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { genesisFiles } from "#src/devnet/genesis/json.ts";
import { keptSettings, settingsLines } from "#src/devnet/genesis/settings.ts";
import { boundedRatio } from "#src/cardano/conway/strict.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import type { Pool } from "#src/ledger/state.ts";
import { newGenesis } from "../../../support/devnet/genesis.ts";

function chosen(args: readonly string[], env: Record<string, string> = {}): Partial<GenesisOptions> {
  const read = readOptions(args, env);
  if (!read.ok) throw new Error(read.error.message);
  if (read.value === "help") throw new Error("help");
  return read.value.genesis;
}

const genesis = () => newGenesis(chosen(["--like", "yaci-devkit"]));

test("the option states deposits and rewards, and other options win", () => {
  expect(chosen(["--like", "yaci-devkit"])).toMatchObject({
    like: "yaci-devkit",
    pools: 1,
    parametersSource: "yaci-devkit, protocol version 11",
    parameters: {
      govActionDeposit: 1_000_000_000n,
      drepDeposit: 500_000_000n,
      keyDeposit: 2_000_000n,
      poolDeposit: 500_000_000n,
      minPoolCost: 170_000_000n,
      desiredPools: 100,
      pledgeInfluence: { numerator: 0n, denominator: 1n },
      maxTxUnits: { memory: 16_500_000n, steps: 10_000_000_000n },
      maxBlockUnits: { memory: 72_000_000n, steps: 20_000_000_000n },
      protocolVersion: { major: 11 },
    },
  });
  expect(chosen(["--pools", "3", "--protocol-version", "10"], { ARBOR_LIKE: "yaci-devkit" })).toMatchObject({
    like: "yaci-devkit",
    pools: 3,
    parameters: { govActionDeposit: 1_000_000_000n, protocolVersion: { major: 10 } },
  });
  expect(() => chosen(["--like", "sanchonet"])).toThrow("--like is sanchonet, not one of yaci-devkit");
});

test("its ports and blocks are those of every devnet", () => {
  const read = readOptions(["--like", "yaci-devkit"], {});
  if (!read.ok || read.value === "help") throw new Error("no options");
  const { devnetPort, indexerPort, nodePort, blockMs } = read.value;
  expect([devnetPort, indexerPort, nodePort, blockMs]).toEqual([10_000, 8_080, 3_333, 1_000]);
});

test("its pool is registered, and the delegator has the stake", () => {
  const of = genesis();
  expect(of.pools.map(({ id }) => id)).toEqual(["7301761068762f5900bde9eb7c1c15b09840285130f5b0f53606cc57"]);
  const entries = genesisEntries(of);
  const { certificate } = entries.find(({ kind }) => kind === "pools")!.after as Pool;
  expect(poolTerms(certificate)).toMatchObject({
    pool: "7301761068762f5900bde9eb7c1c15b09840285130f5b0f53606cc57",
    vrf: "c2b62ffa92ad18ffc117ea3abeb161a68885000a466f9c71db5e4731d6630061",
    pledge: 0n,
    cost: 340_000_000n,
    margin: boundedRatio(0n, 1n, "margin"),
    account: { credential: { hash: "11a14edf73b08a0a27cb98b2c57eb37c780df18fcfcf6785ed5df84a" } },
    owners: [],
    relays: [],
  });
  expect(entries.find(({ kind }) => kind === "accounts")).toMatchObject({
    key: "k295b987135610616f3c74e11c94d77b6ced5ccc93a7d719cfb135062",
    after: { pool: "7301761068762f5900bde9eb7c1c15b09840285130f5b0f53606cc57" },
  });
});

test("its addresses hold their funds, and nothing is lost", () => {
  const of = genesis();
  const funds = new Map(genesisOutputs(of).map(({ output: { address, value } }) => [address, value.lovelace]));
  expect(funds.size).toBe(1 + 1 + 20 + 3);
  const [first] = [...funds.keys()].filter((address) => address.startsWith("00c8c47610a36034aac6fc58848bdae5c278d99"));
  expect(funds.get(first!)).toBe(10_000_000_000n);
  expect(
    funds.get(
      "007290ea8fa9433c1045a4c8473959ad608e6c03a58c7de33bdbd3ce6f295b987135610616f3c74e11c94d77b6ced5ccc93a7d719cfb135062",
    ),
  ).toBe(300_000_000_000n);
  for (const hash of ["5276322a", "a0f1aa7d", "ba957a0f"]) {
    const [found] = [...funds].filter(([address]) => address.startsWith(`60${hash}`));
    expect(found?.[1]).toBe(3_000_000_000_000_000n);
  }
  const all = [...funds.values()].reduce((sum, lovelace) => sum + lovelace, 0n);
  expect(all + 502_000_000n + of.reserves + of.treasury).toBe(genesisDefaults.maxSupply);
  expect(of.faucet.funds).toBeGreaterThan(900_000_000_000_000n);
});

test("its files have the pool and the constitution", () => {
  const of = genesis();
  const file = (name: string) => parseJson(genesisFiles(of).find((one) => one.name === name)!.text);
  expect(file("shelley-genesis.json")).toMatchObject({
    staking: {
      pools: {
        "7301761068762f5900bde9eb7c1c15b09840285130f5b0f53606cc57": {
          pledge: 0,
          cost: 340_000_000,
          owners: [],
          rewardAccount: { credential: { keyHash: "11a14edf73b08a0a27cb98b2c57eb37c780df18fcfcf6785ed5df84a" } },
        },
      },
      stake: {
        "295b987135610616f3c74e11c94d77b6ced5ccc93a7d719cfb135062":
          "7301761068762f5900bde9eb7c1c15b09840285130f5b0f53606cc57",
      },
    },
  });
  expect(file("conway-genesis.json")).toMatchObject({
    govActionDeposit: 1_000_000_000,
    constitution: { script: "186e32faa80a26810392fda6d559c7ed4721a65ce1c9d4ef3e1c87b4" },
  });
  expect(genesisEntries(of).find(({ kind }) => kind === "governance")).toMatchObject({
    after: { constitution: { script: "186e32faa80a26810392fda6d559c7ed4721a65ce1c9d4ef3e1c87b4" } },
  });
});

test("a start prints the likeness, and an existing devnet keeps its own", () => {
  const of = genesis();
  expect(settingsLines(of)[1]).toMatch(/; like yaci-devkit$/);
  expect(keptSettings(chosen(["--like", "yaci-devkit"]), of)).toBeUndefined();
  expect(keptSettings(chosen(["--like", "yaci-devkit"]), newGenesis())).toMatch(
    /not like another network \(requested: yaci-devkit\)/,
  );
});
