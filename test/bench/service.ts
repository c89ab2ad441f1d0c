/** The whole service from outside: time from start to first answer, cold and warm, reads during builds, memory. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { addressText, enterpriseAddress } from "#src/cardano/address.ts";
import { keyHash, newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import { call } from "#src/client/http.ts";
import { type CheckedTransaction, signTransaction, TokenClient } from "#src/client/tokens.ts";
import { type Running, startArbor } from "./arbor.ts";
import { percentile, table } from "./machine.ts";

/** Prints start times, the durations of steps over HTTP, of reads of a token during work on another one, and memory. */
export async function benchService(print: (line: string) => void = console.log): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-bench-"));
  try {
    const start = async () => {
      const begun = performance.now();
      const running = await startArbor(folder, ["--block-ms", "200", "--slot-ms", "100"]);
      await fetch(`${running.tokens}/tokens`).then((answer) => answer.text());
      return { running, ready: performance.now() - begun };
    };
    const cold = await start();
    await cold.running.end();
    const warm = await start();
    try {
      const rows = await steps(warm.running);
      table(["what", "value"], [
        ["start to first answer, cold (new database), ms", cold.ready.toFixed(0)],
        ["start to first answer, warm, ms", warm.ready.toFixed(0)],
        ...rows,
        ["memory of the service (without PostgreSQL) after that, MB", warm.running.memory().arbor.toFixed(0)],
      ]).forEach((line) => print(line));
    } finally {
      await warm.running.end();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function steps({ tokens, devnet }: Running): Promise<(string | number)[][]> {
  const client = new TokenClient(tokens);
  const key = newSeed();
  const address = addressText(enterpriseAddress(0, { kind: "key", hash: keyHash(publicKey(key)) }));
  const paid = await call(devnet, "POST", "/faucet", { address, lovelace: 20_000_000_000 }) as { txHash: string };
  while (!(await client.transaction(paid.txHash))) await client.waitBlocks(1);
  const land = (unsigned: CheckedTransaction) => client.submitAndWait(signTransaction(unsigned, key));
  const boot = async () => {
    const built = await client.boot(address);
    await land(built.checked);
    return built.value;
  };
  const quiet = await boot();
  const busy = await boot();
  await client.insert(address, busy, "warm", "up");

  const timed = async (work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  const builds: number[] = [];
  const reads: number[] = [];
  let working = true;
  const reader = (async () => {
    while (working) {
      reads.push(await timed(() => client.token(quiet)));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const updates: number[] = [];
  for (let round = 0; round < 5; round++) {
    const hashes: string[] = [];
    for (let i = 0; i < 20; i++) {
      const start = performance.now();
      const built = await client.insert(address, busy, `key-${round}-${i}`, "value");
      builds.push(performance.now() - start);
      hashes.push(await client.submit(signTransaction(built.checked, key)));
    }
    while (!(await client.transaction(hashes.at(-1)!))) await client.waitBlocks(1);
    const begun = performance.now();
    const { checked } = await client.apply(address, busy, hashes.map((hash) => `${hash}-0`));
    updates.push(performance.now() - begun);
    await land(checked);
  }
  working = false;
  await reader;
  return [
    ["request built over HTTP, median ms", percentile(builds, 0.5).toFixed(1)],
    ["update with 20 requests built over HTTP, median ms", percentile(updates, 0.5).toFixed(0)],
    [
      `GET /token of another token meanwhile, p50 / p99 ms (${reads.length} reads)`,
      `${percentile(reads, 0.5).toFixed(1)} / ${percentile(reads, 0.99).toFixed(1)}`,
    ],
  ];
}
