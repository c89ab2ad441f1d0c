/**
 * The follower on a chain that lags, runs ahead, rolls back and drops, with crashes at every fault point: rows, watched
 * outputs and the events sent to actors are exactly those of the remaining chain.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokenInputs, tokenMachine } from "#machines/token.ts";
import { sleep } from "#src/base/clock.ts";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { endOfBlock, readFactPage } from "#src/tokens/index/factPages.ts";
import { cageProjection } from "#src/tokens/index/projection.ts";
import { readRequests, readToken } from "#src/tokens/index/read.ts";
import { bytesText } from "#src/contract/text.ts";
import { unpackCut, unpackLeaves } from "#src/tokens/index/trie.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { readUtxos, utxoProjection } from "#src/chain/index/utxo.ts";
import { ensureWatched } from "#src/chain/index/watchedAddresses.ts";
import { cutOf } from "#src/forestry/cut.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { createActor } from "xstate";
import { type ChainFaults, MemoryChain, memoryPort } from "../../../support/chain/memoryChain.ts";
import { migrationsOf } from "../../../support/infra/migrationsOf.ts";
import { ADDRESSES, Historian, nothing, SCRIPT, type World } from "../../../support/tokens/randomHistory.ts";
import { sharedInfra } from "../../../support/infra/infra.ts";
import { nodeOf } from "../../../support/chain/nodePort.ts";
import { ogmiosOf } from "../../../support/chain/ogmiosChain.ts";
import { seeded } from "../../../support/base/seededRandom.ts";

const RUNS = Number(process.env.FOLLOWER_RUNS ?? 2);
const STEPS = 120;

describe("follower", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let store: Store;
  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl);
    await migrate(store, migrationsOf("chain/index", "tokens/index"));
    await store.sql`create table told (n bigserial primary key, kind text, id text, event jsonb)`;
  });
  afterAll(async () => {
    await store?.close();
    await infra?.stop();
  });

  it.each(Array.from({ length: RUNS }, (_, i) => i + 1))("comes out exact, run %i", async (seed) => {
    await store
      .sql`truncate chain_block, chain_transaction, chain_watch, chain_utxo, submission, submission_open, submission_status, submission_wallet, token_state,
      token_quarantine, token_request, token_request_end, token_end, fact, token_bucket, told restart identity`;
    await store.sql`update chain_cursor set slot = -1, hash = '', height = 0, tip_slot = -1, tip_height = 0`;
    const random = seeded(seed);
    const chain = new MemoryChain();
    const { world, crashes, rollbacks, commits } = await live(store, chain, random, {
      cutAbove: seed % 2 === 0 ? 3 : 1_000,
      // in half of the runs blocks arrive in bursts, and those that are there share a transaction
      near: seed % 4 < 2 ? 20 : 0,
      over: seed === RUNS ? "socket" : seed === 1 ? "ogmios" : "memory",
    });
    console.log(
      `run ${seed}: ${chain.blocks.length} blocks stand, ${rollbacks} rollbacks, ${crashes} crashes, ${commits} commits`,
    );
    if (seed % 4 >= 2) expect(commits).toBeLessThan(chain.blocks.length);
    disturbed.rollbacks += rollbacks;
    disturbed.crashes += crashes;

    for (const token of world.tokens.values()) {
      const found = await readToken(store.sql, token.id);
      expect(found.status).toBe(token.ended ? "ended" : token.quarantined ? "quarantined" : "live");
      if (!("state" in found)) continue;
      expect(refKey(found.state.utxo.ref)).toBe(refKey(token.ref));
      if (!token.quarantined) expect(found.state.facts).toBe(token.facts.size);
      const { at } = await readCursor(store.sql);
      const query = { token: token.id, at: endOfBlock(at.slot), order: "digest" } as const;
      const page = await readFactPage(store.sql, query, undefined, 10_000);
      const facts = page?.facts.map(({ key, value }) => [bytesText(key), bytesText(value)] as const);
      expect(new Map(facts)).toEqual(token.facts);
      const expected = [...world.requests.values()].filter((request) => request.token === token.id);
      const requests = await readRequests(store.sql, token.id, { limit: 1_000 });
      expect(requests.map((request) => refKey(request.utxo.ref))).toEqual(
        expected.map((one) => refKey(one.ref)).sort(),
      );
      for (const request of requests) {
        const { key, operation } = world.requests.get(refKey(request.utxo.ref))!;
        expect(request.key).toEqual(utf8(key));
        expect(request.operation).toEqual(operation);
      }
    }
    await expectCuts(store);
    const ids = await store.sql<{ token: string }[]>`select token from token_history`;
    expect(new Set(ids.map((row) => row.token))).toEqual(new Set(world.tokens.keys()));

    const utxos = [...chain.utxos().values()].filter(({ output }) => ADDRESSES.includes(output.address));
    expect((await readUtxos(store.sql, ADDRESSES)).map(({ ref }) => refKey(ref)).sort()).toEqual(
      utxos.map(({ ref }) => refKey(ref)).sort(),
    );
    const hashes = await store.sql<{ hash: string }[]>`select hash from chain_transaction`;
    expect(new Set(hashes.map((row) => row.hash))).toEqual(
      new Set(chain.blocks.flatMap(({ scanned }) => scanned.transactions.map((transaction) => transaction.hash))),
    );
    await expectActors(store, world);
  });

  it("was interrupted in those runs", () => {
    expect(disturbed.rollbacks).toBeGreaterThan(0);
    expect(disturbed.crashes).toBeGreaterThan(0);
  });
});

const disturbed = { rollbacks: 0, crashes: 0 };

/** Extends, rolls back and follows a chain at random; waits until the index is at its tip. */
async function live(
  store: Store,
  chain: MemoryChain,
  random: () => number,
  how: { cutAbove: number; near: number; over: "memory" | "socket" | "ogmios" },
) {
  const historian = new Historian(random);
  const worlds: World[] = [];
  let rollbacks = 0;
  let crashes = 0;
  let commits = 0;
  const stop = new AbortController();
  const moods: ChainFaults = { random, drop: 0.03, ...(how.near > 0 ? { lagMs: 3 } : {}), answerMs: 20 };
  let calm = false;
  const node = how.over === "socket"
    ? await nodeOf(chain, moods, () => calm ? Infinity : 500 + Math.floor(random() * 40_000))
    : how.over === "ogmios"
    ? ogmiosOf(chain, moods, () => calm)
    : undefined;
  const follower = new Follower({
    store,
    port: node?.port ?? memoryPort(chain, moods),
    projections: [
      transactionProjection,
      utxoProjection,
      cageProjection({ scripts: [SCRIPT], network: 0, cutAbove: how.cutAbove }),
    ],
    near: how.near,
    fence: () => Promise.resolve(),
    append: async (sql, touched: readonly Touched[]) => {
      for (const { entity, event } of touched) {
        await sql`insert into told (kind, id, event) values (${entity.kind}, ${entity.id}, ${event as never})`;
      }
      // within a transaction
      if (!calm && random() < 0.03) {
        crashes++;
        throw new Error("crash after the log was appended to");
      }
    },
    ring: () => {},
    log: silentLog,
    onStep: (step) => {
      if (step === "after-commit") commits++;
      // a follower that is slow would read most blocks in the calm at the end: one crash is certain
      if (!(crashes === 0 && commits > 10) && (calm || random() > (how.near === 0 ? 0.1 : 0.03))) return;
      crashes++;
      throw new Error(`crash at ${step}`);
    },
  });
  const running = follower.run(stop.signal);
  try {
    return await grow();
  } finally {
    stop.abort();
    await running;
    if (node) console.log(`${node.connections()} connections over ${how.over}`);
    await node?.stop();
  }

  async function grow() {
    const watching = ensureWatched(store, ADDRESSES.slice(0, 2), () => follower.wake(), Date.now() + 60_000);
    for (let i = 0; i < STEPS; i++) {
      if (chain.blocks.length > 3 && random() < 0.06) {
        const count = 1 + Math.floor(random() * Math.min(6, chain.blocks.length - 1));
        chain.rollback(count);
        worlds.splice(worlds.length - count, count);
        rollbacks++;
      }
      let world = worlds.at(-1) ?? nothing;
      const transactions: Uint8Array[] = [];
      for (let n = Math.floor(random() * 5); n > 0; n--) {
        const next = historian.next(world);
        world = next.world;
        transactions.push(next.transaction);
      }
      chain.add(...transactions);
      worlds.push(world);
      if (i === STEPS / 2) {
        void ensureWatched(store, [ADDRESSES[2]!], () => follower.wake(), Date.now() + 60_000);
      }
      if (how.near > 0 || i % 12 === 0) await sleep(random() * (how.near > 0 ? 12 : 100));
    }
    calm = true;
    const end = Date.now() + 60_000;
    while ((await readCursor(store.sql)).at.hash !== chain.tip.hash) {
      if (Date.now() > end) throw new Error("the follower does not reach the tip");
      await sleep(20);
    }
    expect((await watching).ok).toBe(true);
    expect((await ensureWatched(store, ADDRESSES, () => follower.wake(), Date.now() + 20_000)).ok).toBe(true);
    return { world: worlds.at(-1) ?? nothing, crashes, rollbacks, commits };
  }
}

/** The state that the token machine computes from its events is the chain's. */
async function expectActors(store: Store, world: World): Promise<void> {
  const rows = await store.sql<{ id: string; event: Record<string, unknown> }[]>`
    select id, event from told where kind = 'token' order by n`;
  const actors = new Map<string, ReturnType<typeof createActor<typeof tokenMachine>>>();
  for (const { id, event } of rows) {
    const actor = actors.get(id) ?? createActor(tokenMachine, { input: { kind: "token", id } }).start();
    actors.set(id, actor);
    actor.send({ ...tokenInputs.parse(event), turn: { at: 0 } });
  }
  for (const [id, actor] of actors) {
    const token = world.tokens.get(id);
    const { value, context } = actor.getSnapshot();
    const status = !token ? "absent" : token.ended ? "ended" : token.quarantined ? "quarantined" : "live";
    expect([id, value]).toEqual([id, status]);
    if (token && !token.ended) expect(context.ref).toBe(refKey(token.ref));
  }
}

/** The stored hashes of sub-tries are those of the facts. */
async function expectCuts(store: Store): Promise<void> {
  const cuts = await store.sql<{ token: string; root: string }[]>`
    select token, root from token_state where cut and to_slot is null`;
  for (const { token, root } of cuts) {
    const [leaves] = await store.sql`select leaves from token_leaves where token = ${token}`;
    const [cut] = await store.sql`select * from token_cut where token = ${token}`;
    const trie = Forestry.from(unpackLeaves(new Uint8Array(leaves?.leaves ?? [])));
    expect(toHex(cutOf(trie))).toBe(toHex(unpackCut(cut)));
    const [quarantine] = await store.sql`select 1 from token_quarantine where token = ${token} and to_slot is null`;
    if (!quarantine) expect(toHex(trie.root)).toBe(root);
  }
}
