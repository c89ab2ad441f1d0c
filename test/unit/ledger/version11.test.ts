/**
 * The changes of protocol version 11: references may be spent, withdrawals and deposits fail with other names, a VRF
 * key belongs to one pool.
 */
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { mainnetCostModels } from "../../support/plutus/conformancePrograms.ts";
import { ada, alice, bob, type Draft, type Person, reference, tagged, World } from "../../support/ledger/draft.ts";

const world11 = () => new World(mainnetParametersAt(11));
const world10 = () => new World(mainnetParametersAt(10));
const of = (person: Person): Encodable => [0, fromHex(person.stakeHash)];
const keys = [alice, bob].flatMap(({ payment, stake }) => [payment, stake]);

describe("protocol version 11", () => {
  it("has the cost models that mainnet enacted", () => {
    const enacted = mainnetCostModels();
    expect([...mainnetParametersAt(11).costModels]).toEqual([[0, enacted[1]], [1, enacted[2]], [2, enacted[3]]]);
  });

  it("lets a transaction spend what it refers to, which 10 does not", async () => {
    for (const [world, failures] of [[world11(), []], [world10(), ["BabbageNonDisjointRefInputs"]]] as const) {
      const input = world.fund(alice.address);
      const draft: Draft = { inputs: [input], fields: { 18: [reference(input)] } };
      expect(await world.failures(draft)).toEqual(failures);
    }
  });

  it("names accounts that are missing and withdrawals that leave a remainder, separately", async () => {
    const world = world11();
    world.register(alice, { balance: 5n * ada, drep: "abstain" });
    const withdraw = (...withdrawals: (readonly [Uint8Array, bigint])[]): Draft => ({ withdrawals, keys });
    expect(await world.failures(withdraw([alice.reward, 5n * ada]))).toEqual([]);
    expect(await world.failures(withdraw([alice.reward, 4n * ada]))).toEqual(["ConwayIncompleteWithdrawals"]);
    expect(await world.failures(withdraw([alice.reward, 4n * ada], [bob.reward, 0n]))).toEqual([
      "ConwayWdrlNotDelegatedToDRep",
      "ConwayWithdrawalsMissingAccounts",
      "ConwayIncompleteWithdrawals",
    ]);
    await world.apply(withdraw([alice.reward, 5n * ada]));
    expect(world.state.accounts.get(alice.account)?.balance).toBe(0n);
  });

  it("drains accounts before certificates, so that one transaction may withdraw and close", async () => {
    const world = world11();
    world.register(alice, { balance: 5n * ada, drep: "abstain" });
    const draft: Draft = {
      withdrawals: [[alice.reward, 5n * ada]],
      certificates: [[8, of(alice), 2n * ada]],
      extra: 2n * ada,
      keys,
    };
    expect(await world.failures(draft)).toEqual([]);
  });

  it("distinguishes wrong deposits from wrong refunds", async () => {
    const world = world11();
    const register: Draft = { certificates: [[7, of(bob), 3n * ada]], extra: -2n * ada, keys };
    expect(await world.failures(register)).toEqual(["DepositIncorrectDELEG"]);
    world.register(alice);
    const leave: Draft = { certificates: [[8, of(alice), 3n * ada]], extra: 2n * ada, keys };
    expect(await world.failures(leave)).toEqual(["RefundIncorrectDELEG"]);
  });

  it("gives a VRF key to one pool, which may keep it", async () => {
    const pool = (cold: Person, vrf: number): Draft => ({
      certificates: [[
        3,
        fromHex(cold.stakeHash),
        new Uint8Array(32).fill(vrf),
        0n,
        170n * ada,
        tagged(30, [0, 1]),
        alice.reward,
        [fromHex(alice.stakeHash)],
        [],
        null,
      ]],
      extra: -500n * ada,
      keys,
    });
    for (const [world, failures] of [[world11(), ["VRFKeyHashAlreadyRegistered"]], [world10(), []]] as const) {
      const submit = (draft: Draft) => ({ ...draft, inputs: [world.fund(alice.address, 900n * ada)] });
      await world.apply(submit(pool(alice, 1)));
      expect(await world.failures(submit(pool(bob, 1)))).toEqual(failures);
      expect(await world.failures(submit(pool(bob, 2)))).toEqual([]);
      await world.apply(submit({ ...pool(alice, 1), extra: 0n }));
      await world.apply(submit({ ...pool(alice, 2), extra: 0n }));
      expect(await world.failures(submit(pool(bob, 2)))).toEqual(failures);
      // the key that the pool will have from the next epoch on is taken for itself too, until it states another one
      expect(await world.failures(submit({ ...pool(alice, 2), extra: 0n }))).toEqual(failures);
      await world.apply(submit({ ...pool(alice, 1), extra: 0n }));
      expect(await world.failures(submit(pool(bob, 2)))).toEqual([]);
    }
  });

  it("refuses votes of a committee member who was not elected, which 10 accepts", async () => {
    const hot = fromHex(alice.stakeHash);
    const votes = new Map<Encodable, Encodable>([[
      [0, hot],
      new Map<Encodable, Encodable>([[[new Uint8Array(32), 0], [1, null]]]),
    ]]);
    for (const [world, failures] of [[world11(), ["UnelectedCommitteeVoters"]], [world10(), []]] as const) {
      world.propose({ txHash: "00".repeat(32), index: 0 });
      world.state.committee.set(bob.account, { hot: alice.account });
      expect(await world.failures({ fields: { 19: votes }, keys })).toEqual(failures);
      world.state.committee.set(bob.account, { hot: alice.account, elected: true });
      expect(await world.failures({ fields: { 19: votes }, keys })).toEqual([]);
    }
  });

  it("keeps a member elected who names another hot key", async () => {
    const world = world11();
    world.state.committee.set(bob.account, { elected: true });
    await world.apply({ certificates: [[14, of(bob), of(alice)]], keys });
    expect(world.state.committee.get(bob.account)).toEqual({ elected: true, hot: alice.account });
  });

  it("refuses a proposal of zero desired pools, which 10 accepts; other zeros both refuse", async () => {
    const anchor: Encodable = ["https://proposal.example", new Uint8Array(32)];
    const propose = (world: World, changes: Map<number, Encodable>): Draft => ({
      inputs: [world.fund(alice.address, 200_000n * ada)],
      fields: { 20: [[100_000n * ada, alice.reward, [0, null, changes, null], anchor]] },
      extra: -100_000n * ada,
    });
    for (const [world, failures] of [[world11(), ["MalformedProposal"]], [world10(), []]] as const) {
      world.register(alice);
      expect(await world.failures(propose(world, new Map([[8, 0]])))).toEqual(failures);
      expect(await world.failures(propose(world, new Map([[8, 1]])))).toEqual([]);
      expect(await world.failures(propose(world, new Map([[3, 0]])))).toEqual(["MalformedProposal"]);
      expect(await world.failures(propose(world, new Map()))).toEqual(["MalformedProposal"]);
    }
  });

  it("names a wrong script data hash by another failure, with the expected hash", async () => {
    const draft: Draft = { fields: { 11: new Uint8Array(32) }, datums: [1n] };
    const [failure] = (await world11().judge(draft) as readonly LedgerFailure[]).filter(({ name }) =>
      name === "ScriptIntegrityHashMismatch"
    );
    const { expected, preimage } = failure as Extract<LedgerFailure, { name: "ScriptIntegrityHashMismatch" }>;
    expect(hash256(fromHex(preimage!))).toBe(expected);
    expect(await world10().failures(draft)).toContain("PPViewHashesDontMatch");
  });
});
