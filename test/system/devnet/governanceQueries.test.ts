/** What the node socket says of governance, before and after what is decided takes force: compared with the ledger's state. */
import { afterEach, expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, Tagged } from "#src/cardano/cbor.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { takeSnapshot } from "#src/ledger/epoch/snapshot.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import type { LedgerState } from "#src/ledger/state.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import type { QuerySession } from "#src/node/client/sessions.ts";
import type { EraAnswer, EraQuery } from "#src/node/queries/query.ts";
import { sendEraQuery } from "#src/node/queries/sendQuery.ts";
import type { ArgumentsOf, EraKind } from "#src/node/queries/table.ts";
import { ANCHOR, certificates, PROPOSAL_DEPOSIT, spend, voting } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { alice, POOL, POOL_VOTE, Voter } from "../../support/devnet/voter.ts";
import { type Person, person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 100;
const bob = person("bob");
const REWARD = "e0" + alice.stake;

const world = devnetWorld();
const connections: NodeConnection[] = [];
afterEach(() => {
  for (const connection of connections.splice(0)) connection.close();
});

const start = (options: DevnetOptions = {}) =>
  world.start({
    epochLength: EPOCH,
    pools: 1,
    parameters: mainnetParametersAt(10),
    faucetLimit: 10_000_000n * ada,
    ...options,
  });

const credentialOf = ({ stake }: Person) => ({ kind: "key" as const, hash: stake });
const aliceCredential = credentialOf(alice);
const idsOf = (actions: readonly { readonly id: OutRef }[]) => actions.map(({ id }) => id);
const nextEpoch = async (devnet: Devnet) => valueOf(await devnet.enterNextEpoch(0));
const stateOf = async <T>(devnet: Devnet, read: (state: LedgerState) => T) => (await devnet.query(read))!;

type Target = Parameters<NodeConnection["acquire"]>[0];

/** Queries a devnet's socket. */
async function asking(devnet: Devnet, versions?: readonly number[]) {
  const { path } = await world.serve(devnet);
  const connection = valueOf(await connectNode({ path }, { magic: 42, ...(versions ? { versions } : {}) }));
  connections.push(connection);
  const at = async <T>(
    target: Parameters<NodeConnection["acquire"]>[0],
    work: (session: QuerySession) => Promise<T>,
  ) => {
    const session = valueOf(await connection.acquire(target));
    try {
      return await work(session);
    } finally {
      session.release();
    }
  };
  const ask = <K extends EraKind>(
    kind: K,
    given?: ArgumentsOf<K>,
    target: Target = "tip",
  ) => {
    type Query = Extract<EraQuery, { readonly kind: K }>;
    const query: unknown = Object.assign({ kind, era: 6 }, given);
    return at(target, async (session) => valueOf(await sendEraQuery(session, query as Query)) as EraAnswer<Query>);
  };
  return { ask, at };
}

/** What alice holds, in outputs and rewards. */
function aliceStake({ utxo, accounts }: LedgerState): bigint {
  const held = [...utxo.outputs()].filter(({ address }) => address === alice.base);
  return held.reduce((sum, { value }) => sum + value.lovelace, accounts.get(`k${alice.stake}`)!.balance);
}

test("proposals, votes, stake and what the next boundary does, as actions are decided and take force", async () => {
  const devnet = await start();
  const { ask, at } = await asking(devnet);
  const voter = await Voter.of(devnet);
  const actions = await voter.propose(
    [0, null, new Map([[8, 77]]), null],
    [2, new Map([[fromHex(REWARD), 5n * ada]]), null],
    [5, null, [ANCHOR, null]],
  );
  await voter.send({ fields: [[22, 9n * ada]] });
  await voter.vote(actions);
  const [parameters, payment, constitution] = actions as [OutRef, OutRef, OutRef];

  // nothing is counted before a boundary
  const before = await ask("governanceState");
  expect(idsOf(before.proposals.actions)).toEqual(actions);
  expect(before.proposals.actions.map(({ proposal: { action } }) => action)).toEqual([
    { kind: "parameters", changes: new Map([[8, 77n]]) },
    { kind: "treasury", payments: [[{ hex: REWARD, network: 0, credential: aliceCredential }, 5n * ada]] },
    expect.objectContaining({
      kind: "constitution",
      anchor: { url: "https://example.com/document", hash: expect.any(String) },
    }),
  ]);
  for (const action of before.proposals.actions) {
    expect(action).toMatchObject({
      committeeVotes: [],
      drepVotes: [{ voter: aliceCredential, vote: "yes" }],
      poolVotes: [],
      proposedIn: 0,
      expiresAfter: 6,
      proposal: { deposit: PROPOSAL_DEPOSIT, account: { hex: REWARD } },
    });
  }
  expect(before).toMatchObject({
    committee: { members: [], threshold: { numerator: 0n, denominator: 1n } },
    constitution: { anchor: { url: "" }, script: undefined },
    current: { desiredPools: 500 },
    previous: { desiredPools: 500 },
    future: { kind: "none" },
    pulsing: { snapshot: { actions: [], drepStake: [], dreps: [] }, ratify: { enacted: [], expired: [] } },
  });
  expect(await ask("proposals", { actions: [] })).toEqual([]);

  const first = await nextEpoch(devnet);
  // the count of votes holds until the next boundary, whatever is voted now
  await voter.send({ fields: [voting(alice, [[parameters, 0]])], signers: [alice.stakeSeed] });
  const counted = await ask("proposals", { actions: [] });
  expect(idsOf(counted)).toEqual(actions);
  expect(counted[0]!.drepVotes).toEqual([{ voter: aliceCredential, vote: "yes" }]);
  expect(idsOf(await ask("proposals", { actions: [payment] }))).toEqual([payment]);
  const decided = await ask("governanceState");
  expect(decided.proposals.actions[0]!.drepVotes).toEqual([{ voter: aliceCredential, vote: "no" }]);
  expect(decided.pulsing.snapshot.actions).toEqual(counted);
  const delaying = await ask("ratifyState");
  expect(decided.pulsing.ratify).toEqual(delaying);
  expect(delaying).toMatchObject({
    delayed: true,
    expired: [],
    state: {
      constitution: { anchor: { url: "https://example.com/document" } },
      roots: { constitution, parameters: undefined },
      current: { desiredPools: 500 },
    },
  });
  expect(idsOf(delaying.enacted)).toEqual([constitution]);
  expect((await ask("constitution")).anchor.url).toBe("");
  expect(await ask("futureParameters")).toBeUndefined();

  // at the boundary itself: the stake of representatives and pools, with the deposits of three actions
  const deposits = 3n * PROPOSAL_DEPOSIT;
  // the vote since then cost one ada
  const atBoundary = await stateOf(devnet, aliceStake) + ada;
  expect(await ask("drepStake", { dreps: [] })).toEqual([{ drep: aliceCredential, lovelace: atBoundary + deposits }]);
  expect(await ask("drepStake", { dreps: [{ kind: "abstain" }] })).toEqual([]);
  const { pools } = await ask("stakeSnapshots", { pools: [POOL] });
  expect(pools[0]!.mark).toBe(atBoundary);
  expect(await ask("poolStake", { pools: [POOL] })).toEqual([{ pool: POOL, lovelace: atBoundary + deposits }]);
  expect((await ask("poolStake", { pools: [] })).length).toBe(2);
  expect(decided.pulsing.snapshot).toMatchObject({
    drepStake: [{ drep: aliceCredential, lovelace: atBoundary + deposits }],
    dreps: [{ credential: aliceCredential, delegators: [aliceCredential], deposit: 500n * ada }],
    poolStake: expect.arrayContaining([{ pool: POOL, lovelace: atBoundary + deposits }]),
  });
  await voter.vote([parameters]);

  await nextEpoch(devnet);
  const treasury = await stateOf(devnet, ({ pots }) => pots.treasury);
  expect((await ask("constitution")).anchor.url).toBe("https://example.com/document");
  const second = await ask("governanceState");
  expect(second).toMatchObject({
    proposals: { roots: { constitution } },
    current: { desiredPools: 500 },
    previous: { desiredPools: 500 },
    future: { kind: "definite", parameters: { desiredPools: 77 } },
  });
  expect(await ask("futureParameters")).toMatchObject({ desiredPools: 77 });
  const ratify = await ask("ratifyState");
  expect(idsOf(ratify.enacted)).toEqual([parameters, payment]);
  expect(ratify).toMatchObject({
    delayed: false,
    state: {
      current: { desiredPools: 77 },
      treasury: treasury - 5n * ada,
      withdrawals: [{ credential: aliceCredential, lovelace: 5n * ada }],
      roots: { constitution, parameters },
    },
  });
  expect(await ask("accountState")).toMatchObject({ treasury });

  await nextEpoch(devnet);
  const third = await ask("governanceState");
  expect(third.proposals).toEqual({
    roots: { constitution, parameters, hardFork: undefined, committee: undefined },
    actions: [],
  });
  expect(third).toMatchObject({
    current: { desiredPools: 77 },
    previous: { desiredPools: 500 },
    future: { kind: "none" },
  });
  expect((await ask("parameters") as { parameters: unknown }).parameters).toEqual(third.current);
  await nextEpoch(devnet);
  expect(await ask("governanceState")).toMatchObject({ current: { desiredPools: 77 }, previous: { desiredPools: 77 } });

  // earlier states answer as they did
  const point = { slot: first.slot, hash: first.hash };
  const earlier = await ask("governanceState", {}, point);
  expect(earlier.pulsing).toEqual(decided.pulsing);
  expect(earlier.proposals.actions[0]!.drepVotes).toEqual([{ voter: aliceCredential, vote: "yes" }]);
  await at(point, async (session) => {
    const answer = valueOf(await sendEraQuery(session, { kind: "constitution", era: 6 }));
    expect(answer.anchor.url).toBe("");
  });
});

test("the committee before its election, in office, with a changed term and dismissed; default votes and delegations", async () => {
  const devnet = await start();
  const { ask } = await asking(devnet);
  const voter = await Voter.of(devnet);
  const all = { cold: [], hot: [], statuses: [] } as const;
  const bobCredential = credentialOf(bob);
  const hot = { kind: "key" as const, hash: bob.key };
  expect(await ask("committeeMembers", all)).toEqual({
    members: [],
    threshold: { numerator: 0n, denominator: 1n },
    epoch: 0,
  });
  const elect = (until: number, previous: Encodable): Encodable => [
    4,
    previous,
    new Tagged(258, []),
    new Map([[[0, fromHex(bob.stake)] as Encodable, until]]),
    new Tagged(30, [2, 3]),
  ];
  const [election] = await voter.propose(elect(50, null));
  const authorize = () =>
    voter.send({
      certificates: [[14, [0, fromHex(bob.stake)], [0, fromHex(bob.key)]]],
      signers: [alice.stakeSeed, bob.stakeSeed],
    });
  await authorize();
  const member = async () => (await ask("committeeMembers", all)).members[0];
  const unrecognized = {
    cold: bobCredential,
    hot: { kind: "authorized", credential: hot },
    status: "unrecognized",
    until: undefined,
  };
  expect(await member()).toEqual({ ...unrecognized, next: { kind: "removed" } });
  await voter.vote([election!], POOL_VOTE);
  await nextEpoch(devnet);
  // the epoch ended before the election, and the hot key with it
  expect(await member()).toEqual({ ...unrecognized, hot: { kind: "not authorized" }, next: { kind: "enacted" } });
  await authorize();
  expect(await member()).toEqual({ ...unrecognized, next: { kind: "enacted" } });
  expect((await ask("governanceState")).proposals.actions[0]).toMatchObject({
    drepVotes: [{ voter: aliceCredential, vote: "yes" }],
    poolVotes: [{ voter: POOL, vote: "yes" }],
  });
  await nextEpoch(devnet);
  const active = { ...unrecognized, status: "active", until: 50 };
  expect(await member()).toEqual({ ...active, next: { kind: "none" } });
  const committee = { members: [{ member: bobCredential, until: 50 }], threshold: { numerator: 2n, denominator: 3n } };
  expect(await ask("governanceState")).toMatchObject({
    committee,
    proposals: { roots: { committee: election } },
    pulsing: { ratify: { state: { committee } } },
  });
  expect((await ask("committeeMembers", { ...all, hot: [hot] })).members).toHaveLength(1);
  expect((await ask("committeeMembers", { ...all, hot: [bobCredential] })).members).toEqual([]);
  expect((await ask("committeeMembers", { ...all, cold: [aliceCredential] })).members).toEqual([]);
  expect((await ask("committeeMembers", { ...all, statuses: ["expired", "unrecognized"] })).members).toEqual([]);

  const [change] = await voter.propose(elect(60, [fromHex(election!.txHash), election!.index]));
  await voter.vote([change!], POOL_VOTE);
  await nextEpoch(devnet);
  expect(await member()).toEqual({ ...active, next: { kind: "term", until: 60 } });
  await nextEpoch(devnet);
  await voter.send({
    certificates: [[15, [0, fromHex(bob.stake)], ANCHOR]],
    signers: [alice.stakeSeed, bob.stakeSeed],
  });
  const resigned = { kind: "resigned", anchor: { url: "https://example.com/document", hash: expect.any(String) } };
  expect(await member()).toEqual({ ...active, until: 60, hot: resigned, next: { kind: "none" } });

  const [motion] = await voter.propose([3, [fromHex(change!.txHash), change!.index]]);
  await voter.vote([motion!], POOL_VOTE);
  await nextEpoch(devnet);
  expect(await member()).toMatchObject({ status: "active", next: { kind: "removed" } });
  await nextEpoch(devnet);
  expect(await ask("committeeMembers", all)).toMatchObject({ members: [], threshold: undefined });
  expect((await ask("committeeMembers", all)).epoch).toBe(await stateOf(devnet, ({ epoch }) => epoch));
  expect((await ask("governanceState")).committee).toBeUndefined();
});

test("default votes, delegations of votes, and what rewards of pools depend on", async () => {
  const devnet = await start();
  const { ask } = await asking(devnet);
  const voter = await Voter.of(devnet);
  const coin = await give(devnet, bob.base, 100n * ada);
  await makeBlock(devnet);
  const joined = spend({
    from: bob,
    inputs: [coin],
    outputs: [[bob.base, 97n * ada]],
    deposit: 2n * ada,
    certificates: [certificates.register(bob), certificates.abstain(bob)],
    signers: [bob.stakeSeed],
  });
  expect(valueOf(await devnet.submit(joined.cbor))).toEqual({ outcome: "accepted" });
  await makeBlock(devnet);
  const ofAlice = { drep: aliceCredential, delegators: [aliceCredential] };
  const abstaining = { drep: { kind: "abstain" as const }, delegators: [credentialOf(bob)] };
  expect(await ask("drepDelegations", { dreps: [] })).toEqual([ofAlice, abstaining]);
  expect(await ask("drepDelegations", { dreps: [aliceCredential] })).toEqual([ofAlice]);
  expect(await ask("drepDelegations", { dreps: [{ kind: "no confidence" }, abstaining.drep] })).toEqual([abstaining]);
  expect(await ask("poolDefaultVote", { pool: POOL })).toBe("no");
  expect(await ask("poolDefaultVote", { pool: "00".repeat(28) })).toBe("no");
  await voter.send({ certificates: [certificates.abstain(alice)] });
  expect(await ask("poolDefaultVote", { pool: POOL })).toBe("abstain");
  expect(await ask("drepDelegations", { dreps: [aliceCredential] })).toEqual([{ ...ofAlice, delegators: [] }]);
  await nextEpoch(devnet);
  const stakes = await ask("drepStake", { dreps: [] });
  const held = await stateOf(devnet, aliceStake);
  expect(stakes).toEqual([{ drep: abstaining.drep, lovelace: held + 97n * ada }]);

  await nextEpoch(devnet);
  const { pools, ...terms } = await ask("rewardInfo");
  const state = await stateOf(devnet, (state) => ({
    stake: takeSnapshot(state).pools.get(POOL)!.members,
    pot: state.ranking.get("pools")!.rewardPot,
    reserves: state.pots.reserves,
  }));
  expect(terms).toEqual({
    desiredPools: 500,
    pledgeInfluence: { numerator: 3n, denominator: 10n },
    pot: state.pot,
    totalStake: devnet.genesis.terms.maxSupply - state.reserves,
  });
  const own = state.stake.get(`k${alice.stake}`)!;
  expect(pools.find(({ pool }) => pool === POOL)).toMatchObject({
    stake: own,
    ownerStake: own,
    ownerPledge: 0n,
    cost: 170n * ada,
    margin: { numerator: 1n, denominator: 50n },
  });
  for (const { performance } of pools) expect(performance > 0 && performance <= 1).toBe(true);
});

test("representatives and a committee of the genesis count from the first epoch on", async () => {
  const devnet = await start({ dreps: 2, committee: 3 });
  const { ask } = await asking(devnet);
  const stakes = await ask("drepStake", { dreps: [] });
  const delegations = await ask("drepDelegations", { dreps: [] });
  expect(stakes.map(({ drep }) => drep)).toEqual(delegations.map(({ drep }) => drep));
  expect(stakes.length).toBe(2);
  for (const { lovelace } of stakes) expect(lovelace > 0n).toBe(true);
  const { members, threshold } = await ask("committeeMembers", { cold: [], hot: [], statuses: [] });
  expect(threshold).toEqual({ numerator: 2n, denominator: 3n });
  expect(members.map(({ hot, status, next }) => [hot.kind, status, next.kind]))
    .toEqual(Array.from({ length: 3 }, () => ["authorized", "active", "none"]));
  const { pulsing, committee } = await ask("governanceState");
  expect(pulsing.snapshot).toMatchObject({ drepStake: stakes, actions: [] });
  expect(pulsing.snapshot.dreps).toEqual(await ask("drepState", { credentials: [] }));
  expect(committee).toEqual({ members: members.map(({ cold, until }) => ({ member: cold, until })), threshold });
});

test("versions without a query refuse it on the client's side; older ones have the rest", async () => {
  const devnet = await start({ securityParameter: 2 });
  await makeBlock(devnet);
  const { ask, at } = await asking(devnet, [16]);
  const { current, future } = await ask("governanceState");
  expect(current).toMatchObject({ govActionLifetime: 6 });
  // far from the end of the epoch, another action could still be counted
  expect(future).toEqual({ kind: "potential", parameters: undefined });
  expect((await ask("committeeMembers", { cold: [], hot: [], statuses: ["active"] })).members).toEqual([]);
  await at("tip", async (session) => {
    for (const kind of ["ratifyState", "futureParameters"] as const) {
      expect(await sendEraQuery(session, { kind, era: 6 })).toMatchObject({ error: { code: "unsupported_version" } });
    }
  });
});
