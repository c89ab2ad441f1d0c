/** The index of a running devnet: over rollbacks, restarts and scripts it is the one that the blocks give. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { VirtualClock } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { lovelace } from "#src/cardano/value.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { migrate } from "#src/store/migrations.ts";
import type { Store } from "#src/store/store.ts";
import { balance } from "#src/transaction/balance.ts";
import { certificates, devnetStore, spend } from "../../support/devnet/devnet.ts";
import { give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { indexRows, indexTables, rebuiltRows } from "../../support/devnet/devnetIndex.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { agrees, plutusHash, refuses } from "../../support/plutus/scripts.ts";
import { person, signed } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 20;
const alice = person("alice");
const bob = person("bob");

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;
let clock: VirtualClock;
let devnet: Devnet;
/** Messages of the log. */
const logged: string[] = [];
const log: Log = Object.fromEntries(
  ["debug", "info", "warn", "error"].map((level) => [level, (message: string) => void logged.push(message)]),
) as unknown as Log;

async function start(options: DevnetOptions = {}): Promise<Devnet> {
  return devnet = valueOf(
    await startDevnet({
      store,
      bus,
      evaluate: (input) => Promise.resolve(evaluateScripts(input)),
      log,
      clock,
      options: { blockMs: 0, leaseMs: 5_000, epochLength: EPOCH, ...options },
    }),
  );
}

beforeEach(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  clock = new VirtualClock(1_800_000_000_000);
  logged.length = 0;
  await start();
});
afterEach(async () => {
  await devnet.stop();
  await bus.close();
  await store.close();
  await infra.stop();
});

/** Rows of a table of the index. */
async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  return [...await store.sql<Record<string, unknown>[]>`select * from ${store.sql(`devnet_index_${table}`)}`];
}

/** Stops the devnet and expects its index to be the one that its blocks give; gives the rows. */
async function expectRebuilt() {
  await devnet.stop();
  const rows = await indexRows(store);
  expect(rows).toEqual(await rebuiltRows(store));
  return rows;
}

/** Submits a transaction that must be accepted. */
async function submit(cbor: Uint8Array): Promise<void> {
  expect(await devnet.submit(cbor)).toEqual({ ok: true, value: { outcome: "accepted" } });
}

/** A signed transaction of Alice that spends a script's output; `valid` is its flag. */
function unlock(locked: Utxo, coin: Utxo, script: Uint8Array, valid: boolean): Uint8Array {
  const index = Number(locked.ref.txHash > coin.ref.txHash);
  const balanced = valueOf(balance(
    {
      inputs: [locked],
      outputs: [{ address: alice.base, value: lovelace(locked.output.value.lovelace - ada) }],
      redeemers: [{ for: { purpose: "spend", ref: locked.ref }, data: encodeData(constr(7)) }],
      references: [],
      scripts: [script],
      requiredSigners: [],
    },
    { address: alice.enterprise, available: [{ utxo: coin }] },
    devnet.genesis.parameters,
    () => ({ ok: true, redeemers: [{ purpose: "spend", index, units: { memory: 50_000n, steps: 20_000_000n } }] }),
  ));
  const cbor = signed(balanced.transaction, alice);
  if (!valid) cbor[cbor.length - 2] = 0xf4;
  return cbor;
}

/** Alice registers, delegates, and registers a pool that she retires again; over three epochs. */
async function stake(): Promise<void> {
  const { pools } = devnet.genesis;
  const coin = await give(devnet, alice.base, 5_000n * ada);
  await makeBlock(devnet);
  const registered = spend({
    from: alice,
    inputs: [coin],
    outputs: [[alice.base, 4_990n * ada]],
    certificates: [
      certificates.register(alice),
      certificates.delegate(alice, pools[0]!.id),
      certificates.abstain(alice),
    ],
    deposit: 2n * ada,
    signers: [alice.stakeSeed],
  });
  await submit(registered.cbor);
  await makeBlock(devnet);
  for (let i = 0; i < 4; i++) {
    clock.advance(EPOCH * 1_000);
    await makeBlock(devnet);
  }
  const account = await devnet.query((state) => state.accounts.get("k" + alice.stake));
  const withdrawn = spend({
    from: alice,
    inputs: registered.created.slice(0, 1),
    outputs: [[bob.base, 1_000n * ada], [alice.base, 3_989n * ada]],
    withdrawals: [["e0" + alice.stake, account!.balance]],
    signers: [alice.stakeSeed],
  });
  await submit(withdrawn.cbor);
  await makeBlock(devnet);
}

test("a new devnet has the outputs, pools and stake of its genesis in the index", async () => {
  const { pools, pledge, accounts, faucet } = devnet.genesis;
  expect(await store.sql`select height, hash from devnet_index`).toEqual([{ height: -1n, hash: "" }]);
  const outputs = await rowsOf("output");
  expect(outputs).toHaveLength(1 + pools.length + accounts);
  expect(outputs.find(({ address }) => address === faucet.address)).toMatchObject({
    height: -1n,
    lovelace: faucet.funds,
  });
  const owners = pools.map(({ registered: { owner } }) => owner.key).sort();
  // the snapshots before the genesis are its own: they count in epochs 0 and 1
  for (const epoch of [0, 1]) {
    const stake = (await rowsOf("stake")).filter((row) => row.epoch === epoch);
    expect(stake.map(({ credential }) => credential).sort()).toEqual(owners);
    expect(new Set(stake.map(({ lovelace }) => lovelace))).toEqual(new Set([pledge]));
  }
  expect(await rowsOf("epoch")).toMatchObject([
    { epoch: 0, height: -1n, active_stake: pledge * BigInt(pools.length), parameters: { keyDeposit: 2_000_000 } },
  ]);
  const all = await rowsOf("certificate");
  for (const { id, registered: { owner } } of pools) {
    expect(all.filter(({ pool }) => pool === id).map(({ kind, epoch }) => [kind, epoch]))
      .toEqual([["pool", 0], ["delegate", 0]]);
    expect(all.filter(({ credential }) => credential === owner.key).map(({ kind }) => kind))
      .toEqual(["register", "delegate"]);
  }
});

test("rewards and stake have the numbers of the epochs in which they count", async () => {
  await stake();
  const key = "k" + alice.stake;
  const [delegation] = (await rowsOf("certificate")).filter(({ kind, credential }) =>
    kind === "delegate" && credential === key
  );
  const { tip, epoch, balances, leaders } = (await devnet.query((state, tip) => ({
    tip,
    epoch: state.epoch,
    balances: [...state.accounts.entries()].map(([account, { balance }]) => [account, balance] as const),
    leaders: state.snapshots.get(String(state.epoch - 1))!,
  })))!;
  expect(await store.sql`select height, hash from devnet_index`).toEqual([
    { height: BigInt(tip.height), hash: tip.hash },
  ]);
  const stakes = await rowsOf("stake");
  const first = Math.min(...stakes.filter(({ credential }) => credential === key).map(({ epoch }) => Number(epoch)));
  expect(first).toBe(delegation!.epoch);
  // what leaders are drawn from now is the stake of this epoch
  const now = stakes.filter((row) => row.epoch === epoch);
  expect(now.map(({ pool, credential, lovelace }) => [pool, credential, lovelace]).sort()).toEqual(
    [...leaders.pools].flatMap(([pool, { members }]) => [...members].map(([of, amount]) => [pool, of, amount])).sort(),
  );
  expect(Math.max(...stakes.map(({ epoch }) => Number(epoch)))).toBe(epoch + 1);
  // rewards that were paid, less withdrawals, are the balances
  const rewards = await rowsOf("reward");
  const withdrawals = await rowsOf("withdrawal");
  expect(rewards.length).toBeGreaterThan(0);
  const sum = (rows: readonly Record<string, unknown>[]) =>
    rows.reduce((total, { amount }) => total + (amount as bigint), 0n);
  for (const [account, balance] of balances) {
    const of = (rows: readonly Record<string, unknown>[]) => rows.filter(({ credential }) => credential === account);
    expect(sum(of(rewards)) - sum(of(withdrawals))).toBe(balance);
  }
  const blocks = await rowsOf("block");
  for (const { earned, spendable, pool } of rewards) {
    expect(Number(spendable)).toBe(Number(earned) + 2);
    expect(blocks.some((row) => row.epoch === earned && row.pool === pool)).toBe(true);
  }
  await expectRebuilt();
});

test("scripts of a valid and of a failing transaction are indexed and undone by a rollback", async () => {
  const at = (script: Uint8Array) => scriptAddress(0, plutusHash(3, script)).hex;
  const [locked, kept, coin, collateral] = [
    await give(devnet, at(agrees), 10n * ada),
    await give(devnet, at(refuses), 10n * ada),
    await give(devnet, alice.enterprise, 20n * ada),
    await give(devnet, alice.enterprise, 20n * ada),
  ];
  await makeBlock(devnet);
  const before = await indexRows(store);
  await submit(unlock(locked, coin, agrees, true));
  await submit(unlock(kept, collateral, refuses, false));
  await makeBlock(devnet);
  const argument = encodeData(constr(7));
  expect(await rowsOf("redeemer")).toMatchObject([{
    tx_index: 0,
    purpose: "spend",
    script_hash: plutusHash(3, agrees),
    data_hash: hash256(argument),
    memory: 50_000n,
    steps: 20_000_000n,
    // 0.0577 * 50,000 + 0.0000721 * 20,000,000
    fee: 4_327n,
  }]);
  // the script and the redeemer of the failed transaction did nothing
  expect((await rowsOf("script")).map(({ hash, kind }) => [hash, kind])).toEqual([[plutusHash(3, agrees), "plutusV3"]]);
  expect((await rowsOf("datum")).map(({ hash }) => hash)).toEqual([hash256(argument)]);
  const spent = new Map((await rowsOf("output")).map((row) => [`${row.tx_hash}#${row.index}`, row.spent_index]));
  const of = ({ ref }: Utxo) => spent.get(`${ref.txHash}#${ref.index}`);
  expect([of(locked), of(coin), of(collateral), of(kept)]).toEqual([0, 0, 1, null]);
  expect((await rowsOf("tx")).map(({ valid }) => valid)).toContain(false);
  await devnet.rollback({ blocks: 1 }, { drop: true });
  expect(await indexRows(store)).toEqual(before);
  await devnet.rollback({ height: -1 }, { drop: true });
  expect(await rowsOf("tx")).toEqual([]);
  await makeBlock(devnet);
  await expectRebuilt();
});

test("the index of a devnet without one, or with a lost one, is built before the chain opens", async () => {
  await stake();
  await devnet.stop();
  const rows = await indexRows(store);
  const lost = {
    "nothing is lost": async () => {},
    "its cursor": async () => void await store.sql`delete from devnet_index`,
    "its rows": async () => {
      await store.sql`truncate devnet_index, ${
        store.sql((await indexTables(store)).filter((name) => name !== "devnet_index"))
      }`;
    },
    "its last blocks": async () => {
      await store.sql`update devnet_index set height = height - 1, hash = '00'`;
      await store.sql`delete from devnet_index_block where height = (select max(height) from devnet_index_block)`;
    },
    // a database of an earlier release
    "its tables": async () => {
      await store.sql`drop table devnet_departure, ${store.sql(await indexTables(store))}`;
      await store.sql`delete from migration where id in ('devnet-4', 'devnet-7', 'devnet-10')`;
      await migrate(store, migrationsOf("devnet"));
    },
  };
  for (const [what, lose] of Object.entries(lost)) {
    await lose();
    logged.length = 0;
    await start();
    expect([what, await indexRows(store)]).toEqual([what, rows]);
    expect(logged.filter((message) => message.startsWith("the index"))).toHaveLength(
      what === "nothing is lost" ? 0 : 2,
    );
    await devnet.stop();
  }
});

test("an index that was off is built when it is on again", async () => {
  await give(devnet, alice.base, 10n * ada);
  await makeBlock(devnet);
  await devnet.stop();
  await start({ index: false });
  await give(devnet, bob.base, 10n * ada);
  await makeBlock(devnet);
  expect((await rowsOf("output")).map(({ address }) => address)).not.toContain(bob.base);
  await devnet.rollback({ height: -1 }, { drop: true });
  await give(devnet, bob.enterprise, 11n * ada);
  await makeBlock(devnet);
  await devnet.stop();
  await start();
  const addresses = (await rowsOf("output")).map(({ address }) => address);
  expect(addresses).toContain(bob.enterprise);
  expect(addresses).not.toContain(alice.base);
  await expectRebuilt();
});
