/**
 * Killed at any statement, a devnet leaves the rows of a complete chain, and the next start has everything that was
 * acknowledged. The index of the chain is complete, or the next start builds it.
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Tip } from "#src/cardano/block.ts";
import type { Store } from "#src/store/store.ts";
import { checkRows, checkSnapshots, devnetStore } from "../support/devnet/devnet.ts";
import { indexRows, rebuiltRows } from "../support/devnet/devnetIndex.ts";
import { sharedInfra } from "../support/infra/infra.ts";

const SCRIPT = fileURLToPath(new URL("../support/devnet/devnetProcess.ts", import.meta.url));
const STARTS = Number(process.env.DEVNET_STARTS ?? 40);

type Line =
  | { did: "start" | "block" | "rollback" | "restore"; tip: Tip }
  | { did: "pay"; hash: string }
  | { did: "restoring" | "all" };

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;

beforeAll(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

/** Runs the process to its end; gives its output and the signal that ended it. */
async function run(env: Record<string, string>): Promise<{ lines: Line[]; signal: string | null; errors: string }> {
  const child = spawn(process.execPath, ["run", "-A", SCRIPT], {
    env: {
      ...process.env,
      DATABASE_URL: infra.databaseUrl,
      NATS_URL: infra.natsUrl,
      ...(infra.natsToken ? { NATS_TOKEN: infra.natsToken } : {}),
      ...env,
    },
  });
  let out = "", errors = "";
  child.stdout.on("data", (chunk) => out += chunk);
  child.stderr.on("data", (chunk) => errors += chunk);
  const signal = await new Promise<string | null>((resolve) => child.on("close", (_code, signal) => resolve(signal)));
  return { lines: out.split("\n").filter(Boolean).map((line) => JSON.parse(line) as Line), signal, errors };
}

test("kill -9 at any statement, repeatedly", async () => {
  const paid = new Set<string>();
  let killed = 0, acknowledged: Tip | undefined;
  let whole = 0, restored = 0, indexed = 0;
  for (let n = 1; n <= STARTS; n++) {
    // statements of a start, then those of later and later operations; every seventh process is not killed
    const killAt = n % 7 === 0 ? 0 : 2 * n;
    // the killed process's lease is ended, so that the next one need not wait
    await store.sql`update lease set expires = '-infinity'`;
    // every third process builds the index first
    if (n % 3 === 0) await store.sql`delete from devnet_index`;
    const { lines, signal, errors } = await run({ KILL_AT: String(killAt), SEED: String(n), START: String(n) });
    if (signal === "SIGKILL") killed++;
    else if (lines.at(-1)?.did === "all") whole++;
    else throw new Error(`process ${n} ended by itself: ${errors}`);
    const { tip, blocks, mempool } = await checkRows(store);
    const [end] = await store.sql<{ hash: string }[]>`select hash from devnet_index`;
    if (end?.hash === tip.hash && tip.height >= 0) {
      indexed++;
      const rows = await indexRows(store);
      expect(rows).toEqual(await rebuiltRows(store));
    }
    await checkSnapshots(store);
    for (const line of lines) {
      if (line.did === "start" && acknowledged) expect(line.tip).toEqual(acknowledged);
      if (line.did === "pay") paid.add(line.hash);
    }
    const present = new Set([
      ...mempool,
      ...blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash)),
    ]);
    for (const hash of paid) {
      if (!lines.some(({ did }) => did === "restoring")) expect(present.has(hash)).toBe(true);
      else if (!present.has(hash)) paid.delete(hash);
    }
    restored += lines.filter(({ did }) => did === "restore").length;
    acknowledged = tip;
  }
  console.log(
    `${killed} processes killed, ${whole} whole, ${restored} restores, ${indexed} indexed, ${paid.size} payments, tip ${acknowledged?.height}`,
  );
  expect(killed).toBeGreaterThan(STARTS / 2);
  expect(Math.min(whole, restored, indexed)).toBeGreaterThan(0);
}, STARTS * 15_000);
