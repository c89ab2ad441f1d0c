/** Longest delay of a timer, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Wait of a `Retry-After` header (seconds or an HTTP date, RFC 9110), in milliseconds; `undefined` when missing or
 * malformed.
 */
export function retryAfterMs(value: string | null | undefined): number | undefined {
  if (typeof value !== "string") return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(LONGEST_MS, Math.max(0, ms));
}
