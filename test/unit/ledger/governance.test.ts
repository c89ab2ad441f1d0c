/** Rules of governance that the recorded transitions do not show. */
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import { applyEpoch, passEpoch, undoEpoch } from "#src/ledger/epoch/pass.ts";
import { mainnetParametersAt, type Major } from "#src/ledger/parameters.ts";
import { ada, alice, bob, Person, tagged, World } from "../../support/ledger/draft.ts";

const carol = new Person(3);
const terms = {
  epochLength: 100,
  activeSlots: { numerator: 1n, denominator: 10n },
  maxSupply: 45_000_000_000n * ada,
};
const worldAt = (major: Major) => new World(mainnetParametersAt(major));
const of = ({ stakeHash }: Person): Encodable => [0, fromHex(stakeHash)];
const action = { txHash: "07".repeat(32), index: 0 };
const id: Encodable = [fromHex(action.txHash), action.index];
const keys = [alice, bob, carol].flatMap(({ payment, stake }) => [payment, stake]);

/** A vote of yes, by the tag of the voter. */
const vote = (tag: number, { stakeHash }: Person): Map<Encodable, Encodable> =>
  new Map([[[tag, fromHex(stakeHash)], new Map<Encodable, Encodable>([[id, [1, null]]])]]);
const COMMITTEE = 0;
const DREP = 2;

/** A new committee with a member. */
const election = ({ stakeHash }: Person): Encodable => [
  4,
  null,
  [],
  new Map<Encodable, Encodable>([[[0, fromHex(stakeHash)], 20]]),
  tagged(30, [1, 2]),
];

describe("a member that is proposed and not elected", () => {
  it("loses the hot credential and the resignation at a boundary, and may answer for the seat after it", async () => {
    const world = worldAt(10);
    const { state } = world;
    const { committee } = state;
    world.propose(action, election(bob));
    committee.set(bob.account, {});
    committee.set(carol.account, { elected: true, until: 20 });
    for (const [person, certificate] of [[bob, [14, of(bob), of(alice)]], [carol, [15, of(carol), null]]] as const) {
      await world.apply({ certificates: [certificate], keys: [alice.payment, person.stake] });
    }
    expect(committee.get(bob.account)).toEqual({ hot: alice.account });
    const delta = passEpoch(state, terms);
    applyEpoch(state, delta);
    expect(committee.get(bob.account)).toEqual({});
    expect(committee.get(carol.account)).toEqual({ elected: true, until: 20, resigned: true });
    undoEpoch(state, delta);
    expect(committee.get(bob.account)).toEqual({ hot: alice.account });
    applyEpoch(state, delta);
    const resigning = { certificates: [[15, of(bob), null]], keys: [alice.payment, bob.stake] };
    await world.apply(resigning);
    expect(await world.failures(resigning)).toEqual(["ConwayCommitteeHasPreviouslyResigned"]);
    applyEpoch(state, passEpoch(state, terms));
    expect(await world.failures(resigning)).toEqual([]);
  });
});

describe("votes of a stranger", () => {
  it("are refused as such, and nothing else is said about them", async () => {
    for (const major of [9, 10] as const) {
      const world = worldAt(major);
      const stranger = { fields: { 19: vote(DREP, bob) }, keys };
      // on nothing; on an action that representatives do not vote on in version 9; on one that has expired
      expect(await world.failures(stranger)).toEqual(["VotersDoNotExist"]);
      world.propose(action, [1, null, [major, 1]]);
      expect(await world.failures(stranger)).toEqual(["VotersDoNotExist"]);
      world.state.epoch += 10;
      expect(await world.failures(stranger)).toEqual(["VotersDoNotExist"]);
    }
  });
});

describe("a vote for a member that is not elected", () => {
  const world = (major: Major) => {
    const made = worldAt(major);
    made.propose(action);
    made.state.committee.set(carol.account, { hot: bob.account });
    return made;
  };
  const voting = { fields: { 19: vote(COMMITTEE, bob) }, keys };

  it.each([9, 10] as const)("is refused by the mempool, and not in a block, of version %i", async (major) => {
    const made = world(major);
    expect(await made.failures(voting)).toEqual([]);
    made.submission = { horizon: undefined };
    const shown = `KeyHashObj (KeyHash {unKeyHash = "${bob.stakeHash}"})`;
    expect(await made.judge(voting)).toEqual([
      {
        name: "ConwayMempoolFailure",
        message: `Unelected committee members are not allowed to cast votes: [${shown}]`,
      },
    ]);
    made.state.committee.set(carol.account, { hot: bob.account, elected: true, until: 20 });
    expect(await made.failures(voting)).toEqual([]);
  });

  it("is refused by a rule of version 11 alone", async () => {
    const made = world(11);
    expect(await made.failures(voting)).toEqual(["UnelectedCommitteeVoters"]);
    made.submission = { horizon: undefined };
    expect(await made.failures(voting)).toEqual(["UnelectedCommitteeVoters"]);
  });
});

describe("the end of a representative", () => {
  /** Carol's account, in a ledger where Alice and Bob are representatives. */
  const begin = (major: Major) => {
    const world = worldAt(major);
    const { state } = world;
    world.register(carol);
    for (const { account } of [alice, bob]) state.dreps.set(account, { deposit: 500n * ada, expiry: 99 });
    return {
      world,
      drepOf: () => state.accounts.get(carol.account)?.drep,
      delegate: (to: Encodable) => world.apply({ certificates: [[9, of(carol), to]], keys }),
      register: (whose: Person) =>
        world.apply({
          inputs: [world.fund(alice.address, 600n * ada)],
          certificates: [[16, of(whose), 500n * ada, null]],
          extra: -500n * ada,
          keys,
        }),
      end: (whose: Person) => world.apply({ certificates: [[17, of(whose), 500n * ada]], extra: 500n * ada, keys }),
    };
  };

  it("takes the vote of an account that had left it for another one, in version 9 alone", async () => {
    for (const [major, left] of [[9, undefined], [10, bob.account]] as const) {
      const { delegate, end, drepOf } = begin(major);
      await delegate(of(alice));
      await delegate(of(bob));
      await end(alice);
      expect(drepOf()).toBe(left);
    }
  });

  it("leaves the vote of an account that had left it for none, and one from before its registration", async () => {
    const { delegate, end, register, drepOf } = begin(9);
    await delegate(of(alice));
    await delegate([2]);
    await end(alice);
    expect(drepOf()).toBe("abstain");
    await delegate(of(alice));
    await register(alice);
    await end(alice);
    expect(drepOf()).toBe(alice.account);
  });

  it("takes no vote of those that had left it from version 10 on", async () => {
    const { world: { state }, delegate, end, drepOf } = begin(9);
    await delegate(of(alice));
    await delegate(of(bob));
    const { protocolVersion } = mainnetParametersAt(10);
    applyEpoch(
      state,
      passEpoch(state, { ...terms, hardFork: { epoch: state.epoch + 1, parameters: { protocolVersion } } }),
    );
    await end(alice);
    expect(drepOf()).toBe(bob.account);
  });
});
