/** Ogmios' own messages: each answer is read, and what is read of it is what it says. */
import { describe, expect, it } from "vitest";
import { isObject, type Json } from "#src/base/json.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import type { EraBound } from "#src/cardano/eras.ts";
import {
  readAccountSummaries,
  readEraSummaries,
  readParameters,
  readProjectedRewards,
  readProposals,
  readRepresentatives,
  readShelleyGenesis,
  readStakePools,
  readStakeShares,
  readTime,
} from "#src/chain/provider/ogmios/answers.ts";
import { poolId } from "#src/cardano/poolId.ts";
import {
  adaJson,
  addressJson,
  anchorJson,
  credentialJson,
  idJson,
  poolJson,
  ratioText,
  refJson,
  sizeJson,
  unitsJson,
} from "#src/ogmios/values.ts";
import { golden } from "../../../../support/ogmios/golden.ts";

type Item = { [name: string]: Json };

/** The results of a directory's messages. */
const results = (directory: string): Json[] =>
  golden(directory).flatMap((message) => isObject(message) && message.result !== undefined ? [message.result] : []);
const listsOf = (directory: string) => results(directory) as Item[][];
const mapsOf = (directory: string) => results(directory) as Record<string, Item>[];

const drepJson = (drep: DRep) =>
  "hash" in drep
    ? { type: "registered", ...idJson(drep) }
    : { type: drep.kind === "abstain" ? "abstain" : "noConfidence" };

describe("Ogmios' messages", () => {
  it("have accounts, in a list and in the map of versions before 6.13", () => {
    const lists = listsOf("QueryLedgerStateRewardAccountSummaries");
    expect(lists.flat().length).toBeGreaterThan(50);
    const shown = (one: ReturnType<typeof readAccountSummaries>[number]) => ({
      ...(one.pool === undefined ? {} : { stakePool: poolJson(one.pool) }),
      ...(one.drep === undefined ? {} : { delegateRepresentative: drepJson(one.drep) }),
      rewards: adaJson(one.rewards),
      deposit: adaJson(one.deposit!),
    });
    for (const list of lists) {
      const read = readAccountSummaries(list);
      expect(read.map((one) => ({ ...credentialJson({ kind: one.kind!, hash: one.hash }), ...shown(one) }))).toEqual(
        list,
      );
      const map = Object.fromEntries(list.map(({ credential, from: _, stakePool, ...rest }) => [
        String(credential),
        { ...rest, ...(stakePool ? { delegate: stakePool } : {}) },
      ]));
      const older = readAccountSummaries(map as Json);
      expect(older.map(({ kind, ...one }) => [kind, one])).toEqual(read.map(({ kind: _, ...one }) => [undefined, one]));
    }
  });

  it("have pools, and their shares of the stake", () => {
    const maps = mapsOf("QueryLedgerStateStakePools");
    expect(maps.flatMap((map) => Object.keys(map)).length).toBeGreaterThan(20);
    for (const map of maps) {
      const registered = Object.values(map).filter(({ cost }) => cost !== undefined);
      expect([...readStakePools(map).values()].map((one) => ({
        id: poolId(one.pool),
        vrfVerificationKeyHash: one.vrf,
        pledge: adaJson(one.pledge),
        cost: adaJson(one.cost),
        margin: ratioText(one.margin),
        rewardAccount: addressJson(one.rewardAccount!),
        owners: one.owners,
        ...(one.metadata ? { metadata: anchorJson(one.metadata) } : {}),
      }))).toEqual(registered.map(({ relays: _, stake: __, ...rest }) => rest));
    }
    const shares = mapsOf("QueryLedgerStateLiveStakeDistribution");
    expect(shares.flatMap((map) => Object.keys(map)).length).toBeGreaterThan(20);
    for (const map of shares) {
      expect(Object.fromEntries([...readStakeShares(map)].map(([pool, share]) => [poolId(pool), ratioText(share)])))
        .toEqual(Object.fromEntries(Object.entries(map).map(([pool, { stake }]) => [pool, stake])));
    }
    // one that retired and still counts in votes has no terms
    expect(readStakePools({ pool1xqj4swrc654y8tm2rnlxd6gp6n0srwklkq5hte5d5z3mckdakth: { id: "pool1…" } }).size).toBe(0);
  });

  it("have rewards to come", () => {
    const maps = mapsOf("QueryLedgerStateProjectedRewards");
    expect(maps.length).toBeGreaterThan(5);
    for (const map of maps) {
      expect(Object.fromEntries([...readProjectedRewards(map)].map((
        [stake, pools],
      ) => [stake, Object.fromEntries([...pools].map(([pool, lovelace]) => [poolId(pool), adaJson(lovelace)]))])))
        .toEqual(map);
    }
  });

  it("have representatives", () => {
    const lists = listsOf("QueryLedgerStateDelegateRepresentatives");
    expect(lists.flat().filter(({ type }) => type === "registered").length).toBeGreaterThan(20);
    for (const list of lists) {
      expect(
        readRepresentatives(list).map((one) => ({
          type: "registered",
          ...idJson(one.credential),
          mandate: { epoch: one.expiry },
          deposit: adaJson(one.deposit),
          stake: adaJson(one.stake!),
          ...(one.anchor ? { metadata: anchorJson(one.anchor) } : {}),
        })),
      ).toEqual(list.filter(({ type }) => type === "registered").map(({ delegators: _, ...rest }) => rest));
    }
  });

  it("have governance actions", () => {
    const lists = listsOf("QueryLedgerStateGovernanceProposals");
    expect(lists.flat().length).toBeGreaterThan(10);
    for (const list of lists) {
      expect(readProposals(list).map(({ id, lastEpoch }) => ({ proposal: refJson(id), until: { epoch: lastEpoch } })))
        .toEqual(list.map(({ proposal, until }) => ({ proposal, until })));
    }
  });

  it("have eras", () => {
    const lists = listsOf("QueryLedgerStateEraSummaries");
    expect(lists.flat().length).toBeGreaterThan(10);
    const bound = ({ time, slot, epoch }: EraBound) => ({ time: { seconds: Number(time / 10n ** 12n) }, slot, epoch });
    for (const list of lists) {
      expect(
        readEraSummaries(list).map(({ start, end, terms }) => ({
          start: bound(start),
          ...(end ? { end: bound(end) } : {}),
          parameters: {
            epochLength: terms.epochLength,
            slotLength: { milliseconds: terms.slotLength },
            safeZone: terms.safeZone ?? null,
          },
        })),
      ).toEqual(list);
    }
    // slots of 100 ms
    const [era] = readEraSummaries([{
      start: { time: { seconds: 0.3 }, slot: 3, epoch: 0 },
      parameters: { epochLength: 10, slotLength: { milliseconds: 100 }, safeZone: 6 },
    }]);
    expect(era!.start.time).toBe(300_000_000_000n);
  });

  it("have a genesis, and the time of a start", () => {
    const all = results("QueryNetworkGenesisConfiguration_shelley") as Item[];
    expect(all.length).toBeGreaterThan(5);
    for (const one of all) {
      const read = readShelleyGenesis(one);
      expect({
        networkMagic: read.magic,
        network: read.id === 1 ? "mainnet" : "testnet",
        activeSlotsCoefficient: ratioText(read.activeSlots),
        securityParameter: read.securityParameter,
        epochLength: read.epochLength,
        slotLength: { milliseconds: read.slotLength },
        maxLovelaceSupply: Number(read.maxSupply),
      }).toEqual(expect.objectContaining({
        networkMagic: one.networkMagic,
        network: one.network,
        activeSlotsCoefficient: one.activeSlotsCoefficient,
        slotLength: one.slotLength,
        maxLovelaceSupply: Number(one.maxLovelaceSupply),
      }));
      expect(new Date(read.systemStart).toISOString().slice(0, 19)).toBe(String(one.startTime).slice(0, 19));
    }
    expect(readTime("2022-10-25T00:00:00Z")).toBe(Date.parse("2022-10-25T00:00:00Z"));
    expect(readTime("2022-10-25T00:00:00.05Z")).toBe(Date.parse("2022-10-25T00:00:00.050Z"));
    expect(() => readTime("yesterday")).toThrow("the time is not one");
  });

  it("have protocol parameters, of Conway alone", () => {
    const all = results("QueryLedgerStateProtocolParameters") as Item[];
    const conway = all.filter(({ version }) => Number((version as Item).major) >= 9);
    const others = all.filter((one) => !conway.includes(one));
    expect(all.length).toBeGreaterThan(5);
    for (const one of others) expect(() => readParameters(one)).toThrow("the oldest supported version is 9");
    for (const given of all) {
      const one = { ...given, version: { major: 10, minor: 0 } } as Item;
      if (!one.minFeeReferenceScripts) continue;
      const p = readParameters(one);
      const { numerator, denominator } = p.refScriptCostPerByte;
      const base = Number((one.minFeeReferenceScripts as Item).base);
      expect(Number(numerator) / Number(denominator) / base).toBeCloseTo(1, 12);
      const shown = {
        version: p.protocolVersion,
        minFeeCoefficient: Number(p.feePerByte),
        minFeeConstant: adaJson(p.feeFixed),
        maxTransactionSize: sizeJson(p.maxTxSize),
        maxBlockBodySize: sizeJson(p.maxBlockBodySize),
        maxBlockHeaderSize: sizeJson(p.maxBlockHeaderSize),
        maxValueSize: sizeJson(p.maxValueSize),
        minUtxoDepositCoefficient: Number(p.utxoCostPerByte),
        stakeCredentialDeposit: adaJson(p.keyDeposit),
        stakePoolDeposit: adaJson(p.poolDeposit),
        delegateRepresentativeDeposit: adaJson(p.drepDeposit),
        governanceActionDeposit: adaJson(p.govActionDeposit),
        minStakePoolCost: adaJson(p.minPoolCost),
        stakePoolRetirementEpochBound: p.poolRetirementBound,
        desiredNumberOfStakePools: p.desiredPools,
        stakePoolPledgeInfluence: ratioText(p.pledgeInfluence),
        monetaryExpansion: ratioText(p.monetaryExpansion),
        treasuryExpansion: ratioText(p.treasuryGrowth),
        collateralPercentage: p.collateralPercentage,
        maxCollateralInputs: p.maxCollateralInputs,
        scriptExecutionPrices: { memory: ratioText(p.prices.memory), cpu: ratioText(p.prices.steps) },
        maxExecutionUnitsPerTransaction: unitsJson(p.maxTxUnits),
        maxExecutionUnitsPerBlock: unitsJson(p.maxBlockUnits),
      };
      expect(one).toMatchObject(shown);
      const models = Object.fromEntries([...p.costModels].map(([i, model]) => [`plutus:v${i + 1}`, model.map(Number)]));
      expect(models).toEqual(one.plutusCostModels);
    }
  });
});
