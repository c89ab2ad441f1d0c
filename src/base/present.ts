/** Values that the program has made sure of; a missing one is a fault of the program. */

/**
 * A value that the program has made sure of; `what` names it.
 *
 * @throws Error where it is missing, which is a fault of the program.
 */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === undefined || value === null) throw new Error(`${what} is missing`);
  return value;
}

/**
 * The element of a list that has one.
 *
 * @throws Error for any other length, which is a fault of the program.
 */
export function onlyOf<T>(list: readonly T[]): T {
  for (const one of list) if (list.length === 1) return one;
  throw new Error(`one element was expected, and there are ${list.length}`);
}

/**
 * The element at an index of a list that reaches so far.
 *
 * @throws RangeError where it does not, which is a fault of the program.
 */
export function elementAt<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index];
  if (element === undefined) throw new RangeError(`a list of ${list.length} has no element ${index}`);
  return element;
}

/** An object without the members that are undefined. */
export function defined<T extends object>(members: { [K in keyof T]: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
}
