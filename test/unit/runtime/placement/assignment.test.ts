import fc from "fast-check";
import { expect, test } from "vitest";
import { shareOf, type WorkerLoad } from "#src/runtime/placement/assignment.ts";

const cluster = fc.record({
  partitions: fc.integer({ min: 1, max: 256 }),
  held: fc.array(fc.integer({ min: 0, max: 64 }), { minLength: 1, maxLength: 20 }),
});

test("shares add up, differ by at most one, and larger ones belong to those that hold the most", () => {
  fc.assert(fc.property(cluster, ({ partitions, held }) => {
    const loads: WorkerLoad[] = held.map((n, i) => ({ worker: `w${i}`, partitions: n }));
    const shares = loads.map(({ worker }) => shareOf(worker, loads, partitions));
    expect(shares.reduce((sum, n) => sum + n, 0)).toBe(partitions);
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    for (let a = 0; a < loads.length; a++) {
      for (let b = 0; b < loads.length; b++) {
        if (held[a]! > held[b]!) expect(shares[a]).toBeGreaterThanOrEqual(shares[b]!);
      }
    }
  }));
});

test("workers that hold their shares keep them, whichever worker computes first", () => {
  fc.assert(fc.property(cluster, ({ partitions, held }) => {
    const even = held.map((_, i) => Math.floor(partitions / held.length) + (i < partitions % held.length ? 1 : 0));
    // Names in another order than the holdings.
    const loads = even.map((n, i) => ({ worker: `w${(i * 7) % 23}`, partitions: n }));
    for (const { worker, partitions: n } of loads) expect(shareOf(worker, loads, partitions)).toBe(n);
  }));
});
