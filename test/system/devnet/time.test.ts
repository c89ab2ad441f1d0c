/** Time on command: blocks now, jumps, the slot of the next block, modes of mining, and the clock of snapshots. */
import { expect, test } from "vitest";
import { parseJson, toJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import type { Tip } from "#src/cardano/block.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import type { JumpBlocks } from "#src/devnet/blocks/jump.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { readSlotsAhead } from "#src/devnet/genesis/genesis.ts";
import { BLOCK_SUBJECT } from "#src/devnet/serve/subjects.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { certificates, checkRows, checkSnapshots, ledgerInRows, ledgerOf, spend } from "../../support/devnet/devnet.ts";
import { indexRows, rebuiltRows } from "../../support/devnet/devnetIndex.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 100;
/** 3k/f is 12. */
const K = 4;
const alice = person("alice");

const world = devnetWorld();
const start = (options: DevnetOptions = {}) => world.start({ epochLength: EPOCH, pools: 1, ...options });
const slotsOf = async () => (await checkRows(world.store)).blocks.map(({ slot }) => slot);

function over(devnet: Devnet) {
  const app = devnetApp({ devnet, store: world.store, port: world.rows, files: [], health: () => {}, log: silentLog });
  return async (method: string, path: string, body?: unknown) => {
    const response = await app.request(path, { method, ...(body === undefined ? {} : { body: toJson(body) }) });
    return { status: response.status, body: parseJson(await response.text()) as Record<string, unknown> };
  };
}

/** A payment of Alice to herself. */
const pay = (coin: Awaited<ReturnType<typeof give>>, validity: { validFrom?: number; validTo?: number } = {}) =>
  spend({
    from: alice,
    inputs: [coin],
    outputs: [[alice.base, coin.output.value.lovelace - ada]],
    ...validity,
  });

async function accept(devnet: Devnet, cbor: Uint8Array): Promise<void> {
  expect(valueOf(await devnet.submit(cbor))).toEqual({ outcome: "accepted" });
}

test("blocks are made at once, ahead of the clock, gap slots apart, with or without the mempool", async () => {
  const devnet = await start();
  expect(valueOf(await devnet.makeBlocks({ count: 3 }))).toMatchObject({ tip: { slot: 2, height: 2 }, blocks: 3 });
  const coin = await give(devnet, alice.enterprise, 10n * ada);
  expect(valueOf(await devnet.makeBlocks({ count: 2, gap: 10, empty: true })).tip).toMatchObject({ slot: 22 });
  expect(devnet.mempool()).toHaveLength(1);
  expect(valueOf(await devnet.makeBlocks({ count: 2, gap: 5 })).tip).toMatchObject({ slot: 32 });
  expect(devnet.mempool()).toEqual([]);
  const { blocks, unspent } = await checkRows(world.store);
  expect(blocks.map(({ slot }) => slot)).toEqual([0, 1, 2, 12, 22, 27, 32]);
  expect(blocks[5]!.transactions).toHaveLength(1);
  expect(unspent.has(`${coin.ref.txHash}#${coin.ref.index}`)).toBe(true);
  expect(devnet.time()).toEqual({
    slot: 32,
    time: world.clock.now() + 32_000,
    wallSlot: 0,
    offsetSlots: 32,
    nextSlot: 33,
    mode: "manual",
  });
  // the machine's clock goes on, and with it the devnet's
  world.clock.advance(100_000);
  expect(await makeBlock(devnet)).toMatchObject({ slot: 132 });
  expect(await readSlotsAhead(world.store.sql)).toBe(32);
});

test("calls at the same time have their own blocks, in order", async () => {
  const devnet = await start();
  const made = await Promise.all([1, 40, 2, 1].map((count) => devnet.makeBlocks({ count })));
  expect(made.map((one) => valueOf(one).blocks)).toEqual([1, 40, 2, 1]);
  expect(await slotsOf()).toEqual(Array.from({ length: 44 }, (_, slot) => slot));
});

test.each<[JumpBlocks, number[]]>([
  ["one", [100, 200, 230]],
  ["sparse", [
    11,
    22,
    33,
    44,
    55,
    66,
    77,
    88,
    99,
    100,
    111,
    122,
    133,
    144,
    155,
    166,
    177,
    188,
    199,
    200,
    211,
    222,
    230,
  ]],
  ["every", Array.from({ length: 230 }, (_, i) => i + 1)],
])("a jump with blocks: %s", async (blocks, slots) => {
  const devnet = await start({ securityParameter: K });
  await makeBlock(devnet);
  const made = valueOf(await devnet.advance({ slots: 230 }, blocks));
  expect(made).toMatchObject({ tip: { slot: 230 }, blocks: slots.length });
  expect(await slotsOf()).toEqual([0, ...slots]);
  expect([devnet.slot(), devnet.time().offsetSlots]).toEqual([230, 230]);
  expect(await indexRows(world.store)).toEqual(await rebuiltRows(world.store));
});

test("each way to name a target", async () => {
  const devnet = await start({ slotLength: 400 });
  const begin = devnet.network.slots.zeroTime;
  const to = async (target: Parameters<Devnet["advance"]>[0]) => valueOf(await devnet.advance(target)).tip.slot;
  expect(await to({ slots: 5 })).toBe(5);
  expect(await to({ seconds: 1 })).toBe(8);
  expect(await to({ toSlot: 20 })).toBe(20);
  expect(await to({ toTime: begin + 40 * 400 })).toBe(40);
  expect(await to({ toTime: begin + 40 * 400 + 1 })).toBe(41);
  expect(await to({ epochs: 1 })).toBe(100);
  expect(await to({ toEpoch: 4 })).toBe(400);
  expect(await slotsOf()).toEqual([5, 8, 20, 40, 41, 100, 200, 300, 400]);
});

test("an epoch that is waited for, jumped over, entered, or caught up gives the same ledger", async () => {
  const devnet = await start();
  const coin = await give(devnet, alice.base, 1_000_000n * ada);
  const joining = spend({
    from: alice,
    inputs: [coin],
    outputs: [[alice.base, 999_997n * ada]],
    deposit: 2n * ada,
    signers: [alice.stakeSeed],
    certificates: [certificates.register(alice), certificates.delegate(alice, devnet.genesis.pools[0]!.id)],
  });
  await accept(devnet, joining.cbor);
  const base = await makeBlock(devnet);
  const results: Record<string, unknown>[] = [];
  const collect = async (way: () => Promise<unknown>) => {
    await way();
    expect(devnet.tip().slot).toBe(6 * EPOCH);
    const ledger = await ledgerInRows(world.store);
    expect(await devnet.query(ledgerOf)).toEqual(ledger);
    results.push(ledger);
    valueOf(await devnet.rollback({ height: base.height }));
    expect(devnet.slot()).toBe(Math.max(base.slot, devnet.time().wallSlot));
  };
  const jump = (blocks: JumpBlocks) => collect(async () => valueOf(await devnet.advance({ toEpoch: 6 }, blocks)));
  await jump("one");
  await collect(async () => {
    for (let i = 0; i < 6; i++) valueOf(await devnet.enterNextEpoch());
  });
  await jump("every");
  await collect(async () => valueOf(await devnet.makeBlocks({ count: 6 * EPOCH - base.slot })));
  // the machine's clock is there before the chain
  world.clock.advance(EPOCH * 1_000);
  await jump("one");
  world.clock.advance(5 * EPOCH * 1_000);
  await jump("one");
  await jump("every");
  const [one, entered, every, waited, later, caught, filled] = results;
  expect([entered, later, caught]).toEqual([one, one, one]);
  expect([waited, filled]).toEqual([every, every]);
  expect(every).not.toEqual(one);
  await checkRows(world.store);
});

test("a devnet that has slept catches up, and one that is ahead does not", async () => {
  const devnet = await start();
  const send = over(devnet);
  await makeBlock(devnet);
  world.clock.advance(230_000);
  expect(await send("POST", "/time/sync", {})).toMatchObject({ status: 200, body: { slot: 230, blocks: 3, epoch: 2 } });
  expect(await slotsOf()).toEqual([0, 100, 200, 230]);
  expect(await send("POST", "/time/sync", {})).toMatchObject({ status: 200, body: { slot: 230, blocks: 0 } });
  world.clock.advance(3_000);
  expect(await send("POST", "/time/sync", { blocks: "every" })).toMatchObject({ body: { slot: 233, blocks: 3 } });
  expect(devnet.time()).toMatchObject({ slot: 233, wallSlot: 233, offsetSlots: 0 });

  valueOf(await devnet.advance({ slots: 7 }));
  const tip = devnet.tip();
  expect(await send("POST", "/time/sync", {})).toMatchObject({
    status: 409,
    body: { code: "clock_ahead", details: { slots: 7 } },
  });
  expect(await send("POST", "/time/sync", { blocks: "some" })).toMatchObject({ status: 400 });
  expect(devnet.tip()).toEqual(tip);
  valueOf(await devnet.rollback({ height: tip.height - 1 }));
  expect(await send("POST", "/time/sync", {})).toMatchObject({ status: 200, body: { slot: 233, blocks: 0 } });
});

test("transactions are in the first block of a jump that their validity allows; expired ones are dropped", async () => {
  const devnet = await start();
  const coins = [];
  for (const extra of [0n, 1n, 2n, 3n]) coins.push(await give(devnet, alice.enterprise, (10n + extra) * ada));
  await makeBlock(devnet);
  // valid once the chain has reached slot 150: a rollback leaves it waiting
  valueOf(await devnet.nextSlot(150));
  const later = pay(coins[0]!, { validFrom: 150, validTo: 300 });
  const child = spend({ from: alice, inputs: later.created, outputs: [[alice.base, 7n * ada]] });
  await accept(devnet, later.cbor);
  await accept(devnet, child.cbor);
  expect(await makeBlock(devnet)).toMatchObject({ slot: 150 });
  valueOf(await devnet.rollback({ blocks: 1 }));
  expect(devnet.slot()).toBe(0);
  const waiting = () => devnet.mempool().map(({ transaction }) => transaction.hash);
  expect(waiting()).toEqual([later.hash, child.hash]);

  const free = pay(coins[1]!), short = pay(coins[2]!, { validTo: 90 }), long = pay(coins[3]!, { validTo: 101 });
  for (const { cbor } of [free, short, long]) await accept(devnet, cbor);
  valueOf(await devnet.advance({ toSlot: 220 }));
  const { blocks, mempool } = await checkRows(world.store);
  const held = new Map(blocks.map(({ slot, transactions }) => [slot, transactions.map(({ hash }) => hash)]));
  expect([held.get(100), held.get(200), held.get(220)]).toEqual([[free.hash, long.hash], [later.hash, child.hash], []]);
  expect([mempool, waiting()]).toEqual([[], []]);
  expect(devnet.departures()[0]).toMatchObject({ hash: short.hash, kind: "dropped" });
  expect(await indexRows(world.store)).toEqual(await rebuiltRows(world.store));
});

test("the next block stands in the slot that was set, once; transactions are judged by it", async () => {
  const devnet = await start();
  const coin = await give(devnet, alice.enterprise, 10n * ada);
  await makeBlock(devnet);
  const timed = pay(coin, { validFrom: 70, validTo: 71 });
  expect(valueOf(await devnet.submit(timed.cbor))).toMatchObject({ outcome: "refused" });
  valueOf(await devnet.nextSlot(70));
  expect(devnet.time()).toMatchObject({ slot: 0, nextSlot: 70 });
  await accept(devnet, timed.cbor);
  expect(await makeBlock(devnet)).toMatchObject({ slot: 70 });
  expect(await makeBlock(devnet)).toMatchObject({ slot: 71 });
  expect((await checkRows(world.store)).blocks[1]!.transactions).toHaveLength(1);
  for (const slot of [0, 71]) {
    expect(await devnet.nextSlot(slot)).toMatchObject({ ok: false, error: { code: "slot_not_after_tip" } });
  }
});

test("in the mode submit each accepted transaction is in a block before it is answered; concurrent ones share it", async () => {
  const devnet = await start({ mining: "submit" });
  const people = Array.from({ length: 50 }, (_, i) => person(`person ${i}`));
  const included = async () =>
    new Set((await checkRows(world.store)).blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash)));
  const { height } = devnet.tip();
  const paid = await Promise.all(people.map(({ enterprise }) => devnet.faucet.pay(enterprise, 10n * ada)));
  expect(devnet.tip().height - height).toBeLessThan(people.length);
  const afterPayments = await included();
  expect(paid.filter((one) => !afterPayments.has(valueOf(one).txHash))).toEqual([]);

  const coins = valueOf(await world.rows.utxosByAddress(people.map(({ enterprise }) => enterprise))).value;
  const payments = people.map((from) =>
    spend({
      from,
      inputs: coins.filter(({ output }) => output.address === from.enterprise),
      outputs: [[from.base, 9n * ada]],
    })
  );
  // half of them over the bus, as another process submits
  const before = devnet.tip().height;
  const answers = await Promise.all(
    payments.map(({ cbor }, i) => i % 2 === 0 ? devnet.submit(cbor) : world.rows.submit(cbor)),
  );
  expect(answers.map(valueOf)).toEqual(payments.map(() => ({ outcome: "accepted" })));
  const afterSubmissions = await included();
  expect(payments.filter(({ hash }) => !afterSubmissions.has(hash))).toEqual([]);
  expect(devnet.mempool()).toEqual([]);
  expect(devnet.tip().height - before).toBeLessThan(people.length);

  // neither a refused transaction nor one that the ledger has makes a block
  const now = devnet.tip();
  expect(valueOf(await world.rows.submit(payments[0]!.cbor))).toEqual({ outcome: "accepted" });
  expect(valueOf(await devnet.submit(spend({ from: alice, inputs: [coins[0]!], outputs: [] }).cbor))).toMatchObject({
    outcome: "refused",
  });
  expect(devnet.tip()).toEqual(now);
  // one that a rollback returned to the mempool does, when it is submitted again, though as such it is refused
  valueOf(await devnet.rollback({ blocks: 1 }));
  const returned = devnet.mempool()[0]!;
  expect(valueOf(await world.rows.submit(returned.cbor))).toEqual({ outcome: "accepted" });
  expect([devnet.mempool(), devnet.tip().height]).toEqual([[], now.height]);
});

test("a submission whose block cannot be written is not answered as accepted, and is in a block when it is repeated", async () => {
  const devnet = await start({ mining: "submit" });
  await devnet.faucet.pay(alice.enterprise, 10n * ada);
  const coin = valueOf(await world.rows.utxosByAddress([alice.enterprise])).value[0]!;
  const tip = devnet.tip();
  const payment = pay(coin);
  await world.store.sql`alter table devnet_block add constraint refused check (height <= ${
    world.store.sql.unsafe(
      String(tip.height),
    )
  })`;
  expect(await devnet.submit(payment.cbor)).toMatchObject({ error: { code: "devnet_unavailable" } });
  expect(devnet.tip()).toEqual(tip);
  await world.store.sql`alter table devnet_block drop constraint refused`;
  expect(valueOf(await world.rows.submit(payment.cbor))).toEqual({ outcome: "accepted" });
  expect((await checkRows(world.store)).blocks.at(-1)!.transactions.map(({ hash }) => hash)).toEqual([payment.hash]);
});

test("the mode changes while the devnet runs", async () => {
  const devnet = await start({ slotLength: 10 });
  await give(devnet, alice.enterprise, 10n * ada);
  const { height } = devnet.tip();
  valueOf(await devnet.setMining({ mode: "submit" }));
  expect([devnet.tip().height, devnet.mempool(), devnet.blockMs]).toEqual([height + 1, [], 0]);
  valueOf(await devnet.setMining({ mode: "interval", blockMs: 10 }));
  expect([devnet.blockMs, devnet.time().mode]).toEqual([10, "interval"]);
  await expect.poll(() => {
    world.clock.advance(10);
    return devnet.tip().height;
  }, { interval: 5, timeout: 10_000 }).toBeGreaterThan(height + 3);
  valueOf(await devnet.setMining({ mode: "manual" }));
  const at = await devnet.query((_, tip) => tip);
  world.clock.advance(10_000);
  expect(await makeBlock(devnet)).toMatchObject({ height: at!.height + 1 });
});

test("a restore brings back the clock and the mode; a rollback takes time back to the newest block", async () => {
  const devnet = await start();
  const first = valueOf(await devnet.advance({ toSlot: 50 })).tip;
  valueOf(await devnet.setMining({ mode: "submit" }));
  valueOf(await devnet.snapshots.save("early", { replace: false }));
  const state = async () => ({ ledger: await ledgerInRows(world.store), index: await indexRows(world.store) });
  const early = await state();
  valueOf(await devnet.setMining({ mode: "manual" }));
  const far = valueOf(await devnet.advance({ epochs: 3 })).tip;
  valueOf(await devnet.snapshots.save("late", { replace: false }));
  const late = await state();
  world.clock.advance(7_000);

  expect(valueOf(await devnet.snapshots.restore("early"))).toEqual(first);
  expect(devnet.time()).toMatchObject({ slot: 57, wallSlot: 7, offsetSlots: 50, mode: "submit" });
  expect(await state()).toEqual(early);
  // the same slots again are another fork, beside which the later snapshot remains
  const other = valueOf(await devnet.advance({ toSlot: 100 })).tip;
  expect(other.hash).not.toBe((await world.store.sql`select hash from devnet_side_block where slot = 100`)[0]!.hash);
  valueOf(await devnet.advance({ toSlot: far.slot }));
  await checkSnapshots(world.store);
  expect(valueOf(await devnet.snapshots.restore("late"))).toEqual(far);
  expect(devnet.time()).toMatchObject({ slot: far.slot + 7, offsetSlots: far.slot, mode: "manual" });
  expect(await state()).toEqual(late);

  const back = valueOf(await devnet.rollback({ blocks: 1 }));
  expect(devnet.time()).toMatchObject({ slot: back.slot, wallSlot: 7, offsetSlots: back.slot - 7 });
  expect(await readSlotsAhead(world.store.sql)).toBe(back.slot - 7);
  valueOf(await devnet.reset());
  expect(devnet.time()).toMatchObject({ slot: 7, offsetSlots: 0 });
  await world.running.pop()!.stop();
  expect((await start()).time()).toMatchObject({ slot: 7, offsetSlots: 0 });
  await checkSnapshots(world.store);
});

test("a follower sees every block of a jump in order, and so do subscribers", async () => {
  const devnet = await start({ securityParameter: 100 });
  const announced: number[] = [];
  world.bus.subscribe(BLOCK_SUBJECT, (tip) => void announced.push((tip as unknown as Tip).height));
  await world.bus.flush();
  const end = new AbortController();
  const seen: { height: number; slot: number }[] = [];
  const following = (async () => {
    for await (const step of world.rows.follow([], end.signal)) {
      if (step.type === "backward") continue;
      const { height, slot } = scanBlock(step.block);
      if (seen.push({ height, slot }) === 1_000) break;
    }
  })();
  expect(valueOf(await devnet.advance({ toSlot: 999 }, "every")).blocks).toBe(1_000);
  await following;
  end.abort();
  expect(seen).toEqual(Array.from({ length: 1_000 }, (_, height) => ({ height, slot: height })));
  await expect.poll(() => announced.length).toBe(1_000);
  expect(announced).toEqual(seen.map(({ height }) => height));
});

test("a batch that the database does not take leaves memory and rows alike", async () => {
  const devnet = await start();
  await give(devnet, alice.enterprise, 10n * ada);
  await makeBlock(devnet);
  const before = { tip: devnet.tip(), time: devnet.time(), ledger: await ledgerInRows(world.store) };
  // the tenth block of the batch cannot be written
  await world.store.sql`alter table devnet_block add constraint refused check (slot < 110)`;
  expect(await devnet.advance({ toSlot: 150 }, "every")).toMatchObject({ error: { code: "devnet_unavailable" } });
  const { tip } = await checkRows(world.store);
  expect(devnet.tip()).toEqual(tip);
  expect(await devnet.query(ledgerOf)).toEqual(await ledgerInRows(world.store));
  await world.store.sql`alter table devnet_block drop constraint refused`;
  valueOf(await devnet.rollback({ height: before.tip.height }));
  expect({ tip: devnet.tip(), time: devnet.time(), ledger: await ledgerInRows(world.store) }).toEqual(before);
  expect(valueOf(await devnet.advance({ toSlot: 150 }, "every")).tip).toMatchObject({ slot: 150 });
  await checkRows(world.store);
});

test("over HTTP: answers, and refusals that change nothing", async () => {
  const devnet = await start({ slotLength: 60_000 });
  const send = over(devnet);
  const begin = devnet.network.slots.zeroTime;
  const answer = (slot: number, height: number, blocks: number) => ({
    status: 200,
    body: expect.objectContaining({
      slot,
      height,
      hash: devnet.tip().hash,
      epoch: Math.floor(slot / EPOCH),
      time: begin + slot * 60_000,
      blocks,
    }),
  });
  expect(await send("POST", "/blocks", { count: 2, gap: 3 })).toEqual(answer(5, 1, 2));
  expect(await send("POST", "/time/advance", { epochs: 2 })).toEqual(answer(200, 3, 2));
  expect(await send("POST", "/time/advance", { seconds: 61, blocks: "every" })).toEqual(answer(202, 5, 2));
  expect(await send("POST", "/time/next", { time: begin + 210 * 60_000 - 1 })).toEqual(answer(202, 5, 0));
  expect(await send("PUT", "/mining", { mode: "submit" })).toEqual(answer(202, 5, 0));
  expect((await devnet.faucet.pay(alice.enterprise, 10n * ada)).ok).toBe(true);
  expect(await send("GET", "/time")).toEqual({
    status: 200,
    body: { slot: 210, time: begin + 210 * 60_000, wallSlot: 0, offsetSlots: 210, nextSlot: 211, mode: "submit" },
  });

  const before = [devnet.tip(), devnet.time(), devnet.changes()];
  for (
    const [path, body, status, code] of [
      ["/time/advance", {}, 400, "bad_request"],
      ["/time/advance", { slots: 1, epochs: 1 }, 400, "bad_request"],
      ["/time/advance", { slots: 0 }, 400, "bad_request"],
      ["/time/advance", { slots: 1, blocks: "some" }, 400, "bad_request"],
      ["/time/advance", { toSlot: 210 }, 400, "slot_not_after_tip"],
      ["/time/advance", { toEpoch: 2 }, 400, "slot_not_after_tip"],
      ["/time/advance", { slots: 10_001, blocks: "every" }, 400, "too_many_blocks"],
      ["/time/advance", { slots: 100_000_000 }, 409, "too_far_ahead"],
      ["/blocks", { count: 1_000, gap: 1_002 }, 400, "too_many_slots"],
      ["/time/next", { slot: 210 }, 400, "slot_not_after_tip"],
      ["/time/next", { slot: 211, time: begin }, 400, "bad_request"],
      ["/time/next", {}, 400, "bad_request"],
      ["/time/next", { slot: 1_000_211 }, 400, "too_many_slots"],
    ] as const
  ) {
    const refused = await send("POST", path, body);
    expect([path, refused.status, refused.body.code]).toEqual([path, status, code]);
  }
  expect((await send("POST", "/time/advance", {})).body.error).toContain("exactly one of slots, seconds, epochs");
  expect(await send("PUT", "/mining", { mode: "never" })).toMatchObject({ status: 400 });
  expect([devnet.tip(), devnet.time(), devnet.changes()]).toEqual(before);
  await world.running.pop()!.stop();
  expect(await send("POST", "/time/advance", { slots: 1 })).toMatchObject({ status: 503 });
});
