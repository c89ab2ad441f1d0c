/**
 * What the index of a block costs by table: processor time of the database's process, which other work on the machine
 * does not change, and of this one.
 */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { readBlocks } from "#src/devnet/blocks/rows.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { foldBlock } from "#src/devnet/index/foldBlock.ts";
import { foldGenesis } from "#src/devnet/index/genesisRows.ts";
import { genesisState, replayBlock } from "#src/devnet/index/rebuild.ts";
import { type IndexChanges, type IndexRows, noChanges } from "#src/devnet/index/rows.ts";
import type { TableName } from "#src/devnet/index/insert.ts";
import { clearIndex, TABLES, writeChanges } from "#src/devnet/index/write.ts";
import { planLookups } from "#src/store/readPool.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Sql } from "#src/store/store.ts";
import { percentile, table } from "./machine.ts";

/** Processor time that a process of Linux has had, in ms. */
async function processorMs(pid: number): Promise<number> {
  const [ns] = (await readFile(`/proc/${pid}/schedstat`, "utf8")).split(" ");
  return Number(ns) / 1e6;
}

/** The part of some changes that is written to one table. */
function only(changes: IndexChanges, part: TableName | "spent"): IndexChanges {
  const { rows } = noChanges();
  if (part === "spent") return { rows, spent: changes.spent };
  return { rows: Object.assign<IndexRows, Partial<IndexRows>>(rows, { [part]: changes.rows[part] }), spent: [] };
}

/** Prints the medians over the blocks of a chain that hold this many transactions; writes its index again, twice. */
export async function benchIndexWrites(sql: Sql, genesis: Genesis, transactions: number): Promise<void> {
  const state = genesisState(genesis);
  const first = foldGenesis(genesis, state);
  const { blocks } = await readBlocks(sql, 0, 1_000_000);
  const indexed = [];
  for (const { bytes } of blocks) indexed.push(await replayBlock(state, genesis, bytes));
  const parts: readonly (TableName | "spent")[] = [...TABLES, "spent"];
  const server = new Map<string, number[]>();
  const own: number[] = [];
  const folds: number[] = [];
  const add = (name: string, ms: number) => server.set(name, [...server.get(name) ?? [], ms]);
  for (const whole of [true, false]) {
    await clearIndex(sql);
    await writeChanges(sql, first, { height: -1, hash: "" });
    for (const block of indexed) {
      const before = process.cpuUsage();
      const changes = foldBlock(block);
      const folded = process.cpuUsage(before);
      await sql.begin(async (sql) => {
        const { pid } = await onlyRow(sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
        await planLookups(sql);
        const measure = async (name: string, part: IndexChanges) => {
          const began = await processorMs(pid);
          await writeChanges(sql, part, block);
          if (block.transactions.length === transactions) add(name, await processorMs(pid) - began);
        };
        const before = process.cpuUsage();
        if (whole) await measure("all", changes);
        else {
          await measure("nothing", noChanges());
          for (const part of parts) {
            const size = part === "spent" ? changes.spent.length : changes.rows[part].length;
            if (size > 0) await measure(part, only(changes, part));
          }
        }
        const { user, system } = process.cpuUsage(before);
        if (whole && block.transactions.length === transactions) {
          folds.push((folded.user + folded.system) / 1e3);
          own.push((user + system) / 1e3);
        }
      });
    }
  }
  const ms = (times: readonly number[]) =>
    `${percentile(times, 0.5).toFixed(2)} (${percentile(times, 0.05).toFixed(2)})`;
  const rows = [...server].map(([name, times]) => [name, ms(times), times.length]);
  rows.push(["this process: rows", ms(folds), folds.length], ["this process: statements", ms(own), own.length]);
  for (const line of table([`${transactions} payments`, "processor ms: median (p05)", "blocks"], rows)) {
    console.log(line);
  }
}
