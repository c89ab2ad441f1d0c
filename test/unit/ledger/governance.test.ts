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
