/** The connections of answers that are read in a transaction, each as long as its client takes. */
import { inTime } from "#src/base/clock.ts";
import { noConnection } from "#src/devnet/serve/kupo/failures.ts";
import { LOOKUP_SETTINGS } from "#src/store/readPool.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Connections that there are at most. They are opened when they are needed. */
const MOST = 8;

/** Milliseconds that a request waits for a connection. */
const WAIT_MS = 5_000;

/** Runs work in a transaction that sees one state of the chain. */
export type Reading = <T>(work: (sql: Queries) => Promise<T>) => Promise<T>;

/** A separate pool of a store. Work fails with 503 where no connection is free for a while. */
export function readings(store: Pick<Store, "beside">, most = MOST, waitMs = WAIT_MS): Reading {
  const { sql } = store.beside({ max: most, settings: LOOKUP_SETTINGS });
  const waiting = new Set<() => void>();
  let open = 0;
  /** Waits for a connection. */
  const take = async () => {
    if (open < most) return void open++;
    let given = () => {};
    const turn = new Promise<true>((resolve) => given = () => resolve(true));
    waiting.add(given);
    const isGiven = await inTime(turn, waitMs);
    // one that is given at the last moment counts
    if (isGiven === undefined && waiting.delete(given)) throw noConnection();
  };
  const give = () => {
    const [next] = waiting;
    if (next === undefined) return void open--;
    waiting.delete(next);
    next();
  };
  return async (work) => {
    await take();
    try {
      const { done } = await sql.begin(
        "isolation level repeatable read read only",
        async (sql) => ({ done: await work(sql) }),
      );
      return done;
    } finally {
      give();
    }
  };
}
