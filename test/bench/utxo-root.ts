/**
 * The root of the unspent outputs: what it costs to build, to move with blocks, and to prove from, by the number of outputs.
 * Outputs are generated: one for each address, but for three addresses with 1, 100 and 10,000. Processor time is that of this
 * process and of its database connection, which other work on the machine changes less than the time.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { silentLog } from "#src/base/log.ts";
import { initHash } from "#src/cardano/hash.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import { completeTree } from "#src/chain/utxoRoot/buildTree.ts";
import type { BlockRoot, Proved, UtxoRootReads } from "#src/chain/utxoRoot/reads.ts";
import { moveTree, type TreeBlock } from "#src/chain/utxoRoot/treeRows.ts";
import { canonicalOutput } from "#src/csmt/output.ts";
import { verifyAddress, verifyNoOutput, verifyOutput } from "#src/csmt/verify.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { DEVNET_TREE } from "#src/devnet/blocks/utxoTree.ts";
import { eachUtxo, insertUtxos } from "#src/devnet/blocks/writes.ts";
import { devnetUtxoRoot } from "#src/devnet/utxoRoot.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { migrate } from "#src/store/migrations.ts";
import { planLookups } from "#src/store/readPool.ts";
import { onlyRow } from "#src/store/rows.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { migrationsOf } from "../support/infra/migrationsOf.ts";
import { percentile, processorMs, table } from "./machine.ts";

/** Outputs of the addresses with several. */
export const LISTS = [1, 100, 10_000] as const;

/** Changed outputs of the blocks. */
const CHANGED = [2, 20, 200, 1_000] as const;

/** Blocks of each size. */
const ROUNDS = 30;

/** The outputs of mainnet, for which figures are extrapolated. */
const MAINNET = 15_000_000;

export const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

export function outputOf(
  n: number,
  address = `01${digest(`address ${n}`).slice(0, 56)}${digest(`stake ${n}`).slice(0, 56)}`,
) {
  const content = { address, value: { lovelace: 1_000_000n + BigInt(n), assets: new Map<string, bigint>() } };
  const ref: OutRef = { txHash: digest(`transaction ${n >> 1}`), index: n & 1 };
  return { ref, output: { ...content, raw: canonicalOutput(content) } } satisfies Utxo;
}

export const listAddress = (size: number): string => `70${digest(`list of ${size}`).slice(0, 56)}`;

/** All outputs of a set. */
export function* outputsOf(size: number): Iterable<Utxo> {
  let n = 0;
  for (const list of LISTS) for (let i = 0; i < list && n < size; i++) yield outputOf(n++, listAddress(list));
  while (n < size) yield outputOf(n++);
}

/** Prints the tables for each number of outputs (`--size`, several; a million takes minutes). */
export async function benchUtxoRoot(print: (line: string) => void = console.log): Promise<void> {
  await initHash();
  const { values } = parseArgs({ strict: false, options: { size: { type: "string", multiple: true } } });
  const given = Array.isArray(values.size) ? values.size.map(Number) : [];
  const sizes = given.length > 0 ? given : [10_000, 100_000];
  const built: (string | number)[][] = [];
  const moved: (string | number)[][] = [];
  const proved: (string | number)[][] = [];
  for (const size of sizes) {
    const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-bench-"));
    const postgres = await startPostgres({ folder, log: silentLog });
    const store = openStore(postgres.url, { max: 2 });
    try {
      await migrate(store, migrationsOf("runtime", "devnet"));
      await fill(store, outputsOf(size));
      const { cells, seconds, own, megabytes } = await build(store, size);
      built.push(cells);
      if (size === sizes.at(-1)) {
        const times = MAINNET / size;
        built.push([
          `${MAINNET.toLocaleString("en")} (extrapolated, without the further passes that sort them)`,
          (seconds * times).toFixed(0),
          (own * times).toFixed(0),
          (megabytes * times).toFixed(0),
          ...cells.slice(4),
        ]);
      }
      moved.push(...await move(store, size));
      proved.push(...await prove(store, size));
    } finally {
      await store.close();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const show = (head: readonly string[], rows: readonly (readonly (string | number)[])[]) => {
    table(head, rows).forEach((line) => print(line));
    print("");
  };
  show(
    ["outputs", "built in, s", "this process, s", "tree, MB", "bytes an output", "memory at most, MB more"],
    built,
  );
  show([
    "outputs",
    "changed in a block",
    "block, ms (median)",
    "ms (p95)",
    "processor, ms",
    "processor, ms an output",
    "undone, processor ms an output",
  ], moved);
  show([
    "outputs",
    "proof",
    "ms (median)",
    "ms (p95)",
    "this process, ms",
    "proof, bytes",
    "verified, ms (median)",
  ], proved);
}

/** Writes unspent outputs of the genesis. */
export async function fill({ sql }: Store, outputs: Iterable<Utxo>): Promise<void> {
  let some: Utxo[] = [];
  for (const utxo of outputs) {
    some.push(utxo);
    if (some.length < 5_000) continue;
    await insertUtxos(sql, some, -1);
    some = [];
  }
  await insertUtxos(sql, some, -1);
  await sql`analyze`;
}

/** Builds the tree over the unspent outputs. */
export async function plant(sql: Store["sql"], size: number): Promise<void> {
  await completeTree({
    sql,
    write: (work) => sql.begin(work).then(() => {}),
    tables: DEVNET_TREE,
    at: await readTip(sql),
    count: () => Promise.resolve(size),
    eachOutput: (each) => sql.begin((sql) => eachUtxo(sql, each)),
    log: silentLog,
  });
}

async function build({ sql }: Store, size: number) {
  let most = 0;
  const before = process.memoryUsage().rss;
  const watch = setInterval(() => most = Math.max(most, process.memoryUsage().rss - before), 50);
  const began = performance.now();
  const used = process.cpuUsage();
  await plant(sql, size);
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(used);
  const own = (user + system) / 1e6;
  clearInterval(watch);
  const bytes = await treeBytes(sql);
  await sql`analyze`;
  const cells = [
    size,
    seconds.toFixed(1),
    own.toFixed(1),
    (bytes / 1e6).toFixed(1),
    Math.round(bytes / size),
    Math.round(most / 1e6),
  ];
  return { cells, seconds, own, megabytes: bytes / 1e6 };
}

async function treeBytes(sql: Store["sql"]): Promise<number> {
  const { bytes } = await onlyRow(sql<{ bytes: number }[]>`
    select pg_total_relation_size('devnet_utxo_tree')::float8 as bytes`);
  return bytes;
}

/** Blocks that spend outputs and create as many; then back again. */
async function move({ sql }: Store, size: number): Promise<(string | number)[][]> {
  const rows: (string | number)[][] = [];
  const at: TreeBlock = { height: -1, hash: "" };
  let next = size;
  let oldest = LISTS.reduce<number>((sum, list) => sum + list, 0);
  for (const changed of CHANGED) {
    if (oldest + ROUNDS * changed > size) continue;
    const [forth, back, forthProcessor, backProcessor]: number[][] = [[], [], [], []];
    for (let round = 0; round < ROUNDS; round++) {
      const created = Array.from({ length: changed / 2 }, () => outputOf(next++));
      // spread over the whole tree, as their addresses are
      const spent = Array.from({ length: changed / 2 }, () => outputOf(oldest++));
      const block = { height: at.height + 1, hash: `${changed} ${round}` };
      const time = async (
        [times, processor]: [number[], number[]],
        from: TreeBlock,
        to: TreeBlock,
        one: Utxo[],
        other: Utxo[],
      ) => {
        const began = performance.now();
        await sql.begin(async (sql) => {
          await planLookups(sql);
          const { pid } = await onlyRow(sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
          const before = processorMs(pid);
          const fits = await moveTree(sql, DEVNET_TREE, from, [{ ...to, changes: { created: one, spent: other } }]);
          if (!fits) throw new Error("the tree does not fit");
          processor.push(processorMs(pid) - before);
        });
        times.push(performance.now() - began);
      };
      await time([forth!, forthProcessor!], at, block, created, spent);
      await time([back!, backProcessor!], block, at, spent, created);
    }
    const median = (list: number[]) => percentile(list, 0.5);
    rows.push([
      size,
      changed,
      median(forth!).toFixed(1),
      percentile(forth!, 0.95).toFixed(1),
      median(forthProcessor!).toFixed(1),
      (median(forthProcessor!) / changed).toFixed(3),
      (median(backProcessor!) / changed).toFixed(3),
    ]);
  }
  return rows;
}

async function prove(store: Store, size: number): Promise<(string | number)[][]> {
  const reads = devnetUtxoRoot(store);
  const { root } = await valueOf(reads.root());
  const rows: (string | number)[][] = [];
  const measured = async <T>(
    name: string,
    rounds: number,
    read: (round: number) => Promise<Proved<T>>,
    verify: (round: number, root: BlockRoot["root"], proved: Proved<T>) => { readonly ok: boolean },
  ) => {
    const times: number[] = [];
    const processor: number[] = [];
    const checks: number[] = [];
    let bytes = 0;
    for (let round = -2; round < rounds; round++) {
      const began = performance.now();
      const used = process.cpuUsage();
      const proved = await read(Math.abs(round));
      const { user, system } = process.cpuUsage(used);
      const took = performance.now() - began;
      const check = performance.now();
      if (!verify(Math.abs(round), root, proved).ok) throw new Error(`${name} is not verified`);
      if (round < 0) continue;
      checks.push(performance.now() - check);
      times.push(took);
      processor.push((user + system) / 1e3);
      bytes = Math.max(bytes, proved.proof.length);
    }
    const ms = (list: number[], share: number) => percentile(list, share).toFixed(2);
    rows.push([size, name, ms(times, 0.5), ms(times, 0.95), ms(processor, 0.5), bytes, ms(checks, 0.5)]);
  };
  const first = LISTS.reduce<number>((sum, list) => sum + list, 0);
  if (size > first) {
    const one = (round: number) => outputOf(first + (round * 7_919) % (size - first));
    await measured(
      "an output is in it",
      100,
      async (round) => {
        const { at, value, proof } = await there(reads, one(round).ref);
        return { at, value, proof };
      },
      (round, root, { value, proof }) => verifyOutput(root, { ref: one(round).ref, cbor: value.cbor }, proof),
    );
    await measured(
      "an output is not",
      100,
      (round) => valueOf(reads.outputAt(one(round).output.address, outputOf(size + round).ref)),
      (round, root, { proof }) =>
        verifyNoOutput(root, { address: one(round).output.address, ref: outputOf(size + round).ref }, proof),
    );
  }
  for (const list of LISTS) {
    if (list > size) continue;
    await measured(
      `all ${list} of an address`,
      list > 1_000 ? 10 : 50,
      () => valueOf(reads.address(listAddress(list))),
      (_, root, { value, proof }) => verifyAddress(root, { address: listAddress(list), outputs: value }, proof),
    );
  }
  await measured(
    "an address has none",
    50,
    (round) => valueOf(reads.address(outputOf(size + 10_000_000 + round).output.address)),
    (round, root, { proof }) =>
      verifyAddress(root, { address: outputOf(size + 10_000_000 + round).output.address, outputs: [] }, proof),
  );
  return rows;
}

async function there(reads: UtxoRootReads, ref: OutRef) {
  const proved = await valueOf(reads.output(ref));
  if (!proved) throw new Error("an output is not there");
  return proved;
}

async function valueOf<T>(
  read: Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: { message: string } }>,
): Promise<T> {
  const result = await read;
  if (result.ok) return result.value;
  throw new Error(result.error.message);
}
