/**
 * Stake keys of wallets on a devnet with short epochs: joining, rewards, votes, withdrawals, leaving, and rollbacks
 * over boundaries.
 */
import { describe, expect, test } from "vitest";
import { rewardsInquiry } from "#actors/delegation.ts";
import { silentLog } from "#src/base/log.ts";
import { origin, type Point } from "#src/cardano/block.ts";
import { type Epochs, epochsOf } from "#src/cardano/epochs.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { together } from "#src/chain/index/projections.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { dismiss, enrol } from "#src/chain/index/groups.ts";
import { memberPosition } from "../../support/chain/memberPosition.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { DREP_ACTIVITY } from "#src/ledger/governance/parameters.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { publicKey } from "#src/cardano/keys/signingKey.ts";
import { migrate } from "#src/store/migrations.ts";
import { delegationProjection } from "#src/wallets/delegation/projection.ts";
import { delegationIn, readAccount, type WalletAccount } from "#src/wallets/delegation/read.ts";
import { walletProjection } from "#src/wallets/index/projection.ts";
import { WALLET_PROJECTION } from "#src/wallets/index/types.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { DelegationActor } from "../../support/wallets/delegationActor.ts";
import { certificates, spend, type Spending } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { until } from "../../support/base/until.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 5;
const alice = person("alice");
const CREDENTIAL = `key-${alice.stake}`;
const world = devnetWorld();

interface Followed {
  readonly devnet: Devnet;
  readonly epochs: Epochs;
  readonly actor: DelegationActor;
  readonly heard: readonly Touched[];
  stop(): Promise<void>;
}

async function followed(
  wrap: (port: ChainPort) => ChainPort = (port) => port,
  options: DevnetOptions = {},
): Promise<Followed> {
  const { store } = world;
  await migrate(store, migrationsOf("chain/index", "wallets/index", "wallets/seen", "wallets/delegation"));
  const devnet = await world.start({ epochLength: EPOCH, pools: 2, ...options });
  const port = wrap(world.rows);
  const epochs = epochsOf(valueOf(await port.eras()).value);
  const actor = new DelegationActor(CREDENTIAL);
  const heard: Touched[] = [];
  const follower = new Follower({
    store,
    port,
    projections: [together([walletProjection({ keyDeposit: 2n * ada }), delegationProjection(epochs.of)])],
    networkQueries: [rewardsInquiry(epochs.of)],
    fence: async () => {},
    append: async () => {},
    ring: (touched) => {
      for (const one of touched) {
        heard.push(one);
        if (one.entity.kind === "delegation" && one.entity.id === CREDENTIAL) actor.receive(one.event);
      }
    },
    log: silentLog,
  });
  const stop = new AbortController();
  const running = follower.run(stop.signal);
  return {
    devnet,
    epochs,
    actor,
    heard,
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

/** A wallet of Alice's stake key, read from the block after its start block on. */
async function begin(wallet: string, start: Point = origin, credential = CREDENTIAL): Promise<void> {
  await world.store.sql.begin(async (sql) => {
    await sql`insert into wallet_index (wallet, kind, network, gap, prefix, account, stake)
      values (${wallet}, 'shelley', 0, 20, '1852H/1815H/0H', '{}', ${credential})`;
    expect(await enrol(sql, WALLET_PROJECTION, [wallet], start)).toEqual([]);
  });
}

/** A wallet's rows once the index is at the devnet's tip, and rewards were queried in its epoch. */
async function settled({ devnet, epochs }: Followed, wallet: string): Promise<WalletAccount> {
  const { store } = world;
  return await until(`${wallet} is read`, async () => {
    const { slot, hash } = devnet.tip();
    if ((await readCursor(store.sql)).at.hash !== hash) return undefined;
    if ((await memberPosition(store.sql, WALLET_PROJECTION, wallet))?.restoring !== false) return undefined;
    const account = await readAccount(store.sql, wallet);
    return account?.rewardsEpoch === epochs.of(slot) ? account : undefined;
  }, 15_000);
}

/** Makes blocks until an epoch has begun. */
async function enter({ devnet, epochs }: Followed, epoch: number): Promise<void> {
  while (epochs.of(devnet.tip().slot) < epoch) await makeBlock(devnet);
}

/** A transaction of a person, Alice, that spends everything of hers and pays it back to her, in a block. */
async function transact({ devnet }: Followed, what: Partial<Spending>, from = alice): Promise<void> {
  const inputs = valueOf(await world.rows.utxosByAddress([from.base])).value;
  const back = (what.withdrawals ?? []).reduce((sum, [, lovelace]) => sum + lovelace, 0n);
  const left = inputs.reduce((sum, { output }) => sum + output.value.lovelace, 0n) - ada - (what.deposit ?? 0n) + back;
  const made = spend({ from, inputs, outputs: [[from.base, left]], signers: [from.stakeSeed], ...what });
  expect(valueOf(await world.rows.submit(made.cbor))).toEqual({ outcome: "accepted" });
  await makeBlock(devnet);
}

test(
  "a stake key's life: it joins, earns, votes, withdraws, changes pools, quits; and back over boundaries",
  async () => {
    const services = await followed();
    const { devnet, epochs, actor } = services;
    try {
      await begin("w");
      await give(devnet, alice.base, 1_000_000n * ada);
      await makeBlock(devnet);
      expect(await settled(services, "w")).toMatchObject({ registered: false, rewards: 0n, history: [] });
      const now = () => epochs.of(devnet.tip().slot);
      const [first, second] = devnet.genesis.pools.map(({ id }) => id);
      const account = `e0${alice.stake}`;

      await transact(services, {
        certificates: [certificates.register(alice), certificates.delegate(alice, first!)],
        deposit: 2n * ada,
      });
      const joinedIn = now();
      const joined = await settled(services, "w");
      expect(joined).toMatchObject({ registered: true, deposit: 2n * ada, pool: first, rewards: 0n });
      expect(joined.drep).toBeUndefined();
      const shown = () => readAccount(world.store.sql, "w").then((one) => delegationIn(one!, now()));
      const noDelegation = { pool: null, drep: null };
      const atFirst = { pool: first!, drep: null };
      expect(await shown()).toEqual({ active: noDelegation, next: [{ ...atFirst, from: joinedIn + 2 }] });
      expect(actor.view).toMatchObject({ state: "delegating", context: await shown() });

      // stake counts from the second epoch on, and its rewards are paid two epochs later
      const seen = new Map<number, { account: WalletAccount; shown: unknown; context: unknown }>();
      for (let epoch = joinedIn + 1; epoch <= joinedIn + 5; epoch++) {
        await enter(services, epoch);
        const account = await settled(services, "w");
        seen.set(devnet.tip().height, { account, shown: await shown(), context: actor.view!.context });
        expect(actor.view!.context.rewards).toBe(String(account.rewards));
      }
      expect(await shown()).toEqual({ active: atFirst, next: [] });
      const { rewards } = await settled(services, "w");
      expect(rewards).toBeGreaterThan(0n);
      const ledger = valueOf(await world.rows.accounts([{ kind: "key", hash: alice.stake }])).value[0]!;
      expect(rewards).toBe(ledger.rewards);

      // without a vote nothing can be withdrawn; with one all of it
      await transact(services, { certificates: [certificates.abstain(alice)] });
      const voted = await settled(services, "w");
      expect(voted).toMatchObject({ pool: first, drep: { kind: "abstain" } });
      expect(actor.view!.state).toBe("both");
      expect(voted.rewards).toBeGreaterThanOrEqual(rewards);
      await transact(services, { withdrawals: [[account, voted.rewards]] });
      expect((await settled(services, "w")).rewards).toBe(0n);
      expect(actor.view!.context.rewards).toBe("0");

      // another pool needs no deposit
      await transact(services, { certificates: [certificates.delegate(alice, second!)] });
      const changed = await settled(services, "w");
      expect(changed).toMatchObject({ pool: second, deposit: 2n * ada });
      expect((await shown()).next.at(-1)).toEqual({ pool: second, drep: "abstain", from: now() + 2 });

      await enter(services, now() + 1);
      const due = (await settled(services, "w")).rewards;
      const quitting = { certificates: [certificates.unregister(alice)], deposit: -2n * ada };
      await transact(services, due > 0n ? { ...quitting, withdrawals: [[account, due]] } : quitting);
      const quit = await settled(services, "w");
      expect(quit).toMatchObject({ registered: false, rewards: 0n });
      expect(quit.pool).toBeUndefined();
      expect(actor.view).toMatchObject({
        state: "neither",
        context: { registered: false, deposit: null, rewards: "0" },
      });

      for (const [height, then] of [...seen].reverse()) {
        valueOf(await devnet.rollback({ height }, { drop: true }));
        expect(await settled(services, "w")).toEqual(then.account);
        expect(await shown()).toEqual(then.shown);
        // the time of its last event is not part of its state
        const { slot: _, epoch: __, ...context } = actor.view!.context;
        expect(then.context).toMatchObject(context);
      }
      valueOf(await devnet.rollback({ height: 0 }, { drop: true }));
      await makeBlock(devnet);
      expect(await settled(services, "w")).toMatchObject({ registered: false, rewards: 0n, history: [] });
      expect(actor.view!.state).toBe("neither");
    } finally {
      await services.stop();
    }
  },
  60_000,
);

test(
  "a wallet that begins at the tip gets the earlier state; one that is restored reads it from the blocks",
  async () => {
    const services = await followed();
    const { devnet, epochs, actor } = services;
    try {
      await give(devnet, alice.base, 1_000_000n * ada);
      await makeBlock(devnet);
      const pool = devnet.genesis.pools[0]!.id;
      const joining = [certificates.register(alice), certificates.delegate(alice, pool), certificates.abstain(alice)];
      await transact(services, { certificates: joining, deposit: 2n * ada });
      await enter(services, epochs.of(devnet.tip().slot) + 5);
      const { slot, hash } = devnet.tip();
      await begin("late", { slot, hash });
      const late = await settled(services, "late");
      const [ledger] = valueOf(await world.rows.accounts([{ kind: "key", hash: alice.stake }])).value;
      const expected = {
        registered: true,
        deposit: 2n * ada,
        pool,
        drep: { kind: "abstain" },
        rewards: ledger!.rewards,
      };
      expect(late).toMatchObject({ ...expected, history: [{ epoch: -1, pool, drep: "abstain" }] });
      expect(ledger!.rewards).toBeGreaterThan(0n);
      const epoch = epochs.of(devnet.tip().slot);
      expect(delegationIn(late, epoch)).toEqual({ active: { pool, drep: "abstain" }, next: [] });
      await until("the actor is notified", async () => actor.view?.state === "both");
      expect(actor.view!.context).toMatchObject({
        registered: true,
        deposit: "2000000",
        rewards: String(ledger!.rewards),
      });

      await begin("restored");
      const restored = await settled(services, "restored");
      expect(restored).toMatchObject(expected);
      expect(restored.history.map((one) => one.epoch)).toEqual([expect.any(Number)]);
      expect(restored.history[0]!.epoch).toBeGreaterThanOrEqual(0);
      expect(actor.view!.state).toBe("both");

      // for a wallet that begins between its registration and its next certificate the rest is completed
      const between = devnet.tip();
      await transact(services, { certificates: [certificates.delegate(alice, devnet.genesis.pools[1]!.id)] });
      await begin("between", { slot: between.slot, hash: between.hash });
      const all = { registered: true, deposit: 2n * ada, pool: devnet.genesis.pools[1]!.id, drep: { kind: "abstain" } };
      expect(await settled(services, "between")).toMatchObject(all);
      expect(await settled(services, "late")).toMatchObject(all);
      const heard = { registered: true, deposit: "2000000", next: [{ drep: "abstain" }] };
      await until("the actor is notified of it", async () => actor.view!.context.deposit !== null);
      expect(actor.view).toMatchObject({ state: "both", context: heard });

      await world.store.sql.begin((sql) => dismiss(sql, WALLET_PROJECTION, ["late", "restored", "between"]));
      await makeBlock(devnet);
      for (const table of ["wallet_delegation", "wallet_delegation_due", "wallet_reward"]) {
        await until(
          `${table} is empty`,
          async () => (await world.store.sql`select 1 from ${world.store.sql(table)}`).length === 0,
        );
      }
    } finally {
      await services.stop();
    }
  },
  60_000,
);

describe("what the ledger changes without a certificate of the account", () => {
  const bob = person("bob");
  const ledgerAccount = async () => valueOf(await world.rows.accounts([{ kind: "key", hash: alice.stake }])).value[0]!;
  /** Checks that the wallet and its actor have what the ledger has. */
  const expectLedger = async (services: Followed) => {
    const { registered, pool, drep, rewards } = await ledgerAccount();
    const account = await settled(services, "w");
    expect({ pool: undefined, drep: undefined, ...account }).toMatchObject({ registered, pool, drep, rewards });
    expect(services.actor.view!.context).toMatchObject({ registered, rewards: String(rewards) });
    expect(services.actor.view!.state).toBe(
      pool ? drep ? "both" : "delegating" : drep ? "voting" : "neither",
    );
    return { pool, drep };
  };
  /** A wallet of Alice that delegates to a pool and to Bob, who is a representative. */
  const delegated = async () => {
    const services = await followed();
    const { devnet } = services;
    await begin("w");
    await give(devnet, alice.base, 100_000n * ada);
    await give(devnet, bob.base, 100_000n * ada);
    await makeBlock(devnet);
    const [, second] = devnet.genesis.pools.map(({ id }) => id);
    await transact(services, { certificates: [certificates.registerDrep(bob)], deposit: 500n * ada }, bob);
    await transact(services, {
      certificates: [
        certificates.register(alice),
        certificates.delegate(alice, second!),
        certificates.delegateVote(alice, bob),
      ],
      deposit: 2n * ada,
    });
    const drep = { kind: "key", hash: bob.stake };
    expect(await expectLedger(services)).toEqual({ pool: second, drep });
    return { ...services, pool: second!, drep };
  };

  test("a DRep deregisters, registers again, and the chain goes back", async () => {
    const services = await delegated();
    const { devnet, pool, drep, actor } = services;
    try {
      const { height } = devnet.tip();
      const unregister = { certificates: [certificates.unregisterDrep(bob)], deposit: -500n * ada };
      await transact(services, unregister, bob);
      expect(await expectLedger(services)).toEqual({ pool, drep: undefined });
      const changes = services.heard.filter(({ event }) => event.type === "CERTIFIED");
      expect(changes.at(-1)!.event).toMatchObject({ drep: null, transactions: [expect.any(String)] });
      const at = (from: number) => expect.objectContaining({ pool, drep: null, from });
      expect(actor.view!.context.next).toContainEqual(at(services.epochs.of(devnet.tip().slot) + 2));
      await transact(services, { certificates: [certificates.registerDrep(bob)], deposit: 500n * ada }, bob);
      expect(await expectLedger(services)).toEqual({ pool, drep: undefined });
      await transact(services, { certificates: [certificates.delegateVote(alice, bob)] });
      expect(await expectLedger(services)).toEqual({ pool, drep });
      await enter(services, services.epochs.of(devnet.tip().slot) + 3);
      expect(await expectLedger(services)).toEqual({ pool, drep });
      valueOf(await devnet.rollback({ height }, { drop: true }));
      expect(await expectLedger(services)).toEqual({ pool, drep });
    } finally {
      await services.stop();
    }
  });

  test("a DRep is inactive for longer than it may be: the delegation stays", async () => {
    const services = await delegated();
    const { devnet, epochs, pool, drep } = services;
    try {
      await enter(services, epochs.of(devnet.tip().slot) + DREP_ACTIVITY + 2);
      expect(await expectLedger(services)).toEqual({ pool, drep });
    } finally {
      await services.stop();
    }
  });

  test("a pool retires, and the chain goes back", async () => {
    const services = await delegated();
    const { devnet, epochs, pool, drep, actor } = services;
    try {
      const retired = epochs.of(devnet.tip().slot) + 2;
      const cold = devnet.genesis.pools[1]!.coldSeed;
      const signers = [bob.stakeSeed, cold];
      await transact(services, { certificates: [certificates.retire(pool, retired)], signers }, bob);
      await enter(services, retired - 1);
      expect(await expectLedger(services)).toEqual({ pool, drep });
      const { height } = devnet.tip();
      await enter(services, retired);
      expect(await expectLedger(services)).toEqual({ pool: undefined, drep });
      expect(actor.view!.context.next).toEqual([{ pool: null, drep: `key-${bob.stake}`, from: retired + 2 }]);
      await enter(services, retired + 2);
      expect(await expectLedger(services)).toEqual({ pool: undefined, drep });
      expect(actor.view!.context).toMatchObject({ active: { pool: null }, next: [] });
      valueOf(await devnet.rollback({ height }, { drop: true }));
      expect(await expectLedger(services)).toEqual({ pool, drep });
    } finally {
      await services.stop();
    }
  });

  test("a hard fork ends votes for DReps that are not registered", async () => {
    const services = await followed(undefined, { parameters: mainnetParametersAt(9), hardForkEpoch: 3 });
    const { devnet } = services;
    try {
      await begin("w");
      await give(devnet, alice.base, 100_000n * ada);
      await makeBlock(devnet);
      // version 9 does not check that the DRep is registered
      const vote = [certificates.register(alice), certificates.delegateVote(alice, bob)];
      await transact(services, { certificates: vote, deposit: 2n * ada });
      const drep = { kind: "key", hash: bob.stake };
      expect(await expectLedger(services)).toEqual({ pool: undefined, drep });
      await enter(services, 3);
      expect(await expectLedger(services)).toEqual({ pool: undefined, drep: undefined });
    } finally {
      await services.stop();
    }
  });

  test("the genesis delegates, and no certificate says so", async () => {
    const services = await followed();
    const { devnet } = services;
    try {
      const { id, ownerSeed } = devnet.genesis.pools[0]!;
      const owner = hash224(publicKey(ownerSeed));
      await begin("w", origin, `key-${owner}`);
      await makeBlock(devnet);
      expect(await settled(services, "w")).toMatchObject({ registered: true, pool: id, deposit: 2n * ada });
    } finally {
      await services.stop();
    }
  });
});

test("answers from behind, from ahead and from far behind result in the same rewards", async () => {
  // answers of some blocks ago, of now, and none at all
  const kept: Awaited<ReturnType<ChainPort["accounts"]>>[] = [];
  let queryCount = 0;
  const services = await followed((port) => ({
    ...port,
    accounts: async (credentials) => {
      const answer = await port.accounts(credentials);
      kept.push(answer);
      queryCount++;
      if (queryCount % 5 === 0) return { ok: false, error: { code: "network_unreachable", message: "not now" } };
      return kept[Math.max(0, kept.length - 1 - queryCount % 3)]!;
    },
  }));
  const { devnet, epochs } = services;
  try {
    await begin("w");
    await give(devnet, alice.base, 1_000_000n * ada);
    await makeBlock(devnet);
    const pool = devnet.genesis.pools[0]!.id;
    const joining = [certificates.register(alice), certificates.delegate(alice, pool), certificates.abstain(alice)];
    await transact(services, { certificates: joining, deposit: 2n * ada });
    for (let i = 0; i < 8; i++) {
      await enter(services, epochs.of(devnet.tip().slot) + 1);
      await makeBlock(devnet);
      const { rewards } = await settled(services, "w");
      const [ledger] = valueOf(await world.rows.accounts([{ kind: "key", hash: alice.stake }])).value;
      expect(rewards).toBe(ledger!.rewards);
      if (i % 4 === 3 && rewards > 0n) await transact(services, { withdrawals: [[`e0${alice.stake}`, rewards]] });
    }
  } finally {
    await services.stop();
  }
});
