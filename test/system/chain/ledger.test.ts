/** The ledger queries of wallets, with the same contract for the devnet's rows and its socket. */
import { describe, expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { type Credential, rewardAddress } from "#src/cardano/address.ts";
import { Tagged } from "#src/cardano/cbor.ts";
import { epochTimes, eraStart, slotAt, timeAt } from "#src/cardano/eras.ts";
import { keyHash, publicKey } from "#src/cardano/keys/signingKey.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import type { At, ChainPort } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { genesisFiles } from "#src/devnet/genesis/json.ts";
import { readLedger } from "../../support/devnet/devnetLedger.ts";
import { nonMyopicMemberRewards } from "#src/ledger/epoch/ranking.ts";
import { stakeDistribution } from "#src/ledger/epoch/reads.ts";
import { certificates, spend, type Spending } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 5;
const alice = person("alice"), cold = person("alice's pool").seed;
const stake: Credential = { kind: "key", hash: alice.stake };
const poolId = keyHash(publicKey(cold));
const unregistered = (number: number): Credential => ({
  kind: number % 2 ? "key" : "script",
  hash: number.toString(16).padStart(56, "0"),
});
const nothing = { registered: false, rewards: 0n, deposit: undefined, pool: undefined, drep: undefined };

const world = devnetWorld();

describe.each(["its rows", "its socket"])("over %s", (kind) => {
  let devnet: Devnet;
  let port: ChainPort;

  async function begin(options: DevnetOptions = {}): Promise<void> {
    devnet = await world.start({ epochLength: EPOCH, pools: 1, ...options });
    const genesisHash = genesisFiles(devnet.genesis)[0]!.hash!;
    port = kind === "its rows" ? world.rows : (await world.serve(devnet, {}, { genesisHash })).node;
  }

  /** The value of an answer, which must be of the newest block. */
  async function now<T>(
    answer: Promise<{ ok: true; value: At<T> } | { ok: false; error: { code: string; message: string } }>,
  ) {
    const { slot, hash } = devnet.tip();
    const { point, value } = valueOf(await answer);
    expect(point).toEqual({ slot, hash });
    return value;
  }
  const account = async (credential: Credential = stake) => (await now(port.accounts([credential])))[0]!;

  /**
   * Submits a transaction of Alice that spends everything she has and pays it back to her, and makes a block with it.
   */
  async function transact(what: Partial<Spending>): Promise<void> {
    const inputs = valueOf(await port.utxosByAddress([alice.base])).value;
    const left = inputs.reduce((sum, { output }) => sum + output.value.lovelace, 0n) - ada - (what.deposit ?? 0n);
    const signers = [alice.stakeSeed, cold];
    const made = spend({ from: alice, inputs, outputs: [[alice.base, left]], signers, ...what });
    expect(valueOf(await port.submit(made.cbor))).toEqual({ outcome: "accepted" });
    await makeBlock(devnet);
  }

  async function enter(epoch: number): Promise<void> {
    while ((await now(port.epoch())).number < epoch) await makeBlock(devnet);
  }

  test("an account is registered, delegates, earns at each boundary, and is restored by a rollback", async () => {
    await begin();
    await give(devnet, alice.base, 1_000_000n * ada);
    await makeBlock(devnet);
    expect(await account()).toEqual({ credential: stake, ...nothing });
    expect(await now(port.accounts([]))).toEqual([]);

    const pool = devnet.genesis.pools[0]!.id;
    const joining = [certificates.register(alice), certificates.delegate(alice, pool), certificates.abstain(alice)];
    await transact({ certificates: joining, deposit: 2n * ada });
    const joined = {
      credential: stake,
      registered: true,
      rewards: 0n,
      deposit: 2n * ada,
      pool,
      drep: { kind: "abstain" },
    };
    expect(await account()).toEqual(joined);
    const { number } = await now(port.epoch());
    const seen = new Map<number, unknown>();
    const rewards: bigint[] = [];
    for (let epoch = number + 3; epoch <= number + 5; epoch++) {
      await enter(epoch);
      const { height } = devnet.tip();
      seen.set(height, await account());
      rewards.push((await account()).rewards);
    }
    expect(rewards[0]).toBe(0n);
    expect(rewards[1]).toBeGreaterThan(0n);
    expect(rewards[2]).toBeGreaterThan(rewards[1]!);

    for (const [height, then] of [...seen].reverse()) {
      valueOf(await devnet.rollback({ height }, { drop: true }));
      expect(await account()).toEqual(then);
    }
    valueOf(await devnet.rollback({ height: 0 }, { drop: true }));
    expect(await account()).toEqual({ credential: stake, ...nothing });
    valueOf(await devnet.rollback({ height: -1 }, { drop: true }));
    expect(await account()).toEqual({ credential: stake, ...nothing });
  });

  test("thousands of accounts are queried at once, keys and scripts, each given once", async () => {
    await begin({ pools: 3 });
    await makeBlock(devnet);
    const owners = devnet.genesis.pools.map(({ id, registered: { terms: { rewardKey: hash } } }) => ({ id, hash }));
    const many = Array.from({ length: 12_000 }, (_, i) => unregistered(i));
    const wanted: Credential[] = [...many];
    // some in each query, and one of them twice
    for (const [i, { hash }] of owners.entries()) wanted.splice(i * 5_500 + 5, 0, { kind: "key", hash });
    wanted.push({ kind: "key", hash: owners[0]!.hash }, { kind: "script", hash: owners[0]!.hash });
    const accounts = await now(port.accounts(wanted));
    expect(accounts).toHaveLength(many.length + owners.length + 1);
    expect(accounts.map(({ credential }) => credential)).toEqual([...wanted.slice(0, -2), wanted.at(-1)]);
    expect(accounts.filter(({ registered }) => registered)).toEqual(
      owners.map(({ id, hash }) => ({
        credential: { kind: "key", hash },
        registered: true,
        rewards: 0n,
        deposit: 2n * ada,
        pool: id,
        drep: undefined,
      })),
    );
    expect(accounts.at(-1)).toEqual({ credential: { kind: "script", hash: owners[0]!.hash }, ...nothing });
  });

  test("a pool is registered, changes, retires and is removed, as in the ledger", async () => {
    await begin();
    await give(devnet, alice.base, 1_000_000n * ada);
    await makeBlock(devnet);
    const [first] = await now(port.pools());
    const { terms } = devnet.genesis.pools[0]!.registered;
    expect(first).toMatchObject({
      pool: devnet.genesis.pools[0]!.id,
      vrf: terms.vrf,
      pledge: devnet.genesis.pledge,
      cost: terms.cost,
      margin: terms.margin,
      rewardAccount: rewardAddress(0, { kind: "key", hash: terms.rewardKey }).hex,
      owners: terms.owners,
      relays: [],
      metadata: terms.metadata,
      future: undefined,
      retiring: undefined,
      deposit: 500n * ada,
    });

    const stated = (cost: bigint) => [
      3,
      fromHex(poolId),
      new Uint8Array(32).fill(7),
      900_000n * ada,
      cost,
      new Tagged(30, [1, 3]),
      fromHex("e0" + alice.stake),
      new Tagged(258, [fromHex(alice.stake)]),
      [[0, 3001, fromHex("7f000001"), null], [1, null, "relay.example"], [2, "srv.example"]],
      ["https://pool.example/a.json", new Uint8Array(32).fill(9)],
    ];
    const founding = [certificates.register(alice), stated(170n * ada), certificates.delegate(alice, poolId)];
    await transact({ certificates: founding, deposit: 502n * ada });
    const mine = async () => (await now(port.pools())).find(({ pool }) => pool === poolId);
    const registered = {
      pool: poolId,
      vrf: "07".repeat(32),
      pledge: 900_000n * ada,
      cost: 170n * ada,
      margin: { numerator: 1n, denominator: 3n },
      rewardAccount: "e0" + alice.stake,
      owners: [alice.stake],
      relays: [
        { kind: "address", port: 3001, ipv4: "7f000001", ipv6: undefined },
        { kind: "name", port: undefined, name: "relay.example" },
        { kind: "names", name: "srv.example" },
      ],
      metadata: { url: "https://pool.example/a.json", hash: "09".repeat(32) },
    };
    const { value: ledger, genesis } = (await readLedger(world.store))!;
    const shares = stakeDistribution(ledger, genesis.terms).pools;
    expect(shares.size).toBe(2);
    expect(await mine()).toEqual({
      ...registered,
      future: undefined,
      retiring: undefined,
      deposit: 500n * ada,
      share: shares.get(poolId)!.share,
      stake: shares.get(poolId)!.lovelace,
    });
    expect((await now(port.pools())).map(({ pool }) => pool)).toEqual([first!.pool, poolId].sort());

    const { number } = await now(port.epoch());
    await transact({ certificates: [stated(200n * ada)] });
    expect(await mine()).toMatchObject({ cost: 170n * ada, future: { ...registered, cost: 200n * ada } });
    await enter(number + 1);
    expect(await mine()).toMatchObject({ cost: 200n * ada, future: undefined });

    await transact({ certificates: [certificates.retire(poolId, number + 3)] });
    const retiring = devnet.tip().height;
    expect(await mine()).toMatchObject({ retiring: number + 3 });
    const { rewards } = await account();
    await enter(number + 3);
    expect(await mine()).toBeUndefined();
    expect(await account()).toMatchObject({ registered: true, pool: undefined });
    expect((await account()).rewards).toBeGreaterThanOrEqual(rewards + 500n * ada);

    valueOf(await devnet.rollback({ height: retiring }, { drop: true }));
    expect(await mine()).toMatchObject({ retiring: number + 3 });
    valueOf(await devnet.rollback({ height: retiring - 1 }, { drop: true }));
    expect(await mine()).toMatchObject({ retiring: undefined });
    expect(await account()).toMatchObject({ rewards, pool: poolId });
  });

  test("pools are ranked by what they would pay", async () => {
    await begin({ pools: 3 });
    await makeBlock(devnet);
    await enter(3);
    const { value: ledger, genesis } = (await readLedger(world.store))!;
    for (const member of [0n, 1_000n * ada, 10_000_000n * ada]) {
      const ranked = await now(port.poolRanking(member));
      expect(ranked).toEqual(nonMyopicMemberRewards(ledger, genesis.terms, [member]).get(member));
      expect([...ranked.values()].some((lovelace) => lovelace > 0n)).toBe(member > 0n);
    }
  });

  test("epochs, eras and genesis agree with the devnet's clock", async () => {
    await begin({ securityParameter: 20 });
    const { network: { slots, magic }, genesis } = devnet;
    expect(magic).toBe(42);
    expect(await now(port.epoch())).toMatchObject({ number: 0, firstSlot: 0, start: slots.zeroTime });
    for (let i = 0; i < 7; i++) await makeBlock(devnet);
    const { slot } = devnet.tip();
    const number = Math.floor(slot / EPOCH);
    const epoch = {
      number,
      firstSlot: number * EPOCH,
      length: EPOCH,
      start: slotTime(slots, number * EPOCH),
      end: slotTime(slots, (number + 1) * EPOCH),
    };
    expect(await now(port.epoch())).toEqual(epoch);
    const eras = await now(port.eras());
    expect(eras).toMatchObject({ current: "Conway", systemStart: slots.zeroTime });
    expect(timeAt(eras, slot)).toEqual({ ok: true, value: slotTime(slots, slot) });
    expect(slotAt(eras, slotTime(slots, slot) + slots.slotLength - 1)).toEqual({ ok: true, value: slot });
    expect(epochTimes(eras, number)).toEqual({ ok: true, value: epoch });
    expect(epochTimes(eras, number + 1_000)).toMatchObject({ ok: false, error: { code: "past_horizon" } });
    expect(eraStart(eras, "Byron")).toEqual({ epoch: 0, time: slots.zeroTime });
    expect(eraStart(eras, "Conway")).toEqual({ epoch: 0, time: slots.zeroTime });
    expect(eraStart(eras, "Dijkstra")).toBeUndefined();
    expect(valueOf(await port.genesis())).toEqual({
      hash: genesisFiles(genesis).find(({ name }) => name === "byron-genesis.json")!.hash,
      systemStart: slots.zeroTime,
      activeSlots: genesis.terms.activeSlots,
      securityParameter: 20,
      epochLength: EPOCH,
      slotLength: slots.slotLength,
      maxSupply: genesis.terms.maxSupply,
    });
  });
});

test("accounts, pools and epochs are the same from rows and socket, at every block", async () => {
  const devnet = await world.start({ epochLength: EPOCH, pools: 2 });
  const { node } = await world.serve(devnet);
  const owners = devnet.genesis.pools.map(({ registered: { terms: { rewardKey: hash } } }): Credential => ({
    kind: "key",
    hash,
  }));
  for (let i = 0; i < 22; i++) {
    if (i === 15) valueOf(await devnet.rollback({ blocks: 7 }));
    await makeBlock(devnet);
    for (
      const asking of [
        (port: ChainPort) => port.accounts([...owners, stake]),
        (port: ChainPort) => port.pools(),
        (port: ChainPort) => port.poolRanking(7n * ada),
        (port: ChainPort) => port.epoch(),
        (port: ChainPort) => port.eras(),
      ]
    ) {
      const [there, here] = [await asking(node), await asking(world.rows)];
      expect(there).toEqual(here);
      expect(there).toMatchObject({ ok: true });
    }
  }
});
