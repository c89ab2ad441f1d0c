/**
 * How fast the index follows: preview's blocks from the shared vectors, repeated as one longer chain whose transactions
 * differ in every repetition, into a real PostgreSQL, with an increasing number of watched credentials.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { created, type ScannedBlock, spent, type Tip } from "#src/cardano/block.ts";
import { hash256, initHash } from "#src/cardano/hash.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Projection, RowWrite } from "#src/chain/index/projection.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { enrol } from "#src/chain/index/groups.ts";
import type { ChainPort, ChainStep } from "#src/chain/provider/port.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { utxoProjection } from "#src/chain/index/utxo.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { blocksOf, chunks } from "../support/chain/vectorBlocks.ts";
import { MemoryChain, memoryPort } from "../support/chain/memoryChain.ts";
import { migrationsOf } from "../support/infra/migrationsOf.ts";
import type { ChainRow } from "./chain.ts";
import { histogram, measured } from "./writes.ts";

const COPIES = process.argv.includes("--quick") ? 4 : 24;
const OWNERS = 1_000;

/** Tables of `ownProjection`. */
export const tables = `
  create table bench_credential (owner text not null, credential text primary key);
  create table bench_output (
    owner text not null, ref text primary key, output bytea not null, from_slot bigint not null, to_slot bigint);
  create index on bench_output (from_slot);
  create index on bench_output (to_slot) where to_slot is not null;`;

/** Outputs at watched payment credentials, in the form of a wallet's rows. */
export const ownProjection: Projection = {
  name: "own",
  tables: ["bench_output"],
  members: { column: "owner", tables: ["bench_credential", "bench_output"] },
  keys: (block) => [
    { table: "bench_credential", column: "credential", in: [...new Set(credentialsOf(block))] },
    { table: "bench_output", column: "ref", in: block.transactions.flatMap((one) => spent(one).map(refKey)) },
  ],
  fold(block, rows) {
    const owners = new Map((rows.get("bench_credential") ?? []).map((row) => [row.credential, row.owner as string]));
    const live = new Map((rows.get("bench_output") ?? []).map((row) => [row.ref, row.owner as string]));
    const fresh = new Map<string, Record<string, unknown>>();
    const writes: RowWrite[] = [];
    for (const transaction of block.transactions) {
      for (const ref of spent(transaction).map(refKey)) {
        const row = fresh.get(ref);
        const owner = live.get(ref);
        if (row) row.to_slot = block.slot;
        else if (owner !== undefined) writes.push({ type: "close", table: "bench_output", key: { owner, ref } });
      }
      for (const { ref, output } of created(transaction)) {
        const owner = owners.get(output.address.slice(2, 58));
        if (owner === undefined) continue;
        fresh.set(refKey(ref), { owner, ref: refKey(ref), output: output.raw, to_slot: null });
      }
    }
    for (const row of fresh.values()) writes.push({ type: "insert", table: "bench_output", row });
    return { type: "done", writes, touched: [] };
  },
  undo: () => [],
};

/** Payment credentials of a block's outputs. */
export function credentialsOf(block: ScannedBlock): string[] {
  return block.transactions.flatMap((one) => created(one).map(({ output }) => output.address.slice(2, 58)));
}

/**
 * One chain of all copies of some linked blocks: later copies have later slots, other transactions, and spend their own
 * outputs.
 */
export function repeated(blocks: readonly Uint8Array[], copies: number): Uint8Array[] {
  const chain: Uint8Array[] = [];
  const first = scanBlock(blocks[0]!), last = scanBlock(blocks.at(-1)!);
  let previous: string | undefined;
  for (let copy = 0; copy < copies; copy++) {
    const renamed = new Map<string, string>();
    for (const original of blocks) {
      const bytes = new Uint8Array(original);
      const view = new DataView(bytes.buffer);
      const { header, transactions, height, slot } = scanBlock(bytes);
      const at = header.byteOffset - bytes.byteOffset;
      // [[height, slot, previous …: both numbers in four bytes, the hash after two bytes of its own
      if (bytes[at + 2] !== 0x1a || bytes[at + 7] !== 0x1a) throw new Error("a header of another shape");
      view.setUint32(at + 3, height + copy * (last.height - first.height + 1));
      view.setUint32(at + 8, slot + copy * (last.slot - first.slot + 1));
      if (previous !== undefined) bytes.set(fromHex(previous), at + 14);
      for (const { body, inputs, hash } of transactions) {
        const part = bytes.subarray(body.byteOffset - bytes.byteOffset).subarray(0, body.length);
        for (const { txHash } of inputs) {
          const from = fromHex(txHash);
          const to = renamed.has(txHash) ? fromHex(renamed.get(txHash)!) : from.map((byte) => byte ^ copy);
          for (const place of placesOf(from, part)) part.set(to, place);
        }
        renamed.set(hash, hash256(part));
      }
      chain.push(bytes);
      previous = hash256(bytes.subarray(at, at + header.length));
    }
  }
  return chain;
}

/** The position of some bytes within others. */
function* placesOf(wanted: Uint8Array, bytes: Uint8Array): Generator<number> {
  for (let at = bytes.indexOf(wanted[0]!); at >= 0; at = bytes.indexOf(wanted[0]!, at + 1)) {
    if (wanted.every((byte, i) => bytes[at + i] === byte)) yield at;
  }
}

/** A port that delivers a chain as fast as it is read. */
function givenPort(blocks: readonly Uint8Array[], tip: Tip): ChainPort {
  return {
    ...memoryPort(new MemoryChain(), { random: () => 0.5 }),
    async *follow(points, signal): AsyncIterable<ChainStep> {
      if (points.length > 0) throw new Error("the bench begins at the origin");
      for (const block of blocks) {
        if (signal.aborted) return;
        yield { type: "forward", block, tip };
      }
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
  };
}

const number = (value: number) => Math.round(value).toLocaleString("en");

/** Follows a chain to its end; returns the row. */
async function follow(
  store: Store,
  blocks: readonly Uint8Array[],
  tip: Tip,
  how: { near: number; what: string },
): Promise<ChainRow> {
  let mark = 0, reading = 0, writing = 0;
  const writes = measured(store);
  const lap = () => {
    const now = performance.now();
    const passed = now - mark;
    mark = now;
    return passed;
  };
  const stop = new AbortController();
  const follower = new Follower({
    store: writes.store,
    port: givenPort(blocks, tip),
    projections: [transactionProjection, utxoProjection, ownProjection],
    fence: async () => {},
    append: async () => {},
    ring: () => {},
    log: silentLog,
    near: how.near,
    onStep: (step) => {
      if (step === "scanned") lap();
      if (step === "folded") reading += lap();
      if (step !== "after-commit") return;
      writing += lap();
    },
    onMoved: (at) => {
      if (at.slot === tip.slot) stop.abort();
    },
  });
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await follower.run(stop.signal);
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  if ((await readCursor(store.sql)).at.hash !== tip.hash) throw new Error("not everything was read");
  const share = (part: number) => `${Math.round(part / ms * 100)} %`;
  return [
    `${number(blocks.length)} blocks into PostgreSQL${how.what}`,
    `${number(blocks.length / ms * 1_000)}/s`,
    `lookups and folds ${share(reading)}, writes ${share(writing)} of the time; this process's CPU ${
      share((user + system) / 1_000)
    }; ${histogram(writes.taken())}`,
  ];
}

/** Rows: blocks per second into PostgreSQL, by the number of watched credentials. */
export async function indexRows(): Promise<readonly ChainRow[]> {
  const chunk = chunks.find(({ file }) => file.includes("01836"));
  if (!chunk) return [];
  await initHash();
  const blocks = repeated(blocksOf(chunk), COPIES);
  const met = [...new Set(blocksOf(chunk).flatMap((block) => credentialsOf(scanBlock(block))))];
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const store = openStore(postgres.url);
  const rows: ChainRow[] = [];
  try {
    await migrate(store, [...migrationsOf("chain/index"), { id: "bench-1", sql: tables }]);
    await store.sql`alter table bench_output set (autovacuum_enabled = true)`;
    const owners = Array.from({ length: OWNERS }, (_, i) => `owner-${i}`);
    await enrol(store.sql, "own", owners, { slot: 2 ** 40, hash: "" });
    await store.sql`update chain_member set cursor = 'main'`;
    const run = async (watched: number, share: number, what: string, near = 20, some = blocks) => {
      await store.sql`truncate bench_credential, bench_output, chain_block, chain_transaction, chain_utxo`;
      await store.sql`update chain_cursor set slot = -1, hash = '', height = 0`;
      const own = met.filter((_, i) => i % 100 < share * 100).slice(0, watched);
      const others = Array.from({ length: watched - own.length }, (_, i) => hash256(utf8(`nobody ${i}`)).slice(0, 56));
      const all = [...own, ...others];
      for (let i = 0; i < all.length; i += 50_000) {
        await store.sql`insert into bench_credential
          select 'owner-' || (n % ${OWNERS}), credential
          from unnest(${store.sql.array(all.slice(i, i + 50_000))}::text[]) with ordinality as x (credential, n)`;
      }
      await store.sql`vacuum analyze bench_credential`;
      rows.push(await follow(store, some, scanBlock(some.at(-1)!), { near, what }));
    };
    await run(0, 0, ", nothing watched");
    await run(4_000, 0.1, ", 4,000 credentials watched, with a tenth of all outputs");
    await run(400_000, 0.1, ", 400,000 watched, with a tenth of all outputs");
    await run(400_000, 1, ", 400,000 watched, with all outputs");
    await run(
      400_000,
      0.1,
      ", 400,000 watched, each block a transaction as at the tip",
      Infinity,
      blocks.slice(0, 1_500),
    );
  } finally {
    await store.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return rows;
}
