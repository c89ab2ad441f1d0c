/** The root of a devnet's unspent outputs: over blocks, rollbacks, snapshots, restarts and losses it is that of its outputs. */
import { expect, it } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { madeOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { completeTree } from "#src/chain/utxoRoot/buildTree.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { DEVNET_TREE } from "#src/devnet/blocks/utxoTree.ts";
import { eachUtxo, insertUtxos } from "#src/devnet/blocks/writes.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { devnetUtxoRoot } from "#src/devnet/utxoRoot.ts";
import { until } from "../../support/base/until.ts";
import { person } from "../../support/wallets/person.ts";
import { spend } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { checkTree, modelOf } from "../../support/devnet/utxoRoot.ts";

const ada = 1_000_000n;
const alice = person("alice");
const bob = person("bob");
const world = devnetWorld();

/** Blocks with payments: outputs are created, and spent in the same block and later ones. */
async function pay(devnet: Devnet, blocks: number): Promise<string[]> {
  const roots: string[] = [];
  for (let i = 0; i < blocks; i++) {
    const coin = await give(devnet, alice.base, 10n * ada + BigInt(i));
    const one = spend({ from: alice, inputs: [coin], outputs: [[bob.base, 2n * ada], [alice.base, 7n * ada]] });
    valueOf(await devnet.submit(one.cbor));
    if (i % 2 === 1) {
      const next = spend({ from: alice, inputs: [one.created[1]!], outputs: [[bob.enterprise, 6n * ada]] });
      valueOf(await devnet.submit(next.cbor));
    }
    await makeBlock(devnet);
    roots.push(await rootOf());
  }
  return roots;
}

async function rootOf(): Promise<string> {
  const root = await checkTree(world.store);
  expect(root).toMatch(/^[0-9a-f]{64}$/);
  return root!;
}

it("follows blocks, and goes back with them", async () => {
  const devnet = await world.start({ securityParameter: 10 });
  const genesis = await rootOf();
  const roots = await pay(devnet, 6);
  expect(new Set([genesis, ...roots]).size).toBe(7);
  await makeBlock(devnet);
  expect(await rootOf()).toBe(roots[5]);
  valueOf(await devnet.rollback({ blocks: 3 }, { drop: true }));
  expect(await rootOf()).toBe(roots[3]);
  valueOf(await devnet.rollback({ blocks: 1 }));
  expect(await rootOf()).toBe(roots[2]);
  // the transactions that returned to the mempool are in another block
  await makeBlock(devnet);
  expect(await rootOf()).toBe(roots[3]);
  valueOf(await devnet.makeBlocks({ count: 20 }));
  expect(await rootOf()).toBe(roots[3]);
  await makeBlock(devnet);
  const [{ kept }] = await world.store.sql<[{ kept: number }]>`select count(*)::int as kept from devnet_utxo_root`;
  expect(kept).toBeLessThan(14);
  expect(await devnet.reset()).toMatchObject({ error: { code: "rollback_impossible" } });
});

it("goes back to the genesis", async () => {
  const devnet = await world.start({ accounts: 3, accountFunds: 100n * ada });
  const genesis = await rootOf();
  await pay(devnet, 3);
  valueOf(await devnet.reset());
  expect(await rootOf()).toBe(genesis);
});

it("goes to the blocks of snapshots, back and forth", async () => {
  const devnet = await world.start({ securityParameter: 5 });
  await pay(devnet, 2);
  valueOf(await devnet.snapshots.save("first", { replace: false }));
  const first = await rootOf();
  await pay(devnet, 3);
  valueOf(await devnet.snapshots.save("second", { replace: false }));
  const second = await rootOf();
  const { rows } = await rootRows();
  valueOf(await devnet.snapshots.restore("first"));
  expect(await rootOf()).toBe(first);
  await pay(devnet, 2);
  valueOf(await devnet.snapshots.restore("second"));
  expect(await rootOf()).toBe(second);
  // the roots of the blocks that came back are those of before
  expect((await rootRows()).rows).toEqual(expect.arrayContaining(rows));
  valueOf(await devnet.snapshots.restore("first"));
  expect(await rootOf()).toBe(first);
});

async function rootRows() {
  const rows = await world.store.sql<{ hash: string; root: string }[]>`
    select hash, encode(root, 'hex') as root from devnet_utxo_root join devnet_block using (hash)`;
  return { rows: [...rows] };
}

it("is built again when it is lost, of another release, or was not kept for a while", async () => {
  let devnet = await world.start();
  const [root] = await pay(devnet, 1);
  const { sql } = world.store;
  for (
    const lose of [
      () => sql`delete from devnet_utxo_tree_place`,
      () => sql`truncate devnet_utxo_tree, devnet_utxo_tree_place, devnet_utxo_root`,
      () => sql`update devnet_utxo_tree_place set release = release + 1`,
      () => sql`update devnet_utxo_tree_place set hash = 'another'`,
    ]
  ) {
    await devnet.stop();
    await lose();
    devnet = await world.start();
    expect(await rootOf()).toBe(root);
  }
  await devnet.stop();
  devnet = await world.start({ utxoRoot: false });
  await give(devnet, bob.base, 5n * ada);
  await makeBlock(devnet);
  const { root: later } = await modelOf(world.store);
  await devnet.stop();
  devnet = await world.start();
  expect(await rootOf()).toBe(later);
  expect(later).not.toBe(root);
});

it("is built again by a running devnet that finds it lost or damaged", async () => {
  const devnet = await world.start();
  await pay(devnet, 2);
  const { sql } = world.store;
  for (
    const damage of [
      () => sql`delete from devnet_utxo_tree`,
      () => sql`delete from devnet_utxo_tree_place`,
      () => sql`update devnet_utxo_tree set nodes = '\\x'`,
      () => sql`update devnet_utxo_tree set nodes = substring(nodes for 40)`,
    ]
  ) {
    await damage();
    await pay(devnet, 1);
    await damage();
    valueOf(await devnet.rollback({ blocks: 1 }, { drop: true }));
    await rootOf();
  }
});

it("is the same tree when many outputs are sorted in several passes", async () => {
  const { store } = world;
  const { sql } = store;
  await (await world.start()).stop();
  const outputs = Array.from({ length: 1_700 }, (_, i): Utxo => {
    const address = i % 5 === 0 ? bob.base : `60${hash256(utf8(`address ${i}`)).slice(0, 56)}`;
    return {
      ref: { txHash: hash256(utf8(`transaction ${i >> 1}`)), index: i & 1 },
      output: madeOutput({ address, value: lovelace(1_000_000n) }),
    };
  });
  await insertUtxos(sql, outputs, -1);
  const roots: (string | null | undefined)[] = [];
  for (const count of [1_700, 3_000_000]) {
    await sql`delete from devnet_utxo_tree_place`;
    await completeTree({
      sql,
      write: (work) => sql.begin(work).then(() => {}),
      tables: DEVNET_TREE,
      at: await readTip(sql),
      count: () => Promise.resolve(count),
      eachOutput: (each) => sql.begin((sql) => eachUtxo(sql, each)),
      log: silentLog,
    });
    roots.push(await checkTree(store));
  }
  expect(roots[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(roots[1]).toBe(roots[0]);
});

it("makes blocks, rolls back and restores while a large tree is built", async () => {
  let devnet = await world.start({ securityParameter: 20 });
  await pay(devnet, 2);
  valueOf(await devnet.snapshots.save("before", { replace: false }));
  await devnet.stop();
  const { sql } = world.store;
  await sql`truncate devnet_utxo_tree, devnet_utxo_tree_place, devnet_utxo_root`;
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  let locked = () => {};
  const ready = new Promise<void>((resolve) => locked = resolve);
  // the build waits for it
  const holding = sql.begin(async (sql) => {
    await sql`lock table devnet_utxo_tree in access share mode`;
    locked();
    await held;
  });
  try {
    await ready;
    devnet = await world.start({ treeAtOnce: 0 });
    const reads = devnetUtxoRoot(world.store);
    for (let i = 0; i < 3; i++) await give(devnet, alice.base, 10n * ada);
    await makeBlock(devnet);
    valueOf(await devnet.rollback({ blocks: 1 }));
    await makeBlock(devnet);
    valueOf(await devnet.snapshots.restore("before"));
    await give(devnet, bob.base, 10n * ada);
    await makeBlock(devnet);
    expect(await reads.root()).toMatchObject({ error: { code: "utxo_root_unavailable" } });
    release();
    await until("the tree is built", async () => (await reads.root()).ok);
    const built = await rootOf();
    await makeBlock(devnet);
    expect(await rootOf()).toBe(built);
    await pay(devnet, 1);
  } finally {
    release();
    await holding;
  }
});
