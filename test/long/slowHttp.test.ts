/** Thousands of requests that are never completed, on the whole product with its default deadlines. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Arbor } from "../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { halfBody, halfHead, unfinished } from "../support/infra/unfinishedRequests.ts";
import { fund, http, User } from "../support/service/user.ts";

const CONNECTIONS = 5_000;
/** Normal clients in the meantime, and for how long each sends requests, in milliseconds. */
const [CLIENTS, ASKING_MS] = [8, 6_000];
/** When the last of them must be ended, in milliseconds: the longest deadline, and as much again for a busy machine. */
const ENDED_MS = 60_000;

let infra: Infra;
let arbor: Arbor;
const user = new User();

beforeAll(async () => {
  infra = await sharedInfra();
  arbor = await Arbor.start({ infra });
  await fund(arbor.devnet, arbor.tokens, user);
});
afterAll(async () => {
  await arbor?.end();
  await infra?.stop();
});

/**
 * Reads and builds of some concurrent clients: successful responses per second, and the 95th percentile of their time.
 */
async function served(): Promise<{ readonly perSecond: number; readonly p95: number; readonly refused: number }> {
  const times: number[] = [];
  let refused = 0;
  const begun = performance.now();
  await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
    const path = client === 0 ? `/transaction/${user.address}/boot-token` : "/tokens";
    while (performance.now() - begun < ASKING_MS) {
      const at = performance.now();
      const { status } = await http(arbor.tokens, "GET", path);
      times.push(performance.now() - at);
      if (status !== 200) refused++;
    }
  }));
  times.sort((a, b) => a - b);
  return {
    perSecond: times.length / (performance.now() - begun) * 1_000,
    p95: times[Math.floor(times.length * 0.95)]!,
    refused,
  };
}

test("5,000 unfinished requests do not affect others, and are ended", async () => {
  const port = Number(new URL(arbor.tokens).port);
  const build = `/transaction/${user.address}/request-insert/${"ab".repeat(32)}`;
  await served();
  const before = await served();
  const opened = performance.now();
  const crowd = await unfinished(
    port,
    CONNECTIONS,
    (i) => [halfHead("/tokens"), halfBody(build, 60_000), halfHead(build), ""][i % 4]!,
  );
  const open = crowd.open;
  const during = await served();
  await crowd.ended(ENDED_MS);
  const lasted = performance.now() - opened;
  const timedOut = crowd.answers.filter((answer) => answer.startsWith("HTTP/1.1 408 ")).length;
  const row = [
    `${CONNECTIONS} requests that are never sent to their end`,
    `${open} open at once, ${timedOut} answered 408, the last after ${(lasted / 1_000).toFixed(0)} s`,
    `others: ${before.perSecond.toFixed(0)}/s, p95 ${before.p95.toFixed(0)} ms before; ` +
    `${during.perSecond.toFixed(0)}/s, p95 ${during.p95.toFixed(0)} ms during`,
    `${during.refused} refused`,
  ];
  console.log(`| ${row.join(" | ")} |`);
  expect([before.refused, during.refused]).toEqual([0, 0]);
  // silent connections may be ended without a response
  expect(timedOut).toBeGreaterThanOrEqual(CONNECTIONS * 3 / 4);
});
