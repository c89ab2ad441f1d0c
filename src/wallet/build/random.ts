/** Random choice that can be repeated. */

/** Gives whole numbers below `limit`, each as likely as the others but for a bias below 2^-20. */
export type Dice = (limit: number) => number;

/** A random seed. */
export function anySeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]!;
}

/** Dice of a seed (mulberry32); of a random one where none is given. Nothing secret is made with it. */
export function dice(seed: number = anySeed()): Dice {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * limit);
  };
}

/** The elements in a random order. */
export function shuffled<T>(elements: readonly T[], roll: Dice): T[] {
  const order = [...elements];
  for (let i = order.length - 1; i > 0; i--) {
    const j = roll(i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
