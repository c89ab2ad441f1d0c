/** The order in which a network accepts transactions that spend each other's outputs. */

/** A transaction by its hash. */
interface Hashed {
  readonly hash: string;
}

/** Sorts transactions so that parents come before children; `parentsOf` gives the hashes whose outputs one spends. */
export function parentsFirst<T extends Hashed>(
  transactions: readonly T[],
  parentsOf: (transaction: T) => readonly string[],
): T[] {
  const byHash = new Map(transactions.map((one) => [one.hash, one]));
  const sorted = new Set<T>();
  for (const first of transactions) {
    // not recursive: a chain of pending transactions may be longer than the stack
    const path = [first];
    for (let one = path.at(-1); one; one = path.at(-1)) {
      const parent = parentsOf(one).map((hash) => byHash.get(hash))
        .find((found) => found && found !== one && !sorted.has(found));
      if (parent) path.push(parent);
      else {
        sorted.add(one);
        path.pop();
      }
    }
  }
  return [...sorted];
}
