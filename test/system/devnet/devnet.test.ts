/** The devnet: blocks, mempool, rollbacks, faucet and followers, with a real database and bus. */
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { addressText, enterpriseAddress } from "#src/cardano/address.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { type Encodable, encode, Encoded } from "#src/cardano/cbor.ts";
import type { RawStep } from "#src/chain/provider/port.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { requestRollback, serveRollbacks } from "#src/devnet/serve/rollback.ts";
import { ROLLBACK_SUBJECT } from "#src/devnet/serve/subjects.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import { openStore } from "#src/store/store.ts";
import { checkRows, spend } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock } from "../../support/devnet/devnetWorld.ts";
import { agrees, agreesWithThree } from "../../support/plutus/scripts.ts";
import { person } from "../../support/wallets/person.ts";

const noScripts: Evaluate = () => Promise.reject(new Error("no script was expected"));
const ada = 1_000_000n;
const alice = person("alice"), bob = person("bob");

const world = devnetWorld();
const { running, start } = world;

async function at(address: string): Promise<Utxo[]> {
  const found = await world.rows.utxosByAddress([address]);
  if (!found.ok) throw new Error(found.error.message);
  return [...found.value.value];
}

const hashes = (devnet: Devnet) => devnet.mempool().map(({ transaction }) => transaction.hash);
const accepted = { ok: true, value: { outcome: "accepted" } };
const included = {
  ok: true,
  value: {
    outcome: "refused",
    failures: [{
      name: "ConwayMempoolFailure",
      message: "All inputs are spent. Transaction has probably already been included",
    }],
  },
};

describe("blocks", () => {
  test("hold the mempool's transactions, are linked, and equal their rows", async () => {
    const devnet = await start();
    const paid = await give(devnet, alice.enterprise, 5n * ada);
    const first = await makeBlock(devnet);
    const second = await makeBlock(devnet);
    expect([first.height, second.height]).toEqual([0, 1]);
    expect(second.slot).toBe(first.slot + 1);
    const { blocks } = await checkRows(world.store);
    expect(blocks[0]!.transactions.some(({ hash }) => hash === paid.ref.txHash)).toBe(true);
    expect(blocks[1]!.transactions).toEqual([]);
    expect((await at(alice.enterprise)).map(({ ref }) => refKey(ref))).toEqual([refKey(paid.ref)]);
    expect(devnet.mempool()).toEqual([]);
  });

  test("after a pause the slot has advanced, and there are no blocks in between", async () => {
    let devnet = await start();
    const evening = await makeBlock(devnet);
    await running.pop()!.stop();
    world.clock.advance(8 * 3_600_000);
    devnet = await start();
    expect(devnet.tip()).toEqual(evening);
    const morning = await makeBlock(devnet);
    expect(morning.height).toBe(evening.height + 1);
    expect(morning.slot).toBe(evening.slot + 8 * 3_600);
    await checkRows(world.store);
  });

  test("are produced automatically, including empty ones by default", async () => {
    const devnet = await start({ blockMs: 20 });
    world.clock.advance(1_000_000);
    await expect.poll(() => devnet.tip().height, { timeout: 5_000 }).toBeGreaterThanOrEqual(0);
    // the clock stands still, so there is no free slot
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(devnet.tip().height).toBe(0);
    for (let height = 1; height < 4; height++) {
      world.clock.advance(1_000);
      await expect.poll(() => devnet.tip().height, { timeout: 5_000 }).toBe(height);
    }
    await running.pop()!.stop();
    const quiet = await start({ blockMs: 20, emptyBlocks: false });
    world.clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(quiet.tip().height).toBe(3);
    await give(quiet, alice.enterprise, 5n * ada);
    await expect.poll(() => quiet.tip().height, { timeout: 5_000 }).toBe(4);
    await checkRows(world.store);
  });

  test("take no more transactions than fit, in order", async () => {
    const devnet = await start();
    const waiting: string[] = [];
    for (let i = 0; i < 20; i++) {
      const coin = await give(devnet, alice.enterprise, 150n * ada);
      // 100 outputs take over 6 kB, so 20 of these exceed a block's 90,112 bytes
      const outputs = Array.from({ length: 100 }, () => [bob.base, 12n * ada / 10n] as const);
      const made = spend({ from: alice, inputs: [coin], outputs });
      expect(await devnet.submit(made.cbor)).toEqual(accepted);
      waiting.push(coin.ref.txHash, made.hash);
    }
    await makeBlock(devnet);
    const left = hashes(devnet);
    expect(left.length).toBeGreaterThan(0);
    expect(left).toEqual(waiting.slice(-left.length));
    await makeBlock(devnet);
    expect(devnet.mempool()).toEqual([]);
    const { blocks } = await checkRows(world.store);
    const inBlocks = blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash));
    expect(inBlocks.filter((hash) => waiting.includes(hash))).toEqual(waiting);
  });
});

describe("the mempool", () => {
  test("takes transactions that spend pending outputs, and keeps their order over a restart", async () => {
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
    await makeBlock(devnet);
    await checkRows(world.store);
    expect((await at(alice.enterprise)).map(({ ref }) => refKey(ref))).toEqual([refKey(b.created[0]!.ref)]);
  });

  test("refuses a transaction again that is pending or in the ledger, as a node does; services take it as known", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const other = await give(devnet, alice.enterprise, 10n * ada);
    await makeBlock(devnet);
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    expect(await Promise.all([devnet.submit(made.cbor), devnet.submit(made.cbor)])).toEqual([accepted, included]);
    expect(hashes(devnet).filter((hash) => hash === made.hash)).toHaveLength(1);
    expect(await world.rows.submit(made.cbor)).toEqual(accepted);
    await makeBlock(devnet);
    // another transaction with the same inputs is refused alike: hashes are not compared
    const twin = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 8n * ada]] });
    for (const { cbor } of [made, twin]) expect(await devnet.submit(cbor)).toEqual(included);
    expect(await world.rows.submit(made.cbor)).toEqual(accepted);
    expect(await world.rows.submit(twin.cbor)).toEqual(included);
    expect([made, twin].map(({ hash }) => devnet.departures().find((one) => one.hash === hash)?.kind)).toEqual([
      undefined,
      "refused",
    ]);
    // with one input that is unspent the other rules are checked
    const both = spend({ from: alice, inputs: [coin, other], outputs: [[bob.enterprise, 19n * ada]] });
    expect(await devnet.submit(both.cbor)).toMatchObject({
      value: { failures: [{ name: "BadInputsUTxO", inputs: [coin.ref] }, { name: "ValueNotConservedUTxO" }] },
    });
    expect(devnet.mempool()).toEqual([]);
    // after a rollback that drops it, the same bytes are accepted
    expect(await devnet.rollback({ blocks: 1 }, { drop: true })).toMatchObject({ ok: true });
    expect(await devnet.submit(made.cbor)).toEqual(accepted);
  });

  test("refuses invalid transactions with the ledger's failure names", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    expect(await devnet.submit(made.cbor)).toEqual(accepted);
    const again = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 8n * ada]] });
    expect(await devnet.submit(again.cbor)).toMatchObject({
      ok: true,
      value: { outcome: "refused", failures: [{ name: "ConwayMempoolFailure" }] },
    });
    const notHers = spend({ from: alice, inputs: made.created, outputs: [[alice.enterprise, 8n * ada]] });
    expect(await devnet.submit(notHers.cbor)).toMatchObject({
      value: { outcome: "refused", failures: [{ name: "MissingVKeyWitnessesUTXOW", keys: [bob.key] }] },
    });
    expect(await devnet.submit(encode([1, 2]))).toMatchObject({ ok: false, error: { code: "undecodable" } });
  });

  test("drops transactions past their validity, with those that depend on them", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const other = await give(devnet, alice.enterprise, 10n * ada);
    await makeBlock(devnet);
    const validTo = devnet.slot() + 2;
    const a = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]], validTo });
    const b = spend({ from: bob, inputs: a.created, outputs: [[alice.enterprise, 8n * ada]] });
    const c = spend({ from: alice, inputs: [other], outputs: [[bob.enterprise, 9n * ada]] });
    for (const { cbor } of [a, b, c]) expect(await devnet.submit(cbor)).toEqual(accepted);
    world.clock.advance(10_000);
    const late = await devnet.submit(
      spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 7n * ada]], validTo }).cbor,
    );
    expect(late).toMatchObject({ value: { outcome: "refused" } });
    await makeBlock(devnet);
    const { blocks, mempool } = await checkRows(world.store);
    expect(mempool).toEqual([]);
    expect(blocks.at(-1)!.transactions.map(({ hash }) => hash)).toEqual([c.hash]);
    // what it spent is unspent again
    expect(await devnet.submit(spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] }).cbor))
      .toEqual(accepted);
  });

  test("is bounded, and refuses when full", async () => {
    const devnet = await start({ mempoolBytes: 4_000 });
    const answers = [];
    for (let i = 0; i < 20; i++) answers.push(await devnet.faucet.pay(alice.enterprise, 2n * ada));
    const full = answers.filter((answer) => !answer.ok);
    expect(full.length).toBeGreaterThan(0);
    expect(full[0]).toMatchObject({ error: { code: "mempool_full" } });
    await makeBlock(devnet);
    expect((await devnet.faucet.pay(alice.enterprise, 2n * ada)).ok).toBe(true);
  });
});

describe("rollbacks", () => {
  test("restore outputs, return transactions to the mempool and lead to another fork", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const base = await makeBlock(devnet);
    const before = (await checkRows(world.store)).unspent;
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    await devnet.submit(made.cbor);
    const undone = await makeBlock(devnet);
    const next = spend({ from: bob, inputs: made.created, outputs: [[alice.enterprise, 8n * ada]] });
    await devnet.submit(next.cbor);
    expect(await devnet.rollback({ blocks: 1 })).toEqual({ ok: true, value: base });
    const after = await checkRows(world.store);
    expect(after.unspent).toEqual(before);
    expect(after.mempool).toEqual([made.hash, next.hash]);
    const again = await makeBlock(devnet);
    expect(again.height).toBe(undone.height);
    expect(again.hash).not.toBe(undone.hash);
    // time went back: the slot is free again
    expect(again.slot).toBe(undone.slot);
    expect((await checkRows(world.store)).blocks.at(-1)!.transactions.map(({ hash }) => hash)).toEqual([
      made.hash,
      next.hash,
    ]);
  });

  test("drop transactions on request, with those that depend on them", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    await makeBlock(devnet);
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    await devnet.submit(made.cbor);
    const { slot } = await makeBlock(devnet);
    await devnet.submit(spend({ from: bob, inputs: made.created, outputs: [[alice.enterprise, 8n * ada]] }).cbor);
    expect(await devnet.rollback({ slot: slot - 1 }, { drop: true })).toMatchObject({ ok: true });
    expect((await checkRows(world.store)).mempool).toEqual([]);
    expect((await at(alice.enterprise)).map(({ ref }) => refKey(ref))).toEqual([refKey(coin.ref)]);
  });

  test("go back to the origin, but not below the blocks that are kept", async () => {
    const devnet = await start({ securityParameter: 5 });
    await give(devnet, alice.enterprise, 10n * ada);
    await makeBlock(devnet);
    expect(await devnet.rollback({ height: -1 })).toMatchObject({ ok: true, value: { height: -1, slot: -1 } });
    expect((await checkRows(world.store)).unspent.size).toBe(1 + devnet.genesis.pools.length + devnet.genesis.accounts);
    for (let i = 0; i < 10; i++) await makeBlock(devnet);
    expect(await devnet.rollback({ blocks: 6 })).toMatchObject({ ok: false, error: { code: "rollback_impossible" } });
    expect(await devnet.rollback({ blocks: 5 })).toMatchObject({ ok: true, value: { height: 4 } });
    expect(await devnet.rollback({ blocks: 1 })).toMatchObject({ ok: false, error: { code: "rollback_impossible" } });
    await checkRows(world.store);
  });
});

describe("the faucet", () => {
  test("serves many requests at once", async () => {
    const devnet = await start();
    const paid = await Promise.all(
      Array.from(
        { length: 100 },
        (_, i) => devnet.faucet.pay(i % 2 ? alice.enterprise : bob.base, BigInt(2 + i) * ada),
      ),
    );
    expect(paid.every(({ ok }) => ok)).toBe(true);
    await makeBlock(devnet);
    await checkRows(world.store);
    const sum = (utxos: Utxo[]) => utxos.reduce((total, { output }) => total + output.value.lovelace, 0n);
    expect(sum(await at(alice.enterprise)) + sum(await at(bob.base))).toBe(BigInt(100 * 2 + 99 * 50) * ada);
  });

  test("refuses amounts outside its limits", async () => {
    const devnet = await start({ faucetLimit: 100n * ada });
    expect(await devnet.faucet.pay(alice.enterprise, 100n * ada + 1n)).toMatchObject({
      error: { code: "amount_too_large", message: "The faucet pays at most 100 ada (100000000 lovelace) per request." },
    });
    const least = await devnet.faucet.pay(alice.base, 1n);
    expect(least).toMatchObject({ ok: false, error: { code: "amount_too_small" } });
    const { limit } = (least as { error: { details: { limit: bigint } } }).error.details;
    expect((await devnet.faucet.pay(alice.base, limit)).ok).toBe(true);
  });

  test("pays more than any single output holds", async () => {
    const devnet = await start({ faucetLimit: 10n ** 18n });
    expect((await devnet.faucet.pay(alice.base, 5_000_000_000n * ada)).ok).toBe(true);
    expect(await devnet.faucet.pay(alice.base, 29_000_000_000n * ada)).toMatchObject({
      error: { code: "faucet_empty" },
    });
  });
});

test("scripts are published once, and a newer one in addition", async () => {
  const address = "70" + "ab".repeat(28);
  const script = encode([3, agrees]);
  const count = async () => (await at(address)).filter(({ output }) => output.script).length;
  let devnet = await start({ publish: [{ address, script }] });
  await makeBlock(devnet);
  expect(await count()).toBe(1);
  for (const scripts of [[script], [script, encode([2, agreesWithThree])]]) {
    await running.pop()!.stop();
    devnet = await start({ publish: scripts.map((script) => ({ address, script })) });
    await makeBlock(devnet);
    expect(await count()).toBe(scripts.length);
  }
});

describe("the port", () => {
  const steps = (points: { slot: number; hash: string }[] = []) => {
    const abort = new AbortController();
    const seen: RawStep[] = [];
    const ended = (async () => {
      for await (const step of world.rows.follow(points, abort.signal)) seen.push(step);
    })();
    const brief = () =>
      seen.map((step) => step.type === "forward" ? scanBlock(step.block).hash : `back to ${step.point.hash}`);
    return { seen, brief, stop: () => (abort.abort(), ended) };
  };

  test("gives every block and every rollback from a point on", async () => {
    const devnet = await start();
    const a = await makeBlock(devnet), b = await makeBlock(devnet), c = await makeBlock(devnet);
    const fromOrigin = steps(), fromB = steps([{ slot: 99, hash: "ff".repeat(32) }, b, a]);
    await expect.poll(fromOrigin.brief).toEqual(["back to ", a.hash, b.hash, c.hash]);
    await expect.poll(fromB.brief).toEqual([`back to ${b.hash}`, c.hash]);
    await devnet.rollback({ blocks: 2 });
    const b2 = await makeBlock(devnet);
    await expect.poll(fromOrigin.brief).toEqual(["back to ", a.hash, b.hash, c.hash, `back to ${a.hash}`, b2.hash]);
    await expect.poll(fromB.brief).toEqual([`back to ${b.hash}`, c.hash, `back to ${a.hash}`, b2.hash]);
    expect(fromOrigin.seen.at(-1)!.tip).toEqual(b2);
    await fromOrigin.stop();
    await fromB.stop();
  });

  test("submits, and reads at a point", async () => {
    const devnet = await start();
    const coin = await give(devnet, alice.enterprise, 10n * ada);
    const tip = await makeBlock(devnet);
    const made = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 9n * ada]] });
    expect(await world.rows.submit(made.cbor)).toEqual(accepted);
    expect(await world.rows.inMempool(made.hash)).toEqual({ ok: true, value: true });
    expect(await world.rows.submit(encode(1))).toMatchObject({
      ok: true,
      value: { outcome: "refused", failures: [{ name: "DeserialiseFailure" }] },
    });
    // redeemers with data nested deeper than the decoder goes: [body, {4: [[…[0]…]], 5: []}, true, null]
    const body = encode(new Map<Encodable, Encodable>([[0, []], [1, []], [2, 0]]));
    const deep = new Encoded(Uint8Array.from([...new Uint8Array(10_000).fill(0x81), 0]));
    expect(
      await world.rows.submit(
        encode([new Encoded(body), new Map<Encodable, Encodable>([[4, deep], [5, []]]), true, null]),
      ),
    ).toMatchObject({
      ok: true,
      value: { outcome: "refused", failures: [{ name: "DeserialiseFailure" }] },
    });
    const twice = spend({ from: alice, inputs: [coin], outputs: [[bob.enterprise, 5n * ada]] });
    expect(await world.rows.submit(twice.cbor)).toEqual(await devnet.submit(twice.cbor));
    const point = { slot: tip.slot, hash: tip.hash };
    expect(await world.rows.utxosByRef([coin.ref, made.created[0]!.ref])).toEqual({
      ok: true,
      value: { point, value: [coin] },
    });
    expect(await world.rows.parameters()).toEqual({ ok: true, value: { point, value: devnet.genesis.parameters } });
    expect(await world.rows.network()).toEqual(devnet.network);
    expect(await world.rows.tip()).toEqual({ ok: true, value: tip });
    expect(slotTime(devnet.network.slots, tip.slot)).toBeLessThanOrEqual(world.clock.now());
  });

  test("rolls back on request of another process, and answers a request that it cannot carry out", async () => {
    const { bus } = world;
    expect(await requestRollback(bus, 1)).toMatchObject({ ok: false, error: { code: "no_devnet" } });
    const devnet = await start();
    const { height } = await makeBlock(devnet);
    const stop = serveRollbacks(bus, (to) => devnet.rollback(to), silentLog);
    expect(await requestRollback(bus, 1)).toMatchObject({ ok: true, value: { height: height - 1 } });
    for (const blocks of [-1, 0.5, "1", null]) {
      expect(await bus.request(ROLLBACK_SUBJECT, { blocks }, 5_000)).toMatchObject({
        ok: false,
        error: { code: "invalid" },
      });
    }
    expect(await bus.request(ROLLBACK_SUBJECT, [], 5_000)).toMatchObject({ ok: false, error: { code: "invalid" } });
    stop();
    const failing = serveRollbacks(bus, () => Promise.reject(new Error("the database is away")), silentLog);
    expect(await requestRollback(bus, 1)).toMatchObject({ ok: false, error: { code: "devnet_unavailable" } });
    failing();
  });

  test("reports that no process runs the devnet, and still reads", async () => {
    await start();
    await running.pop()!.stop();
    expect(await world.rows.submit(encode(1))).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
    expect((await world.rows.tip()).ok).toBe(true);
  });
});

test("continues after its connections were cut, with everything that was acknowledged", async () => {
  const devnet = await start({ leaseMs: 5_000 });
  const admin = openStore(world.infra.databaseUrl, { max: 1, application: "test" });
  const acknowledged = new Set<string>();
  let refused = 0;
  for (let round = 0; round < 6; round++) {
    const actions = [
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
    await Promise.all(actions);
    await expect.poll(async () => (await devnet.makeBlock()).ok, { timeout: 10_000 }).toBe(true);
  }
  await admin.close();
  const { blocks, mempool } = await checkRows(world.store);
  const present = new Set([...mempool, ...blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash))]);
  expect([...acknowledged].filter((hash) => !present.has(hash))).toEqual([]);
  expect(refused).toBeGreaterThan(0);
  expect(acknowledged.size).toBeGreaterThan(0);
});

describe("two devnets on one database", () => {
  test("the second waits, gives up if the first keeps running, and takes over if it stops", async () => {
    const first = await start();
    const { store, bus, clock } = world;
    const settings = { store, bus, evaluate: noScripts, log: silentLog, clock };
    const refused = await startDevnet({ ...settings, options: { blockMs: 0, leaseMs: 500, waitMs: 1_500 } });
    expect(refused).toMatchObject({ ok: false, error: { code: "devnet_running" } });
    const second = startDevnet({ ...settings, options: { blockMs: 0, leaseMs: 500 } });
    const tip = await makeBlock(first);
    await running.pop()!.stop();
    const taken = await second;
    if (!taken.ok) throw new Error(taken.error.message);
    running.push(taken.value);
    expect(taken.value.tip()).toEqual(tip);
    expect(await first.makeBlock()).toMatchObject({ ok: false, error: { code: "devnet_unavailable" } });
    expect((await makeBlock(taken.value)).height).toBe(tip.height + 1);
  });

  test("a devnet that lost its lease unnoticed writes nothing", async () => {
    const devnet = await start({ leaseMs: 60_000 });
    const tip = await makeBlock(devnet);
    await world.store
      .sql`update lease set epoch = epoch + 1, checked = epoch + 1, owner = 'somebody else', expires = now() + interval '1 hour'`;
    expect(await devnet.makeBlock()).toMatchObject({ ok: false });
    expect(await devnet.faucet.pay(alice.enterprise, 5n * ada)).toMatchObject({
      ok: false,
      error: { code: "devnet_unavailable" },
    });
    expect(await devnet.rollback({ blocks: 1 })).toMatchObject({ ok: false });
    const { store, rows: port } = world;
    const app = devnetApp({ devnet, store, port, files: [], health: () => {}, log: silentLog });
    const bodies = {
      "/faucet": { address: addressText(enterpriseAddress(0, { kind: "key", hash: alice.key })), lovelace: 5_000_000 },
      "/blocks": {},
      "/rollback": { blocks: 1 },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await app.request(path, { method: "POST", body: JSON.stringify(body) });
      expect([path, answer.status, answer.headers.get("retry-after")]).toEqual([path, 503, "1"]);
      expect(await answer.json()).toMatchObject({ code: "devnet_unavailable" });
    }
    expect((await checkRows(world.store)).tip).toEqual(tip);
    await world.store.sql`update lease set owner = null, expires = '-infinity'`;
  });

  test("another magic is refused", async () => {
    await start();
    await running.pop()!.stop();
    const other = await startDevnet({
      store: world.store,
      bus: world.bus,
      evaluate: noScripts,
      log: silentLog,
      clock: world.clock,
      options: { magic: 7, leaseMs: 500 },
    });
    expect(other).toMatchObject({ ok: false, error: { code: "other_network", details: { held: 42, magic: 7 } } });
  });
});
