/**
 * The node's socket with gouroboros (Go) in the middle, a client towards our devnet and a node towards our port: the
 * port's results must equal the devnet's rows.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { Tip } from "#src/cardano/block.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { type NodePort, nodePort } from "#src/chain/provider/node/port.ts";
import type { ChainPort, RawStep } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { connectNode } from "#src/node/client/connection.ts";
import { certificates, spend } from "../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../support/devnet/devnetWorld.ts";
import { until } from "../support/base/until.ts";
import { person } from "../support/wallets/person.ts";
import { chainOf, following, lowestTerms } from "./following.ts";
import { hasRelay, type Relay, startRelay } from "./relay.ts";
import { survey } from "./survey.ts";

const ada = 1_000_000n;
const alice = person("alice"), bob = person("bob");

const world = devnetWorld();
let devnet: Devnet;
let relay: Relay;
let node: NodePort;

/** The minimum fee by gouroboros' rules, in lovelace. */
const leastFee = (said: string) => BigInt(/minimum (\d+)/.exec(said)![1]!);

const reaches = (steps: readonly RawStep[], tip: Tip) =>
  until(`the block at height ${tip.height}`, async () => chainOf(steps).at(-1) === tip.hash, 20_000, 10);

describe.skipIf(!hasRelay)("through gouroboros", () => {
  beforeEach(async () => {
    devnet = await world.start({ epochLength: 300 });
    const { path } = await world.serve(devnet);
    relay = await startRelay(path);
    node = nodePort({ address: { path: relay.path }, magic: 42, log: silentLog, firstWaitMs: 20, answerMs: 10_000 });
  });
  afterEach(async () => {
    node?.close();
    await relay?.stop();
  });

  test("the handshake agrees on version 21, and another network is refused with a message", async () => {
    const connection = valueOf(await connectNode({ path: relay.path }, { magic: 42 }));
    expect(connection.version).toBe(21);
    connection.close();
    // gouroboros closes right after its refusal, which may arrive later
    expect(await connectNode({ path: relay.path }, { magic: 1 })).toMatchObject({
      ok: false,
      error: {
        code: expect.stringMatching(/^(wrong_magic|connection_lost)$/),
        message: expect.stringMatching(/another network than the one with the magic 1\.$/),
      },
    });
    expect(await connectNode({ path: relay.path }, { magic: 42, versions: [22, 23] })).toMatchObject({
      ok: false,
      error: { code: expect.stringMatching(/^(version_mismatch|connection_lost)$/) },
    });
  });

  test("the port gives what the rows contain, at the origin and later", async () => {
    expect(await node.network()).toEqual(await world.rows.network());
    expect(await node.tip()).toEqual(await world.rows.tip());
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const other = await give(devnet, bob.base, 7n * ada);
    expect(valueOf(await node.inMempool(coin.ref.txHash))).toBe(true);
    await makeBlock(devnet);
    expect(valueOf(await node.inMempool(coin.ref.txHash))).toBe(false);
    expect(valueOf(await node.tip())).toEqual(valueOf(await world.rows.tip()));
    const utxos = async (asking: (port: ChainPort) => ReturnType<ChainPort["utxosByRef"]>) => {
      const [there, here] = [valueOf(await asking(node)), valueOf(await asking(world.rows))];
      expect(there.point).toEqual(here.point);
      // the order of a map is up to the node
      const byRef = (found: readonly Utxo[]) => new Map(found.map((utxo) => [refKey(utxo.ref), utxo.output]));
      expect(byRef(there.value)).toEqual(byRef(here.value));
      return there.value.length;
    };
    expect(await utxos((port) => port.utxosByAddress([alice.enterprise, bob.base]))).toBe(2);
    expect(await utxos((port) => port.utxosByAddress([]))).toBe(0);
    expect(await utxos((port) => port.utxosByRef([coin.ref, other.ref, { ...coin.ref, index: 7 }]))).toBe(2);
    const { value } = valueOf(await node.parameters());
    expect(lowestTerms(value)).toEqual(expect.objectContaining(lowestTerms(devnet.genesis.parameters)));
  });

  test("accounts have their delegations; what the other side cannot encode is reported as missing", async () => {
    const coin = await give(devnet, alice.base, 10n * ada);
    await makeBlock(devnet);
    const pool = devnet.genesis.pools[0]!.id;
    const joining = spend({
      from: alice,
      inputs: [coin],
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
    const { hash: _, ...genesis } = valueOf(await world.rows.genesis());
    expect(valueOf(await node.genesis())).toMatchObject(genesis);
    for (const answer of [await node.pools(), await node.poolRanking(ada)]) {
      expect(answer).toMatchObject({ ok: false, error: { code: "query_unsupported" } });
    }
    expect(valueOf(await node.tip())).toEqual(devnet.tip());
  });

  test("a query that the other side does not support ends only its own connection", async () => {
    for (let i = 0; i < 5; i++) await makeBlock(devnet);
    const { queries, ...seen } = await survey(relay.path, 42);
    expect(seen).toEqual({
      version: 21,
      blocks: 5,
      refusal: ["ConwayMempoolFailure"],
    });
    const lacking = ["ledgerTip", "poolParameters", "poolState", "stakeDistribution", "nonMyopicRewards"];
    for (const [kind, answer] of Object.entries(queries)) {
      expect([kind, answer]).toEqual([kind, lacking.includes(kind) ? "connection_lost" : "answers"]);
    }
    expect(valueOf(await node.tip())).toEqual(devnet.tip());
  });

  test("payments are accepted, in the mempool, in a block, and refused by name", async () => {
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    await makeBlock(devnet);
    const payment = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    expect(valueOf(await node.submit(payment.cbor))).toEqual({ outcome: "accepted" });
    expect(valueOf(await node.inMempool(payment.hash))).toBe(true);
    expect(valueOf(await node.submit(payment.cbor))).toEqual({ outcome: "accepted" });
    const follow = following(node);
    const tip = await makeBlock(devnet);
    await reaches(follow.steps, tip);
    const last = follow.steps.findLast((step) => step.type === "forward")!;
    expect(last.type === "forward" && scanBlock(last.block).transactions.map(({ hash }) => hash)).toEqual([
      payment.hash,
    ]);
    await follow.stop();
    expect(valueOf(await node.submit(payment.cbor))).toEqual({ outcome: "accepted" });

    const [paid] = valueOf(await node.utxosByAddress([bob.enterprise])).value;
    const cases = {
      doubleSpend: spend({ from: alice, inputs: [coin], outputs: [[alice.enterprise, 9n * ada]] }),
      unsigned: spend({ from: alice, inputs: [paid!], outputs: [[alice.enterprise, 8n * ada]] }),
      cheap: spend({ from: bob, inputs: [paid!], outputs: [[alice.enterprise, 9n * ada - 1n]] }),
      dust: spend({ from: bob, inputs: [paid!], outputs: [[alice.enterprise, 1n], [bob.enterprise, 8n * ada]] }),
      // gouroboros' rules check only the beginning of the interval
      early: spend({ from: bob, inputs: [paid!], outputs: [[alice.enterprise, 8n * ada]], validFrom: 10_000_000 }),
    };
    const names: Record<string, string[]> = {};
    for (const [name, { cbor, hash }] of Object.entries(cases)) {
      const there = valueOf(await node.submit(cbor));
      // over the wire an output itself is sent next to its index
      expect(there).toMatchObject(valueOf(await world.rows.submit(cbor)));
      names[name] = there.outcome === "refused" ? there.failures.map((failure) => failure.name) : [];
      // gouroboros' own rules refuse it too
      expect(await relay.verdict(hash)).toMatchObject({
        node: expect.any(String),
        gouroboros: expect.any(String),
      });
    }
    expect(names).toEqual({
      doubleSpend: ["ConwayMempoolFailure"],
      unsigned: ["MissingVKeyWitnessesUTXOW"],
      cheap: ["FeeTooSmallUTxO"],
      dust: ["BabbageOutputTooSmallUTxO"],
      early: ["OutsideValidityIntervalUTxO"],
    });
    const { gouroboros } = await relay.verdict(cases.cheap.hash);
    const cheap = valueOf(await world.rows.submit(cases.cheap.cbor));
    expect(cheap).toMatchObject({ outcome: "refused", failures: [{ expected: leastFee(gouroboros!) }] });
    const first = await relay.verdict(payment.hash);
    expect([first.node, first.gouroboros]).toEqual([undefined, undefined]);
  });

  test("a chain is followed from the origin, through rollbacks, and from points, through a relay that is killed", async () => {
    for (let i = 0; i < 250; i++) await makeBlock(devnet);
    const { steps, stop } = following(node);
    await reaches(steps, devnet.tip());
    valueOf(await devnet.rollback({ blocks: 3 }));
    await makeBlock(devnet);
    await reaches(steps, devnet.tip());
    expect(steps.filter(({ type }) => type === "backward").length).toBe(2);
    await relay.kill();
    valueOf(await devnet.rollback({ blocks: 1 }));
    for (let i = 0; i < 5; i++) await makeBlock(devnet);
    await relay.start();
    await reaches(steps, devnet.tip());
    expect(steps.filter(({ type }) => type === "backward").length).toBe(3);
    expect(valueOf(await node.tip())).toEqual(devnet.tip());
    await stop();

    const middle = relay.blocks[99]!;
    const again = following(node, [{ slot: middle.slot, hash: middle.hash }]);
    await reaches(again.steps, devnet.tip());
    expect(again.steps[0]).toMatchObject({ type: "backward", point: { slot: middle.slot, hash: middle.hash } });
    expect(again.steps.length - 1).toBe(devnet.tip().height - middle.height);
    await again.stop();
    expect(relay.blocks.filter(({ error }) => error !== undefined)).toEqual([]);
  });
});
