/** What the index of the chain costs a devnet: the time of a block with it and without it, on two databases of one server. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { openStore } from "#src/store/store.ts";
import { devnetStore } from "../support/devnet.ts";
import { person } from "../support/wallet.ts";
import { percentile, table } from "./machine.ts";

/** Payments of a block, and how many such blocks are measured on each devnet. */
const BLOCKS = [[0, 400], [1, 200], [10, 100], [100, 20]] as const;
/** Blocks before the first one that is measured. */
const WARM_UP = 50;
const alice = person("alice");

/** Milliseconds of a block with so many faucet payments. */
async function blockMs(devnet: Devnet, payments: number): Promise<number> {
  await Promise.all(
    Array.from({ length: payments }, (_, i) => devnet.faucet.pay(i % 2 ? alice.base : alice.enterprise, 5_000_000n)),
  );
  const began = performance.now();
  const made = await devnet.makeBlock();
  const ms = performance.now() - began;
  if (!made.ok || devnet.mempool().length > 0) throw new Error("a block does not hold the payments");
  return ms;
}

/** Prints the table. */
export async function benchDevnetIndex(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const nats = await startNatsEndpoint({ port: 0, token: "bench", log: silentLog });
  const bus = await connectBus({ url: nats.url, token: "bench" });
  const server = openStore(postgres.url, { max: 1 });
  await server.sql`create database without_index`;
  const without = new URL(postgres.url);
  without.pathname = "/without_index";
  const stores = await Promise.all([postgres.url, without.href].map(devnetStore));
  const devnets: Devnet[] = [];
  for (const [i, store] of stores.entries()) {
    const started = await startDevnet({
      store,
      bus,
      evaluate: () => Promise.reject(new Error("no script was expected")),
      log: silentLog,
      clock: new VirtualClock(Date.now()),
      options: { blockMs: 0, index: i === 0, epochLength: 1_000_000 },
    });
    if (!started.ok) throw new Error(started.error.message);
    devnets.push(started.value);
  }
  for (let i = 0; i < WARM_UP; i++) for (const devnet of devnets) await blockMs(devnet, i % 3);
  const ms = (times: readonly number[], share: number) => percentile(times, share).toFixed(1);
  const rows = [];
  for (const [payments, count] of BLOCKS) {
    const times: [number[], number[]] = [[], []];
    // turn by turn, so that both meet the same load of the machine
    for (let i = 0; i < count; i++) {
      for (const [j, devnet] of devnets.entries()) times[j]?.push(await blockMs(devnet, payments));
    }
    const [with_, bare] = times;
    rows.push([
      payments,
      `${ms(with_, 0.5)}, ${ms(with_, 0.99)}`,
      `${ms(bare, 0.5)}, ${ms(bare, 0.99)}`,
      (percentile(with_, 0.5) - percentile(bare, 0.5)).toFixed(1),
    ]);
  }
  const head = ["payments in the block", "with the index: ms, p50 and p99", "without", "difference of p50"];
  for (const line of table(head, rows)) console.log(line);
  for (const devnet of devnets) await devnet.stop();
  for (const store of [...stores, server]) await store.close();
  await bus.close();
  await nats.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
