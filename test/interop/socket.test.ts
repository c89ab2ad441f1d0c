/**
 * The node's socket with gouroboros (Go) in the middle, a client towards our devnet and a node towards our port: what the port gives must
 * be what the devnet's rows say.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import type { Tip } from "#src/cardano/block.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { type NodePort, nodePort } from "#src/chain/nodePort.ts";
import type { ChainPort, ChainStep } from "#src/chain/port.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { serveSocket } from "#src/devnet/socket.ts";
import { connectNode } from "#src/node/client.ts";
import { ask, askEra } from "#src/node/queries/ask.ts";
import type { NodeServer } from "#src/node/server.ts";
import { CONWAY } from "#src/node/values.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import { type Bus, connectBus } from "#src/runtime/bus.ts";
import type { Store } from "#src/store/store.ts";
import { devnetStore, spend } from "../support/devnet.ts";
import { sharedInfra } from "../support/infra.ts";
import { socketPath } from "../support/node_chain.ts";
import { until } from "../support/until.ts";
import { person } from "../support/wallet.ts";
import { hasRelay, type Relay, startRelay } from "./relay.ts";

const noScripts: Evaluate = () => Promise.reject(new Error("no script was expected"));
const ada = 1_000_000n;
const alice = person("alice"), bob = person("bob");

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;
let devnet: Devnet;
let server: NodeServer;
let relay: Relay;
let rows: ChainPort;
let node: NodePort;

function valueOf<T>(result: { ok: true; value: T } | { ok: false; error: { code: string; message: string } }): T {
  if (result.ok) return result.value;
  throw new Error(`${result.error.code}: ${result.error.message}`);
}

const block = async (): Promise<Tip> => valueOf(await devnet.makeBlock());

async function give(address: string, lovelace: bigint): Promise<Utxo> {
  const { txHash } = valueOf(await devnet.faucet.pay(address, lovelace));
  const waiting = devnet.mempool().find(({ transaction }) => transaction.hash === txHash)!;
  return waiting.applied.created.find(({ output }) => output.address === address)!;
}

/** Steps of a followed chain, as they come. */
function following(port: ChainPort, from: readonly { slot: number; hash: string }[] = []) {
  const steps: ChainStep[] = [];
  const controller = new AbortController();
  const done = (async () => {
    for await (const step of port.follow(from, controller.signal)) steps.push(step);
  })();
  return {
    steps,
    stop: async () => {
      controller.abort();
      await done;
    },
  };
}

/** The chain that steps lead to: hashes of its blocks. */
function chainOf(steps: readonly ChainStep[]): string[] {
  const chain: { slot: number; hash: string }[] = [];
  for (const step of steps) {
    if (step.type === "forward") {
      const { slot, hash, previous } = scanBlock(step.block);
      if (chain.length > 0) expect(previous).toBe(chain.at(-1)!.hash);
      chain.push({ slot, hash });
    } else while (chain.length > 0 && chain.at(-1)!.slot > step.point.slot) chain.pop();
  }
  return chain.map(({ hash }) => hash);
}

/** What gouroboros holds to be the least fee, in lovelace. */
const leastFee = (said: string) => BigInt(/minimum (\d+)/.exec(said)![1]!);

/** The same with its fractions in lowest terms, in which gouroboros writes them. */
function lowestTerms<T extends object>(parameters: T): Record<string, unknown> {
  const gcd = (a: bigint, b: bigint): bigint => b === 0n ? a : gcd(b, a % b);
  const lower = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Map) return value;
    const { numerator: n, denominator: d } = value as { numerator?: unknown; denominator?: unknown };
    if (typeof n === "bigint" && typeof d === "bigint") return [n / gcd(n, d), d / gcd(n, d)];
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, lower(inner)]));
  };
  return lower(parameters) as Record<string, unknown>;
}

const reaches = (steps: readonly ChainStep[], tip: Tip) =>
  until(`the block at height ${tip.height}`, async () => chainOf(steps).at(-1) === tip.hash, 20_000, 10);

describe.skipIf(!hasRelay)("through gouroboros", () => {
  beforeEach(async () => {
    infra = await sharedInfra();
    store = await devnetStore(infra.databaseUrl);
    bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
    devnet = valueOf(
      await startDevnet({
        store,
        bus,
        evaluate: noScripts,
        log: silentLog,
        clock: new VirtualClock(1_800_000_000_000),
        options: { blockMs: 0, leaseMs: 1_000 },
      }),
    );
    const path = socketPath();
    server = valueOf(await serveSocket({ path, devnet, store, bus, log: silentLog }));
    relay = await startRelay(path);
    rows = devnetPort({ store, bus, log: silentLog });
    node = nodePort({ address: { path: relay.path }, magic: 42, log: silentLog, firstWait: 20, answerMs: 10_000 });
  });
  afterEach(async () => {
    node?.close();
    await relay?.stop();
    await server?.close();
    await devnet?.stop();
    await bus?.close();
    await store?.close();
    await infra?.stop();
  });

  test("the handshake agrees on version 21, and another network is refused in a sentence", async () => {
    const connection = valueOf(await connectNode({ path: relay.path }, { magic: 42 }));
    expect(connection.version).toBe(21);
    connection.close();
    // gouroboros closes right after its refusal, which may overtake it
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

  test("what the port gives is what the rows say, at the origin and later", async () => {
    expect(await node.network()).toEqual(await rows.network());
    expect(await node.tip()).toEqual(await rows.tip());
    const coin = await give(alice.enterprise, 10n * ada);
    const other = await give(bob.base, 7n * ada);
    expect(valueOf(await node.inMempool(coin.ref.txHash))).toBe(true);
    await block();
    expect(valueOf(await node.inMempool(coin.ref.txHash))).toBe(false);
    expect(valueOf(await node.tip())).toEqual(valueOf(await rows.tip()));
    const utxos = async (asking: (port: ChainPort) => ReturnType<ChainPort["utxosByRef"]>) => {
      const [there, here] = [valueOf(await asking(node)), valueOf(await asking(rows))];
      expect(there.point).toEqual(here.point);
      // in which order a map is written is a node's own affair
      const byRef = (found: readonly Utxo[]) => new Map(found.map((utxo) => [refKey(utxo.ref), utxo.output]));
      expect(byRef(there.value)).toEqual(byRef(here.value));
      return there.value.length;
    };
    expect(await utxos((port) => port.utxosByAddress([alice.enterprise, bob.base]))).toBe(2);
    expect(await utxos((port) => port.utxosByAddress([]))).toBe(0);
    expect(await utxos((port) => port.utxosByRef([coin.ref, other.ref, { ...coin.ref, index: 7 }]))).toBe(2);
    const { value } = valueOf(await node.parameters());
    expect(lowestTerms(value)).toEqual(expect.objectContaining(lowestTerms(devnet.parameters)));
  });

  test("a query that the other side does not know ends that connection alone", async () => {
    await block();
    const connection = valueOf(await connectNode({ path: relay.path }, { magic: 42 }));
    const session = valueOf(await connection.acquire("tip"));
    expect(valueOf(await ask(session, { kind: "currentEra" }))).toBe(CONWAY);
    expect(valueOf(await askEra(session, { kind: "epoch", era: CONWAY }))).toBe(0);
    expect(valueOf(await askEra(session, { kind: "stakePools", era: CONWAY }))).toHaveLength(3);
    expect(valueOf(await askEra(session, { kind: "accountState", era: CONWAY })).reserves).toBeGreaterThan(0n);
    expect(await askEra(session, { kind: "stakeDistribution", era: CONWAY })).toMatchObject({
      ok: false,
      error: { code: "connection_lost" },
    });
    expect(valueOf(await node.tip())).toEqual(devnet.tip());
  });

  test("payments are taken, seen waiting, found in a block, refused by name", async () => {
    const coin = await give(alice.enterprise, 10n * ada);
    await block();
    const payment = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    expect(valueOf(await node.submit(payment.cbor))).toEqual({ outcome: "accepted" });
    expect(valueOf(await node.inMempool(payment.hash))).toBe(true);
    expect(valueOf(await node.submit(payment.cbor))).toEqual({ outcome: "accepted" });
    const follow = following(node);
    const tip = await block();
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
      // gouroboros' rules look at the beginning of the interval alone
      early: spend({ from: bob, inputs: [paid!], outputs: [[alice.enterprise, 8n * ada]], validFrom: 10_000_000 }),
    };
    const names: Record<string, string[]> = {};
    for (const [name, { cbor, hash }] of Object.entries(cases)) {
      const there = valueOf(await node.submit(cbor));
      // over the wire an output is told itself beside its index
      expect(there).toMatchObject(valueOf(await rows.submit(cbor)));
      names[name] = there.outcome === "refused" ? there.failures.map((failure) => failure.name) : [];
      // gouroboros' own rules refuse it too
      expect(relay.verdicts.findLast((verdict) => verdict.hash === hash)).toMatchObject({
        node: expect.any(String),
        gouroboros: expect.any(String),
      });
    }
    expect(names).toEqual({
      doubleSpend: ["BadInputsUTxO", "ValueNotConservedUTxO"],
      unsigned: ["MissingVKeyWitnessesUTXOW"],
      cheap: ["FeeTooSmallUTxO"],
      dust: ["BabbageOutputTooSmallUTxO"],
      early: ["OutsideValidityIntervalUTxO"],
    });
    const { gouroboros } = relay.verdicts.find(({ hash }) => hash === cases.cheap.hash)!;
    const cheap = valueOf(await rows.submit(cases.cheap.cbor));
    expect(cheap).toMatchObject({ outcome: "refused", failures: [{ expected: leastFee(gouroboros!) }] });
    const first = relay.verdicts.find(({ hash }) => hash === payment.hash)!;
    expect([first.node, first.gouroboros]).toEqual([undefined, undefined]);
  });

  test("a chain is followed from the origin, through rollbacks, and from points, through a relay that is killed", async () => {
    for (let i = 0; i < 250; i++) await block();
    const { steps, stop } = following(node);
    await reaches(steps, devnet.tip());
    valueOf(await devnet.rollback({ blocks: 3 }));
    await block();
    await reaches(steps, devnet.tip());
    expect(steps.filter(({ type }) => type === "backward").length).toBe(2);
    await relay.kill();
    valueOf(await devnet.rollback({ blocks: 1 }));
    for (let i = 0; i < 5; i++) await block();
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
