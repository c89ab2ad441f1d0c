/**
 * Waits until a condition holds and returns its value; throws after `ms` milliseconds. Checks every `every`
 * milliseconds.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false>,
  ms = 150_000,
  every = 25,
): Promise<T> {
  for (const end = Date.now() + ms;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${ms} ms without success: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
