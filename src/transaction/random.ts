/** Random choices that a seed makes repeatable. */
import { elementAt } from "#src/base/present.ts";
import { seeded } from "#src/base/seededRandom.ts";

/** Gives an integer from 0 to `limit - 1`; the bias is below 2^-20. */
export type RandomIndex = (limit: number) => number;

/** A random seed, 32 bits. */
export function randomSeed(): number {
  return elementAt(crypto.getRandomValues(new Uint32Array(1)), 0);
}

/** Generator for a seed. It is not fit for secrets. */
export function randomIndex(seed: number = randomSeed()): RandomIndex {
  const random = seeded(seed);
  return (limit) => Math.floor(random() * limit);
}

/** The elements in a random order (Fisher-Yates). */
export function shuffled<T>(elements: readonly T[], random: RandomIndex): T[] {
  const order = [...elements];
  for (let i = order.length - 1; i > 0; i--) {
    const j = random(i + 1);
    [order[i], order[j]] = [elementAt(order, j), elementAt(order, i)];
  }
  return order;
}
