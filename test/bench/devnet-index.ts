/**
 * What the index of the chain costs a devnet: the time of a block and of a rollback with it and without it, on two
 * databases of one server; how long it takes to build it again; and on Linux, what each of its tables costs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { silentLog } from "#src/base/log.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { rebuildIndex } from "#src/devnet/index/rebuild.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { openStore } from "#src/store/store.ts";
import { devnetStore } from "../support/devnet/devnet.ts";
import { person } from "../support/wallets/person.ts";
import { benchIndexWrites } from "./devnet-index-writes.ts";
import { percentile, table } from "./machine.ts";
import { benchDevnetOf } from "./benchDevnet.ts";

/** Payments of a block, and how many such blocks are measured on each devnet. */
const BLOCKS = [[0, 400], [1, 200], [10, 100], [100, 20]] as const;
/** Blocks that the rollback undoes: those of 100 payments. */
const UNDONE = 10;
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
    devnets.push(await benchDevnetOf({ store, bus, index: i === 0, epochLength: 1_000_000 }));
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
  const heights = devnets.map((devnet) => devnet.tip().height + 1);
  const undo: number[] = [];
  for (const devnet of devnets) {
    const began = performance.now();
    await devnet.rollback({ blocks: UNDONE }, { drop: true });
    undo.push(performance.now() - began);
  }
  const head = ["payments in the block", "with the index: ms, p50 and p99", "without", "difference of p50"];
  for (const line of table(head, rows)) console.log(line);
  console.log(
    `rollback of ${UNDONE} blocks: ${undo.map((ms) => `${ms.toFixed(0)} ms`).join(" with the index, ")} without`,
  );
  for (const devnet of devnets) await devnet.stop();
  const [indexed] = stores;
  if (!indexed) throw new Error("there is no store");
  await indexed.sql`delete from devnet_index`;
  const began = performance.now();
  const genesis = devnets[0]!.genesis;
  await rebuildIndex({ sql: indexed.sql, write: (work) => indexed.sql.begin(work), genesis, log: silentLog });
  const built = (performance.now() - began) / 1_000;
  const [count] = await indexed.sql<{ count: number }[]>`select count(*)::int as count from devnet_index_tx`;
  console.log(`built from ${heights[0]! - UNDONE} blocks, ${count!.count} transactions: ${built.toFixed(1)} s`);
  if (process.platform === "linux") await benchIndexWrites(indexed.sql, genesis, 100);
  for (const store of [...stores, server]) await store.close();
  await bus.close();
  await nats.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
