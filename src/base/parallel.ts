/** Runs `work` for each item, at most `most` at a time; gives the results in the order of the items. */
export async function mapParallel<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  // Shared: each item is taken once.
  const rest = items.entries();
  const one = async () => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, one));
  return results;
}
