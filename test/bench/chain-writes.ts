/**
 * The longest write transactions of the index: a rollback of 2,160 blocks, every output of which belongs to a wallet,
 * and an address with 20,000 outputs that becomes watched and lapses.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import { fromHex } from "#src/base/bytes.ts";
import { decode, encode } from "#src/cardano/cbor.ts";
import { initHash } from "#src/cardano/hash.ts";
import { readOutput, type Utxo } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { enrol } from "#src/chain/index/groups.ts";
import type { ChainPort, ChainStep } from "#src/chain/provider/port.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { utxoProjection } from "#src/chain/index/utxo.ts";
import { ensureWatched } from "#src/chain/index/watchedAddresses.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { blocksOf, chunks } from "../support/chain/vectorBlocks.ts";
import { MemoryChain, memoryPort } from "../support/chain/memoryChain.ts";
import { migrationsOf } from "../support/infra/migrationsOf.ts";
import { credentialsOf, ownProjection, repeated, tables } from "./chain-index.ts";
import type { ChainRow } from "./chain.ts";
import { histogram, measured, type MeasuredStore } from "./writes.ts";

const BLOCKS = 4_500;
const BACK = 2_160;
const OUTPUTS = 20_000;
/** Wallet outputs in each of the blocks that are rolled back, in addition to the chain's own. */
const PER_BLOCK = 40;
const ADDRESS = "70" + "ab".repeat(28);

/** Outputs at one address, as many as a busy script has. */
function outputsAt(address: string, count: number): Utxo[] {
  return Array.from({ length: count }, (_, i) => ({
    ref: { txHash: (i >> 4).toString(16).padStart(64, "0"), index: i & 15 },
    output: readOutput(decode(encode([fromHex(address), 2_000_000 + i]))),
  }));
}

/** Runs a follower until some work is done. */
async function following(writes: MeasuredStore, port: ChainPort, work: (follower: Follower) => Promise<void>) {
  const stop = new AbortController();
  const follower = new Follower({
    store: writes.store,
    port,
    projections: [transactionProjection, utxoProjection, ownProjection],
    fence: async () => {},
    append: async () => {},
    ring: () => {},
    log: silentLog,
  });
  const running = follower.run(stop.signal);
  try {
    await work(follower);
  } finally {
    stop.abort();
    await running;
  }
}

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!await done()) await sleep(20);
}

async function timed(work: () => Promise<void>): Promise<string> {
  const began = performance.now();
  await work();
  return `${((performance.now() - began) / 1_000).toFixed(1)} s`;
}

async function measure(store: Store, blocks: readonly Uint8Array[]): Promise<ChainRow[]> {
  const scanned = blocks.map((block) => scanBlock(block));
  const tip = scanned.at(-1)!;
  const back = scanned.at(-1 - BACK)!;
  let fall = () => {};
  const fallen = new Promise<void>((resolve) => fall = resolve);
  const port: ChainPort = {
    ...memoryPort(new MemoryChain(), { random: () => 0.5 }),
    async *follow(points, signal): AsyncIterable<ChainStep> {
      const known = points[0] && scanned.findIndex(({ hash }) => hash === points[0]!.hash);
      if (known !== undefined) yield { type: "backward", point: points[0]!, tip };
      for (const block of blocks.slice(known === undefined ? 0 : known + 1)) yield { type: "forward", block, tip };
      await fallen;
      if (!signal.aborted) yield { type: "backward", point: back, tip: back };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
    utxosByAddress: async () => ok({ point: tip, value: outputsAt(ADDRESS, OUTPUTS) }),
  };
  const writes = measured(store);
  const rows: ChainRow[] = [];
  const row = (what: string, took: string) => rows.push([`writes: ${what}`, took, histogram(writes.taken())]);
  const reaches = (hash: string) => until(async () => (await readCursor(store.sql)).at.hash === hash);
  const kept = async () => Number((await store.sql`select count(*) from chain_utxo`)[0]!.count);

  await following(writes, port, async (follower) => {
    await reaches(tip.hash);
    writes.taken();
    const watched = await timed(async () => {
      const ready = await ensureWatched(store, [ADDRESS], () => follower.wake(), Date.now() + 60_000);
      if (!ready.ok) throw new Error(ready.error.message);
    });
    row(`an address with ${OUTPUTS.toLocaleString("en")} outputs comes to be watched`, watched);
  });
  if (await kept() !== OUTPUTS) throw new Error("not all outputs are kept");
  await store.sql`update chain_watch set used_at = now() - interval '1 day'`;
  await following(writes, port, async () => {
    row("the same address lapses", await timed(() => until(async () => await kept() === 0)));
  });
  // as if the blocks were full
  await store.sql`insert into bench_output
    select 'owner', 'made ' || slot || ' ' || n, '\\x00', slot, case when n % 4 = 0 then slot end
    from chain_block, generate_series(1, ${PER_BLOCK}) n where slot > ${back.slot}`;
  const held = Number((await store.sql`select count(*) from bench_output`)[0]!.count);
  await following(writes, port, async () => {
    writes.taken();
    fall();
    const took = await timed(() => reaches(back.hash));
    const left = Number((await store.sql`select count(*) from bench_output`)[0]!.count);
    row(
      `a rollback of ${BACK.toLocaleString("en")} blocks, ${(held - left).toLocaleString("en")} outputs in them`,
      took,
    );
  });
  return rows;
}

/** Rows: durations of the longest operations, and of their write transactions. */
export async function writeRows(): Promise<readonly ChainRow[]> {
  const chunk = chunks.find(({ file }) => file.includes("01836"));
  if (!chunk) return [];
  await initHash();
  const originals = blocksOf(chunk);
  const blocks = repeated(originals, Math.ceil(BLOCKS / originals.length)).slice(0, BLOCKS);
  const all = [...new Set(originals.flatMap((block) => credentialsOf(scanBlock(block))))];
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const store = openStore(postgres.url);
  try {
    await migrate(store, [...migrationsOf("chain/index"), { id: "bench-1", sql: tables }]);
    await enrol(store.sql, "own", ["owner"], { slot: 2 ** 40, hash: "" });
    await store.sql`update chain_member set cursor = 'main'`;
    await store.sql`insert into bench_credential select 'owner', unnest(${store.sql.array(all)}::text[])`;
    return await measure(store, blocks);
  } finally {
    await store.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
