/** Closed-loop load on accounts, with its latencies. */
import { type Ask } from "#src/runtime/bus/ask.ts";

export interface LoadResult {
  readonly turnsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

/**
 * Runs `clients` clients, each one command after the other, until `count` commands on `entities` accounts are answered.
 */
export async function load(
  ask: Ask,
  { prefix, count, clients, entities }: { prefix: string; count: number; clients: number; entities: number },
): Promise<LoadResult> {
  const times: number[] = [];
  let next = 0;
  let failed = 0;
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, async () => {
    while (next < count) {
      const entity = { kind: "account", id: `${prefix}${(next++ * 7_919) % entities}` };
      const startedAt = performance.now();
      const answer = await ask.ask(entity, { type: "ADD", amount: 1 }, { deadlineMs: 30_000 });
      if (!answer.ok) failed++;
      times.push(performance.now() - startedAt);
    }
  }));
  const seconds = (performance.now() - started) / 1_000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { turnsPerSecond: count / seconds, p50: at(0.5), p99: at(0.99), failed };
}
