/**
 * Many clients that request the most expensive builds, concurrently and repeatedly: their responses, and those of a
 * normal user. They use one address (127.0.0.2) and the user another, so that a rate limit can distinguish them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import os from "node:os";
import path from "node:path";
import { sleep } from "#src/base/clock.ts";
import { addressText, enterpriseAddress } from "#src/cardano/address.ts";
import { keyHash, newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import { call } from "#src/client/http.ts";
import { signTransaction, TokenClient } from "#src/client/tokens.ts";
import { startArbor } from "./arbor.ts";
import { percentile, table } from "./machine.ts";
import { benchRefusals } from "./refusals.ts";

const CLIENTS = 400;
const DURING_MS = 15_000;
/** Milliseconds after which a refused client retries, as stated by `Retry-After`. */
const RETRY_MS = 1_000;
/** Requests per second that one client may send, if there is a limit. */
const LIMIT = 20;

/**
 * Prints the results of both sides, without and with a limit; and the cost of refusing the most expensive transactions.
 */
export async function benchAbuse(print: (line: string) => void = console.log): Promise<void> {
  await benchRefusals(print);
  print("");
  const rows = [];
  for (const [limit, builds] of [[0, 0], [0, 32], [LIMIT, 32], [LIMIT, 8]] as const) {
    rows.push(await under(limit, builds));
  }
  table(
    [
      "requests of a client",
      "builds at a time",
      "builds given away/s",
      "503",
      "429",
      "their longest wait",
      "her reads p50, p99",
      "her builds p50, p95",
      "refused to her",
    ],
    rows,
  ).forEach((line) => print(line));
  print("");
  print(
    `${CLIENTS} clients ask for boot transactions, each again as soon as it is answered, or a second after it is refused, for ${
      DURING_MS / 1_000
    } s.`,
  );
}

async function under(limit: number, atOnce: number): Promise<(string | number)[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-bench-"));
  const running = await startArbor(folder, [
    ...["--block-ms", "200", "--slot-ms", "100", "--rate-limit", String(limit), "--client-builds", String(atOnce)],
  ]);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS, localAddress: "127.0.0.2" });
  try {
    const { tokens, devnet } = running;
    const client = new TokenClient(tokens);
    const funded = async () => {
      const key = newSeed();
      const address = addressText(enterpriseAddress(0, { kind: "key", hash: keyHash(publicKey(key)) }));
      const { txHash } = await call(devnet, "POST", "/faucet", { address, lovelace: 1_000_000_000 }) as {
        txHash: string;
      };
      await client.transaction(txHash, { waitMs: 60_000 });
      return { key, address };
    };
    const [she, they] = [await funded(), await funded()];
    const { value: token, checked } = await client.boot(she.address);
    await client.submitAndWait(signTransaction(checked, she.key));

    const given = { built: 0, busy: 0, limited: 0, longest: 0 };
    const end = performance.now() + DURING_MS;
    const abuse = async () => {
      while (performance.now() < end) {
        const begun = performance.now();
        const status = await statusOf(agent, `${tokens}/transaction/${they.address}/boot-token`);
        given.longest = Math.max(given.longest, performance.now() - begun);
        if (status === 200) given.built++;
        else {
          status === 429 ? given.limited++ : given.busy++;
          await sleep(RETRY_MS);
        }
      }
    };
    const reads: number[] = [];
    const builds: number[] = [];
    let refused = 0;
    const mean = async (kept: number[], work: () => Promise<unknown>) => {
      while (performance.now() < end) {
        const begun = performance.now();
        try {
          await work();
          kept.push(performance.now() - begun);
        } catch {
          refused++;
        }
        // like a person at work, well within any limit
        await sleep(150);
      }
    };
    await Promise.all([
      ...Array.from({ length: CLIENTS }, abuse),
      mean(reads, () => client.token(token)),
      mean(builds, () => client.insert(she.address, token, "key", "value")),
    ]);
    const ms = (times: readonly number[], p: number) => times.length === 0 ? "none" : percentile(times, p).toFixed(0);
    return [
      limit === 0 ? "none" : `${limit}/s`,
      atOnce === 0 ? "no limit" : atOnce,
      (given.built / DURING_MS * 1_000).toFixed(1),
      given.busy,
      given.limited,
      `${(given.longest / 1_000).toFixed(1)} s`,
      `${ms(reads, 0.5)}, ${ms(reads, 0.99)} ms`,
      `${ms(builds, 0.5)}, ${ms(builds, 0.95)} ms`,
      refused,
    ];
  } finally {
    agent.destroy();
    await running.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function statusOf(agent: Agent, url: string): Promise<number> {
  return new Promise((resolve) => {
    const pending = request(url, { agent }, (answer) => {
      answer.resume();
      answer.once("end", () => resolve(answer.statusCode ?? 0));
      answer.once("error", () => resolve(0));
    });
    pending.once("error", () => resolve(0));
    pending.end();
  });
}
