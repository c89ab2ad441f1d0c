/** A member of a value of unknown type; `undefined` where the value is no object or has no such member. */
export function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" && value !== null || typeof value === "function";
  return isObject ? Reflect.get(value, name) : undefined;
}
