/**
 * A value that the program has made sure of; `what` names it.
 *
 * @throws Error where it is missing, which is a fault of the program.
 */
export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is missing`);
  return value;
}
