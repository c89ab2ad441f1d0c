/** Waits until something holds and gives it; throws after `ms` milliseconds. Looks again `every` so many. */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false>,
  ms = 150_000,
  every = 25,
): Promise<T> {
  for (const end = Date.now() + ms;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${ms} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
