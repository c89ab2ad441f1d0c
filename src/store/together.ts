/** Statements of one transaction that do not wait for each other. */

/**
 * Waits for all work, then throws the first failure, if any. Within a transaction nothing may go on after another part of it
 * failed: what it sends after the rollback would be written outside of the transaction.
 */
export async function together<T extends readonly unknown[]>(
  work: readonly [...T],
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  await Promise.allSettled(work);
  return await Promise.all(work);
}
