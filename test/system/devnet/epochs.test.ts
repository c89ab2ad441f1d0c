/** Stake on the devnet: registered, delegated, rewarded, withdrawn, deregistered, and rolled back. */
import { expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { addressText, enterpriseAddress, readAddressHex, rewardAddress } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { keyHash, newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Submission } from "#src/chain/provider/port.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { readLedger } from "../../support/devnet/devnetLedger.ts";
import { parametersToJson } from "#src/devnet/genesis/parametersJson.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { stakeSnapshots } from "#src/ledger/epoch/reads.ts";
import { mainnetParameters, mainnetParametersAt } from "#src/ledger/parameters.ts";
import { migrate } from "#src/store/migrations.ts";
import {
  allLovelace,
  certificates,
  checkRows,
  ledgerInRows,
  ledgerOf,
  spend,
  type Spending,
} from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 5;
const alice = person("alice");
const stakeAddress = addressText(rewardAddress(0, { kind: "key", hash: alice.stake }));
const account = "e0" + alice.stake;

const world = devnetWorld();
const start = (options: DevnetOptions = {}) => world.start({ epochLength: EPOCH, ...options });

/** The HTTP API as a person uses it. */
function over(devnet: Devnet) {
  const app = devnetApp({ devnet, store: world.store, port: world.rows, files: [], health: () => {}, log: silentLog });
  const read = async (response: Response) => parseJson(await response.text()) as Record<string, unknown>;
  const get = async (path: string) => await read(await app.request(path));
  const post = async (path: string, body: unknown) =>
    await read(await app.request(path, { method: "POST", body: JSON.stringify(body) }));
  const blocks = (count: number) => post("/blocks", { count });
  return {
    get,
    post,
    blocks,
    account: () => get(`/accounts/${stakeAddress}`),
    rewards: async () => BigInt((await get(`/accounts/${stakeAddress}`)).rewards as number),
    /** Makes the first possible block of an epoch. */
    until: async (epoch: number) => {
      const { slot } = devnet.tip();
      await blocks(Math.max(1, epoch * EPOCH - slot));
      expect((await get("/epoch")).epoch).toBe(epoch);
    },
  };
}

/** The value at Alice's base address. */
async function coins(): Promise<Utxo[]> {
  const found = await world.rows.utxosByAddress([alice.base]);
  if (!found.ok) throw new Error(found.error.message);
  return [...found.value.value];
}

/** Submits a transaction of Alice that spends everything she has and pays it back to her. */
async function transact(what: Partial<Spending>): Promise<Submission> {
  const inputs = await coins();
  const withdrawn = (what.withdrawals ?? []).reduce((sum, [, lovelace]) => sum + lovelace, 0n);
  const left = inputs.reduce((sum, { output }) => sum + output.value.lovelace, 0n) - ada - (what.deposit ?? 0n) +
    withdrawn;
  const made = spend({ from: alice, inputs, outputs: [[alice.base, left]], signers: [alice.stakeSeed], ...what });
  const said = await world.rows.submit(made.cbor);
  if (!said.ok) throw new Error(said.error.message);
  return said.value;
}

const accepted = { outcome: "accepted" };
const refused = (...names: string[]) => ({ outcome: "refused", failures: names.map((name) => ({ name })) });
const whole = async (devnet: Devnet) => expect(await devnet.query(allLovelace)).toBe(45_000_000_000n * ada);

test("stake earns rewards, which are withdrawn with a delegated vote; the deposit is returned", async () => {
  // there is only one pool, so every epoch earns rewards
  const devnet = await start({ pools: 1 });
  const { get, post, blocks, account: seen, rewards, until } = over(devnet);
  const pool = ((await get("/pools")).pools as { id: string; hash: string }[])[0]!;
  const address = readAddressHex(alice.base);
  if (!address.ok) throw new Error(address.error.message);
  await post("/faucet", { address: addressText(address.value), lovelace: 1_000_000_000_000 });
  await blocks(1);
  expect(await seen()).toMatchObject({ registered: false, outputs: 1_000_000_000_000, rewards: 0 });

  expect(await transact({ certificates: [certificates.delegate(alice, pool.hash)] })).toMatchObject(
    refused("StakeKeyNotRegisteredDELEG"),
  );
  const joining = [certificates.register(alice), certificates.delegate(alice, pool.hash)];
  expect(await transact({ certificates: joining, deposit: 2n * ada })).toEqual(accepted);
  await blocks(1);
  expect(await seen()).toMatchObject({ registered: true, pool: pool.id, deposit: 2_000_000, rewards: 0 });
  const joined = (await get("/epoch")).epoch as number;

  // stake counts from the next epoch boundary; leaders of the epoch after are drawn by it, and its rewards are paid two
  // boundaries later
  await until(joined + 3);
  expect(await rewards()).toBe(0n);
  await until(joined + 4);
  const earned = await rewards();
  expect(earned).toBeGreaterThan(0n);
  await until(joined + 5);
  const more = await rewards();
  expect(more).toBeGreaterThan(earned);
  await whole(devnet);

  const withdraw = { withdrawals: [[account, more] as const] };
  expect(await transact(withdraw)).toMatchObject(refused("ConwayWdrlNotDelegatedToDRep"));
  expect(await transact({ certificates: [certificates.abstain(alice)] })).toEqual(accepted);
  await blocks(1);
  expect(await seen()).toMatchObject({ drep: "abstain" });
  expect(await transact({ withdrawals: [[account, more - 1n]] })).toMatchObject({ outcome: "refused" });
  expect(await transact(withdraw)).toEqual(accepted);
  const before = (await coins())[0]!.output.value.lovelace;
  await blocks(1);
  expect(await rewards()).toBe(0n);
  expect((await coins())[0]!.output.value.lovelace).toBe(before + more - ada);

  await until(joined + 6);
  const last = await rewards();
  expect(last).toBeGreaterThan(0n);
  expect(await transact({ certificates: [certificates.unregister(alice)], deposit: -2n * ada })).toMatchObject({
    outcome: "refused",
  });
  const leaving = { certificates: [certificates.unregister(alice)], deposit: -2n * ada };
  expect(await transact({ ...leaving, withdrawals: [[account, last]] })).toEqual(accepted);
  await blocks(1);
  expect(await seen()).toMatchObject({ registered: false, rewards: 0 });
  await until(joined + 7);
  await whole(devnet);
  await checkRows(world.store);
});

test("a withdrawal pending over an epoch boundary is validated against what the boundary paid", async () => {
  // there is only one pool, so every boundary pays rewards
  const devnet = await start({ pools: 1 });
  const { blocks, post, get, rewards, until } = over(devnet);
  const pool = devnet.genesis.pools[0]!.id;
  const address = readAddressHex(alice.base);
  if (!address.ok) throw new Error(address.error.message);
  await post("/faucet", { address: addressText(address.value), lovelace: 1_000_000_000_000 });
  await blocks(1);
  const joining = [certificates.register(alice), certificates.delegate(alice, pool), certificates.abstain(alice)];
  expect(await transact({ certificates: joining, deposit: 2n * ada })).toEqual(accepted);
  await until(4);
  const earned = await rewards();
  expect(earned).toBeGreaterThan(0n);
  expect(await transact({ withdrawals: [[account, earned]] })).toEqual(accepted);
  world.clock.advance(EPOCH * 1_000);
  await blocks(1);
  expect(await get("/mempool")).toMatchObject({ size: 0 });
  expect(await rewards()).toBeGreaterThan(earned);
  await whole(devnet);
  await checkRows(world.store);
});

test("a newly registered pool produces blocks, retires, and its deposit is returned", async () => {
  const devnet = await start();
  const { blocks, post, get, account: seen, rewards, until } = over(devnet);
  const address = readAddressHex(alice.base);
  if (!address.ok) throw new Error(address.error.message);
  await post("/faucet", { address: addressText(address.value), lovelace: 1_000_000_000_000 });
  await blocks(1);
  const cold = person("alice's pool").seed;
  const id = keyHash(publicKey(cold));
  const founding = [
    certificates.register(alice),
    certificates.pool(alice, id, 900_000n * ada),
    certificates.delegate(alice, id),
  ];
  expect(await transact({ certificates: founding, deposit: 502n * ada, signers: [alice.stakeSeed, cold] })).toEqual(
    accepted,
  );
  await blocks(1);
  const begun = (await get("/epoch")).epoch as number;
  expect(await get(`/pools/${id}`)).toMatchObject({ hash: id, pledge: 900_000_000_000, blocks: { epoch: 0 } });
  // she has a quarter of the stake in every slot of so many epochs: not being drawn has a probability below one in a
  // million
  await until(begun + 12);
  const key = [...publicKey(cold)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const { blocks: all } = await checkRows(world.store);
  expect(all.some(({ issuer }) => issuer === key)).toBe(true);
  expect(all.every(({ issuer, slot }) => issuer !== key || slot >= (begun + 2) * EPOCH)).toBe(true);

  const gone = begun + 13;
  expect(await transact({ certificates: [certificates.retire(id, gone)], signers: [cold] })).toEqual(accepted);
  await blocks(1);
  expect(await get(`/pools/${id}`)).toMatchObject({ retiring: gone });
  const before = await rewards();
  await until(gone);
  expect(await get(`/pools/${id}`)).toMatchObject({ code: "pool_unknown" });
  expect(await rewards()).toBeGreaterThanOrEqual(before + 500n * ada);
  expect(await seen()).not.toHaveProperty("pool");
  await whole(devnet);
});

test("a pause passes many epochs; rolling back over them, also after a restart, gives the same ledger", async () => {
  let devnet = await start();
  const { blocks, post, get } = over(devnet);
  const stakeSeen = async () => [(await get("/epoch")).activeStake, await get("/pools")];
  const address = readAddressHex(alice.base);
  if (!address.ok) throw new Error(address.error.message);
  await post("/faucet", { address: addressText(address.value), lovelace: 1_000_000_000_000 });
  await blocks(1);
  const pool = devnet.genesis.pools[1]!.id;
  await transact({
    certificates: [certificates.register(alice), certificates.delegate(alice, pool)],
    deposit: 2n * ada,
  });
  const then = new Map<number, unknown>(), stakeThen = new Map<number, unknown>();
  for (let i = 0; i < 12; i++) {
    await blocks(1);
    then.set(devnet.tip().height, await ledgerInRows(world.store));
    stakeThen.set(devnet.tip().height, await stakeSeen());
  }
  const { height, slot } = devnet.tip();
  world.clock.advance(8 * 3_600_000);
  await blocks(2);
  expect(devnet.tip().height).toBe(height + 2);
  expect(devnet.tip().slot).toBeGreaterThanOrEqual(slot + 8 * 3_600);
  const { value: { epoch } } = (await readLedger(world.store))!;
  expect(epoch).toBe(Math.floor(devnet.tip().slot / EPOCH));
  const later = await devnet.query(ledgerOf);
  await world.running.pop()!.stop();
  devnet = await start();
  expect(await devnet.query(ledgerOf)).toEqual(later);
  for (const to of [...then.keys()].reverse()) {
    expect(await devnet.rollback({ height: to })).toMatchObject({ ok: true });
    expect(await ledgerInRows(world.store)).toEqual(then.get(to));
    expect(await stakeSeen()).toEqual(stakeThen.get(to));
    expect(await devnet.query(ledgerOf)).toEqual(then.get(to));
    await whole(devnet);
  }
  await checkRows(world.store);
});

test("epochs entered again after a rollback are reported as they are then", async () => {
  const devnet = await start({ pools: 1 });
  const { get, until } = over(devnet);
  await give(devnet, alice.base, 1_000_000n * ada);
  const before = await makeBlock(devnet);
  const pool = devnet.genesis.pools[0]!.id;
  await transact({
    certificates: [certificates.register(alice), certificates.delegate(alice, pool)],
    deposit: 2n * ada,
  });
  await until(4);
  const stakes = async () => {
    const { value } = (await readLedger(world.store))!;
    const { pools, total } = stakeSnapshots(value);
    const [listedPool] = (await get("/pools")).pools as { stake: Record<string, number> }[];
    const { mark, set, go } = pools.get(pool)!;
    expect(listedPool!.stake).toEqual({ mark: Number(mark), set: Number(set), go: Number(go) });
    expect((await get("/epoch")).activeStake).toBe(Number(total.set));
    return { mark, set, go };
  };
  const then = await stakes();
  valueOf(await devnet.rollback({ height: before.height }, { drop: true }));
  // time went back with the chain; the clock brings the next block into the same epoch
  world.clock.advance(4 * EPOCH * 1_000);
  await makeBlock(devnet);
  const { epoch } = (await readLedger(world.store))!.value;
  expect(epoch).toBe(4);
  const now = await stakes();
  expect(then.set - now.set).toBeGreaterThan(900_000n * ada);
});

test.each(
  [[9, "IncorrectDepositDELEG"], [10, "IncorrectDepositDELEG"], [11, "DepositIncorrectDELEG"]] as const,
)("protocol version %i is what blocks state and what the ledger judges by", async (major, failure) => {
  const parameters = mainnetParametersAt(major);
  // there is only one pool, so every epoch earns rewards
  const devnet = await start({ parameters, parametersSource: "a test", pools: 1 });
  const { blocks, post, get, rewards, until } = over(devnet);
  const address = readAddressHex(alice.base);
  if (!address.ok) throw new Error(address.error.message);
  await post("/faucet", { address: addressText(address.value), lovelace: 1_000_000_000_000 });
  await blocks(1);
  expect(await get("/parameters")).toMatchObject({ source: "a test", protocolVersion: { major } });
  const [row] = await world.store.sql<{ major: number }[]>`select major from devnet_block order by height desc limit 1`;
  expect(row!.major).toBe(major);
  const wrong = [[7, [0, fromHex(alice.stake)], 3_000_000]];
  expect(await transact({ certificates: wrong, deposit: 3n * ada })).toMatchObject({
    outcome: "refused",
    failures: expect.arrayContaining([expect.objectContaining({ name: failure })]),
  });
  const pool = devnet.genesis.pools[0]!.id;
  const joining = [certificates.register(alice), certificates.delegate(alice, pool), certificates.abstain(alice)];
  expect(await transact({ certificates: joining, deposit: 2n * ada })).toEqual(accepted);
  await until(4);
  const earned = await rewards();
  expect(await transact({ withdrawals: [[account, earned]] })).toEqual(accepted);
  await blocks(1);
  expect([earned > 0n, await rewards()]).toEqual([true, 0n]);
  await whole(devnet);
});

test("settings are permanent, and a start with other options reports that", async () => {
  const first = await start();
  expect(first.ignoredOptions).toBeUndefined();
  await world.running.pop()!.stop();
  const again = await start({ epochLength: 7, pools: 3 });
  expect(again.genesis.terms.epochLength).toBe(EPOCH);
  expect(again.ignoredOptions).toBe(
    "The genesis of an existing devnet cannot be changed: epochs of 5 (requested: 7). Use another database or --folder for a new devnet.",
  );
});

test("invalid genesis options are refused with a reason", async () => {
  const options = { reserves: 45_000_000_000n * ada, epochLength: 0 };
  const evaluate = () => Promise.reject(new Error("no script was expected"));
  const started = await startDevnet({
    store: world.store,
    bus: world.bus,
    evaluate,
    log: silentLog,
    clock: world.clock,
    options,
  });
  expect(started).toMatchObject({ ok: false, error: { code: "bad_genesis" } });
  expect((started as { error: { message: string } }).error.message).toMatch(
    /at least one slot; the faucet would have/,
  );
});

test("a devnet created before there were epochs continues, with one issuer and without pools", async () => {
  const { store, store: { sql } } = world;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_name like 'devnet\\_%'`;
  await sql`drop table ${sql(tables.map(({ name }) => name))}`;
  await sql`delete from migration where id like 'devnet-%'`;
  await migrate(store, migrationsOf("devnet").slice(0, 1));
  const faucet = newSeed();
  const address = enterpriseAddress(0, { kind: "key", hash: keyHash(publicKey(faucet)) }).hex;
  const output = encode(new Map<number, Uint8Array | bigint>([[0, fromHex(address)], [1, 30_000_000_000_000_000n]]));
  await sql`
    insert into devnet_meta (magic, network_id, genesis_time, slot_length, security_parameter, parameters, parameters_source,
      faucet_seed, issuer) values (42, 0, 1_800_000_000_000, 1_000, 2_160, ${
    sql.json(parametersToJson(mainnetParameters) as never)
  }, 'then', ${faucet}, ${publicKey(newSeed())})`;
  await sql`
    insert into devnet_utxo (tx_hash, index, address, cbor, created_height)
    values (${hash256(fromHex(address))}, 0, ${address}, ${output}, -1)`;
  await migrate(store, migrationsOf("devnet"));
  const devnet = await start();
  expect((await devnet.makeBlock()).ok).toBe(true);
  world.clock.advance(3 * 432_000_000);
  expect((await devnet.makeBlock()).ok).toBe(true);
  const { blocks } = await checkRows(world.store);
  expect(await over(devnet).get("/epoch")).toMatchObject({ epoch: 3, blocks: 0, activeStake: 0, epochLength: 432_000 });
  expect(new Set(blocks.map(({ issuer }) => issuer)).size).toBe(1);
  expect(await devnet.rollback({ blocks: 1 })).toMatchObject({ ok: true });
  await checkRows(world.store);
});
