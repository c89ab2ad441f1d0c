/**
 * Queries of governance with pallas (Rust) and gouroboros (Go) in the middle, on a devnet with actions of most kinds,
 * votes and an elected committee: what passes must be what the devnet said.
 */
import { afterEach, expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, Tagged } from "#src/cardano/cbor.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { connectNode } from "#src/node/client/connection.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import type { EraQuery } from "#src/node/queries/query.ts";
import { sendQuery } from "#src/node/queries/sendQuery.ts";
import { ANCHOR } from "../support/devnet/devnet.ts";
import { devnetWorld, valueOf } from "../support/devnet/devnetWorld.ts";
import { alice, POOL, POOL_VOTE, Voter } from "../support/devnet/voter.ts";
import { person } from "../support/wallets/person.ts";
import { hasPallas, hasRelay, type Relay, startRelay } from "./relay.ts";

const ada = 1_000_000n;
const bob = person("bob");
const world = devnetWorld();
let relay: Relay | undefined;
afterEach(async () => {
  await relay?.stop();
  relay = undefined;
});

const era = CONWAY;
const QUESTIONS = {
  constitution: { kind: "constitution", era },
  governanceState: { kind: "governanceState", era },
  drepState: { kind: "drepState", era, credentials: [] },
  drepStake: { kind: "drepStake", era, dreps: [] },
  committeeMembers: { kind: "committeeMembers", era, cold: [], hot: [], statuses: [] },
  poolStake: { kind: "poolStake", era, pools: [POOL] },
  proposals: { kind: "proposals", era, actions: [] },
  ratifyState: { kind: "ratifyState", era },
  rewardInfo: { kind: "rewardInfo", era },
  futureParameters: { kind: "futureParameters", era },
  poolDefaultVote: { kind: "poolDefaultVote", era, pool: POOL },
  drepDelegations: { kind: "drepDelegations", era, dreps: [] },
} as const satisfies Record<string, EraQuery>;

/** A devnet in which bob is in office, a constitution is decided, and other actions wait with votes. */
async function governed(): Promise<Devnet> {
  const devnet = await world.start({
    epochLength: 100,
    pools: 1,
    parameters: mainnetParametersAt(10),
    faucetLimit: 10_000_000n * ada,
  });
  const voter = await Voter.of(devnet);
  const [election] = await voter.propose([
    4,
    null,
    new Tagged(258, []),
    new Map([[[0, fromHex(bob.stake)] as Encodable, 50]]),
    new Tagged(30, [2, 3]),
  ]);
  await voter.vote([election!], POOL_VOTE);
  valueOf(await devnet.enterNextEpoch(0));
  // in the epoch that ends with the election; an earlier hot key would end before
  await voter.send({
    certificates: [[14, [0, fromHex(bob.stake)], [0, fromHex(bob.key)]]],
    signers: [alice.stakeSeed, bob.stakeSeed],
  });
  valueOf(await devnet.enterNextEpoch(0));
  const previous = [fromHex(election!.txHash), election!.index];
  const actions = await voter.propose(
    [0, null, new Map<Encodable, Encodable>([[8, 77], [9, new Tagged(30, [1, 3])]]), null],
    [1, null, [11, 0]],
    [2, new Map([[fromHex("e0" + alice.stake), 5n * ada]]), null],
    [3, previous],
    [
      4,
      previous,
      new Tagged(258, [[0, fromHex(bob.stake)]]),
      new Map([[[0, fromHex(alice.stake)] as Encodable, 60]]),
      new Tagged(30, [1, 2]),
    ],
    [5, null, [ANCHOR, null]],
    [6],
  );
  await voter.vote([actions[5]!], [0, bob]);
  await voter.vote([actions[1]!, actions[6]!], POOL_VOTE);
  valueOf(await devnet.enterNextEpoch(0));
  return devnet;
}

/** The answer at a socket, or the code of the failure. */
async function answerAt(path: string, query: EraQuery): Promise<unknown> {
  const connection = valueOf(await connectNode({ path }, { magic: 42 }));
  try {
    const session = valueOf(await connection.acquire("tip"));
    const answer = await sendQuery(session, query, AbortSignal.timeout(20_000));
    return answer.ok ? answer.value : answer.error.code;
  } finally {
    connection.close();
  }
}

/** What becomes of each question through a relay: "same", or the code of the failure. */
async function through(relay: Relay, path: string): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  for (const [name, query] of Object.entries(QUESTIONS)) {
    const [there, here] = [await answerAt(relay.path, query), await answerAt(path, query)];
    expect(typeof here, name).toBe("object");
    if (typeof there === "string") outcomes[name] = there;
    else {
      expect(there, name).toEqual(here);
      outcomes[name] = "same";
    }
  }
  return outcomes;
}

test.skipIf(!hasPallas)("pallas reads the state of governance", async () => {
  const { path } = await world.serve(await governed());
  relay = await startRelay(path, "pallas");
  expect(new Set(Object.values(await through(relay, path)))).toEqual(new Set(["same"]));
  // how a pool counts that does not vote is a query that it does not know
  expect(relay.queries.filter(({ query }) => query === undefined).length).toBe(1);
  const known = relay.queries.flatMap(({ query, answer }) => query === undefined ? [] : [[query, answer]]);
  expect(Object.fromEntries(known)).toEqual({
    // it leaves out a missing guardrails script when it writes these
    GetConstitution: "read",
    GetGovState: "read",
    GetProposals: "read",
    GetRatifyState: "read",
    GetCommitteeMembersState: "re-encoded",
    GetDRepStakeDistr: "re-encoded",
    GetDRepState: "re-encoded",
    GetDRepsDelegations: "re-encoded",
    GetFuturePParams: "re-encoded",
    GetSPOStakeDistr: "re-encoded",
    GetRewardInfoPools: "untyped",
  });
});

test.skipIf(!hasRelay)("gouroboros reads of governance what it has types for", async () => {
  const { path } = await world.serve(await governed());
  relay = await startRelay(path);
  // an answer is a list of one element, unless the eras differ: its types of the lost ones expect the element alone
  const lost = "connection_lost";
  expect(await through(relay, path)).toEqual({
    poolStake: "same",
    proposals: "same",
    rewardInfo: "same",
    constitution: lost,
    governanceState: lost,
    drepState: lost,
    drepStake: lost,
    committeeMembers: lost,
    ratifyState: lost,
    // it has no such queries
    futureParameters: lost,
    poolDefaultVote: lost,
    drepDelegations: "unsupported_version",
  });
  expect(relay.closed.filter((why) => why.includes("different number of elements")).length).toBe(4);
});
