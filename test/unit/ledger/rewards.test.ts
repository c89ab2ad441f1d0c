/** Rewards, compared with examples computed by hand and with mainnet's pots. */
import { describe, expect, it } from "vitest";
import type { Parameters } from "#src/cardano/parameters.ts";
import { finish } from "#src/base/steps.ts";
import { encode } from "#src/cardano/cbor.ts";
import { applyEpoch, passEpoch } from "#src/ledger/epoch/pass.ts";
import { leaderReward, maxPool, memberReward, rewardUpdate } from "#src/ledger/epoch/rewards.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { blocksKey, credentialKey, type PoolSnapshot } from "#src/ledger/state.ts";
import { type DraftPool, hash28, poolCertificate, PoolWorld, stakeKeyOf } from "../../support/ledger/pools.ts";

const ratio = (numerator: number, denominator: number) => ({
  numerator: BigInt(numerator),
  denominator: BigInt(denominator),
});
const [poolA, poolB, poolC] = [hash28(0xa), hash28(0xb), hash28(0xc)];
const key = (number: number) => credentialKey(stakeKeyOf(number));

const snapshot = (id: string, pool: DraftPool, members: Readonly<Record<number, bigint>>): [string, PoolSnapshot] => [
  id,
  {
    certificate: encode(poolCertificate(id, pool)),
    members: new Map(Object.entries(members).map(([number, lovelace]) => [key(Number(number)), lovelace])),
  },
];

/** Four pools wanted, a0 one half, rho one hundredth, tau one fifth; ten blocks an epoch. */
const parameters: Parameters = {
  ...mainnetParameters,
  desiredPools: 4,
  pledgeInfluence: ratio(1, 2),
  monetaryExpansion: ratio(1, 100),
  treasuryGrowth: ratio(1, 5),
};
const terms = { epochLength: 100, activeSlots: ratio(1, 10), maxSupply: 2_000_000n };

describe("an epoch's rewards", () => {
  // A has a fifth of the million in circulation and two of five parts of the active stake; B would have more than a
  // fourth, which is the maximum that counts; C made no block. Key 1 owns A, key 4 owns B.
  const stake = {
    fees: 0n,
    pools: new Map([
      snapshot(
        poolA,
        {
          pledge: 40_000n,
          cost: 340n,
          margin: ratio(1, 10),
          account: stakeKeyOf(9),
          owners: [hash28(1)],
        },
        { 1: 50_000n, 2: 100_000n, 3: 50_000n },
      ),
      snapshot(
        poolB,
        { cost: 100n, account: stakeKeyOf(4), owners: [hash28(4)] },
        { 4: 10_000n, 5: 290_000n },
      ),
      snapshot(poolC, {}, {}),
    ]),
  };
  const sources = {
    parameters,
    terms,
    reserves: 1_000_000n,
    stake,
    blocks: new Map([[poolA, 6], [poolB, 2]]),
    fees: 2_000n,
  };

  it("are what the specification's formulas give by hand", () => {
    // Eight blocks of ten: 0.8 of a hundredth of the reserves, 8,000. With the fees 10,000, of which a fifth is the treasury's.
    // A: 8,000 / 1.5 * (0.2 + 0.04 * 0.5 * 0.768) = 1,148.58; performance 0.75 / 0.4; 2,152.5 in all.
    // Its leader: 340 + 1,812 * (0.1 + 0.9 / 4) = 928.9; members: 1,812 * 0.9 / 2 = 815.4 and half of it.
    // B: 8,000 / 1.5 / 4 = 1,333.3; performance 0.25 / 0.6; 555.4 in all. Its leader: 100 + 455 / 30; its member: 455 * 29 / 30.
    const update = finish(rewardUpdate(sources));
    expect(update.rewards).toEqual([
      { account: key(9), pool: poolA, kind: "leader", amount: 928n },
      { account: key(2), pool: poolA, kind: "member", amount: 815n },
      { account: key(3), pool: poolA, kind: "member", amount: 407n },
      { account: key(4), pool: poolB, kind: "leader", amount: 115n },
      { account: key(5), pool: poolB, kind: "member", amount: 439n },
    ]);
    expect(update).toMatchObject({ treasury: 2_000n, pot: 8_000n, paid: 2_704n, reserves: -2_704n });
  });

  it("are none if owners do not keep their pledge, whatever stake others have", () => {
    const pool = { pledge: 50_001n, cost: 1n, owners: [hash28(1)] };
    const pools = new Map([snapshot(poolA, pool, { 1: 50_000n, 2: 900_000n })]);
    const { rewards, paid } = finish(rewardUpdate({ ...sources, stake: { fees: 0n, pools } }));
    expect([rewards.length, paid]).toEqual([1, 0n]);
  });

  it("are none except the treasury's share if no block was made", () => {
    const update = finish(rewardUpdate({ ...sources, blocks: new Map() }));
    expect(update).toMatchObject({ rewards: [], treasury: 400n, reserves: 1_600n, paid: 0n });
  });

  it("grow with the blocks only up to the epoch's expected number", () => {
    const blocks = new Map([[poolA, 15], [poolB, 5]]);
    expect(finish(rewardUpdate({ ...sources, blocks })).pot).toBe(9_600n);
  });
});

describe("a pool's reward", () => {
  const pool = poolTerms(encode(poolCertificate(poolA, { cost: 340n, margin: ratio(1, 10) })));

  it("grows with the stake up to an equal share, and with the pledge", () => {
    const most = (stake: number, pledge: number) =>
      maxPool(parameters, 9_000_000n, ratio(stake, 100), ratio(pledge, 100));
    expect(most(10, 0)).toBe(600_000n);
    expect(most(25, 0)).toBe(1_500_000n);
    expect(most(90, 0)).toBe(1_500_000n);
    // A pledge of the whole share of a saturated pool earns everything that a0 holds back.
    expect(most(25, 25)).toBe(2_250_000n);
    expect(most(90, 90)).toBe(2_250_000n);
  });

  it("is the leader's up to the cost, who shares the rest with the members", () => {
    expect(leaderReward(340n, pool, 0n, 100n)).toBe(340n);
    expect(memberReward(340n, pool, 100n, 100n)).toBe(0n);
    expect(leaderReward(1_340n, pool, 0n, 100n)).toBe(440n);
    expect(leaderReward(1_340n, pool, 100n, 100n)).toBe(1_340n);
    expect(memberReward(1_340n, pool, 33n, 100n)).toBe(297n);
  });
});

describe("mainnet's pots", () => {
  // Mainnet's reserves and treasury at the beginning of epochs 209 to 211 (db-sync's ada_pots). Blocks were still made
  // by the founders' nodes, so that all counted and none was rewarded.
  it("are reproduced from epoch 209 to 211", () => {
    const world = new PoolWorld({ desiredPools: 150 }, 209);
    const { state } = world;
    const mainnet = { epochLength: 432_000, activeSlots: ratio(1, 20), maxSupply: 45_000_000_000_000_000n };
    state.pots.reserves = 13_286_160_713_028_443n;
    state.pots.treasury = 8_332_813_711_755n;
    // Fees of epochs 208 and 209.
    state.pots.fees = 10_670_212_208n + 7_666_346_424n;
    state.snapshots.set("209", { pools: new Map(), fees: 10_670_212_208n });
    state.blocks.set(blocksKey(208, poolC), 21_600);
    state.blocks.set(blocksKey(209, poolC), 21_600);
    applyEpoch(state, passEpoch(state, mainnet));
    expect(state.pots).toMatchObject({ reserves: 13_278_197_552_770_393n, treasury: 16_306_644_182_013n });

    // At the next boundary one pool's deposit had no account and went to the treasury: 500 ada.
    world.pool(poolA, {}, { retiring: 211 });
    applyEpoch(state, passEpoch(state, mainnet));
    expect(state.pots).toMatchObject({ reserves: 13_270_236_767_315_870n, treasury: 24_275_595_982_960n, fees: 0n });
  });
});
