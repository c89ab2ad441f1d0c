/** The genesis of a devnet: its files in a node's form, its settings as text, changed parameters. */
import { expect, test } from "vitest";
import { boundedRatio } from "#src/cardano/conway/strict.ts";
import { parseJson, toJson } from "#src/base/json.ts";
import { utf8 } from "#src/base/bytes.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { checkGenesis, type Genesis, genesisDefaults, genesisEntries } from "#src/devnet/genesis/genesis.ts";
import { canonical, genesisFiles } from "#src/devnet/genesis/json.ts";
import { overrideParameters } from "#src/devnet/genesis/parametersOverride.ts";
import { newPools } from "#src/devnet/genesis/pools.ts";
import { ada, keptSettings, settingsLines } from "#src/devnet/genesis/settings.ts";
import { parametersFromJson, parametersToJson } from "#src/devnet/genesis/parametersJson.ts";
import { mainnetParameters, mainnetParametersAt } from "#src/ledger/parameters.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import type { Pool } from "#src/ledger/state.ts";
import { newGenesis as genesis, POOLS_URL as url } from "../../../support/devnet/genesis.ts";

const text = (of: Genesis, name: string) => genesisFiles(of).find((file) => file.name === name)!.text;
const json = (of: Genesis, name: string) => parseJson(text(of, name)) as Record<string, never>;

test("genesis files are the same each time and hashed as nodes do", () => {
  const of = genesis();
  const files = genesisFiles(of);
  expect(files).toEqual(genesisFiles(of));
  const config = json(of, "config.json");
  for (const era of ["Shelley", "Alonzo", "Conway"]) {
    const file = config[`${era}GenesisFile`]!;
    expect(config[`${era}GenesisHash`]).toBe(hash256(utf8(text(of, file))));
  }
  // nodes of existing devnets have this file
  expect(config.ConwayGenesisHash).toBe("5e43b639db1b72dd263665d93c0bea2bfc4d62109afa8bafa08f4d09df7899b9");
  expect(config.ByronGenesisHash).toBe(hash256(utf8(canonical(json(of, "byron-genesis.json")))));
});

test("canonical JSON has no spaces, sorted members and two escapes", () => {
  expect(canonical({ b: [1, "é\n"], a: { z: '\\"', Y: -2 }, B: {} })).toBe(
    '{"B":{},"a":{"Y":-2,"z":"\\\\\\""},"b":[1,"é\n"]}',
  );
});

test("the files state the initial ledger", () => {
  const of = genesis();
  const shelley = json(of, "shelley-genesis.json") as unknown as {
    initialFunds: Record<string, number>;
    maxLovelaceSupply: number;
    staking: { pools: Record<string, { metadata: { hash: string }; owners: string[] }>; stake: Record<string, string> };
  };
  const deposits = 3n * (500_000_000n + 2_000_000n);
  const funds = Object.values(shelley.initialFunds).reduce((sum, lovelace) => sum + BigInt(lovelace), 0n);
  expect(funds + deposits + of.reserves).toBe(BigInt(shelley.maxLovelaceSupply));
  expect(Object.keys(shelley.staking.pools)).toEqual(of.pools.map(({ id }) => id));
  for (const { id, metadata, registered } of of.pools) {
    expect(shelley.staking.pools[id]!.metadata.hash).toBe(hash256(utf8(metadata!)));
    expect(shelley.staking.stake[registered.owner.key.slice(1)]).toBe(id);
  }
  expect(json(of, "alonzo-genesis.json")).toMatchObject({ lovelacePerUTxOWord: 34_480 });
  expect(json(of, "conway-genesis.json")).toMatchObject({ dRepDeposit: 500_000_000, minFeeRefScriptCostPerByte: 15 });
  expect(json(of, "byron-genesis.json")).toMatchObject({
    startTime: 1_800_000_000,
    protocolConsts: { protocolMagic: 42 },
  });
});

test.each([9, 10, 11] as const)("the files of version %i hold cost models where a node reads them", (major) => {
  const of = { ...genesis(), parameters: mainnetParametersAt(major) };
  const whole = [...of.parameters.costModels.values()].map((model) => model.map(Number));
  expect(json(of, "shelley-genesis.json")).toMatchObject({ protocolParams: { protocolVersion: { major, minor: 0 } } });
  // a node takes as many entries as the era began with, and of Plutus V2 none
  expect(json(of, "alonzo-genesis.json").costModels).toEqual({ PlutusV1: whole[0]!.slice(0, 166) });
  expect(json(of, "conway-genesis.json").plutusV3CostModel).toEqual(whole[2]!.slice(0, 251));
  expect(json(of, "alonzo-genesis.json").extraConfig).toEqual({
    costModels: { PlutusV1: whole[0], PlutusV2: whole[1], PlutusV3: whole[2] },
  });
  const lengths = { 9: [166, 175, 251], 10: [166, 175, 297], 11: [332, 332, 350] };
  expect(whole.map(({ length }) => length)).toEqual(lengths[major]);
});

test("pools of a genesis are registered as in the ledger, and metadata follow CIP-6", () => {
  const of = genesis();
  const entries = genesisEntries(of);
  for (const [position, { id, metadata, registered }] of of.pools.entries()) {
    const { certificate } = entries.find(({ kind, key }) => kind === "pools" && key === id)!.after as Pool;
    expect(poolTerms(certificate)).toMatchObject({
      pool: id,
      pledge: 1_000_000_000_000n,
      cost: 170_000_000n,
      margin: boundedRatio(BigInt(position + 1), 100n, "margin"),
      owners: registered.terms.owners,
      metadata: registered.terms.metadata,
    });
    expect(utf8(metadata!).length).toBeLessThanOrEqual(512);
    expect((parseJson(metadata!) as { ticker: string }).ticker).toMatch(/^[A-Z0-9]{3,5}$/);
    expect(registered.terms.metadata!.url.length).toBeLessThanOrEqual(128);
  }
  for (const { metadata } of newPools(100, url)) {
    expect((parseJson(metadata!) as { ticker: string }).ticker).toMatch(/^[A-Z0-9]{3,5}$/);
  }
  expect(new Set(of.pools.map(({ registered }) => registered.terms.vrf)).size).toBe(3);
});

test("settings take two lines, the default accounts one, and ignored options one", () => {
  const of = genesis();
  expect(settingsLines(of)).toEqual([
    "Devnet: epochs of 600 slots of 1000 ms (600 s), at most one block per slot; k 2160; protocol version 11.0",
    "Devnet genesis: 45,000,000,000 ada: reserves 15,000,000,000, treasury 0, 3 pools with 1,000,000 each, faucet 29,996,798,494",
    `Devnet accounts: 20 with 10,000 ada each; public mnemonic, for development only: ${"test ".repeat(23)}sauce`,
  ]);
  expect(settingsLines({ ...of, accounts: 0 })).toHaveLength(2);
  expect(ada(1_234_567_890_120n)).toBe("1,234,567.89012");
  expect(keptSettings({ epochLength: 600, pools: 3, url, parameters: mainnetParameters }, of)).toBeUndefined();
  expect(keptSettings({ securityParameter: 5, url: "http://127.0.0.1:9" }, of)).toMatch(
    /k 2160 \(requested: 5\); metadata of its pools at http:\/\/127.0.0.1:10000/,
  );
  const parameters = mainnetParametersAt(10);
  const kept = parametersFromJson(parseJson(toJson(parametersToJson(parameters))));
  expect(keptSettings({ parameters }, { ...of, parameters: kept })).toBeUndefined();
  const hardFork = { epoch: 7, parameters: mainnetParameters };
  expect(settingsLines({ ...of, parameters, terms: { ...of.terms, hardFork } })[0]).toMatch(
    /protocol version 10.0, 11.0 from epoch 7 on$/,
  );
  expect(keptSettings({ accounts: 3, accountFunds: 5n }, of)).toMatch(
    /: accounts 20 \(requested: 3\); lovelace of an account 10000000000 \(requested: 5\)\./,
  );
  expect(keptSettings({ hardForkEpoch: 7 }, of)).toMatch(/no hard fork \(requested: 7\)/);
  expect(keptSettings({ parameters }, of)).toMatch(/protocol parameters of its beginning \(test\)/);
});

test("genesis options are checked", () => {
  expect(checkGenesis(genesisDefaults)).toMatchObject({ ok: true });
  const wrong = [
    { epochLength: 0 },
    { epochLength: 1.5 },
    { securityParameter: 0 },
    { pools: 101 },
    { pools: -1 },
    { pledge: 0n },
    { accounts: 1_001 },
    { accounts: -1 },
    { accountFunds: 1n },
    { accountFunds: 10n ** 16n },
    { reserves: -1n },
    { reserves: genesisDefaults.maxSupply },
    { maxSupply: 2n ** 63n },
    { pledge: 10n ** 16n },
    { url: "http://" + "a".repeat(60) },
    { parameters: mainnetParametersAt(10), hardForkEpoch: 0 },
    { parameters: mainnetParametersAt(11), hardForkEpoch: 3 },
  ];
  expect(checkGenesis({ ...genesisDefaults, parameters: mainnetParametersAt(10), hardForkEpoch: 3 })).toMatchObject({
    ok: true,
  });
  for (const options of wrong) {
    expect(checkGenesis({ ...genesisDefaults, ...options })).toMatchObject({
      ok: false,
      error: { code: "bad_genesis" },
    });
  }
});

test("parameters are replaced by name, and unknown names are reported", () => {
  const read = overrideParameters(mainnetParameters, {
    keyDeposit: 1,
    protocolVersion: { major: 10, minor: 0 },
    monetaryExpansion: { numerator: 1, denominator: 2 },
    costModels: { PlutusV3: [1, 2, 3] },
  });
  expect(read).toEqual({
    ok: true,
    value: {
      ...mainnetParameters,
      keyDeposit: 1n,
      protocolVersion: { major: 10, minor: 0 },
      monetaryExpansion: { numerator: 1n, denominator: 2n },
      costModels: new Map([...mainnetParameters.costModels, [2, [1n, 2n, 3n]]]),
    },
  });
  for (
    const [json, name] of [
      [{ minFeeA: 44 }, "minFeeA"],
      [{ keyDeposit: -1 }, "keyDeposit"],
      [{ treasuryGrowth: { numerator: 3, denominator: 2 } }, "treasuryGrowth"],
      [{ prices: { memory: { numerator: 1, denominator: 0 } } }, "prices"],
      [{ protocolVersion: { major: 8, minor: 0 } }, "protocolVersion"],
      [[], "array"],
    ] as const
  ) {
    const bad = overrideParameters(mainnetParameters, json as never);
    expect(bad).toMatchObject({ ok: false, error: { code: "bad_parameters" } });
    expect((bad as { error: { message: string } }).error.message).toContain(name);
  }
});
