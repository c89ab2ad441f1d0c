/**
 * Benchmark of the devnet's Ogmios server: blocks a second to a client in a process of its own, which has so many requests
 * under way; queries and evaluations one after the other; what an idle server costs for each block.
 */
import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { silentLog } from "#src/base/log.ts";
import { toHex } from "#src/base/bytes.ts";
import { readUtxosByAddress } from "#src/devnet/blocks/rows.ts";
import { ogmiosService } from "#src/devnet/serve/ogmios/service.ts";
import { refJson } from "#src/ogmios/values.ts";
import { measureIn } from "#src/plutus/jobs.ts";
import { minting } from "../support/ledger/minting.ts";
import { OgmiosClient, request } from "../support/ogmios/ogmiosClient.ts";
import { agrees, agreesWithTwo } from "../support/plutus/scripts.ts";
import { person } from "../support/wallets/person.ts";
import { startBenchDevnet } from "./benchDevnet.ts";
import { percentile, table } from "./machine.ts";

/** Blocks with transactions, and transactions in each. */
const FULL = 100;
const TRANSACTIONS = 50;
const EMPTY = 20_000;
const REQUESTS = 300;
const IDLE_BLOCKS = 200;

/** Prints the tables. */
export async function benchOgmios(): Promise<void> {
  const { devnet, store, bus, builders, stop } = await startBenchDevnet();
  const { base, enterprise } = person("bob");
  for (let block = 0; block < FULL; block++) {
    await Promise.all(Array.from({ length: TRANSACTIONS }, () => devnet.faucet.pay(enterprise, 2_000_000n)));
    await devnet.makeBlock();
  }
  await devnet.faucet.pay(base, 5_000_000n);
  await devnet.makeBlock();
  const full = devnet.tip();
  /** Memory, and the least CPU time a block of some runs: other programs only add to it. */
  const idle = async () => {
    const { rss } = process.memoryUsage();
    const times: number[] = [];
    for (let run = 0; run < 5; run++) {
      const before = process.cpuUsage();
      for (let i = 0; i < IDLE_BLOCKS; i++) await devnet.makeBlock();
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1_000 / IDLE_BLOCKS);
    }
    return { rss, ms: Math.min(...times) };
  };
  await idle();
  const without = await idle();
  const service = ogmiosService({ devnet, store, bus, measure: measureIn(builders), log: silentLog });
  const { port } = await service.listen({ host: "127.0.0.1", port: 0 });
  const url = `ws://127.0.0.1:${port}`;
  await (await fetch(`http://127.0.0.1:${port}/health`)).text();
  const served = await idle();
  const waiting = await OgmiosClient.open(url);
  const { slot, hash: id } = devnet.tip();
  await waiting.ask("findIntersection", { points: [{ slot, id }] });
  waiting.socket.on("message", () => waiting.send(request("nextBlock")));
  const followed = await idle();
  await waiting.close();
  for (let height = devnet.tip().height; height < full.height + EMPTY; height = devnet.tip().height) {
    await devnet.makeBlocks({ count: Math.min(1_000, full.height + EMPTY - height) });
  }
  await store.sql`analyze`;

  const rates: [string, string, string, string][] = [];
  const synchronise = async (name: string, count: number, ahead: number) => {
    const script = fileURLToPath(new URL("./ogmios-child.ts", import.meta.url));
    const begun = process.cpuUsage();
    const { stdout } = await promisify(execFile)(process.execPath, ["run", "-A", script, url, `${count}`, `${ahead}`]);
    const { user, system } = process.cpuUsage(begun);
    const { seconds, bytes } = JSON.parse(stdout) as { seconds: number; bytes: number };
    rates.push([
      name,
      (count / seconds).toFixed(0),
      (bytes / seconds / 1_048_576).toFixed(1),
      ((user + system) / 1_000 / count).toFixed(3),
    ]);
  };
  const transactions = `${FULL} blocks of ${TRANSACTIONS} transactions`;
  for (let i = 0; i < 2; i++) await synchronise(`${transactions}, 100 ahead`, FULL, 100);
  await synchronise(`${transactions}, one at a time`, FULL, 1);
  await synchronise(`these and ${EMPTY} empty blocks, 100 ahead`, FULL + EMPTY, 100);
  await synchronise(`these and ${EMPTY} empty blocks, one at a time`, FULL + EMPTY, 1);

  const times: [string, string, string][] = [];
  const client = await OgmiosClient.open(url);
  const time = async (name: string, send: () => Promise<{ readonly error?: unknown }>) => {
    const taken: number[] = [];
    for (let i = -20; i < REQUESTS; i++) {
      const begun = performance.now();
      const { error } = await send();
      if (error !== undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
      if (i >= 0) taken.push(performance.now() - begun);
    }
    times.push([name, percentile(taken, 0.5).toFixed(1), percentile(taken, 0.99).toFixed(1)]);
  };
  const [coin] = (await readUtxosByAddress(store.sql, [base])).value;
  if (!coin) throw new Error("there is no output to mint with");
  const { ref: input, output: { value: { lovelace } } } = coin;
  const cbor = toHex(minting({ input, lovelace, scripts: [agreesWithTwo, agreesWithTwo, agrees] }));
  await time("network tip", () => client.ask("queryNetwork/tip"));
  await time("protocol parameters", () => client.ask("queryLedgerState/protocolParameters"));
  await time(
    "an output by its reference",
    () => client.ask("queryLedgerState/utxo", { outputReferences: [refJson(input)] }),
  );
  await time("three scripts evaluated", () => client.ask("evaluateTransaction", { transaction: { cbor } }));
  const tip = devnet.tip();
  await client.ask("acquireLedgerState", { point: { slot: tip.slot, id: tip.hash } });
  await time("protocol parameters of an acquired state", () => client.ask("queryLedgerState/protocolParameters"));
  await time("protocol parameters by HTTP", async () => {
    const body = request("queryLedgerState/protocolParameters");
    return await (await fetch(`http://127.0.0.1:${port}`, { method: "POST", body })).json();
  });
  await client.close();

  const mebibytes = (bytes: number) => (bytes / 1_048_576).toFixed(0);
  const heads = {
    rates: ["chain synchronisation", "blocks a second", "MiB a second", "CPU of the server a block, ms"],
    times: ["request", "p50, ms", "p99, ms"],
    idle: ["server", "CPU of the process a block, ms", "memory before, MiB"],
  };
  for (const line of table(heads.rates, rates)) console.log(line);
  console.log();
  for (const line of table(heads.times, times)) console.log(line);
  console.log();
  const costs = { none: without, idle: served, "with a client that follows": followed };
  const rows = Object.entries(costs).map(([name, { rss, ms }]) => [name, ms.toFixed(2), mebibytes(rss)]);
  for (const line of table(heads.idle, rows)) console.log(line);

  await service.close();
  await stop();
}
