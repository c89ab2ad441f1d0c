/**
 * Random operations on a chain whose database fails at random, before a commit or after it: rows and memory stay equal,
 * and a rollback or the restore of a snapshot, also one on another fork, gives exactly the earlier outputs, accounts,
 * pools, stake snapshots, pots and mempool, also across epoch boundaries. The index of the chain equals one that is built
 * from its blocks.
 */
import process from "node:process";
import { expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { parseRefKey, type Utxo } from "#src/cardano/output.ts";
import { times } from "#src/devnet/blocks/blockPlan.ts";
import { DevnetChain } from "#src/devnet/blocks/chain.ts";
import { LEASE } from "#src/devnet/blocks/lease.ts";
import { MiningControl, miningOf } from "#src/devnet/blocks/mining.ts";
import { createGenesis, genesisDefaults, readSlotsAhead } from "#src/devnet/genesis/genesis.ts";
import { validate } from "#src/ledger/validate.ts";
import type { Store } from "#src/store/store.ts";
import {
  allLovelace,
  certificates,
  checkRows,
  checkSnapshots,
  devnetStore,
  ledgerInRows,
  ledgerOf,
  spend,
} from "../../support/devnet/devnet.ts";
import { indexRows, rebuiltRows } from "../../support/devnet/devnetIndex.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { type Person, person } from "../../support/wallets/person.ts";

const RUNS = Number(process.env.DEVNET_RUNS ?? 2);
const STEPS = 250;
/** Names of snapshots: few, so that they are replaced. */
const NAMES = ["a", "b", "c"];
const people = ["alice", "bob", "carol"].map(person);

/** A store whose transactions fail with the given probability, half of them after their commit. */
function faulty(store: Store, random: () => number, odds: number): Store {
  const sql = new Proxy(store.sql, {
    get(target, name) {
      if (name !== "begin") return Reflect.get(target, name);
      return async (work: (sql: never) => Promise<unknown>) => {
        const fault = random() < odds ? random() < 0.5 ? "before" : "after" : "none";
        const result = await target.begin(async (inner) => {
          const done = await work(inner as never);
          if (fault === "before") throw new Error("the connection was lost before the commit");
          return done;
        });
        if (fault === "after") throw new Error("the connection was lost after the commit");
        return result;
      };
    },
  });
  return { ...store, sql };
}

/** What the runs did; together they do each of it. */
const counted: Record<string, number>[] = [];

/** Counters of one run, all zero. */
const noCounts = () => ({
  blocks: 0,
  entered: 0,
  rollbacks: 0,
  saved: 0,
  restored: 0,
  deleted: 0,
  /** Restores that appended blocks. */
  forks: 0,
  deepest: 0,
  crossed: 0,
  staked: 0,
  earned: 0,
  accepted: 0,
  refused: 0,
  faults: 0,
  restarts: 0,
  fullest: 0,
});

test.each(Array.from({ length: RUNS }, (_, i) => i + 1))("run %i", async (seed) => {
  const random = seeded(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const infra = await sharedInfra();
  const store = await devnetStore(infra.databaseUrl);
  await store
    .sql`insert into lease (name, epoch, checked, owner, expires) values (${LEASE}, 1, 1, 'test', now() + interval '1 hour')`;
  const slots = { zeroTime: 0, zeroSlot: 0, slotLength: 1_000 };
  const genesis = await store.sql.begin((sql) =>
    createGenesis(sql, {
      ...genesisDefaults,
      genesisTime: 0,
      epochLength: 4,
      securityParameter: 5,
    })
  );
  let slot = 0;
  let ahead = 0;
  const open = () =>
    DevnetChain.open({
      store: faulty(store, random, 0.1),
      epoch: 1,
      genesis,
      pastHorizon: false,
      judge: (state, { cbor }, at, submission) =>
        validate(state, cbor, at, () => Promise.reject(new Error("no script")), slots, submission),
      mempoolBytes: 100_000,
      index: true,
      utxoRoot: true,
      slot: () => slot,
      now: () => slot * 1_000,
      mining: new MiningControl(miningOf({ blockMs: 0 })),
      announce: () => {},
      log: silentLog,
    });
  const reopen = async (): Promise<DevnetChain> => {
    for (;;) {
      try {
        return await open();
      } catch {
        // a start may fail as well: the next one reads the same rows
      }
    }
  };
  let chain = await reopen();
  /** Unspent outputs by tip, as of that block. */
  const then = new Map<string, { unspent: ReadonlyMap<string, string>; ledger: Record<string, unknown> }>();
  const seen = new Set<string>();
  const count = noCounts();
  counted.push(count);

  /** A transaction about an account's stake, which the ledger may accept or refuse. */
  const stakeDoing = (from: Person) => {
    const coin = mine(chain, from.enterprise, false)[0];
    if (!coin || coin.output.value.lovelace < 4_000_000n) return undefined;
    const account = [...chain.mempool.entries()].flatMap(({ applied }) => applied.accounts)
      .findLast(({ key }) => key === "k" + from.stake)?.after ?? chain.state.accounts.get("k" + from.stake);
    const delegate = certificates.delegate(from, pick(genesis.pools).id);
    const [certs, deposit, withdrawn] = account === undefined
      ? [[certificates.register(from), delegate, certificates.abstain(from)], 2_000_000n, undefined] as const
      : random() < 0.3
      ? [[certificates.unregister(from)], -2_000_000n, account.balance] as const
      : [[delegate], 0n, random() < 0.6 ? account.balance : undefined] as const;
    return spend({
      from,
      inputs: [coin],
      outputs: [[from.enterprise, coin.output.value.lovelace - deposit - 1_000_000n + (withdrawn ?? 0n)]],
      certificates: certs,
      deposit,
      signers: [from.stakeSeed],
      ...(withdrawn === undefined ? {} : { withdrawals: [["e0" + from.stake, withdrawn]] }),
    });
  };

  /** Restores a snapshot: the block is its block, and the mempool is what is still valid of its mempool. */
  const restore = async (name: string) => {
    const snapshot = (await checkSnapshots(store)).get(name);
    const [side] = await store.sql`select 1 from devnet_side_block where hash = ${snapshot?.hash ?? ""}`;
    const before = chain.tip.height;
    const done = await chain.restoreSnapshot(name);
    if (!snapshot) return expect(done).toMatchObject({ ok: false, error: { code: "snapshot_unknown" } });
    expect(done).toMatchObject({ ok: true, value: { hash: snapshot.hash } });
    const entries = [...chain.mempool.entries()].map(({ transaction: { hash } }) => hash);
    expect(snapshot.mempool.filter((hash) => entries.includes(hash))).toEqual(entries);
    count.restored++;
    if (side) {
      count.forks++;
      const index = await indexRows(store);
      expect(index).toEqual(await rebuiltRows(store));
    }
    count.deepest = Math.max(count.deepest, before - chain.tip.height);
  };

  for (let step = 0; step < STEPS; step++) {
    const choice = random();
    const isBack = (choice >= 0.82 && choice < 0.88) || (choice >= 0.89 && choice < 0.96);
    try {
      if (choice < 0.13) {
        const { enterprise, base } = pick(people);
        const paid = await chain.pay([{ address: random() < 0.4 ? base : enterprise, lovelace: 5_000_000_000n }]);
        if (!paid.ok) throw new Error(paid.error.message);
      } else if (choice < 0.27) {
        const made = stakeDoing(pick(people));
        if (!made) continue;
        const answer = await chain.submit(made.cbor);
        if (!answer.ok) throw new Error(answer.error.message);
        if (answer.value.outcome === "accepted") count.staked++;
      } else if (choice < 0.55) {
        const from = pick(people);
        const coins = mine(chain, from.enterprise, random() < 0.2);
        if (coins.length === 0) continue;
        const coin = pick(coins);
        const outputs = coin.output.value.lovelace > 2_500_000n
          ? [[pick(people).enterprise, coin.output.value.lovelace - 1_000_000n] as const]
          : [[pick(people).enterprise, 1_000_000n] as const];
        const made = spend({
          from,
          inputs: [coin],
          outputs,
          ...(random() < 0.3 ? { validTo: slot + chain.slotsAhead + Math.floor(random() * 8) } : {}),
        });
        const answer = await chain.submit(made.cbor);
        if (!answer.ok) throw new Error(answer.error.message);
        count[answer.value.outcome]++;
      } else if (choice < 0.72) {
        slot += Math.floor(random() * 3);
        if (await chain.forge(slot + chain.slotsAhead)) count.blocks++;
      } else if (choice < 0.75) {
        const next = (chain.state.epoch + 1) * 4;
        await chain.forgeBlocks(times(1 + Math.floor(random() * 4), ({ tip, now }) => Math.max(tip + 1, now, next)));
        count.entered++;
      } else if (choice < 0.82) {
        if ((await chain.saveSnapshot(pick(NAMES), { replace: random() < 0.5 })).ok) count.saved++;
      } else if (choice < 0.88) {
        // one whose block is beside the chain, if there is one: they are rare
        const [side] = await store.sql<{ name: string }[]>`
          select name from devnet_snapshot join devnet_side_block using (hash) order by name limit 1`;
        await restore(side?.name ?? pick(NAMES));
      } else if (choice < 0.89) {
        if ((await chain.deleteSnapshot(pick(NAMES))).ok) count.deleted++;
      } else if (choice < 0.96) {
        const left = random() < 0.4 ? pick(NAMES) : undefined;
        if (left !== undefined) await chain.saveSnapshot(left, { replace: true });
        const height = chain.tip.height - Math.floor(random() * 6);
        if ((await chain.rollback(height, random() < 0.3)).ok) count.rollbacks++;
        // onto another fork, and back to the one that was left
        if (left !== undefined && await chain.forge(++slot)) await restore(left);
      } else {
        await chain.idle();
        chain = await reopen();
        count.restarts++;
      }
    } catch (error) {
      if (error instanceof Error && error.name === "AssertionError") throw error;
      count.faults++;
      // what was not written or not acknowledged is read again by the next operation; do that now, to compare
      while (!(await chain.holdsScript("", new Uint8Array()).then(() => true, () => false)));
    }
    await checkSnapshots(store);
    const { tip, unspent, mempool } = await checkRows(store);
    expect(chain.tip).toEqual(tip);
    // time goes back only with the chain, and a block is never later than it
    if (!isBack) expect(chain.slotsAhead).toBeGreaterThanOrEqual(ahead);
    ahead = chain.slotsAhead;
    expect(await readSlotsAhead(store.sql)).toBe(ahead);
    expect(tip.slot).toBeLessThanOrEqual(slot + ahead);
    expect([...chain.mempool.entries()].map(({ transaction }) => transaction.hash)).toEqual(mempool);
    count.fullest = Math.max(count.fullest, mempool.length);
    for (const key of unspent.keys()) seen.add(key);
    for (const key of seen) {
      const held = chain.state.utxo.get(parseRefKey(key));
      expect(held && toHex(held.raw)).toBe(unspent.get(key));
    }
    if (step % 10 === 9 || step === STEPS - 1) {
      const index = await indexRows(store);
      expect(index).toEqual(await rebuiltRows(store));
    }
    const ledger = await ledgerInRows(store);
    expect(ledgerOf(chain.state)).toEqual(ledger);
    expect(allLovelace(chain.state)).toBe(genesis.terms.maxSupply);
    const before = then.get(tip.hash);
    if (before) expect({ unspent, ledger }).toEqual(before);
    then.set(tip.hash, { unspent, ledger });
    count.crossed = Math.max(count.crossed, chain.state.epoch);
    if ([...chain.state.accounts.entries()].some(([, { balance }]) => balance > 0n)) count.earned++;
  }
  console.log(`run ${seed}:`, JSON.stringify(count));
  await store.close();
  await infra.stop();
});

test("the runs did everything", () => {
  expect(counted).toHaveLength(RUNS);
  const never = Object.keys(noCounts()).filter((what) => counted.every((count) => count[what] === 0));
  expect(never).toEqual([]);
});

/** Outputs of an address in the chain and the mempool; with `spentToo`, those that the mempool spends as well. */
function mine(chain: DevnetChain, address: string, spentToo: boolean): Utxo[] {
  const entries = [...chain.mempool.entries()];
  const found = entries.flatMap(({ applied }) => applied.created);
  const gone = new Set(entries.flatMap(({ applied }) => applied.spent.map(({ ref }) => `${ref.txHash}#${ref.index}`)));
  return [...found, ...chain.outputsAt(address)].filter(({ ref, output }) =>
    output.address === address && (spentToo || !gone.has(`${ref.txHash}#${ref.index}`))
  );
}
