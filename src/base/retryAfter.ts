/** The longest wait that timers take, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** Milliseconds that the value of a `Retry-After` header asks to wait, given as seconds or as an HTTP date; `undefined` where it is missing or malformed. */
export function retryAfterMs(value: string | null | undefined): number | undefined {
  if (typeof value !== "string") return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(LONGEST_MS, Math.max(0, ms));
}
