/** The boundary between two epochs: its changes, when they happen, and for which accounts. */
import { describe, expect, it } from "vitest";
import { type Json, parseJson, toJson } from "#src/base/json.ts";
import { type Credential, enterpriseAddress } from "#src/cardano/address.ts";
import { decode, encode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import { fromPlain, toPlain } from "#src/devnet/ledger/plainJson.ts";
import { write } from "#src/ledger/delta.ts";
import {
  applyEpoch,
  blockMade,
  type EpochDelta,
  firstSnapshots,
  passEpoch,
  undoEpoch,
} from "#src/ledger/epoch/pass.ts";
import { withPlanned } from "#src/ledger/epoch/hardFork.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { nonMyopicMemberRewards, performanceOf, rankingOf } from "#src/ledger/epoch/ranking.ts";
import { rewardsProvenance } from "#src/ledger/epoch/provenance.ts";
import { leaderDistribution, stakeDistribution, stakeSnapshots } from "#src/ledger/epoch/reads.ts";
import { stakeOf, takeSnapshot } from "#src/ledger/epoch/snapshot.ts";
import { credentialKey, type LedgerState, overlay, type View } from "#src/ledger/state.ts";
import { output } from "../../support/ledger/draft.ts";
import { hash28, PoolWorld, stakeKeyOf } from "../../support/ledger/pools.ts";

const terms = {
  epochLength: 100,
  activeSlots: { numerator: 1n, denominator: 10n },
  maxSupply: 2_000_000_000_000n,
};
const [poolA, poolB] = [hash28(0xa), hash28(0xb)];
const key = (number: number) => credentialKey(stakeKeyOf(number));
const script: Credential = { kind: "script", hash: hash28(1) };

/** A pool with an owner (key 1) and a member (key 2), a million in circulation. */
function world(): PoolWorld {
  const made = new PoolWorld({ desiredPools: 2 });
  made.state.pots.reserves = terms.maxSupply / 2n;
  made.pool(poolA, { account: stakeKeyOf(9), owners: [hash28(1)], pledge: 1_000n, vrf: 7 });
  made.account(stakeKeyOf(9));
  made.account(stakeKeyOf(1), { pool: poolA });
  made.account(stakeKeyOf(2), { pool: poolA });
  made.pay(stakeKeyOf(1), 300_000_000_000n);
  made.pay(stakeKeyOf(2), 100_000_000_000n);
  return made;
}

describe("a hard fork", () => {
  const fork = (major: 10 | 11, epoch: number) => ({
    ...terms,
    hardFork: { epoch, parameters: mainnetParametersAt(major) },
  });

  it("brings its parameters with its epoch, and is undone", () => {
    const { state } = world();
    const { parameters, epoch } = state;
    expect(passEpoch(state, fork(11, epoch + 2)).parameters).toBeUndefined();
    const delta = passEpoch(state, fork(11, epoch + 1));
    applyEpoch(state, delta);
    expect(state.parameters).toEqual(mainnetParametersAt(11));
    undoEpoch(state, delta);
    expect(state.parameters).toBe(parameters);
  });

  it("that is planned applies in its epoch, unless the version is a later one by then", () => {
    const { hardFork } = fork(11, 5);
    const before = { ...mainnetParametersAt(10), keyDeposit: 5n };
    expect(withPlanned(before, hardFork, 4)).toBe(before);
    expect(withPlanned(before, undefined, 5)).toBe(before);
    expect(withPlanned(before, hardFork, 5)).toEqual(hardFork.parameters);
    for (const [minor, isLater] of [[0, false], [1, true]] as const) {
      const voted = { ...before, protocolVersion: { major: 11, minor } };
      expect(withPlanned(voted, hardFork, 5) === voted).toBe(isLater);
    }
  });

  it("to version 10 ends delegations to unregistered representatives", () => {
    const made = world();
    const { state } = made;
    state.parameters = mainnetParametersAt(9);
    state.dreps.set(key(20), { deposit: 1n });
    const drepOf = { 2: key(20), 3: key(21), 4: "abstain", 5: "no confidence" };
    for (const [number, drep] of Object.entries(drepOf)) {
      state.accounts.set(key(Number(number)), { deposit: 1n, balance: 0n, drep });
    }
    const dreps = () => Object.keys(drepOf).map((number) => state.accounts.get(key(Number(number)))?.drep);
    const delta = passEpoch(state, fork(10, state.epoch + 1));
    applyEpoch(state, delta);
    expect(dreps()).toEqual([key(20), undefined, "abstain", "no confidence"]);
    undoEpoch(state, delta);
    expect(dreps()).toEqual(Object.values(drepOf));
    applyEpoch(state, passEpoch(state, fork(11, state.epoch + 1)));
    expect(dreps()).toEqual(Object.values(drepOf));
  });
});

function pass({ state }: PoolWorld): EpochDelta {
  const delta = passEpoch(state, terms);
  applyEpoch(state, delta);
  return delta;
}

function makeBlocks({ state }: PoolWorld, pool: string, count: number): void {
  for (let made = 0; made < count; made++) write(state.blocks, [blockMade(state, pool)], "after");
}

const ids = (table: View<unknown>) => [...table.entries()].map(([id]) => id);
const tables = (state: LedgerState) =>
  structuredClone({
    accounts: [...state.accounts.entries()],
    pools: [...state.pools.entries()],
    snapshots: [...state.snapshots.entries()].sort(),
    blocks: [...state.blocks.entries()].sort(),
    ranking: [...state.ranking.entries()],
    pots: state.pots,
    epoch: state.epoch,
  });

describe("stake", () => {
  it("is outputs at base addresses and rewards, of accounts that delegate to a pool", () => {
    const made = world();
    const { state, outputs } = made;
    made.account(script, { balance: 11n, pool: poolA });
    made.account(stakeKeyOf(3), { balance: 5n });
    made.pay(script, 1_000_000n);
    made.pay(stakeKeyOf(3), 2_000_000n);
    made.pay(stakeKeyOf(4), 3_000_000n);
    // The hash alone does not make it the stake of key 2: an enterprise address has none.
    const bare = output(enterpriseAddress(0, stakeKeyOf(2)).hex, 4_000_000n);
    outputs.set(`${"ff".repeat(32)}#0`, readOutput(decode(encode(bare))));
    const { pools } = takeSnapshot(state);
    expect([...pools.keys()]).toEqual([poolA]);
    expect([...pools.get(poolA)!.members]).toEqual([
      [key(1), 300_000_000_000n],
      [key(2), 100_000_000_000n],
      [credentialKey(script), 1_000_011n],
    ]);
    expect(stakeOf(state, [key(3), key(4)])).toEqual(new Map([[key(3), 2_000_005n], [key(4), 3_000_000n]]));
  });

  it("is the same on an overlay of another state", () => {
    const { state, outputs } = world();
    const over = overlay(state);
    const [ref] = [...outputs.keys()];
    over.utxo.delete({ txHash: ref!.slice(0, 64), index: 0 });
    expect(takeSnapshot(over).pools.get(poolA)!.members.get(key(1))).toBe(0n);
    expect(takeSnapshot(state).pools.get(poolA)!.members.get(key(1))).toBe(300_000_000_000n);
    over.utxo.set({ txHash: "ee".repeat(32), index: 1 }, outputs.get(ref!)!);
    expect(takeSnapshot(over).pools.get(poolA)!.members.get(key(1))).toBe(300_000_000_000n);
  });
});

describe("a boundary", () => {
  it("rewards blocks two boundaries later, by the stake of when their leaders were drawn", () => {
    const made = world();
    const { state } = made;
    const rewards: number[] = [];
    for (let boundary = 0; boundary < 7; boundary++) {
      // From the third epoch on the pool may make blocks: it is in the distribution that leaders are drawn by.
      const leaders = leaderDistribution(state).pools;
      expect(leaders.has(poolA)).toBe(boundary >= 2);
      if (boundary === 3) makeBlocks(made, poolA, 10);
      if (boundary === 4) made.pay(stakeKeyOf(5), 1_000_000n);
      rewards.push(pass(made).rewards.length);
    }
    expect(rewards).toEqual([0, 0, 0, 0, 2, 0, 0]);
    expect(state.accounts.get(key(9))!.balance).toBeGreaterThan(0n);
    expect(state.accounts.get(key(1))!.balance).toBe(0n);
    expect(state.accounts.get(key(2))!.balance).toBeGreaterThan(0n);
  });

  it("counts the rewards it pays as stake at once", () => {
    const made = world();
    const { state } = made;
    write(state.snapshots, firstSnapshots(state), "after");
    makeBlocks(made, poolA, 10);
    pass(made);
    const delta = pass(made);
    const member = delta.rewards.find(({ account }) => account === key(2))!;
    expect(takeSnapshot(state).pools).toEqual(state.snapshots.get(String(state.epoch))!.pools);
    expect(state.snapshots.get(String(state.epoch))!.pools.get(poolA)!.members.get(key(2))).toBe(
      100_000_000_000n + member.amount,
    );
  });

  it("moves rewards of closed accounts to the treasury", () => {
    const [here, gone] = [world(), world()];
    for (const made of [here, gone]) {
      write(made.state.snapshots, firstSnapshots(made.state), "after");
      makeBlocks(made, poolA, 10);
      pass(made);
    }
    gone.state.accounts.delete(key(2));
    const { rewards } = pass(here);
    expect(pass(gone).rewards).toEqual(rewards);
    const { amount } = rewards.find(({ account }) => account === key(2))!;
    expect(gone.state.pots.treasury - here.state.pots.treasury).toBe(amount);
  });

  it("moves fees on one boundary later, and donations at once", () => {
    const made = world();
    const { pots } = made.state;
    pots.fees = 1_000n;
    pots.donations = 30n;
    pass(made);
    expect(pots).toMatchObject({ fees: 1_000n, donations: 0n, treasury: 30n });
    pots.fees += 5n;
    pass(made);
    // A fifth goes to the treasury, and since there were no blocks the rest goes to the reserves.
    expect(pots).toMatchObject({ fees: 5n, treasury: 230n, reserves: terms.maxSupply / 2n + 800n });
  });

  it("ends retiring pools: the deposit goes to their account, or to the treasury", () => {
    const made = world();
    const { state } = made;
    state.pools.set(poolA, { ...state.pools.get(poolA)!, retiring: 12 });
    made.pool(poolB, { account: stakeKeyOf(77) }, { retiring: 12 });
    const { deposits } = state.pots;
    pass(made);
    expect(ids(state.pools)).toEqual([poolA, poolB]);
    pass(made);
    expect(ids(state.pools)).toEqual([]);
    expect(state.accounts.get(key(9))!.balance).toBe(500_000_000n);
    expect(state.pots).toMatchObject({ treasury: 500_000_000n, deposits: deposits - 1_000_000_000n });
    expect(state.accounts.get(key(1))).toEqual({ deposit: 2_000_000n, balance: 0n });
    // The snapshot was taken before.
    expect([...state.snapshots.get("12")!.pools.keys()]).toEqual([poolA, poolB]);
  });

  it("applies later certificates after the snapshot", () => {
    const made = world();
    const { state } = made;
    const before = state.pools.get(poolA)!.certificate;
    made.pool(poolA, { owners: [hash28(1)] }, { future: { cost: 5n } });
    const { future, certificate } = state.pools.get(poolA)!;
    pass(made);
    expect(state.pools.get(poolA)).toEqual({ certificate: future, deposit: 500_000_000n });
    expect(state.snapshots.get("11")!.pools.get(poolA)!.certificate).toEqual(certificate);
    expect(certificate).not.toEqual(before);
  });

  it("keeps three snapshots, and blocks of two epochs", () => {
    const made = world();
    for (let boundary = 0; boundary < 6; boundary++) {
      makeBlocks(made, poolA, 1);
      pass(made);
    }
    expect(ids(made.state.snapshots)).toEqual(["14", "15", "16"]);
    expect(ids(made.state.blocks)).toEqual([`15 ${poolA}`]);
  });

  it("changes nothing until it is applied, is plain data, and can be undone", () => {
    const made = world();
    const { state } = made;
    write(state.snapshots, firstSnapshots(state), "after");
    makeBlocks(made, poolA, 9);
    state.pots.fees = 77n;
    pass(made);
    makeBlocks(made, poolA, 3);
    const first = tables(state);
    const delta = passEpoch(state, terms);
    expect(tables(state)).toEqual(first);
    applyEpoch(state, delta);
    const second = tables(state);
    expect(delta.rewards.length).toBeGreaterThan(0);
    const kept = fromPlain(parseJson(toJson(toPlain(delta))) as Json) as EpochDelta;
    undoEpoch(state, kept);
    expect(tables(state)).toEqual(first);
    applyEpoch(state, kept);
    expect(tables(state)).toEqual(second);
  });
});

describe("a chain that begins with stake", () => {
  it("draws leaders at once and pays at the second boundary", () => {
    const made = world();
    write(made.state.snapshots, firstSnapshots(made.state), "after");
    const { pools, active } = leaderDistribution(made.state);
    expect(pools.get(poolA)).toEqual({
      share: { numerator: 400_000_000_000n, denominator: 400_000_000_000n },
      lovelace: 400_000_000_000n,
      vrf: "07".repeat(32),
    });
    expect(active).toBe(400_000_000_000n);
    makeBlocks(made, poolA, 10);
    expect([pass(made), pass(made)].map(({ rewards }) => rewards.length)).toEqual([0, 2]);
  });
});

describe("queries", () => {
  it("give the current stake, and that of the three snapshots", () => {
    const made = world();
    const { state } = made;
    pass(made);
    made.pay(stakeKeyOf(2), 50n);
    pass(made);
    made.pay(stakeKeyOf(2), 7n);
    const { pools, active } = stakeDistribution(state, terms);
    expect(active).toBe(400_000_000_057n);
    expect(pools.get(poolA)!.share).toEqual({
      numerator: active,
      denominator: terms.maxSupply - state.pots.reserves,
    });
    const amounts = { mark: 400_000_000_050n, set: 400_000_000_000n, go: 0n };
    expect(stakeSnapshots(state)).toEqual({ pools: new Map([[poolA, amounts]]), total: amounts });
  });

  it("give the rewards of the next boundary before it pays them", () => {
    const made = world();
    const { state } = made;
    for (let boundary = 0; boundary < 4; boundary++) {
      if (boundary === 3) makeBlocks(made, poolA, 10);
      pass(made);
    }
    const { pools, totalStake, activeStake, ...sums } = rewardsProvenance(state, terms);
    expect([totalStake, activeStake]).toEqual([terms.maxSupply - state.pots.reserves, 400_000_000_000n]);
    expect(sums.totalRewards + sums.treasuryTax).toBe(sums.incentives + sums.fees);
    const before = state.pots.treasury;
    const { rewards } = pass(made);
    expect(state.pots.treasury - before).toBe(sums.treasuryTax);
    const [leader, member] = [
      rewards.find(({ kind }) => kind === "leader")!,
      rewards.find(({ kind }) => kind === "member")!,
    ];
    expect(pools).toEqual([{
      pool: poolA,
      relativeStake: { numerator: activeStake, denominator: totalStake },
      blocks: 10,
      total: expect.any(BigInt),
      leader: leader.amount,
      members: new Map([[key(1), 300_000_000_000n], [key(2), 100_000_000_000n]]),
    }]);
    // what rounding leaves of it is less than a lovelace for each account
    const rest = pools[0]!.total - leader.amount - member.amount;
    expect(rest >= 0n && rest < 2n).toBe(true);
  });
});

describe("the ranking of pools", () => {
  it("assumes that a pool without blocks so far performs well, and accounts for missing blocks", () => {
    // Half a hundredth of Beta(40, 1) lies below 0.8759: the ledger uses that as the median.
    expect(performanceOf(undefined)).toBe(0.885);
    const seen = (blocks: number) => {
      const made = world();
      write(made.state.snapshots, firstSnapshots(made.state), "after");
      for (let epoch = 0; epoch < 8; epoch++) {
        makeBlocks(made, poolA, blocks);
        pass(made);
      }
      return performanceOf(rankingOf(made.state).likelihoods.get(poolA));
    };
    const [none, few, all] = [seen(0), seen(2), seen(5)];
    expect(none).toBeLessThan(few);
    expect(few).toBeLessThan(all);
    expect(all).toBeGreaterThan(0.8);
  });

  it("gives the rewards of delegating: proportional, higher for a cheaper pool, none if the pledge is not met", () => {
    const made = world();
    const { state } = made;
    made.pool(poolB, { account: stakeKeyOf(9), cost: 340_000_000n, margin: { numerator: 1n, denominator: 2n } });
    const broken = hash28(0xc);
    // It keeps all for itself, so that it is not among the best two.
    made.pool(broken, { pledge: 1n, owners: [hash28(55)], margin: { numerator: 1n, denominator: 1n } });
    write(state.snapshots, firstSnapshots(state), "after");
    makeBlocks(made, poolA, 8);
    pass(made);
    pass(made);
    const amounts = [1_000_000_000n, 2_000_000_000n];
    const rewards = nonMyopicMemberRewards(state, terms, [...amounts, key(2), key(55)]);
    const [one, two] = amounts.map((amount) => rewards.get(amount)!);
    expect(one!.get(poolA)).toBeGreaterThan(one!.get(poolB)!);
    expect(one!.get(poolB)).toBeGreaterThan(0n);
    expect(Number(two!.get(poolA)) / Number(one!.get(poolA))).toBeCloseTo(2, 2);
    expect([...rewards.values()].map((of) => of.get(broken))).toEqual([0n, 0n, 0n, 0n]);
    expect(rewards.get(key(2))!.get(poolA)).toBeGreaterThan(two!.get(poolA)!);
    expect(rewards.get(key(55))!.get(poolA)).toBe(0n);
  });
});
