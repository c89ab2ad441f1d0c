/** A devnet that is moved over epochs at once: blocks, ledger, mempool, restarts and rollbacks on a clock that runs ahead. */
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { currentSlot, slotTime } from "#src/cardano/parameters.ts";
import { type Devnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { allLovelace, certificates, checkRows, ledgerInRows, ledgerOf, spend } from "../../support/devnet/devnet.ts";
import { readLedger } from "../../support/devnet/devnetLedger.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 100;
const alice = person("alice");

const world = devnetWorld();
const start = (options: DevnetOptions = {}) => world.start({ epochLength: EPOCH, pools: 1, ...options });

async function enterEpochs(devnet: Devnet, count: number, blocks = 0) {
  for (let i = 1; i < count; i++) valueOf(await devnet.enterNextEpoch(blocks));
  return valueOf(await devnet.enterNextEpoch(blocks));
}
const epoch = async () => (await readLedger(world.store))!.value.epoch;
/** How far another process finds the devnet to be. */
const slotInRows = async () => {
  const network = await devnetPort({ store: world.store, bus: world.bus, log: silentLog }).network();
  return currentSlot(network, world.clock.now());
};

test("each epoch gets a block in its first slot, and the clock goes on from there", async () => {
  const devnet = await start();
  const first = await makeBlock(devnet);
  expect(first.slot).toBeLessThan(EPOCH - 1);
  for (const next of [1, 2, 3]) {
    const tip = valueOf(await devnet.enterNextEpoch());
    expect(tip).toMatchObject({ slot: next * EPOCH, height: first.height + next });
    expect([await epoch(), devnet.slot(), await slotInRows()]).toEqual([next, tip.slot, tip.slot]);
  }
  world.clock.advance(7_000);
  expect([devnet.slot(), await slotInRows()]).toEqual([3 * EPOCH + 7, 3 * EPOCH + 7]);
  expect((await makeBlock(devnet)).slot).toBe(3 * EPOCH + 7);
  expect((await makeBlock(devnet)).slot).toBe(3 * EPOCH + 8);
  // the time of a slot is what it was: the chain is in the future
  const { slots } = devnet.network;
  expect(slotTime(slots, devnet.tip().slot)).toBeGreaterThan(world.clock.now() + 2 * EPOCH * slots.slotLength);
  await checkRows(world.store);
});

test("stake that is delegated earns rewards without waiting, in proportion to blocks", async () => {
  const devnet = await start();
  const coin = await give(devnet, alice.base, 1_000_000n * ada);
  await makeBlock(devnet);
  const pool = devnet.genesis.pools[0]!.id;
  const joining = spend({
    from: alice,
    inputs: [coin],
    outputs: [[alice.base, 999_997n * ada]],
    deposit: 2n * ada,
    signers: [alice.stakeSeed],
    certificates: [certificates.register(alice), certificates.delegate(alice, pool)],
  });
  expect(await devnet.submit(joining.cbor)).toMatchObject({ value: { outcome: "accepted" } });
  await enterEpochs(devnet, 1, 30);
  const { blocks } = await checkRows(world.store);
  expect(blocks.map(({ slot }) => slot)).toEqual(
    [0, ...Array.from({ length: 30 }, (_, i) => 1 + Math.floor(i * 99 / 30)), 100],
  );
  const rewards = async () => (await devnet.query(({ accounts }) => accounts.get(`k${alice.stake}`)!.balance))!;
  await enterEpochs(devnet, 2, 30);
  expect([await epoch(), await rewards()]).toEqual([3, 0n]);
  await enterEpochs(devnet, 1, 90);
  const some = await rewards();
  expect(some).toBeGreaterThan(0n);
  await enterEpochs(devnet, 2, 0);
  const more = await rewards();
  expect(more - some).toBeGreaterThan(2n * some);
  // an epoch of one block earns less than a pool's fixed cost
  await enterEpochs(devnet, 1, 0);
  expect(await rewards()).toBe(more);
  expect(await devnet.query(allLovelace)).toBe(devnet.genesis.terms.maxSupply);
  await checkRows(world.store);
});

test("the clock runs ahead after a restart, and a rollback over the boundaries restores the ledger", async () => {
  let devnet = await start();
  await give(devnet, alice.base, 1_000n * ada);
  const before = await makeBlock(devnet);
  const ledger = await ledgerInRows(world.store);
  const tip = await enterEpochs(devnet, 4);
  const later = await devnet.query(ledgerOf);

  await world.running.pop()!.stop();
  expect(devnet.slot()).toBe(tip.slot);
  world.clock.advance(5_000);
  devnet = await start();
  expect(devnet.tip()).toEqual(tip);
  expect([devnet.slot(), await slotInRows()]).toEqual([tip.slot + 5, tip.slot + 5]);
  expect(await devnet.query(ledgerOf)).toEqual(later);

  expect(valueOf(await devnet.rollback({ height: before.height }))).toEqual(before);
  expect(await ledgerInRows(world.store)).toEqual(ledger);
  // time goes back to the machine's clock, which is later than the block
  expect([devnet.slot(), await slotInRows()]).toEqual([before.slot + 5, before.slot + 5]);
  expect(valueOf(await devnet.enterNextEpoch())).toMatchObject({ slot: EPOCH, height: before.height + 1 });
  expect([await epoch(), devnet.slot()]).toEqual([1, EPOCH]);
  // the clock has reached a later epoch than the chain: one block, of now
  world.clock.advance(4 * EPOCH * 1_000);
  expect(valueOf(await devnet.enterNextEpoch())).toMatchObject({ slot: 5 * EPOCH, height: before.height + 2 });
  await checkRows(world.store);
});

test("transactions are judged by the slot that the devnet is in", async () => {
  const devnet = await start();
  const coins = [await give(devnet, alice.enterprise, 10n * ada), await give(devnet, alice.enterprise, 11n * ada)];
  await makeBlock(devnet);
  const pay = (index: number, validity: { validFrom?: number; validTo?: number }) =>
    devnet.submit(
      spend({ from: alice, inputs: [coins[index]!], outputs: [[alice.base, 9n * ada]], ...validity }).cbor,
    );
  const tooEarly = { validFrom: 2 * EPOCH, validTo: 3 * EPOCH };
  expect(await pay(0, tooEarly)).toMatchObject({ value: { outcome: "refused" } });
  expect(await pay(1, { validTo: EPOCH })).toMatchObject({ value: { outcome: "accepted" } });
  await enterEpochs(devnet, 1);
  // the second one has expired without a block
  expect(devnet.mempool()).toEqual([]);
  expect(valueOf(await world.rows.utxosByRef([coins[1]!.ref])).value).toHaveLength(1);
  await enterEpochs(devnet, 1);
  expect(await pay(0, tooEarly)).toMatchObject({ value: { outcome: "accepted" } });
  await makeBlock(devnet);
  const paid = valueOf(await world.rows.utxosByAddress([alice.base]));
  expect(paid.value).toHaveLength(1);
});

test("blocks go on at their pace from the slot that was entered", async () => {
  const devnet = await world.start({ epochLength: 1_000_000, slotLength: 10, blockMs: 10, pools: 1 });
  const entered = await enterEpochs(devnet, 2);
  expect(entered.slot).toBe(2_000_000);
  while (devnet.tip().height < entered.height + 5) {
    world.clock.advance(10);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { blocks } = await checkRows(world.store);
  const since = blocks.filter(({ slot }) => slot > entered.slot).map(({ slot }) => slot);
  expect(since[0]).toBeLessThan(entered.slot + 100);
});

test("a clock that would be a century ahead is refused", async () => {
  const devnet = await start({ slotLength: 60_000, epochLength: 2 ** 31 - 1 });
  const { height } = devnet.tip();
  expect(await devnet.enterNextEpoch()).toMatchObject({ ok: false, error: { code: "too_far_ahead" } });
  expect(devnet.tip().height).toBe(height);
});
