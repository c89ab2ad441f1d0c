/** Backoff of deliveries. */

export interface Retries {
  /** Number of attempts after which a webhook is disabled. */
  readonly most: number;
  /** Wait after the first attempt, in milliseconds; doubled after each further one. */
  readonly firstMs: number;
  /** Longest wait, in milliseconds. */
  readonly longestMs: number;
}

/** About a day: 5 s, 10 s, 20 s … up to 6 hours. */
export const RETRIES: Retries = { most: 16, firstMs: 5_000, longestMs: 6 * 3_600_000 };

/**
 * Time until the next attempt, in milliseconds: a random value between half and all of the doubled time, so that
 * deliveries that failed together are not repeated together; at least `Retry-After` (`retryAfterMs`). `random` is in
 * [0, 1).
 */
export function waitAfter(
  attempts: number,
  { firstMs, longestMs }: Retries,
  retryAfterMs: number | null = null,
  random: number = Math.random(),
): number {
  const doubled = Math.min(firstMs * 2 ** (attempts - 1), longestMs);
  return Math.max(Math.round(doubled * (0.5 + random / 2)), Math.min(retryAfterMs ?? 0, longestMs));
}
