/** What a devnet reports as a node of its genesis and eras agrees with its genesis files and its clock. */
import { expect, test } from "vitest";
import { parseJson } from "#src/base/json.ts";
import { type Ratio, slotAt, slotTime } from "#src/cardano/parameters.ts";
import { slotsOf } from "#src/chain/provider/node/queries.ts";
import { type Genesis, genesisDefaults } from "#src/devnet/genesis/genesis.ts";
import { genesisFiles } from "#src/devnet/genesis/json.ts";
import { eraHistory, nodeGenesis } from "#src/devnet/serve/nodeGenesis.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { epochOfSlot, horizon, slotOfTime, timeOfSlot } from "#src/cardano/eras.ts";
import { startTime } from "#src/node/queries/history.ts";

const { parameters, pledge, maxSupply, reserves, treasury } = genesisDefaults;
const genesis: Genesis = {
  network: {
    magic: 42,
    id: 0,
    slots: { zeroTime: 1_800_000_000_000, zeroSlot: 0, slotLength: 200 },
    securityParameter: 10,
  },
  terms: { epochLength: 50, activeSlots: { numerator: 1n, denominator: 1n }, maxSupply },
  parameters,
  parametersSource: "test",
  reserves,
  treasury,
  pledge,
  accounts: 0,
  accountFunds: 0n,
  pools: [],
  poolsUrl: undefined,
  drawSeed: new Uint8Array(32),
  issuer: new Uint8Array(32),
  faucet: { key: new Uint8Array(32), address: "60" + "ab".repeat(28), funds: 1n },
};
const file = (name: string) =>
  parseJson(genesisFiles(genesis).find((each) => each.name === name)!.text) as Record<string, never>;
const decimal = ({ numerator, denominator }: Ratio) => Number(numerator) / Number(denominator);

test("governance parameters are those of the Conway file", () => {
  const { poolThresholds, drepThresholds, ...rest } = protocolParameters(parameters);
  const conway = file("conway-genesis.json");
  const sorted = (thresholds: object) => Object.values(thresholds).map(Number).sort();
  expect(Object.values(poolThresholds).map(decimal).sort()).toEqual(sorted(conway.poolVotingThresholds!));
  expect(Object.values(drepThresholds).map(decimal).sort()).toEqual(sorted(conway.dRepVotingThresholds!));
  const { hardForkInitiation, committeeNoConfidence, updateToConstitution } = conway.dRepVotingThresholds!;
  const { hardFork, committeeNoConfidence: none, constitution } = drepThresholds;
  expect([hardFork, none, constitution].map(decimal)).toEqual(
    [hardForkInitiation, committeeNoConfidence, updateToConstitution].map(Number),
  );
  expect(rest).toEqual({
    ...parameters,
    committeeMinSize: Number(conway.committeeMinSize),
    committeeMaxTerm: Number(conway.committeeMaxTermLength),
    govActionLifetime: Number(conway.govActionLifetime),
    drepActivity: Number(conway.dRepActivity),
  });
});

test("the genesis is that of the Shelley file", () => {
  const shelley = file("shelley-genesis.json");
  const served = nodeGenesis(genesis);
  expect(new Date(startTime(served.systemStart)).toISOString().replace(".000Z", "Z")).toBe(shelley.systemStart);
  expect([served.networkMagic, served.epochLength, served.securityParameter, served.updateQuorum].map(Number)).toEqual(
    [shelley.networkMagic, shelley.epochLength, shelley.securityParam, shelley.updateQuorum].map(Number),
  );
  expect([served.slotsPerKesPeriod, served.maxKesEvolutions, served.slotLength / 1_000_000].map(Number)).toEqual(
    [shelley.slotsPerKESPeriod, shelley.maxKESEvolutions, shelley.slotLength].map(Number),
  );
  expect(served.maxSupply).toBe(BigInt(shelley.maxLovelaceSupply!));
});

test("the history of eras agrees with the devnet's clock, up to its horizon", () => {
  const history = eraHistory(genesis, { slot: 73 });
  const { slots } = genesis.network;
  expect(slotsOf(history, slots.zeroTime)).toEqual(slots);
  // 74 + 3k = 104 slots are certain, and the whole epoch that contains them
  expect(horizon(history)).toEqual({ time: 30_000_000_000_000n, slot: 150, epoch: 3 });
  for (const slot of [0, 1, 49, 50, 149]) {
    expect(timeOfSlot(history, slot)).toEqual({ ok: true, value: slotTime(slots, slot) - slots.zeroTime });
    expect(epochOfSlot(history, slot)).toEqual({ ok: true, value: Math.floor(slot / 50) });
    const within = slot * 200 + 199;
    expect(slotOfTime(history, within)).toEqual({ ok: true, value: slotAt(slots, slots.zeroTime + within) });
  }
  expect(timeOfSlot(history, 151)).toMatchObject({ ok: false });
  expect(horizon(eraHistory(genesis, { slot: -1 }))).toMatchObject({ slot: 50 });
});
