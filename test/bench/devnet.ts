/** Benchmarks of the devnet: transactions into the mempool, blocks, a rollback; on a real database and a real bus. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "#src/base/log.ts";
import { readUtxosByAddress } from "#src/devnet/blocks/rows.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { devnetStore, spend } from "../support/devnet/devnet.ts";
import { person } from "../support/wallets/person.ts";
import { table } from "./machine.ts";
import { benchDevnetOf } from "./benchDevnet.ts";

const COUNT = 2_000;
const alice = person("alice");

/** Milliseconds that some work takes. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const rate = (count: number, ms: number) => `${Math.round(count / ms * 1_000).toLocaleString("en")}/s`;

/** Submits a transaction that must be accepted. */
async function submit(devnet: Devnet, cbor: Uint8Array): Promise<void> {
  const said = await devnet.submit(cbor);
  if (!said.ok || said.value.outcome !== "accepted") throw new Error("a transaction was not accepted");
}

/** Moves the mempool's transactions into blocks; a line for each of the first ones. */
async function drain(devnet: Devnet): Promise<string[]> {
  const lines: string[] = [];
  for (let waiting = devnet.mempool().length; waiting > 0; waiting = devnet.mempool().length) {
    const ms = await timed(() => devnet.makeBlock());
    lines.push(`${waiting - devnet.mempool().length} of ${waiting} in ${ms.toFixed(0)} ms`);
  }
  return lines.slice(0, 3);
}

/** Prints the table. */
export async function benchDevnet(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const nats = await startNatsEndpoint({ port: 0, token: "bench", log: silentLog });
  const store = await devnetStore(postgres.url);
  const bus = await connectBus({ url: nats.url, token: "bench" });
  const devnet = await benchDevnetOf({ store, bus, mempoolBytes: 100_000_000 });
  const rows: [string, string][] = [];

  const many = Array.from({ length: COUNT });
  rows.push([
    `faucet payments, ${COUNT} at once`,
    rate(COUNT, await timed(() => Promise.all(many.map(() => devnet.faucet.pay(alice.enterprise, 5_000_000n))))),
  ]);
  rows.push(["blocks of them", (await drain(devnet)).join("; ")]);
  const coins = (await readUtxosByAddress(store.sql, [alice.enterprise])).value;
  const payments = coins.map((coin) => spend({ from: alice, inputs: [coin], outputs: [[alice.base, 4_000_000n]] }));
  rows.push([
    `submissions without scripts, ${COUNT} at once`,
    rate(COUNT, await timed(() => Promise.all(payments.map(({ cbor }) => submit(devnet, cbor))))),
  ]);
  rows.push(["blocks of them", (await drain(devnet)).join("; ")]);
  const chained = payments.slice(0, 200).map(({ created }) => created[0]!);
  const next = chained.map((coin, i) =>
    spend({ from: alice, inputs: [coin], outputs: [[alice.base, 3_000_000n + BigInt(i)]] })
  );
  rows.push([
    "submissions one after the other",
    rate(
      next.length,
      await timed(async () => {
        for (const { cbor } of next) await submit(devnet, cbor);
      }),
    ),
  ]);
  await drain(devnet);
  rows.push([
    "empty blocks",
    rate(
      100,
      await timed(async () => {
        for (let i = 0; i < 100; i++) await devnet.makeBlock();
      }),
    ),
  ]);
  const undone = devnet.tip().height + 1;
  const ms = await timed(() => devnet.rollback({ height: -1 }));
  rows.push([
    `rollback of ${undone} blocks, ${devnet.mempool().length} transactions validated again`,
    `${(ms / 1_000).toFixed(1)} s`,
  ]);
  const settings = await store.sql<{ fsync: string; commit: string }[]>`
    select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`;
  rows.push(["fsync, synchronous_commit", `${settings[0]!.fsync}, ${settings[0]!.commit}`]);
  for (const line of table(["devnet", "figure"], rows)) console.log(line);
  await devnet.stop();
  await bus.close();
  await store.close();
  await nats.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
