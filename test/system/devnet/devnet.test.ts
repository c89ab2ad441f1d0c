/** A network of one: blocks, mempool, rollbacks, the faucet and followers, on real rows and a real bus. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import type { Tip } from "#src/cardano/block.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { type Encodable, encode, Encoded } from "#src/cardano/cbor.ts";
import type { RawChainPort, RawStep } from "#src/chain/port.ts";
import { type Devnet, type DevnetOptions, startDevnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import { type Bus, connectBus } from "#src/runtime/bus.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { checkRows, devnetStore, spend } from "../../support/devnet.ts";
import { sharedInfra } from "../../support/infra.ts";
import { agrees, agreesWithThree } from "../../support/scripts.ts";
import { person } from "../../support/wallet.ts";

const noScripts: Evaluate = () => Promise.reject(new Error("no script was expected"));
const ada = 1_000_000n;
const alice = person("alice"), bob = person("bob");

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;
let clock: VirtualClock;
let port: RawChainPort;
const running: Devnet[] = [];

beforeEach(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  clock = new VirtualClock(1_800_000_000_000);
  port = devnetPort({ store, bus, log: silentLog, pollMs: 60_000 });
});
afterEach(async () => {
  for (const devnet of running.splice(0)) await devnet.stop();
  await bus.close();
  await store.close();
  await infra.stop();
});

async function start(options: DevnetOptions = {}): Promise<Devnet> {
  const started = await startDevnet({
    store,
    bus,
    evaluate: noScripts,
    log: silentLog,
    clock,
    options: { blockMs: 0, leaseMs: 1_000, ...options },
  });
  if (!started.ok) throw new Error(started.error.message);
  running.push(started.value);
  return started.value;
}

async function block(devnet: Devnet): Promise<Tip> {
  const made = await devnet.makeBlock();
  if (!made.ok) throw new Error(made.error.message);
  return made.value;
}

async function give(devnet: Devnet, address: string, lovelace: bigint): Promise<Utxo> {
  const paid = await devnet.faucet.pay(address, lovelace);
  if (!paid.ok) throw new Error(paid.error.message);
  const { txHash } = paid.value;
  const waiting = devnet.mempool().find(({ transaction }) => transaction.hash === txHash)!;
  return waiting.applied.created.find(({ output }) => output.address === address)!;
}

async function at(address: string): Promise<Utxo[]> {
  const found = await port.utxosByAddress([address]);
  if (!found.ok) throw new Error(found.error.message);
  return [...found.value.value];
}

const hashes = (devnet: Devnet) => devnet.mempool().map(({ transaction }) => transaction.hash);
const accepted = { ok: true, value: { outcome: "accepted" } };

describe("blocks", () => {
  test("hold what waited, link up, and are what their rows say", async () => {
    const devnet = await start();
    const paid = await give(devnet, alice.enterprise, 5n * ada);
    const first = await block(devnet);
    const second = await block(devnet);
    expect([first.height, second.height]).toEqual([0, 1]);
    expect(second.slot).toBe(first.slot + 1);
    const { blocks } = await checkRows(store);
    expect(blocks[0]!.transactions.some(({ hash }) => hash === paid.ref.txHash)).toBe(true);
    expect(blocks[1]!.transactions).toEqual([]);
    expect((await at(alice.enterprise)).map(({ ref }) => refKey(ref))).toEqual([refKey(paid.ref)]);
    expect(devnet.mempool()).toEqual([]);
  });

  test("after a night off the slot has gone on and no blocks are invented", async () => {
    let devnet = await start();
    const evening = await block(devnet);
    await running.pop()!.stop();
    clock.advance(8 * 3_600_000);
    devnet = await start();
    expect(devnet.tip()).toEqual(evening);
    const morning = await block(devnet);
    expect(morning.height).toBe(evening.height + 1);
    expect(morning.slot).toBe(evening.slot + 8 * 3_600);
    await checkRows(store);
  });

  test("come by themselves, empty ones too unless told otherwise", async () => {
    const devnet = await start({ blockMs: 20 });
    clock.advance(1_000_000);
    await expect.poll(() => devnet.tip().height, { timeout: 5_000 }).toBeGreaterThanOrEqual(0);
    // The clock stands still, so there is no slot for another one.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(devnet.tip().height).toBe(0);
    for (let height = 1; height < 4; height++) {
      clock.advance(1_000);
      await expect.poll(() => devnet.tip().height, { timeout: 5_000 }).toBe(height);
    }
    await running.pop()!.stop();
    const quiet = await start({ blockMs: 20, emptyBlocks: false });
    clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(quiet.tip().height).toBe(3);
    await give(quiet, alice.enterprise, 5n * ada);
    await expect.poll(() => quiet.tip().height, { timeout: 5_000 }).toBe(4);
    await checkRows(store);
  });

  test("take no more than fits, in order", async () => {
    const devnet = await start();
    const waiting: string[] = [];
    for (let i = 0; i < 20; i++) {
      const coin = await give(devnet, alice.enterprise, 150n * ada);
      // 100 outputs are over 6 kB, so that 20 of these exceed the 90,112 bytes of a block.
      const outputs = Array.from({ length: 100 }, () => [bob.base, 12n * ada / 10n] as const);
      const made = spend({ from: alice, inputs: [coin], outputs });
      expect(await devnet.submit(made.cbor)).toEqual(accepted);
      waiting.push(coin.ref.txHash, made.hash);
    }
    await block(devnet);
    const left = hashes(devnet);
    expect(left.length).toBeGreaterThan(0);
    expect(left).toEqual(waiting.slice(-left.length));
    await block(devnet);
    expect(devnet.mempool()).toEqual([]);
    const { blocks } = await checkRows(store);
    const inBlocks = blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash));
    expect(inBlocks.filter((hash) => waiting.includes(hash))).toEqual(waiting);
  });
});

describe("the mempool", () => {
  test("takes transactions built on ones that wait, and keeps their order over a restart", async () => {
    let devnet = await start();
    const first = await give(devnet, alice.enterprise, 10n * ada);
    const a = spend({ from: alice, inputs: [first], outputs: [[bob.enterprise, 9n * ada]] });
    expect(await devnet.submit(a.cbor)).toEqual(accepted);
    const b = spend({ from: bob, inputs: a.created, outputs: [[alice.enterprise, 8n * ada]] });
    expect(await devnet.submit(b.cbor)).toEqual(accepted);
    const before = hashes(devnet);
    await running.pop()!.stop();
    devnet = await start();
    expect(hashes(devnet)).toEqual(before);
    await block(devnet);
    await checkRows(store);
    expect((await at(alice.enterprise)).map(({ ref }) => refKey(ref))).toEqual([refKey(b.created[0]!.ref)]);
  });

  test("says accepted again for a transaction that waits or stands in the ledger", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    expect(await Promise.all([devnet.submit(made.cbor), devnet.submit(made.cbor)])).toEqual([accepted, accepted]);
    expect(hashes(devnet).filter((hash) => hash === made.hash)).toHaveLength(1);
    await block(devnet);
    expect(await devnet.submit(made.cbor)).toEqual(accepted);
    expect(devnet.mempool()).toEqual([]);
  });

  test("refuses with the ledger's names what cannot be", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    expect(await devnet.submit(made.cbor)).toEqual(accepted);
    const again = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 8n * ada]] });
    expect(await devnet.submit(again.cbor)).toMatchObject({
      ok: true,
      value: {
        outcome: "refused",
        failures: [{ name: "BadInputsUTxO", inputs: [coin.ref] }, { name: "ValueNotConservedUTxO" }],
      },
    });
    const notHers = spend({ from: alice, inputs: made.created, outputs: [[alice.enterprise, 8n * ada]] });
    expect(await devnet.submit(notHers.cbor)).toMatchObject({
      value: { outcome: "refused", failures: [{ name: "MissingVKeyWitnessesUTXOW", keys: [bob.key] }] },
    });
    expect(await devnet.submit(encode([1, 2]))).toMatchObject({ ok: false, error: { code: "undecodable" } });
  });

  test("drops what is past its validity, with all that was built upon it", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const other = await give(devnet, alice.enterprise, 10n * ada);
    await block(devnet);
    const validTo = devnet.slot() + 2;
    const a = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]], validTo });
    const b = spend({ from: bob, inputs: a.created, outputs: [[alice.enterprise, 8n * ada]] });
    const c = spend({ from: alice, inputs: [other], outputs: [[bob.enterprise, 9n * ada]] });
    for (const { cbor } of [a, b, c]) expect(await devnet.submit(cbor)).toEqual(accepted);
    clock.advance(10_000);
    const late = await devnet.submit(
      spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 7n * ada]], validTo }).cbor,
    );
    expect(late).toMatchObject({ value: { outcome: "refused" } });
    await block(devnet);
    const { blocks, mempool } = await checkRows(store);
    expect(mempool).toEqual([]);
    expect(blocks.at(-1)!.transactions.map(({ hash }) => hash)).toEqual([c.hash]);
    // What it spent is free again.
    expect(await devnet.submit(spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] }).cbor))
      .toEqual(accepted);
  });

  test("is bounded, and says so", async () => {
    const devnet = await start({ mempoolBytes: 4_000 });
    const answers = [];
    for (let i = 0; i < 20; i++) answers.push(await devnet.faucet.pay(alice.enterprise, 2n * ada));
    const full = answers.filter((answer) => !answer.ok);
    expect(full.length).toBeGreaterThan(0);
    expect(full[0]).toMatchObject({ error: { code: "mempool_full" } });
    await block(devnet);
    expect((await devnet.faucet.pay(alice.enterprise, 2n * ada)).ok).toBe(true);
  });
});

describe("rollbacks", () => {
  test("restore outputs, return transactions to the mempool and give another fork", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const base = await block(devnet);
    const before = (await checkRows(store)).unspent;
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    await devnet.submit(made.cbor);
    const undone = await block(devnet);
    const next = spend({ from: bob, inputs: made.created, outputs: [[alice.enterprise, 8n * ada]] });
    await devnet.submit(next.cbor);
    expect(await devnet.rollback({ blocks: 1 })).toEqual({ ok: true, value: base });
    const after = await checkRows(store);
    expect(after.unspent).toEqual(before);
    expect(after.mempool).toEqual([made.hash, next.hash]);
    const again = await block(devnet);
    expect(again.height).toBe(undone.height);
    expect(again.hash).not.toBe(undone.hash);
    expect(again.slot).toBeGreaterThan(undone.slot);
    expect((await checkRows(store)).blocks.at(-1)!.transactions.map(({ hash }) => hash)).toEqual([
      made.hash,
      next.hash,
    ]);
  });

  test("drop transactions when told, and what was built upon them", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    await block(devnet);
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    await devnet.submit(made.cbor);
    const { slot } = await block(devnet);
    await devnet.submit(spend({ from: bob, inputs: made.created, outputs: [[alice.enterprise, 8n * ada]] }).cbor);
    expect(await devnet.rollback({ slot: slot - 1 }, { drop: true })).toMatchObject({ ok: true });
    expect((await checkRows(store)).mempool).toEqual([]);
    expect((await at(alice.enterprise)).map(({ ref }) => refKey(ref))).toEqual([refKey(coin.ref)]);
  });

  test("go back to the origin, but not beyond what is kept", async () => {
    const devnet = await start({ securityParameter: 5 });
    await give(devnet, alice.enterprise, 10n * ada);
    await block(devnet);
    expect(await devnet.rollback({ height: -1 })).toMatchObject({ ok: true, value: { height: -1, slot: -1 } });
    expect((await checkRows(store)).unspent.size).toBe(1 + devnet.genesis.pools.length);
    for (let i = 0; i < 10; i++) await block(devnet);
    expect(await devnet.rollback({ blocks: 6 })).toMatchObject({ ok: false, error: { code: "rollback_impossible" } });
    expect(await devnet.rollback({ blocks: 5 })).toMatchObject({ ok: true, value: { height: 4 } });
    expect(await devnet.rollback({ blocks: 1 })).toMatchObject({ ok: false, error: { code: "rollback_impossible" } });
    await checkRows(store);
  });
});

describe("the faucet", () => {
  test("serves many at once", async () => {
    const devnet = await start();
    const paid = await Promise.all(
      Array.from(
        { length: 100 },
        (_, i) => devnet.faucet.pay(i % 2 ? alice.enterprise : bob.base, BigInt(2 + i) * ada),
      ),
    );
    expect(paid.every(({ ok }) => ok)).toBe(true);
    await block(devnet);
    await checkRows(store);
    const sum = (utxos: Utxo[]) => utxos.reduce((total, { output }) => total + output.value.lovelace, 0n);
    expect(sum(await at(alice.enterprise)) + sum(await at(bob.base))).toBe(BigInt(100 * 2 + 99 * 50) * ada);
  });

  test("keeps to its bounds", async () => {
    const devnet = await start({ faucetLimit: 100n * ada });
    expect(await devnet.faucet.pay(alice.enterprise, 100n * ada + 1n)).toMatchObject({
      error: { code: "amount_too_large" },
    });
    const least = await devnet.faucet.pay(alice.base, 1n);
    expect(least).toMatchObject({ ok: false, error: { code: "amount_too_small" } });
    const { limit } = (least as { error: { details: { limit: bigint } } }).error.details;
    expect((await devnet.faucet.pay(alice.base, limit)).ok).toBe(true);
  });

  test("gives more than any one of its outputs holds", async () => {
    const devnet = await start({ faucetLimit: 10n ** 18n });
    expect((await devnet.faucet.pay(alice.base, 5_000_000_000n * ada)).ok).toBe(true);
    expect(await devnet.faucet.pay(alice.base, 29_000_000_000n * ada)).toMatchObject({
      error: { code: "faucet_empty" },
    });
  });
});

test("scripts are published once, and a newer one beside them", async () => {
  const address = "70" + "ab".repeat(28);
  const script = encode([3, agrees]);
  const count = async () => (await at(address)).filter(({ output }) => output.script).length;
  let devnet = await start({ publish: [{ address, script }] });
  await block(devnet);
  expect(await count()).toBe(1);
  for (const scripts of [[script], [script, encode([2, agreesWithThree])]]) {
    await running.pop()!.stop();
    devnet = await start({ publish: scripts.map((script) => ({ address, script })) });
    await block(devnet);
    expect(await count()).toBe(scripts.length);
  }
});

describe("the port", () => {
  const steps = (points: { slot: number; hash: string }[] = []) => {
    const abort = new AbortController();
    const seen: RawStep[] = [];
    const ended = (async () => {
      for await (const step of port.follow(points, abort.signal)) seen.push(step);
    })();
    const brief = () =>
      seen.map((step) => step.type === "forward" ? scanBlock(step.block).hash : `back to ${step.point.hash}`);
    return { seen, brief, stop: () => (abort.abort(), ended) };
  };

  test("shows every block and every rollback, from where it is asked", async () => {
    const devnet = await start();
    const a = await block(devnet), b = await block(devnet), c = await block(devnet);
    const fromOrigin = steps(), fromB = steps([{ slot: 99, hash: "ff".repeat(32) }, b, a]);
    await expect.poll(fromOrigin.brief).toEqual(["back to ", a.hash, b.hash, c.hash]);
    await expect.poll(fromB.brief).toEqual([`back to ${b.hash}`, c.hash]);
    await devnet.rollback({ blocks: 2 });
    const b2 = await block(devnet);
    await expect.poll(fromOrigin.brief).toEqual(["back to ", a.hash, b.hash, c.hash, `back to ${a.hash}`, b2.hash]);
    await expect.poll(fromB.brief).toEqual([`back to ${b.hash}`, c.hash, `back to ${a.hash}`, b2.hash]);
    expect(fromOrigin.seen.at(-1)!.tip).toEqual(b2);
    await fromOrigin.stop();
    await fromB.stop();
  });

  test("submits, and reads at a point", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const tip = await block(devnet);
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    expect(await port.submit(made.cbor)).toEqual(accepted);
    expect(await port.inMempool(made.hash)).toEqual({ ok: true, value: true });
    expect(await port.submit(encode(1))).toMatchObject({
      ok: true,
      value: { outcome: "refused", failures: [{ name: "DeserialiseFailure" }] },
    });
    // redeemers among data nested more deeply than is read: [body, {4: [[…[0]…]], 5: []}, true, null]
    const body = encode(new Map<Encodable, Encodable>([[0, []], [1, []], [2, 0]]));
    const deep = new Encoded(Uint8Array.from([...new Uint8Array(10_000).fill(0x81), 0]));
    expect(
      await port.submit(encode([new Encoded(body), new Map<Encodable, Encodable>([[4, deep], [5, []]]), true, null])),
    ).toMatchObject({
      ok: true,
      value: { outcome: "refused", failures: [{ name: "DeserialiseFailure" }] },
    });
    const twice = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 5n * ada]] });
    expect(await port.submit(twice.cbor)).toEqual(await devnet.submit(twice.cbor));
    const point = { slot: tip.slot, hash: tip.hash };
    expect(await port.utxosByRef([coin.ref, made.created[0]!.ref])).toEqual({
      ok: true,
      value: { point, value: [coin] },
    });
    expect(await port.parameters()).toEqual({ ok: true, value: { point, value: devnet.parameters } });
    expect(await port.network()).toEqual(devnet.network);
    expect(await port.tip()).toEqual({ ok: true, value: tip });
    expect(slotTime(devnet.network.slots, tip.slot)).toBeLessThanOrEqual(clock.now());
  });

  test("says so when nobody runs the devnet, and reads all the same", async () => {
    await start();
    await running.pop()!.stop();
    expect(await port.submit(encode(1))).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
    expect((await port.tip()).ok).toBe(true);
  });
});

test("goes on after its connections were cut, with all that was acknowledged", async () => {
  const devnet = await start({ leaseMs: 5_000 });
  const admin = openStore(infra.databaseUrl, { max: 1, application: "test" });
  const acknowledged = new Set<string>();
  let refused = 0;
  for (let round = 0; round < 6; round++) {
    const doing = [
      ...Array.from({ length: 15 }, async () => {
        const paid = await devnet.faucet.pay(alice.enterprise, 2n * ada);
        if (paid.ok) acknowledged.add(paid.value.txHash);
        else refused++;
      }),
      devnet.makeBlock(),
    ];
    await admin.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'arbor'`;
    await Promise.all(doing);
    await expect.poll(async () => (await devnet.makeBlock()).ok, { timeout: 10_000 }).toBe(true);
  }
  await admin.close();
  const { blocks, mempool } = await checkRows(store);
  const present = new Set([...mempool, ...blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash))]);
  expect([...acknowledged].filter((hash) => !present.has(hash))).toEqual([]);
  expect(refused).toBeGreaterThan(0);
  expect(acknowledged.size).toBeGreaterThan(0);
});

describe("two devnets on one database", () => {
  test("the second waits, refuses when the first stays, and takes over when it goes", async () => {
    const first = await start();
    const settings = { store, bus, evaluate: noScripts, log: silentLog, clock };
    const refused = await startDevnet({ ...settings, options: { blockMs: 0, leaseMs: 500, waitMs: 1_500 } });
    expect(refused).toMatchObject({ ok: false, error: { code: "devnet_running" } });
    const second = startDevnet({ ...settings, options: { blockMs: 0, leaseMs: 500 } });
    const tip = await block(first);
    await running.pop()!.stop();
    const taken = await second;
    if (!taken.ok) throw new Error(taken.error.message);
    running.push(taken.value);
    expect(taken.value.tip()).toEqual(tip);
    expect(await first.makeBlock()).toMatchObject({ ok: false, error: { code: "devnet_unavailable" } });
    expect((await block(taken.value)).height).toBe(tip.height + 1);
  });

  test("one that lost its lease without noticing writes nothing", async () => {
    const devnet = await start({ leaseMs: 60_000 });
    const tip = await block(devnet);
    await store.sql`update lease set epoch = epoch + 1, owner = 'somebody else', expires = now() + interval '1 hour'`;
    expect(await devnet.makeBlock()).toMatchObject({ ok: false });
    expect(await devnet.faucet.pay(alice.enterprise, 5n * ada)).toMatchObject({
      ok: false,
      error: { code: "devnet_unavailable" },
    });
    expect(await devnet.rollback({ blocks: 1 })).toMatchObject({ ok: false });
    expect((await checkRows(store)).tip).toEqual(tip);
    await store.sql`update lease set owner = null, expires = '-infinity'`;
  });

  test("another magic is refused", async () => {
    await start();
    await running.pop()!.stop();
    const other = await startDevnet({
      store,
      bus,
      evaluate: noScripts,
      log: silentLog,
      clock,
      options: { magic: 7, leaseMs: 500 },
    });
    expect(other).toMatchObject({ ok: false, error: { code: "other_network", details: { held: 42, magic: 7 } } });
  });
});
