/**
 * The element of a list that has one.
 *
 * @throws Error for any other length, which is a fault of the program.
 */
export function onlyOf<T>(list: readonly T[]): T {
  for (const one of list) if (list.length === 1) return one;
  throw new Error(`one element was expected, and there are ${list.length}`);
}
