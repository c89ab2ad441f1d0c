/**
 * Certificates and withdrawals (rules CERTS, DELEG, POOL, GOVCERT) and the checked parts of proposals, by the names of
 * protocol version 10; those of 11 are in `version11.test.ts`.
 */
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { credentialKey } from "#src/ledger/state.ts";
import { ada, alice, bob, type Draft, type Person, tagged, World } from "../../support/ledger/draft.ts";
import { agrees, plutusHash } from "../../support/plutus/scripts.ts";

const of = (person: Person): Encodable => [0, fromHex(person.stakeHash)];
const pool = "aa".repeat(28);
const both = [alice.payment, alice.stake];
const DEPOSIT = 2n * ada;

const register = (person = alice): Encodable => [0, of(person)];
const registerFor = (deposit: bigint, person = alice): Encodable => [7, of(person), deposit];
const leave = (person = alice): Encodable => [1, of(person)];
const leaveFor = (refund: bigint, person = alice): Encodable => [8, of(person), refund];
const delegate = (id = pool): Encodable => [2, of(alice), fromHex(id)];
const vote = (drep: Encodable): Encodable => [9, of(alice), drep];
const abstain: Encodable = [2];

const certify = (certificates: Encodable[], extra = 0n, keys = both): Draft => ({ certificates, extra, keys });
const withdraw = (amount: bigint, more: Partial<Draft> = {}): Draft => ({
  withdrawals: [[alice.reward, amount]],
  keys: both,
  ...more,
});

type Case = [what: string, prepare: (world: World) => void, draft: Draft, failures: string[]];
const judge = (cases: readonly Case[]) =>
  it.each(cases)("%s", async (_, prepare, draft, expected) => {
    const world = new World(mainnetParametersAt(10));
    world.state.pools.set(pool, { certificate: new Uint8Array(), deposit: 500n * ada });
    prepare(world);
    expect(await world.failures({ inputs: [world.fund(alice.address, 900n * ada)], ...draft })).toEqual(expected);
  });
const nothing = () => {};
const registered = (world: World) => world.register(alice);

describe("accounts", () => {
  judge([
    ["are registered", nothing, certify([register()], -DEPOSIT), []],
    [
      "are registered in the old way without the stake key",
      nothing,
      certify([register()], -DEPOSIT, [alice.payment]),
      [],
    ],
    ["are registered with a stated deposit", nothing, certify([registerFor(DEPOSIT)], -DEPOSIT), []],
    [
      "need the stake key where the deposit is stated",
      nothing,
      certify([registerFor(DEPOSIT)], -DEPOSIT, [alice.payment]),
      [
        "MissingVKeyWitnessesUTXOW",
      ],
    ],
    ["state the right deposit", nothing, certify([registerFor(3n * ada)], -DEPOSIT), ["IncorrectDepositDELEG"]],
    ["pay the deposit", nothing, certify([register()]), ["ValueNotConservedUTxO"]],
    ["are registered once", registered, certify([register()], -DEPOSIT), ["StakeKeyRegisteredDELEG"]],
    ["are registered once in a transaction", nothing, certify([register(), registerFor(DEPOSIT)], -2n * DEPOSIT), [
      "StakeKeyRegisteredDELEG",
    ]],
    ["are closed, and the deposit returns", registered, certify([leave()], DEPOSIT), []],
    ["are closed with the refund stated", registered, certify([leaveFor(DEPOSIT)], DEPOSIT), []],
    ["state the right refund", registered, certify([leaveFor(3n * ada)], DEPOSIT), ["IncorrectDepositDELEG"]],
    ["need the stake key to be closed", registered, certify([leave()], DEPOSIT, [alice.payment]), [
      "MissingVKeyWitnessesUTXOW",
    ]],
    ["are closed when they are registered", nothing, certify([leave()]), ["StakeKeyNotRegisteredDELEG"]],
    ["are not closed with rewards", (world) => world.register(alice, { balance: 1n }), certify([leave()], DEPOSIT), [
      "StakeKeyHasNonZeroAccountBalanceDELEG",
    ]],
    [
      "give back what was paid, when the parameter has changed",
      (world) => {
        world.state.accounts.set(alice.account, { deposit: 5n * ada, balance: 0n });
      },
      certify([leave()], 5n * ada),
      [],
    ],
    ["are registered and closed in one transaction", nothing, certify([register(), leave()]), []],
    ["are closed and registered in one transaction", registered, certify([leave(), register()]), []],
  ]);

  it("are rows, and removed when they are closed", async () => {
    const world = new World(mainnetParametersAt(10));
    await world.apply(certify([register()], -DEPOSIT));
    expect(world.state.accounts.get(alice.account)).toEqual({ deposit: DEPOSIT, balance: 0n });
    expect(world.state.pots.deposits).toBe(DEPOSIT);
    await world.apply(certify([leave()], DEPOSIT));
    expect(world.state.accounts.get(alice.account)).toBeUndefined();
    expect(world.state.pots.deposits).toBe(0n);
    expect(await world.failures(certify([delegate()]))).toContain("StakeKeyNotRegisteredDELEG");
  });

  it("of scripts are registered with the script", async () => {
    const world = new World(mainnetParametersAt(10));
    const script: Encodable = [1, fromHex(plutusHash(3, agrees))];
    const draft: Draft = { certificates: [[7, script, DEPOSIT]], extra: -DEPOSIT };
    expect(await world.failures(draft)).toEqual(["MissingScriptWitnessesUTXOW"]);
    await world.apply({ ...draft, plutus: { 3: [agrees] }, redeemers: [[2, 0]] });
    expect(world.state.accounts.get("s" + plutusHash(3, agrees))).toBeDefined();
  });
});

describe("delegations", () => {
  judge([
    ["go to a pool", registered, certify([delegate()]), []],
    ["go to a pool of the same transaction's account", nothing, certify([register(), delegate()], -DEPOSIT), []],
    ["go to a pool that is there", registered, certify([delegate("bb".repeat(28))]), [
      "DelegateeStakePoolNotRegisteredDELEG",
    ]],
    ["come from an account", nothing, certify([delegate()]), ["StakeKeyNotRegisteredDELEG"]],
    ["need the stake key", registered, certify([delegate()], 0n, [alice.payment]), ["MissingVKeyWitnessesUTXOW"]],
    ["may change", (world) => world.register(alice, { pool: "bb".repeat(28) }), certify([delegate()]), []],
    ["delegate the vote to abstain", registered, certify([vote(abstain)]), []],
    ["give the vote to no confidence", registered, certify([vote([3])]), []],
    ["delegate the vote to a registered representative", registered, certify([vote([0, fromHex(bob.hash)])]), [
      "DelegateeDRepNotRegisteredDELEG",
    ]],
    ["give stake and vote", registered, certify([[10, of(alice), fromHex(pool), abstain]]), []],
    ["come with a registration to a pool", nothing, certify([[11, of(alice), fromHex(pool), DEPOSIT]], -DEPOSIT), []],
    ["come with a registration to abstain", nothing, certify([[12, of(alice), abstain, DEPOSIT]], -DEPOSIT), []],
    [
      "come with a registration to both",
      nothing,
      certify([[13, of(alice), fromHex(pool), abstain, DEPOSIT]], -DEPOSIT),
      [],
    ],
    [
      "come with a registration for the right deposit",
      nothing,
      certify([[11, of(alice), fromHex(pool), ada]], -DEPOSIT),
      [
        "IncorrectDepositDELEG",
      ],
    ],
  ]);

  it("are stored in the account", async () => {
    const world = new World(mainnetParametersAt(10));
    world.state.pools.set(pool, { certificate: new Uint8Array(), deposit: 0n });
    world.register(alice, { balance: 7n });
    await world.apply(certify([[10, of(alice), fromHex(pool), abstain]]));
    expect(world.state.accounts.get(alice.account)).toEqual({ deposit: DEPOSIT, balance: 7n, pool, drep: "abstain" });
  });
});

describe("withdrawals", () => {
  const rich = (world: World) => world.register(alice, { balance: 5n * ada, drep: "abstain" });
  const elsewhere = fromHex(rewardAddress(1, alice.credential).hex);
  judge([
    ["take all rewards", rich, withdraw(5n * ada), []],
    ["take nothing less", rich, withdraw(4n * ada), ["WithdrawalsNotInRewardsCERTS"]],
    ["take nothing more", rich, withdraw(6n * ada), ["WithdrawalsNotInRewardsCERTS"]],
    ["need the stake key", rich, withdraw(5n * ada, { keys: [alice.payment] }), ["MissingVKeyWitnessesUTXOW"]],
    ["come from an account", nothing, withdraw(0n), ["ConwayWdrlNotDelegatedToDRep", "WithdrawalsNotInRewardsCERTS"]],
    ["come from an account that delegates its vote", registered, withdraw(0n), ["ConwayWdrlNotDelegatedToDRep"]],
    ["may be of nothing", (world) => world.register(alice, { drep: "abstain" }), withdraw(0n), []],
    ["come from the right network", rich, {
      withdrawals: [[elsewhere, 5n * ada]],
      keys: both,
    }, ["WithdrawalsNotInRewardsCERTS", "WrongNetworkWithdrawal"]],
    ["may close the account", rich, withdraw(5n * ada, { certificates: [leave()], extra: DEPOSIT }), []],
    [
      "do not follow the delegation of the vote in one transaction",
      (world) => world.register(alice, { balance: ada }),
      {
        ...withdraw(ada),
        certificates: [vote(abstain)],
      },
      ["ConwayWdrlNotDelegatedToDRep"],
    ],
  ]);

  it("are made once", async () => {
    const world = new World(mainnetParametersAt(10));
    rich(world);
    await world.apply(withdraw(5n * ada));
    expect(world.state.accounts.get(alice.account)?.balance).toBe(0n);
    expect(await world.failures(withdraw(5n * ada))).toEqual(["WithdrawalsNotInRewardsCERTS"]);
  });

  it("need no vote before protocol version 10", async () => {
    const world = new World(mainnetParametersAt(9));
    world.register(alice, { balance: ada });
    expect(await world.failures(withdraw(ada))).toEqual([]);
  });

  it("of scripts need no vote, but the script", async () => {
    const world = new World(mainnetParametersAt(10));
    const credential = { kind: "script" as const, hash: plutusHash(3, agrees) };
    world.state.accounts.set(credentialKey(credential), { deposit: DEPOSIT, balance: 3n });
    const draft: Draft = { withdrawals: [[fromHex(rewardAddress(0, credential).hex), 3n]] };
    expect(await world.failures(draft)).toEqual(["MissingScriptWitnessesUTXOW"]);
    expect(await world.failures({ ...draft, plutus: { 3: [agrees] }, redeemers: [[3, 0]] })).toEqual([]);
  });
});

describe("stake pools", () => {
  const cold = bob.stakeHash;
  const pledge = (changes: Partial<Record<number, Encodable>> = {}): Encodable =>
    [
      3,
      fromHex(cold),
      new Uint8Array(32),
      100n * ada,
      170n * ada,
      tagged(30, [1, 50]),
      alice.reward,
      [fromHex(alice.stakeHash)],
      [[1, 3001, "relay.example"], [0, null, Uint8Array.of(127, 0, 0, 1), null]],
      ["https://pool.example/metadata.json", new Uint8Array(32)],
    ].map((field, index) => changes[index] ?? field);
  const all = [...both, bob.stake];
  const retire = (epoch: number, id = cold): Encodable => [4, fromHex(id), epoch];
  const known = (world: World) =>
    void world.state.pools.set(cold, { certificate: new Uint8Array(), deposit: 500n * ada });
  const otherNetwork = fromHex(rewardAddress(1, alice.credential).hex);
  judge([
    ["are registered", nothing, certify([pledge()], -500n * ada, all), []],
    ["pay the deposit", nothing, certify([pledge()], 0n, all), ["ValueNotConservedUTxO"]],
    ["need their cold key", nothing, certify([pledge()], -500n * ada, both), ["MissingVKeyWitnessesUTXOW"]],
    ["need their owners' keys", nothing, certify([pledge()], -500n * ada, [alice.payment, bob.stake]), [
      "MissingVKeyWitnessesUTXOW",
    ]],
    ["cost something", nothing, certify([pledge({ 4: 170n * ada - 1n })], -500n * ada, all), [
      "StakePoolCostTooLowPOOL",
    ]],
    ["pay to an account of this network", nothing, certify([pledge({ 6: otherNetwork })], -500n * ada, all), [
      "WrongNetworkPOOL",
    ]],
    ["have a short metadata hash", nothing, certify([pledge({ 9: ["a", new Uint8Array(33)] })], -500n * ada, all), [
      "PoolMedataHashTooBig",
    ]],
    ["change without a deposit", known, certify([pledge()], 0n, all), []],
    ["pay once in a transaction", nothing, certify([pledge(), pledge({ 3: 1n })], -500n * ada, all), []],
    ["retire in the next epoch", known, certify([retire(11)], 0n, all), []],
    ["retire within 18 epochs", known, certify([retire(28)], 0n, all), []],
    ["do not retire later", known, certify([retire(29)], 0n, all), ["StakePoolRetirementWrongEpochPOOL"]],
    ["do not retire now", known, certify([retire(10)], 0n, all), ["StakePoolRetirementWrongEpochPOOL"]],
    ["retire when they are there", nothing, certify([retire(11)], 0n, all), ["StakePoolNotRegisteredOnKeyPOOL"]],
    ["need their cold key to retire", known, certify([retire(11)], 0n, both), ["MissingVKeyWitnessesUTXOW"]],
  ]);

  it("cancel their retirement when they change", async () => {
    const world = new World(mainnetParametersAt(10));
    await world.apply({ ...certify([pledge()], -500n * ada, all), inputs: [world.fund(alice.address, 600n * ada)] });
    expect(world.state.pools.get(cold)).toMatchObject({ deposit: 500n * ada, certificate: encode(pledge()) });
    await world.apply(certify([retire(12)], 0n, all));
    expect(world.state.pools.get(cold)?.retiring).toBe(12);
    const later = pledge({ 3: 7n });
    await world.apply(certify([later], 0n, all));
    expect(world.state.pools.get(cold)).toEqual({
      deposit: 500n * ada,
      certificate: encode(pledge()),
      future: encode(later),
    });
  });
});

describe("representatives and the committee", () => {
  const anchor: Encodable = ["https://drep.example", new Uint8Array(32)];
  const enroll = (deposit = 500n * ada, at: Encodable = anchor): Encodable => [16, of(alice), deposit, at];
  const resign = (refund = 500n * ada): Encodable => [17, of(alice), refund];
  const enrolled = (world: World) => void world.state.dreps.set(alice.account, { deposit: 500n * ada });
  const seated = (world: World) => void world.state.committee.set(alice.account, {});
  judge([
    ["are registered", nothing, certify([enroll()], -500n * ada), []],
    ["are registered without an anchor", nothing, certify([enroll(500n * ada, null)], -500n * ada), []],
    ["pay the right deposit", nothing, certify([enroll(400n * ada)], -500n * ada), ["ConwayDRepIncorrectDeposit"]],
    ["are registered once", enrolled, certify([enroll()], -500n * ada), ["ConwayDRepAlreadyRegistered"]],
    ["leave", enrolled, certify([resign()], 500n * ada), []],
    ["get back what they paid", enrolled, certify([resign(1n)], 500n * ada), ["ConwayDRepIncorrectRefund"]],
    ["leave when they are there", nothing, certify([resign()]), ["ConwayDRepNotRegistered"]],
    ["come and go in one transaction", nothing, certify([enroll(), resign()]), []],
    ["show that they are there", enrolled, certify([[18, of(alice), anchor]]), []],
    ["show it when they are there", nothing, certify([[18, of(alice), null]]), ["ConwayDRepNotRegistered"]],
    ["sign", enrolled, certify([[18, of(alice), null]], 0n, [alice.payment]), ["MissingVKeyWitnessesUTXOW"]],
    ["name a hot key", seated, certify([[14, of(alice), of(bob)]]), []],
    ["have a seat", nothing, certify([[14, of(alice), of(bob)]]), ["ConwayCommitteeIsUnknown"]],
    ["resign", seated, certify([[15, of(alice), null]]), []],
    [
      "resign permanently",
      (world) => void world.state.committee.set(alice.account, { resigned: true }),
      certify([
        [14, of(alice), of(bob)],
      ]),
      ["ConwayCommitteeHasPreviouslyResigned"],
    ],
  ]);

  it("leave their delegators without one", async () => {
    const world = new World(mainnetParametersAt(10));
    enrolled(world);
    world.register(alice, { drep: alice.account });
    world.register(bob, { drep: "abstain" });
    await world.apply(certify([resign()], 500n * ada));
    expect(world.state.dreps.get(alice.account)).toBeUndefined();
    expect(world.state.accounts.get(alice.account)).toEqual({ deposit: DEPOSIT, balance: 0n });
    expect(world.state.accounts.get(bob.account)?.drep).toBe("abstain");
  });
});

describe("proposals", () => {
  const deposit = 100_000n * ada;
  const anchor: Encodable = ["https://proposal.example", new Uint8Array(32)];
  const propose = (action: Encodable, changes: { deposit?: bigint; account?: Uint8Array } = {}): Draft => ({
    fields: { 20: [[changes.deposit ?? deposit, changes.account ?? alice.reward, action, anchor]] },
    extra: -deposit,
  });
  const info: Encodable = [6];
  const committee = (
    removed: Encodable[],
    added: [Encodable, number][],
  ): Encodable => [4, null, removed, new Map(added), tagged(30, [1, 2])];
  const cases: [string, Draft, string[]][] = [
    ["pay a deposit", propose(info), []],
    ["pay the right deposit", propose(info, { deposit: 1n }), ["ProposalDepositIncorrect"]],
    ["return it to an account", propose(info, { account: bob.reward }), ["ProposalReturnAccountDoesNotExist"]],
    ["may change the committee", propose(committee([], [[of(bob), 12]])), []],
    ["do not add and remove one member", propose(committee([of(bob)], [[of(bob), 12]])), [
      "ConflictingCommitteeUpdate",
    ]],
    ["add members for some time", propose(committee([], [[of(bob), 10]])), ["ExpirationEpochTooSmall"]],
    ["pay nothing to an account", propose([2, new Map([[alice.reward, 0n]]), null]), ["ZeroTreasuryWithdrawals"]],
    ["pay accounts", propose([2, new Map([[bob.reward, 5n]]), null]), ["TreasuryWithdrawalReturnAccountsDoNotExist"]],
  ];
  it.each(cases)("%s", async (_, draft, expected) => {
    const world = new World(mainnetParametersAt(10));
    world.register(alice);
    const inputs = [world.fund(alice.address, 200_000n * ada)];
    expect(await world.failures({ ...draft, inputs })).toEqual(expected);
  });

  it("and votes are signed", async () => {
    const world = new World(mainnetParametersAt(10));
    world.state.dreps.set(alice.account, { deposit: 1n });
    world.propose({ txHash: "00".repeat(32), index: 0 });
    const votes = new Map<Encodable, Encodable>([[
      [2, fromHex(alice.stakeHash)],
      new Map<Encodable, Encodable>([[[new Uint8Array(32), 0], [1, null]]]),
    ]]);
    expect(await world.failures({ fields: { 19: votes }, keys: both })).toEqual([]);
    expect(await world.failures({ fields: { 19: votes } })).toEqual(["MissingVKeyWitnessesUTXOW"]);
  });
});
