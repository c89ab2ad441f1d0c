/**
 * Proofs of facts over HTTP (without the socket): the time of one by the number of facts, and how long the event loop
 * is blocked.
 */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { OpenAPIHono } from "@hono/zod-openapi";
import { silentLog } from "#src/base/log.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { CUT_ABOVE } from "#src/tokens/index/trie.ts";
import { factSegment } from "#src/client/factKey.ts";
import { verifyFact } from "#src/client/proofs.ts";
import { proofRoutes } from "#src/tokens/http/proofs.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { initHash } from "#src/forestry/hash.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore } from "#src/store/store.ts";
import { migrationsOf } from "../support/infra/migrationsOf.ts";
import { TokenWithFacts } from "../support/tokens/factAnswers.ts";
import { storeToken } from "../support/tokens/tokenRows.ts";
import { percentile, table } from "./machine.ts";

const ROUNDS = 200;

/**
 * Prints the time of the first proof at a root and of later ones, with their bytes and the longest block of the event
 * loop.
 */
export async function benchProofs(print: (line: string) => void = console.log): Promise<void> {
  await initHash();
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const store = openStore(postgres.url);
  const builders = startBuilders({ log: silentLog });
  try {
    await migrate(store, migrationsOf("chain/index", "tokens/index"));
    await builders.warm();
    const app = new OpenAPIHono();
    proofRoutes(app, { store, builders });
    const rows: (string | number)[][] = [];
    for (const [i, size] of [100, 1_000, 10_000, 100_000].entries()) {
      const facts = new Map(Array.from({ length: size }, (_, n) => [`key ${n}`, `value ${n}`] as const));
      const token = new TokenWithFacts(facts, undefined, String(i).repeat(64));
      await storeToken(store, token, 0, size > CUT_ABOVE);
      await store.sql`analyze`;
      rows.push([size, ...await measured(app, token)]);
    }
    table(
      [
        "facts",
        "first proof, ms",
        "later ones, ms (median)",
        "ms (p99)",
        "loop held, ms (median)",
        "answer, bytes",
        "verified, ms",
      ],
      rows,
    ).forEach((line) => print(line));
  } finally {
    await builders.stop();
    await store.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured(app: OpenAPIHono, token: TokenWithFacts): Promise<(string | number)[]> {
  const times: number[] = [];
  const held: number[] = [];
  const checked: number[] = [];
  let bytes = 0;
  let first = 0;
  for (let i = -20; i < ROUNDS; i++) {
    const key = i % 2 === 0 ? `key ${(Math.abs(i) * 7919) % token.facts.size}` : `missing ${i}`;
    const { segment, query } = factSegment(key);
    let last = performance.now();
    let longest = 0;
    const tick = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    };
    const ticking = setInterval(tick, 0);
    const begun = performance.now();
    const answer = await app.request(`/token/${token.token}/facts/${segment}${query}`);
    const text = await answer.text();
    const took = performance.now() - begun;
    tick();
    clearInterval(ticking);
    const check = performance.now();
    const fact = verifyFact(JSON.parse(text), { tokenId: token.token, key, trusted: token.trusted.datum });
    if (!fact.ok) throw new Error(`${answer.status} ${text}`);
    if (i === -20) first = took;
    if (i < 0) continue;
    checked.push(performance.now() - check);
    times.push(took);
    held.push(longest);
    bytes = Math.max(bytes, text.length);
  }
  const ms = (list: number[], share: number) => percentile(list, share).toFixed(1);
  return [first.toFixed(1), ms(times, 0.5), ms(times, 0.99), ms(held, 0.5), bytes, ms(checked, 0.5)];
}
