/**
 * Benchmarks of the chain modules, one function for each row or group of rows; a new benchmark is a new function in the
 * list. Each states what was measured, its rate per second, and what limits it; without its data it prints a message
 * and gives no row.
 */
import { indexRows } from "./chain-index.ts";
import { ledgerRows } from "./chain-ledger.ts";
import { memoryRows } from "./chain-memory.ts";
import { scanRows } from "./chain-scan.ts";
import { socketRows } from "./chain-socket.ts";
import { writeRows } from "./chain-writes.ts";
import { table } from "./machine.ts";

/** What was measured, its rate, its limiting factor. */
export type ChainRow = readonly [what: string, rate: string, limit: string];

const ROWS: readonly (() => Promise<readonly ChainRow[]>)[] = [
  scanRows,
  socketRows,
  indexRows,
  writeRows,
  ledgerRows,
  memoryRows,
];

/** Prints the table. */
export async function benchChain(): Promise<void> {
  const rows: ChainRow[] = [];
  for (const row of ROWS) rows.push(...await row());
  console.log(table(["what", "rate", "limited by"], rows).join("\n"));
}
