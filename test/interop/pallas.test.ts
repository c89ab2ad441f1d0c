/**
 * The node's socket with pallas (Rust) in the middle: its typed client towards our devnet, and its server towards our
 * client. The results must equal the devnet's rows.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import type { Credential } from "#src/cardano/address.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { type NodePort, nodePort } from "#src/chain/provider/node/port.ts";
import type { ChainPort, RawStep } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { sendQuery } from "#src/node/queries/sendQuery.ts";
import { decodeRejection, encodeRejection } from "#src/node/rejections/rejections.ts";
import { serveNode } from "#src/node/server/server.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import { certificates, spend } from "../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../support/devnet/devnetWorld.ts";
import { captured, examples } from "../support/ledger/failures.ts";
import { socketPath } from "../support/chain/nodeChain.ts";
import { until } from "../support/base/until.ts";
import { person } from "../support/wallets/person.ts";
import { chainOf, following, lowestTerms } from "./following.ts";
import { hasPallas, type Relay, startRelay } from "./relay.ts";
import { survey } from "./survey.ts";

const ada = 1_000_000n;
const alice = person("alice"), bob = person("bob");

const world = devnetWorld();
let devnet: Devnet;
let relay: Relay;
let node: NodePort;
const connections: NodeConnection[] = [];

async function connect(): Promise<NodeConnection> {
  const connection = valueOf(await connectNode({ path: relay.path }, { magic: 42 }));
  connections.push(connection);
  return connection;
}

const reaches = (steps: readonly RawStep[], hash: string) =>
  until(`the block ${hash}`, async () => chainOf(steps).at(-1) === hash, 20_000, 10);

/** Names of the failures in a reason. */
const failureNames = (reason: Uint8Array) => decodeRejection(reason).map((failure) => failure.name);

test.skipIf(!hasPallas)("failures of the ledger are decoded by pallas", async () => {
  const corpus = [
    ...captured.map(({ cbor }) => fromHex(cbor)),
    ...examples.map((failure) => encodeRejection([failure])),
  ];
  const path = socketPath();
  let queryCount = 0;
  const submit = () => Promise.resolve(corpus[queryCount++]);
  const server = valueOf(await serveNode({ path }, { magic: 42, submit }));
  const by = await startRelay(path, "pallas");
  const connection = valueOf(await connectNode({ path: by.path }, { magic: 42 }));
  try {
    for (const reason of corpus) {
      const verdict = valueOf(await connection.submit(Uint8Array.of(0x80), { era: CONWAY }));
      expect(verdict.accepted ? "" : toHex(verdict.reason)).toBe(toHex(reason));
    }
    const unread = by.verdicts.flatMap(({ unread }, i) => unread ? failureNames(corpus[i]!) : []);
    const unwritten = by.verdicts.filter(({ unwritten }) => unwritten).length;
    console.info(`pallas: ${corpus.length} refusals, ${unread.length} unread, ${unwritten} written otherwise`);
    // kinds that are newer than its types, or encoded differently since; none of the recorded ones
    expect(unread).toEqual([
      "VRFKeyHashAlreadyRegistered",
      "DepositIncorrectDELEG",
      "RefundIncorrectDELEG",
      "ConwayIncompleteWithdrawals",
      "ScriptIntegrityHashMismatch",
      "ScriptIntegrityHashMismatch",
      "UnelectedCommitteeVoters",
    ]);
  } finally {
    connection.close();
    await by.stop();
    await server.close();
  }
});

describe.skipIf(!hasPallas)("through pallas", () => {
  beforeEach(async () => {
    devnet = await world.start({ epochLength: 300 });
    const { path } = await world.serve(devnet);
    relay = await startRelay(path, "pallas");
    node = nodePort({ address: { path: relay.path }, magic: 42, log: silentLog, firstWaitMs: 20, answerMs: 10_000 });
  });
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.close();
    node?.close();
    await relay?.stop();
  });

  test("the handshake agrees on version 23 on both sides; mismatches are refused", async () => {
    const connection = await connect();
    expect(connection.version).toBe(23);
    valueOf(await connection.acquire("tip"));
    await until("the relay's own handshake", async () => relay.versions.length === 1);
    expect(relay.versions).toEqual([23]);
    expect(await connectNode({ path: relay.path }, { magic: 1 })).toMatchObject({
      ok: false,
      error: { code: "handshake_refused", message: expect.stringMatching(/refused the handshake/) },
    });
    const old = valueOf(await connectNode({ path: relay.path }, { magic: 42, versions: [16, 17] }));
    expect(old.version).toBe(17);
    old.close();
  });

  test("each query is answered, and decoded by pallas if it has a type for it", async () => {
    await give(devnet, person("nobody").enterprise, ada);
    for (let i = 0; i < 5; i++) await makeBlock(devnet);
    const { queries, ...seen } = await survey(relay.path, 42);
    expect(seen).toEqual({
      version: 23,
      blocks: 5,
      refusal: ["ConwayMempoolFailure"],
    });
    expect(Object.entries(queries).filter(([, answer]) => answer !== "answers")).toEqual([]);
    expect(Object.keys(queries).length).toBe(21);
    const how = Object.fromEntries(relay.queries.map(({ query, answer }) => [query, answer]));
    const reencoded = Object.keys(how).filter((name) => how[name] === "re-encoded");
    expect(reencoded.sort()).toEqual([
      "GetAccountState",
      "GetChainBlockNo",
      "GetChainPoint",
      "GetCurrentEra",
      "GetCurrentPParams",
      "GetEpochNo",
      "GetFilteredDelegationsAndRewardAccounts",
      "GetFilteredVoteDelegatees",
      "GetLedgerTip",
      "GetNonMyopicMemberRewards",
      "GetPoolState",
      "GetStakeDelegDeposits",
      "GetStakePoolParams",
      "GetStakePools",
      "GetStakeSnapshots",
      "GetSystemStart",
      "GetUTxOByAddress",
      "GetUTxOByTxIn",
    ]);
    for (const name of reencoded) delete how[name];
    // its type of the stake is the one of before version 21
    expect(how).toEqual({
      GetInterpreter: "untyped",
      GetGenesisConfig: "read",
      GetStakeDistribution2: expect.stringMatching(/expected map/),
    });
  });

  test("the port gives what the rows contain, at the origin and later", async () => {
    expect(await node.network()).toEqual(await world.rows.network());
    expect(await node.tip()).toEqual(await world.rows.tip());
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const other = await give(devnet, alice.base, 10n * ada);
    await makeBlock(devnet);
    expect(valueOf(await node.tip())).toEqual(valueOf(await world.rows.tip()));
    const utxos = async (asking: (port: ChainPort) => ReturnType<ChainPort["utxosByRef"]>) => {
      const [there, here] = [valueOf(await asking(node)), valueOf(await asking(world.rows))];
      expect(there.point).toEqual(here.point);
      const byRef = (found: readonly Utxo[]) => new Map(found.map((utxo) => [refKey(utxo.ref), utxo.output]));
      expect(byRef(there.value)).toEqual(byRef(here.value));
      return there.value.length;
    };
    expect(await utxos((port) => port.utxosByAddress([alice.enterprise, alice.base, bob.base]))).toBe(2);
    expect(await utxos((port) => port.utxosByRef([coin.ref, other.ref, { ...coin.ref, index: 7 }]))).toBe(2);
    const { value } = valueOf(await node.parameters());
    expect(lowestTerms(value)).toEqual(expect.objectContaining(lowestTerms(devnet.genesis.parameters)));

    const pool = devnet.genesis.pools[0]!.id;
    const joining = spend({
      from: alice,
      inputs: [other],
      outputs: [[alice.base, 7n * ada]],
      deposit: 2n * ada,
      certificates: [certificates.register(alice), certificates.delegate(alice, pool), certificates.abstain(alice)],
      signers: [alice.stakeSeed],
    });
    expect(valueOf(await node.submit(joining.cbor))).toEqual({ outcome: "accepted" });
    await makeBlock(devnet);
    const stakes: Credential[] = [
      { kind: "key", hash: alice.stake },
      { kind: "key", hash: bob.stake },
      { kind: "script", hash: bob.stake },
    ];
    expect(await node.accounts(stakes)).toEqual(await world.rows.accounts(stakes));
    expect(valueOf(await node.accounts(stakes)).value[0]).toMatchObject({ registered: true, pool, deposit: 2n * ada });
    expect(await node.epoch()).toEqual(await world.rows.epoch());
    expect(await node.eras()).toEqual(await world.rows.eras());
    expect(await node.pools()).toEqual(await world.rows.pools());
    expect(await node.poolRanking(ada)).toEqual(await world.rows.poolRanking(ada));
    const { hash: _, ...genesis } = valueOf(await world.rows.genesis());
    expect(valueOf(await node.genesis())).toMatchObject(genesis);
  });

  test("a state is acquired at a point; a point that is not on the chain is refused", async () => {
    const first = await makeBlock(devnet);
    for (let i = 0; i < 3; i++) await makeBlock(devnet);
    const connection = await connect();
    const session = valueOf(await connection.acquire({ slot: first.slot, hash: first.hash }));
    expect(valueOf(await sendQuery(session, { kind: "point" }))).toEqual({ slot: first.slot, hash: first.hash });
    expect(valueOf(await sendQuery(session, { kind: "height" }))).toBe(first.height);
    const elsewhere = { slot: first.slot, hash: "00".repeat(32) };
    expect(await session.reacquire(elsewhere)).toMatchObject({ ok: false, error: { code: "point_not_on_chain" } });
    expect(await connection.acquire(elsewhere)).toMatchObject({ ok: false, error: { code: "point_not_on_chain" } });
    valueOf(await connection.acquire("tip")).release();
  });

  test("transactions are accepted, in the mempool, in a block, and refused by name", async () => {
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    await makeBlock(devnet);
    const payment = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    expect(valueOf(await node.submit(payment.cbor))).toEqual({ outcome: "accepted" });
    const snapshot = valueOf(await (await connect()).mempool());
    expect(valueOf(await snapshot.sizes())).toMatchObject({ size: payment.cbor.length, transactions: 1 });
    expect(valueOf(await snapshot.next())?.bytes).toEqual(payment.cbor);
    expect(valueOf(await snapshot.next())).toBeUndefined();
    snapshot.release();
    // pallas has the id as text in the next query: it closes the connection, and the mempool is read as a whole
    expect(valueOf(await node.inMempool(payment.hash))).toBe(true);
    const tip = await makeBlock(devnet);
    const follow = following(node);
    await reaches(follow.steps, tip.hash);
    await follow.stop();
    expect(relay.blocks.at(-1)?.ids).toEqual([payment.hash]);

    const [paid] = valueOf(await node.utxosByAddress([bob.enterprise])).value;
    const cases = {
      doubleSpend: spend({ from: alice, inputs: [coin], outputs: [[alice.enterprise, 9n * ada]] }),
      unsigned: spend({ from: alice, inputs: [paid!], outputs: [[alice.enterprise, 8n * ada]] }),
      cheap: spend({ from: bob, inputs: [paid!], outputs: [[alice.enterprise, 9n * ada - 1n]] }),
      dust: spend({ from: bob, inputs: [paid!], outputs: [[alice.enterprise, 1n], [bob.enterprise, 8n * ada]] }),
      early: spend({ from: bob, inputs: [paid!], outputs: [[alice.enterprise, 8n * ada]], validFrom: 10_000_000 }),
    };
    const names: Record<string, string[]> = {};
    for (const [name, { cbor, hash }] of Object.entries(cases)) {
      const there = valueOf(await node.submit(cbor));
      expect(there).toMatchObject(valueOf(await world.rows.submit(cbor)));
      names[name] = there.outcome === "refused" ? there.failures.map((failure) => failure.name) : [];
      const { unread, reason } = await relay.verdict(hash);
      expect([name, unread]).toEqual([name, undefined]);
      // pallas names the failures like we do, without the suffix of their rule or the era before the mempool's
      for (const failure of names[name]) expect(reason).toContain(failure.replace(/UTXOW$|^Conway(?=Mempool)/, ""));
    }
    expect(names).toEqual({
      doubleSpend: ["ConwayMempoolFailure"],
      unsigned: ["MissingVKeyWitnessesUTXOW"],
      cheap: ["FeeTooSmallUTxO"],
      dust: ["BabbageOutputTooSmallUTxO"],
      early: ["OutsideValidityIntervalUTxO"],
    });
  });

  test("a chain is followed from the origin, through waits and rollbacks, and through a relay that is killed", async () => {
    for (let i = 0; i < 100; i++) await makeBlock(devnet);
    const { steps, stop } = following(node);
    await reaches(steps, devnet.tip().hash);
    await until("the node to let wait", async () => relay.awaits() > 0);
    valueOf(await devnet.rollback({ blocks: 3 }));
    await makeBlock(devnet);
    await reaches(steps, devnet.tip().hash);
    expect(steps.filter(({ type }) => type === "backward").length).toBe(2);
    await relay.kill();
    valueOf(await devnet.rollback({ blocks: 1 }));
    for (let i = 0; i < 5; i++) await makeBlock(devnet);
    await relay.start();
    await reaches(steps, devnet.tip().hash);
    expect(valueOf(await node.tip())).toEqual(devnet.tip());
    await stop();

    const middle = relay.blocks[49]!;
    const again = following(node, [{ slot: middle.slot, hash: middle.hash }]);
    await reaches(again.steps, devnet.tip().hash);
    expect(again.steps[0]).toMatchObject({ type: "backward", point: { slot: middle.slot, hash: middle.hash } });
    expect(again.steps.length - 1).toBe(devnet.tip().height - middle.height);
    await again.stop();
    expect(relay.blocks.filter(({ error }) => error !== undefined)).toEqual([]);
    const ours = new Map(steps.flatMap((step) => {
      if (step.type !== "forward") return [];
      const { hash, height, previous } = scanBlock(step.block);
      return [[hash, { height, previous: previous ?? "" }] as const];
    }));
    for (const { hash, height, previous } of relay.blocks) expect(ours.get(hash)).toEqual({ height, previous });
  });
});
