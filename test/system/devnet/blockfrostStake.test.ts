/** Epochs, accounts and pools of the Blockfrost API, over short epochs with rewards, delegations and retirements. */
import { expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import { drepId } from "#src/cardano/drepId.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { addressText, hexAddressText, rewardAddress } from "#src/cardano/address.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { keyHash, newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
import { stakeOf } from "#src/ledger/epoch/snapshot.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { BlockfrostApi } from "../../support/blockfrost/blockfrostApi.ts";
import {
  certificates,
  type Made,
  PROPOSAL_DEPOSIT,
  proposing,
  spend,
  type Spending,
  voting,
} from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { type Person, person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 5;
const alice = person("alice");
const bob = person("bob");
const stakeText = ({ stake }: Person) => addressText(rewardAddress(0, { kind: "key", hash: stake }));
const NOT_FOUND = [404, "The requested component has not been found."];

const world = devnetWorld();

type Row = Record<string, unknown>;

function apiOf(devnet: Devnet): BlockfrostApi {
  const measure = async (input: Parameters<typeof measureRedeemers>[0]) => measureRedeemers(input);
  return new BlockfrostApi(blockfrostApp({ devnet, store: world.store, measure, log: silentLog }));
}

/** Submits a transaction of a person that spends all at the base address and pays it back. */
async function transact(devnet: Devnet, who: Person, what: Partial<Spending>): Promise<Made> {
  const inputs = valueOf(await world.rows.utxosByAddress([who.base])).value;
  const withdrawn = (what.withdrawals ?? []).reduce((sum, [, lovelace]) => sum + lovelace, 0n);
  const held = inputs.reduce((sum, { output }) => sum + output.value.lovelace, 0n);
  const left = held - ada - (what.deposit ?? 0n) + withdrawn;
  const made = spend({ from: who, inputs, outputs: [[who.base, left]], signers: [who.stakeSeed], ...what });
  expect(await devnet.submit(made.cbor)).toEqual({ ok: true, value: { outcome: "accepted" } });
  await makeBlock(devnet);
  return made;
}

/** Makes blocks until the first one of an epoch. */
async function until(devnet: Devnet, epoch: number): Promise<void> {
  while (devnet.tip().slot < epoch * EPOCH) await makeBlock(devnet);
}

test("an account registers, delegates, earns, votes, withdraws and leaves; the answers are those of the ledger", async () => {
  const devnet = await world.start({ epochLength: EPOCH, pools: 2 });
  const api = apiOf(devnet);
  const address = stakeText(alice);
  const path = `/accounts/${address}`;
  expect(await api.refused(path)).toEqual(NOT_FOUND);
  await give(devnet, alice.base, 1_000_000n * ada);
  await makeBlock(devnet);
  expect(await api.get(path)).toEqual({
    stake_address: address,
    active: false,
    registered: false,
    active_epoch: null,
    controlled_amount: String(1_000_000n * ada),
    rewards_sum: "0",
    withdrawals_sum: "0",
    reserves_sum: "0",
    treasury_sum: "0",
    withdrawable_amount: "0",
    pool_id: null,
    drep_id: null,
  });
  for (const list of ["rewards", "history", "delegations", "registrations", "withdrawals", "mirs"]) {
    expect(await api.get(`${path}/${list}`)).toEqual([]);
  }

  const [pool] = devnet.genesis.pools.map(({ id }) => id) as [string, string];
  const poolText = toBech32("pool", fromHex(pool));
  const joining = await transact(devnet, alice, {
    certificates: [certificates.register(alice), certificates.delegate(alice, pool)],
    deposit: 2n * ada,
  });
  const joined = devnet.tip();
  const epoch = Math.floor(joined.slot / EPOCH);
  const place = {
    tx_hash: joining.hash,
    tx_slot: joined.slot,
    block_height: joined.height,
    block_time: 1_800_000_000 + joined.slot,
  };
  expect(await api.get(`${path}/registrations`)).toEqual([{ action: "registered", deposit: "2000000", ...place }]);
  expect(await api.get(`${path}/delegations`)).toEqual([{
    active_epoch: epoch + 2,
    amount: String(1_000_000n * ada - 3n * ada),
    pool_id: poolText,
    ...place,
  }]);
  expect(await api.get(path)).toMatchObject({ active: true, registered: true, active_epoch: epoch, pool_id: poolText });

  await until(devnet, epoch + 5);
  const rewards = await api.get<Row[]>(`${path}/rewards`);
  expect(rewards.length).toBeGreaterThan(0);
  const earned = rewards.reduce((sum, { amount }) => sum + BigInt(amount as string), 0n);
  const balance = await devnet.query(({ accounts }) => accounts.get(`k${alice.stake}`)?.balance);
  expect(earned).toBe(balance);
  for (const row of rewards) expect(row).toMatchObject({ pool_id: poolText, type: "member" });
  // the first of the epochs in which the pool, whose leader's draw is random, made a block
  const ofPool = await api.get<Row[]>(`/pools/${poolText}/history`);
  const led = ofPool.filter(({ blocks }) => blocks as number > 0).map(({ epoch }) => epoch as number);
  expect(rewards[0]).toMatchObject({ epoch: led.find((one) => one >= epoch + 2) });
  expect(await api.get(`${path}/rewards?order=desc&count=1`)).toEqual(rewards.slice(-1));
  const history = await api.get<Row[]>(`${path}/history`);
  expect(history[0]).toEqual({
    active_epoch: epoch + 2,
    amount: String(1_000_000n * ada - 3n * ada),
    pool_id: poolText,
  });
  expect(history.map(({ active_epoch }) => active_epoch)).toEqual([2, 3, 4, 5, 6].map((each) => epoch + each));

  await transact(devnet, alice, { certificates: [certificates.abstain(alice)] });
  expect(await api.get(path)).toMatchObject({ drep_id: "drep_always_abstain" });
  const withdrawable = await devnet.query(({ accounts }) => accounts.get(`k${alice.stake}`)!.balance) as bigint;
  const withdrawal = await transact(devnet, alice, { withdrawals: [["e0" + alice.stake, withdrawable]] });
  expect(await api.get(`${path}/withdrawals`)).toMatchObject([{
    tx_hash: withdrawal.hash,
    amount: String(withdrawable),
    tx_slot: devnet.tip().slot,
  }]);
  const after = await api.get<Row>(path);
  const stake = await devnet.query((state) => stakeOf(state, [`k${alice.stake}`]).get(`k${alice.stake}`));
  expect(after).toMatchObject({
    controlled_amount: String(stake),
    withdrawals_sum: String(withdrawable),
    withdrawable_amount: "0",
    rewards_sum: String(withdrawable),
  });

  const leaving = await transact(devnet, alice, { certificates: [certificates.unregister(alice)], deposit: -2n * ada });
  expect(await api.get(path)).toMatchObject({ active: false, registered: false, pool_id: null, drep_id: null });
  expect(await api.get(`${path}/registrations?order=desc`)).toMatchObject([
    { tx_hash: leaving.hash, action: "deregistered", deposit: null },
    { tx_hash: joining.hash },
  ]);

  // outputs, addresses and transactions
  const base = hexAddressText(alice.base);
  expect(await api.get(`${path}/addresses`)).toEqual([{ address: base }]);
  expect(await api.get(`${path}/addresses/assets`)).toEqual([]);
  const utxos = await api.get<Row[]>(`${path}/utxos`);
  expect(utxos).toMatchObject([{ tx_hash: leaving.hash, output_index: 0, tx_index: 0, block: devnet.tip().hash }]);
  const transactions = await api.get<Row[]>(`${path}/transactions`);
  expect(transactions).toHaveLength(5);
  expect(transactions.at(-1)).toEqual({
    address: base,
    tx_hash: leaving.hash,
    tx_index: 0,
    block_height: devnet.tip().height,
    block_time: 1_800_000_000 + devnet.tip().slot,
  });
  expect(await api.get(`${path}/transactions?from=${devnet.tip().height}`)).toEqual(transactions.slice(-1));
  expect(await api.get(`${path}/transactions?to=${joined.height}&order=desc`)).toEqual(
    transactions.slice(0, 2).reverse(),
  );
  const total = await api.get<Record<"received_sum" | "sent_sum", { quantity: string }[]> & Row>(
    `${path}/addresses/total`,
  );
  expect(total).toMatchObject({ stake_address: address, tx_count: 5 });
  const now = BigInt((await api.get<Row>(path)).controlled_amount as string);
  expect(BigInt(total.received_sum[0]!.quantity) - BigInt(total.sent_sum[0]!.quantity)).toBe(now);

  // rolled back to before the account was registered
  await devnet.rollback({ blocks: devnet.tip().height - joined.height + 1 }, { drop: true });
  expect(await api.get(path)).toMatchObject({ registered: false, rewards_sum: "0", withdrawals_sum: "0" });
  for (const list of ["rewards", "delegations", "registrations", "withdrawals"]) {
    expect(await api.get(`${path}/${list}`)).toEqual([]);
  }
});

test("a pool registers, changes, produces and retires; its figures are those of the ledger", async () => {
  // nearly all stake is the new pool's, so that it produces blocks
  const options = { epochLength: EPOCH, pools: 2, url: "http://127.0.0.1:10000", faucetLimit: 100_000_000n * ada };
  const devnet = await world.start(options);
  const api = apiOf(devnet);
  const genesisPools = devnet.genesis.pools.map(({ id }) => toBech32("pool", fromHex(id)));
  await makeBlock(devnet);
  expect(await api.get("/pools")).toEqual(genesisPools);
  expect(await api.get("/pools?order=desc&count=1")).toEqual([genesisPools[1]]);
  const first = devnet.genesis.pools[0]!;
  const metadata = JSON.parse(first.metadata!) as Row;
  const { url, hash } = first.registered.terms.metadata!;
  const named = { url, hash, ticker: metadata.ticker, name: metadata.name, description: metadata.description };
  expect(await api.get(`/pools/${first.id}/metadata`)).toMatchObject({
    pool_id: genesisPools[0],
    hex: first.id,
    ...named,
  });
  expect(await api.get<Row[]>("/pools/extended")).toMatchObject([
    { pool_id: genesisPools[0], active_stake: "1000000000000", live_stake: "1000000000000", metadata: named },
    { pool_id: genesisPools[1] },
  ]);
  expect(await api.get(`/pools/${genesisPools[0]}/relays`)).toEqual([]);
  expect(await api.get(`/pools/${genesisPools[0]}/votes`)).toEqual([]);

  // a pool of a person
  await give(devnet, bob.base, 50_000_000n * ada);
  await makeBlock(devnet);
  const cold = newSeed();
  const id = keyHash(publicKey(cold));
  const text = toBech32("pool", fromHex(id));
  for (const path of ["", "/history", "/updates", "/delegators"]) {
    expect(await api.refused(`/pools/${id}${path}`)).toEqual(NOT_FOUND);
  }
  const registered = await transact(devnet, bob, {
    certificates: [
      certificates.register(bob),
      certificates.pool(bob, id, 1_000n * ada),
      certificates.delegate(bob, id),
    ],
    deposit: 2n * ada + 500n * ada,
    signers: [bob.stakeSeed, cold],
  });
  const begun = Math.floor(devnet.tip().slot / EPOCH);
  const held = 50_000_000n * ada - 503n * ada;
  expect(await api.get(`/pools/${text}`)).toEqual({
    pool_id: text,
    hex: id,
    vrf_key: expect.stringMatching(/^[0-9a-f]{64}$/),
    blocks_minted: 0,
    blocks_epoch: 0,
    live_stake: String(held),
    live_size: expect.closeTo(Number(held) / Number(held + 2_000_000n * ada), 12),
    live_saturation: expect.any(Number),
    live_delegators: 1,
    active_stake: "0",
    active_size: 0,
    declared_pledge: "1000000000",
    live_pledge: String(held),
    margin_cost: 0.02,
    fixed_cost: "170000000",
    reward_account: stakeText(bob),
    owners: [stakeText(bob)],
    registration: [registered.hash],
    retirement: [],
    calidus_key: null,
  });
  expect(await api.get(`/pools/${id}/delegators`)).toEqual([{ address: stakeText(bob), live_stake: String(held) }]);
  expect(await api.get(`/pools/${id}/metadata`)).toEqual({});
  expect(await api.get("/pools")).toEqual([...genesisPools, text]);

  await until(devnet, begun + 2);
  expect(await api.get(`/pools/${id}`)).toMatchObject({ active_stake: String(held) });
  expect(await api.get(`/epochs/${begun + 2}/stakes/${id}`)).toEqual([
    { stake_address: stakeText(bob), amount: String(held) },
  ]);
  const stakes = await api.get<Row[]>(`/epochs/${begun + 2}/stakes`);
  expect(stakes).toHaveLength(3);
  expect(stakes).toContainEqual({ stake_address: stakeText(bob), pool_id: text, amount: String(held) });
  await until(devnet, begun + 5);
  const history = await api.get<Row[]>(`/pools/${id}/history`);
  expect(history.map(({ epoch }) => epoch)).toEqual([2, 3, 4].map((each) => begun + each));
  const all = held + 2_000_000n * ada;
  expect(history[0]).toMatchObject({
    active_stake: String(held),
    delegators_count: 1,
    active_size: expect.any(Number),
  });
  expect(history[0]!.active_size as number).toBeCloseTo(Number(held) / Number(all), 4);
  const blocks = await api.get<string[]>(`/pools/${id}/blocks`);
  expect(blocks.length).toBeGreaterThan(0);
  const inEpochs = await Promise.all(
    Array.from({ length: begun + 6 }, (_, epoch) => api.get<string[]>(`/epochs/${epoch}/blocks/${id}`)),
  );
  expect(inEpochs.flat()).toEqual(blocks);
  expect(history[0]!.blocks).toBe(inEpochs[begun + 2]!.length);
  const rewards = await api.get<{ epoch: number; amount: string; type: string }[]>(
    `/accounts/${stakeText(bob)}/rewards`,
  );
  expect(rewards.map(({ type }) => type)).toContain("leader");
  const inFirst = rewards.filter(({ epoch }) => epoch === begun + 2).reduce(
    (sum, { amount }) => sum + BigInt(amount),
    0n,
  );
  expect(history[0]!.rewards).toBe(String(inFirst));
  const fees = inFirst < 170n * ada ? inFirst : 170n * ada + (inFirst - 170n * ada) / 50n;
  expect(history[0]!.fees).toBe(String(fees));
  const figures = await api.get<Row>(`/pools/${id}`);
  expect(figures).toMatchObject({ blocks_minted: blocks.length });
  const live = await devnet.query((state) => stakeOf(state, [`k${bob.stake}`]).get(`k${bob.stake}`));
  expect(figures.live_stake).toBe(String(live));

  const announced = Math.floor(devnet.tip().slot / EPOCH);
  const retired = await transact(devnet, bob, {
    certificates: [certificates.retire(id, announced + 2)],
    signers: [bob.stakeSeed, cold],
  });
  expect(await api.get("/pools/retiring")).toEqual([{ pool_id: text, epoch: announced + 2 }]);
  expect(await api.get("/pools/retired")).toEqual([]);
  expect(await api.get(`/pools/${id}/updates`)).toEqual([
    { tx_hash: registered.hash, cert_index: 1, action: "registered" },
    { tx_hash: retired.hash, cert_index: 0, action: "deregistered" },
  ]);
  await until(devnet, announced + 2);
  expect(await api.get("/pools/retiring")).toEqual([]);
  expect(await api.get("/pools/retired")).toEqual([{ pool_id: text, epoch: announced + 2 }]);
  expect(await api.get("/pools")).toEqual(genesisPools);
  expect(await api.get(`/pools/${id}`)).toMatchObject({ live_stake: "0", retirement: [retired.hash] });
  expect(await api.get(`/accounts/${stakeText(bob)}/rewards`)).toContainEqual({
    epoch: announced + 2,
    amount: "500000000",
    pool_id: text,
    type: "pool_deposit_refund",
  });
  const { withdrawable_amount } = await api.get<Row>(`/accounts/${stakeText(bob)}`);
  expect(withdrawable_amount).toBe(
    String(await devnet.query(({ accounts }) => accounts.get(`k${bob.stake}`)!.balance)),
  );
});

test("epochs: documents, neighbours, blocks and the parameters of each", async () => {
  const devnet = await world.start({ epochLength: EPOCH, pools: 1, hardForkEpoch: undefined });
  const api = apiOf(devnet);
  expect(await api.refused("/epochs/latest")).toEqual(NOT_FOUND);
  await give(devnet, alice.base, 10n * ada);
  await until(devnet, 2);
  const latest = await api.get<Row>("/epochs/latest");
  expect(latest).toEqual({
    epoch: 2,
    start_time: 1_800_000_000 + 2 * EPOCH,
    end_time: 1_800_000_000 + 3 * EPOCH,
    first_block_time: 1_800_000_000 + devnet.tip().slot,
    last_block_time: 1_800_000_000 + devnet.tip().slot,
    block_count: 1,
    tx_count: 0,
    output: "0",
    fees: "0",
    active_stake: "1000000000000",
  });
  expect(await api.get("/epochs/2")).toEqual(latest);
  const zero = await api.get<Row>("/epochs/0");
  expect(BigInt(zero.fees as string)).toBeGreaterThan(0n);
  expect(BigInt(zero.output as string)).toBeGreaterThan(10n * ada);
  const one = await api.get<Row>("/epochs/1");
  expect(await api.get("/epochs/0/next")).toEqual([one, latest]);
  expect(await api.get("/epochs/0/next?count=1&page=2")).toEqual([latest]);
  expect(await api.get("/epochs/2/previous")).toEqual([zero, one]);
  expect(await api.get("/epochs/2/previous?count=1")).toEqual([one]);
  expect(await api.refused("/epochs/3")).toEqual(NOT_FOUND);
  const blocks = await api.get<string[]>("/epochs/1/blocks");
  expect(blocks).toHaveLength(one.block_count as number);
  expect(await api.get("/epochs/1/blocks?order=desc")).toEqual([...blocks].reverse());

  const parameters = await api.get<
    Row & { cost_models: Record<string, Row>; cost_models_raw: Record<string, number[]> }
  >(
    "/epochs/latest/parameters",
  );
  expect(parameters).toEqual({ ...await api.get<Row>("/epochs/2/parameters"), epoch: 2 });
  expect((await api.get<Row>("/epochs/1/parameters")).nonce).not.toBe(parameters.nonce);
  expect(parameters).toMatchObject({
    min_fee_a: 44,
    min_fee_b: 155381,
    key_deposit: "2000000",
    pool_deposit: "500000000",
    drep_deposit: "500000000",
    gov_action_deposit: "100000000000",
    coins_per_utxo_size: "4310",
    coins_per_utxo_word: "4310",
    min_utxo: "4310",
    price_mem: 0.0577,
    price_step: 0.0000721,
    pvt_motion_no_confidence: 0.51,
    dvt_treasury_withdrawal: 0.67,
    min_fee_ref_script_cost_per_byte: 15,
  });
  for (const language of ["PlutusV1", "PlutusV2", "PlutusV3"]) {
    expect(Object.values(parameters.cost_models[language]!)).toEqual(parameters.cost_models_raw[language]);
  }
  const sorted = Object.entries(parameters.cost_models.PlutusV1!).sort(([a], [b]) => a < b ? -1 : 1);
  expect(sorted.map(([, cost]) => cost)).toEqual(parameters.cost_models_raw.PlutusV1);
});

test("malformed ids are refused as Blockfrost does", async () => {
  const devnet = await world.start({ epochLength: EPOCH, pools: 1 });
  const api = apiOf(devnet);
  await makeBlock(devnet);
  const pool = devnet.genesis.pools[0]!.id;
  const unknown = toBech32("pool", blake2b256(fromHex(pool)).slice(0, 28));
  const badPool = [400, "Invalid or malformed pool id format."];
  const badAccount = [400, "Invalid or malformed stake address format."];
  const badEpoch = [400, "Missing, out of range or malformed epoch_number."];
  const mainnet = addressText(rewardAddress(1, { kind: "key", hash: alice.stake }));
  const script = addressText(rewardAddress(0, { kind: "script", hash: alice.stake }));
  const drep = toBech32("drep", fromHex(pool));
  const table: readonly (readonly [path: string, answer: readonly unknown[]])[] = [
    ...["", "/history", "/metadata", "/relays", "/delegators", "/blocks", "/updates", "/votes"].flatMap((part) => [
      [`/pools/pool1kek${part}`, badPool] as const,
      [`/pools/${drep}${part}`, badPool] as const,
      [`/pools/${pool.slice(2)}${part}`, badPool] as const,
      [`/pools/${unknown}${part}`, NOT_FOUND] as const,
    ]),
    ...[
      "",
      "/rewards",
      "/history",
      "/delegations",
      "/registrations",
      "/withdrawals",
      "/mirs",
      "/addresses",
      "/addresses/assets",
      "/addresses/total",
      "/utxos",
      "/transactions",
    ].flatMap((part) => [
      [`/accounts/stake1kek${part}`, badAccount] as const,
      [`/accounts/${mainnet}${part}`, badAccount] as const,
      [`/accounts/${hexAddressText(alice.base)}${part}`, badAccount] as const,
      [`/accounts/e0${alice.stake}${part}`, badAccount] as const,
      [`/accounts/${stakeText(alice)}${part}`, NOT_FOUND] as const,
      [`/accounts/${script}${part}`, NOT_FOUND] as const,
    ]),
    ...["", "/next", "/previous", "/stakes", "/blocks", "/parameters", `/stakes/${pool}`, `/blocks/${pool}`].flatMap((
      part,
    ) => [
      [`/epochs/-1${part}`, badEpoch] as const,
      [`/epochs/696969696969${part}`, badEpoch] as const,
      [`/epochs/stonks${part}`, [400, "params/number must be integer"]] as const,
      [`/epochs/69696969${part}`, NOT_FOUND] as const,
    ]),
    ["/epochs/0/stakes/pool1kek", badPool],
    ["/epochs/0/blocks/pool1kek", badPool],
    [`/epochs/0/stakes/${unknown}`, NOT_FOUND],
  ];
  for (const [path, answer] of table) expect([path, ...await api.refused(path)]).toEqual([path, ...answer]);
});

test("representatives, governance actions and votes are those of the chain, and a rollback undoes them", async () => {
  const devnet = await world.start({ epochLength: EPOCH, pools: 1 });
  const api = apiOf(devnet);
  const lists = ["/governance/dreps", "/governance/proposals", "/governance/committee/votes"];
  for (const list of lists) expect(await api.get(list)).toEqual([]);
  expect(await api.get("/governance/committee")).toMatchObject({ members: [] });
  await give(devnet, alice.base, 1_000_000n * ada);
  const before = await makeBlock(devnet);
  const registering = await transact(devnet, alice, {
    certificates: [certificates.register(alice), certificates.registerDrep(alice)],
    deposit: 502n * ada,
  });
  const registeredAt = devnet.tip().slot;
  const id = drepId({ kind: "key", hash: alice.stake });
  const path = `/governance/dreps/${id}`;
  expect(await api.get(path)).toMatchObject({ drep_id: id, amount: "0", active: true, retired: false });
  await transact(devnet, alice, { certificates: [certificates.delegateVote(alice, alice)] });
  const held = await devnet.query((state) => stakeOf(state, [`k${alice.stake}`]).get(`k${alice.stake}`));
  expect(await api.get(`${path}/delegators`)).toEqual([{ address: stakeText(alice), amount: String(held) }]);
  // the older form of the id names the same one
  const older = toBech32("drep", fromHex(alice.stake));
  expect(await api.get(`/governance/dreps/${older}`)).toMatchObject({ drep_id: id, amount: String(held) });
  const url = "https://example.com/document";
  expect(await api.get(`${path}/metadata`)).toMatchObject({ url, hash: "07".repeat(32), json_metadata: null });

  const proposal = await transact(devnet, alice, {
    fields: [proposing(alice, [
      [6],
      [0, null, new Map<number, Encodable>([[0, 45], [20, [7, 8]]]), null],
      [2, new Map([[fromHex("e0" + alice.stake), 9n]]), null],
    ])],
    deposit: 3n * PROPOSAL_DEPOSIT,
  });
  const epoch = Math.floor(devnet.tip().slot / EPOCH);
  const actions = await api.get<Row[]>("/governance/proposals");
  expect(actions.map(({ governance_type, cert_index }) => [governance_type, cert_index])).toEqual([
    ["info_action", 0],
    ["parameter_change", 1],
    ["treasury_withdrawals", 2],
  ]);
  expect(await api.get("/governance/proposals?order=desc&count=1")).toEqual(actions.slice(2));
  const action = (index: number) => `/governance/proposals/${proposal.hash}/${index}`;
  expect(await api.get(action(0))).toEqual({
    ...actions[0],
    governance_description: { tag: "InfoAction" },
    deposit: String(PROPOSAL_DEPOSIT),
    return_address: stakeText(alice),
    ratified_epoch: null,
    enacted_epoch: null,
    dropped_epoch: null,
    expired_epoch: null,
    expiration: epoch + 6,
  });
  expect(await api.get(`${action(1)}/parameters`)).toMatchObject({
    parameters: { min_fee_a: 45, max_tx_ex_mem: "7", max_tx_ex_steps: "8", e_max: null },
  });
  expect(await api.refused(`${action(0)}/parameters`)).toEqual(NOT_FOUND);
  expect(await api.get(`${action(2)}/withdrawals`)).toEqual([{ stake_address: stakeText(alice), amount: "9" }]);
  expect(await api.get(`${action(0)}/metadata`)).toMatchObject({ url, hash: "07".repeat(32) });

  const refs = [0, 1].map((index) => ({ txHash: proposal.hash, index })) as [OutRef, OutRef];
  const first = await transact(devnet, alice, { fields: [voting(alice, [[refs[0], 1], [refs[1], 2]])] });
  await until(devnet, epoch + 1);
  const second = await transact(devnet, alice, { fields: [voting(alice, [[refs[0], 0]])] });
  const cast = (made: Made, vote: string, counted: boolean) => ({
    tx_hash: made.hash,
    cert_index: 0,
    voter_role: "drep",
    voter: id,
    vote,
    counted,
  });
  const votes = [cast(first, "yes", false), cast(second, "no", true)];
  expect(await api.get(`${action(0)}/votes`)).toEqual(votes);
  const [of] = actions as [Row];
  for (const part of ["", "/votes", "/withdrawals"]) {
    expect(await api.get(`/governance/proposals/${of.id}${part}`)).toEqual(await api.get(action(0) + part));
  }
  expect(await api.get(`/governance/proposals/${of.id}/metadata`)).toMatchObject({ url, error: {} });
  expect((await api.get<Row[]>(`${path}/votes`)).map(({ vote }) => vote)).toEqual(["yes", "abstain", "no"]);
  expect(await api.get(path)).toMatchObject({
    active_epoch: Math.floor(registeredAt / EPOCH),
    last_active_epoch: Math.floor(devnet.tip().slot / EPOCH),
  });

  // the order by delegated lovelace, those that left, and the votes that need no representative
  for (const lovelace of [1_000_000n * ada, 1_000_000n * ada]) await give(devnet, bob.base, lovelace);
  await makeBlock(devnet);
  await transact(devnet, bob, {
    certificates: [certificates.register(bob), certificates.registerDrep(bob), certificates.abstain(bob)],
    deposit: 502n * ada,
  });
  await transact(devnet, bob, { certificates: [certificates.unregisterDrep(bob)], deposit: -500n * ada });
  const ids = async (query: string) =>
    (await api.get<Row[]>(`/governance/dreps${query}`)).map(({ drep_id }) => drep_id);
  const left = drepId({ kind: "key", hash: bob.stake });
  expect(await ids("")).toEqual([id, left, "drep_always_abstain"]);
  expect(await ids("?order_by=amount&order=desc")).toEqual(["drep_always_abstain", id, left]);
  expect(await ids("?retired=true")).toEqual([left]);
  expect(await ids("?expired=true")).toEqual([]);
  expect(await api.refused("/governance/dreps?retired=maybe")).toEqual([
    400,
    "querystring/retired must be equal to one of the allowed values",
  ]);
  const update = await transact(devnet, alice, { certificates: [certificates.updateDrep(alice)] });
  expect(await api.get(`${path}/updates`)).toEqual([
    { tx_hash: registering.hash, cert_index: 1, action: "registered", deposit: "500000000" },
    { tx_hash: update.hash, cert_index: 0, action: "updated", deposit: null },
  ]);
  expect(await api.refused(`${path}/metadata`)).toEqual(NOT_FOUND);
  expect(await api.refused("/governance/dreps/drep1nothing")).toEqual([400, "Invalid or malformed drep id."]);

  await devnet.rollback({ blocks: devnet.tip().height - before.height }, { drop: true });
  for (const list of lists) expect(await api.get(list)).toEqual([]);
  expect(await api.refused(path)).toEqual(NOT_FOUND);
});
