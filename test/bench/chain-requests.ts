/**
 * Requests per block and per second: updates of a token that follow each other without a block, with mainnet's limits.
 *
 * Steps limit a block (20 G), and each request of an update costs the more steps the more requests the update has. So
 * updates are small, and a block holds as many as its steps and bytes allow. The requests are in earlier blocks: one of
 * them has about as many bytes as its application.
 */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { addressText, enterpriseAddress } from "#src/cardano/address.ts";
import { keyHash, newSeed, publicKey, type SigningKey } from "#src/cardano/keys.ts";
import { call } from "#src/client/http.ts";
import { signTransaction, TokenClient } from "#src/client/tokens.ts";
import { startArbor } from "./arbor.ts";
import { percentile, table } from "./machine.ts";

/** Requests of one update. */
const SIZE = 10;
/** Requests of one block. */
const BLOCK = 160;
/** Addresses that make requests at the same time. */
const REQUESTERS = 8;

interface Person {
  readonly key: SigningKey;
  readonly address: string;
}

function person(): Person {
  const key = newSeed();
  return { key, address: addressText(enterpriseAddress(0, { kind: "key", hash: keyHash(publicKey(key)) })) };
}

/** One block of updates. */
interface AppliedBlock {
  readonly requests: number;
  readonly blocks: number;
  readonly bytes: number;
  readonly ms: number;
}

/** Prints how many requests one block applies, and how many a second; `--facts` and `--blocks` are for shorter runs. */
export async function benchChainRequests(print: (line: string) => void = console.log): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    strict: false,
    options: { facts: { type: "string", default: "1000" }, blocks: { type: "string", default: "20" } },
  });
  const [facts, blocks] = [Number(values.facts), Number(values.blocks)];
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-bench-"));
  try {
    const running = await startArbor(folder, ["--block-ms", "0", "--slot-ms", "100"]);
    try {
      (await measured(running, facts, blocks)).forEach((line) => print(line));
    } finally {
      await running.end();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured({ tokens, devnet }: { tokens: string; devnet: string }, facts: number, blocks: number) {
  const client = new TokenClient(tokens);
  const owner = person();
  const requesters = Array.from({ length: REQUESTERS }, person);
  const block = async (last: string) => {
    await call(devnet, "POST", "/blocks", { count: 1 });
    while (!(await client.transaction(last))) await new Promise((done) => setTimeout(done, 20));
  };
  for (const { address } of [owner, ...requesters]) {
    const paid = await call(devnet, "POST", "/faucet", { address, lovelace: 20_000_000_000 }) as { txHash: string };
    await block(paid.txHash);
  }
  const boot = await client.boot(owner.address);
  await client.submit(signTransaction(boot.unsignedTransaction, owner.key));
  const token = boot.value;

  let made = 0;
  const requestMs: number[] = [];
  /** Makes requests, without a block; gives them in no order. */
  const request = async (count: number): Promise<string[]> => {
    const refs: string[] = [];
    const end = made + count;
    await Promise.all(requesters.map(async ({ address, key }) => {
      while (made < end) {
        const begun = performance.now();
        const { unsignedTransaction } = await client.insert(address, token, `key-${made++}`, "value of twenty byte");
        refs.push(`${await client.submit(signTransaction(unsignedTransaction, key))}-0`);
        requestMs.push(performance.now() - begun);
      }
    }));
    return refs;
  };
  /** Applies requests by updates that follow each other, then makes one block. */
  const apply = async (refs: readonly string[], size: number): Promise<AppliedBlock> => {
    const begun = performance.now();
    const hashes: string[] = [];
    let bytes = 0;
    for (let at = 0; at < refs.length; at += size) {
      const built = await client.apply(owner.address, token, refs.slice(at, at + size));
      const signed = signTransaction(built.unsignedTransaction, owner.key);
      bytes += signed.length / 2;
      hashes.push(await client.submit(signed));
    }
    const ms = performance.now() - begun;
    await call(devnet, "POST", "/blocks", { count: 1 });
    const found = new Set<string>();
    for (const hash of hashes) {
      for (let waits = 0;; waits++) {
        const one = await client.transaction(hash);
        if (one) {
          found.add(one.block);
          break;
        }
        // what one block does not hold is in the next
        if (waits % 50 === 49) await call(devnet, "POST", "/blocks", { count: 1 });
        await new Promise((done) => setTimeout(done, 20));
      }
    }
    return { requests: refs.length, blocks: found.size, bytes, ms };
  };

  while (made < facts) {
    const refs = await request(Math.min(BLOCK, facts - made));
    await block(refs.at(-1)!.slice(0, 64));
    await apply(refs, 2 * SIZE);
  }
  requestMs.length = 0;
  const backlog: string[][] = [];
  const begun = performance.now();
  for (let i = 0; i < blocks; i++) {
    const refs = await request(BLOCK);
    backlog.push(refs);
    await block(refs.at(-1)!.slice(0, 64));
  }
  const requestsMs = performance.now() - begun;
  const applied: AppliedBlock[] = [];
  for (const refs of backlog) applied.push(await apply(refs, SIZE));
  const total = applied.reduce((sum, one) => sum + one.ms, 0);
  return table(["what", "value"], [
    ["facts before the first block", facts],
    ["requests applied in one block, fewest", Math.min(...applied.map(({ requests, blocks }) => requests / blocks))],
    ["blocks in a row", applied.length],
    ["updates of a block, requests of each", `${BLOCK / SIZE}, ${SIZE}`],
    ["bytes of a block's updates, most", Math.max(...applied.map(({ bytes }) => bytes))],
    [
      "updates of a block built, signed and submitted, median s",
      (percentile(applied.map(({ ms }) => ms), 0.5) / 1000).toFixed(1),
    ],
    ["requests applied per second", (BLOCK * blocks * 1000 / total).toFixed(0)],
    ["request built and submitted, median ms", percentile(requestMs, 0.5).toFixed(0)],
    [`requests made per second (${REQUESTERS} addresses)`, (BLOCK * blocks * 1000 / requestsMs).toFixed(0)],
  ]);
}
