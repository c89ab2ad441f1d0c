/**
 * The chain in figures, one function for each row or group of rows; a new figure is a new function in the list. Each says what was
 * measured, how much of it a second, and what limits it; without its data it says so aloud and gives no row.
 */
import { indexRows } from "./chain-index.ts";
import { ledgerRows } from "./chain-ledger.ts";
import { memoryRows } from "./chain-memory.ts";
import { scanRows } from "./chain-scan.ts";
import { socketRows } from "./chain-socket.ts";
import { writeRows } from "./chain-writes.ts";
import { table } from "./machine.ts";

/** What was measured, its rate, what limits it. */
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
