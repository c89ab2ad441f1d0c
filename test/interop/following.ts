/** What tests through a relay compare: a chain from its steps, and parameters in a canonical form. */
import { expect } from "vitest";
import { scanBlock } from "#src/cardano/scan.ts";
import type { RawChainPort, RawStep } from "#src/chain/provider/port.ts";

/** Steps of a followed chain, in order. */
export function following(port: RawChainPort, from: readonly { slot: number; hash: string }[] = []) {
  const steps: RawStep[] = [];
  const controller = new AbortController();
  const done = (async () => {
    for await (const step of port.follow(from, controller.signal)) steps.push(step);
  })();
  return {
    steps,
    stop: async () => {
      controller.abort();
      await done;
    },
  };
}

/** The chain that results from steps: hashes of its blocks. */
export function chainOf(steps: readonly RawStep[]): string[] {
  const chain: { slot: number; hash: string }[] = [];
  for (const step of steps) {
    if (step.type === "forward") {
      const { slot, hash, previous } = scanBlock(step.block);
      if (chain.length > 0) expect(previous).toBe(chain.at(-1)!.hash);
      chain.push({ slot, hash });
    } else while (chain.length > 0 && chain.at(-1)!.slot > step.point.slot) chain.pop();
  }
  return chain.map(({ hash }) => hash);
}

/** The same with its fractions in lowest terms, the form of other implementations. */
export function lowestTerms<T extends object>(parameters: T): Record<string, unknown> {
  const gcd = (a: bigint, b: bigint): bigint => b === 0n ? a : gcd(b, a % b);
  const lower = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Map) return value;
    const { numerator: n, denominator: d } = value as { numerator?: unknown; denominator?: unknown };
    if (typeof n === "bigint" && typeof d === "bigint") return [n / gcd(n, d), d / gcd(n, d)];
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, lower(inner)]));
  };
  return lower(parameters) as Record<string, unknown>;
}
