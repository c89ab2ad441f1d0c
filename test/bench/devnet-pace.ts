/**
 * Benchmark of a whole process whose devnet makes a block every 100 ms: how many it makes, the longest time between two,
 * CPU and memory; without requests, then while one client pays from the faucet and another reads the Blockfrost API.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep } from "#src/base/clock.ts";
import { type Running, startArbor } from "./arbor.ts";
import { table } from "./machine.ts";

const SLOT_MS = 100;
const MEASURED_MS = 30_000;
const ADDRESS = "addr_test1vpvtug0j432zzu8z26gt2s59zaxdhmh2aq9dz4ldc5hlxwq40qtsd";

/** Prints the table. */
export async function benchDevnetPace(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const running = await startArbor(folder, ["--block-ms", String(SLOT_MS), "--slot-ms", String(SLOT_MS)]);
  await pay(running);
  while (!(await fetch(`${running.blockfrost}/addresses/${ADDRESS}`)).ok) await sleep(SLOT_MS);
  const rows = [
    ["no requests", ...await measured(running, () => Promise.resolve())],
    ["20 payments and 20 reads a second", ...await measured(running, (signal) => load(running, signal))],
  ];
  await running.end();
  await rm(folder, { recursive: true, force: true });
  const head = ["blocks of 100 ms", "made", "longest, ms", "payments", "CPU", "MB: Arbor + PostgreSQL"];
  for (const line of table(head, rows)) console.log(line);
}

/** The row of a time with some load. */
async function measured(running: Running, work: (signal: AbortSignal) => Promise<void>): Promise<string[]> {
  const read = async (path: string) => await (await fetch(running.blockfrost + path)).json();
  const { height: from } = await read("/blocks/latest");
  const [begun, cpu, end] = [performance.now(), running.cpu(), new AbortController()];
  const working = work(end.signal);
  await sleep(MEASURED_MS);
  const [ms, used] = [performance.now() - begun, running.cpu() - cpu];
  end.abort();
  await working;
  const slots: number[] = [];
  let payments = 0;
  for (let at = from;;) {
    const next: { height: number; slot: number; tx_count: number }[] = await read(`/blocks/${at}/next?count=100`);
    for (const { slot, tx_count } of next) {
      slots.push(slot);
      payments += tx_count;
    }
    if (next.length < 100) break;
    at = next.at(-1)!.height;
  }
  const gaps = slots.slice(1).map((slot, i) => slot - slots[i]!);
  const { arbor, postgres } = running.memory();
  return [
    `${slots.length} of ${Math.round(ms / SLOT_MS)}`,
    String(Math.max(...gaps) * SLOT_MS),
    String(payments),
    `${Math.round(used / ms * 100)} %`,
    `${arbor.toFixed(0)} + ${postgres.toFixed(0)}`,
  ];
}

/** One payment and one read each 50 ms, until the signal. */
async function load(running: Running, signal: AbortSignal): Promise<void> {
  const every50 = async (request: () => Promise<Response>) => {
    while (!signal.aborted) {
      const [answer] = await Promise.all([request(), sleep(50)]);
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.body?.cancel();
    }
  };
  await Promise.all([
    every50(() => pay(running)),
    every50(() => fetch(`${running.blockfrost}/addresses/${ADDRESS}/utxos?order=desc`)),
  ]);
}

const pay = ({ devnet }: Running) =>
  fetch(`${devnet}/faucet`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ address: ADDRESS, lovelace: 2_000_000 }),
  });
