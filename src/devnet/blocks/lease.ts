/** The lease under which one process at a time writes the devnet's chain. */
import { fence } from "#src/runtime/placement/namedLease.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Name of the lease under which a devnet produces blocks. */
export const LEASE = "devnet";

/** The lease was taken over: nothing is written under this epoch any more. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Does `work` in one transaction that locks the lease's epoch. @throws {LeaseLost} if another process has taken the lease over */
export async function underLease<T>(store: Store, epoch: number, work: (sql: Queries) => Promise<T>): Promise<T> {
  const { done } = await store.sql.begin(async (sql) => {
    if ((await fence(sql, LEASE, epoch)).length === 0) {
      throw new LeaseLost("the lease of this operation has ended");
    }
    return { done: await work(sql) };
  });
  return done;
}
