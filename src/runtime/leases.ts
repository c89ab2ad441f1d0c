/**
 * Named leases in PostgreSQL: at most one holder writes at a time.
 *
 * The clock of the database decides when another may take a lease; only the epoch decides whose write counts. So a holder
 * starts each of its transactions with `fence`, and a holder that overslept finds no row there.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason, silentLog } from "#src/base/log.ts";
import type { Queries, Store } from "#src/store/store.ts";

export interface LeaseOptions {
  readonly store: Store;
  readonly name: string;
  /** Who asks, unique among processes. */
  readonly owner: string;
  /** How long the lease outlives its holder, in milliseconds; it is renewed four times in that. */
  readonly ttlMs: number;
  readonly log?: Log;
  /** Called each time the lease is taken; `signal` aborts when it is lost or given back. What it throws is logged. */
  readonly onHeld: (epoch: number, signal: AbortSignal) => void | Promise<void>;
  readonly onLost?: () => void;
}

export interface Lease {
  /** The epoch while the lease is held. */
  epoch(): number | undefined;
  /** Waits for `onHeld` to end, gives the lease back and asks for it no more. */
  stop(): Promise<void>;
}

/** Asks for a lease, again and again, and keeps it while it can. */
export function holdLease(options: LeaseOptions): Lease {
  const { store, name, owner, ttlMs, log = silentLog } = options;
  const stopped = new AbortController();
  let held: { epoch: number; until: number; lost: AbortController; work: Promise<void> } | undefined;

  const take = async () => {
    const asked = performance.now();
    const [row] = await store.sql<{ epoch: bigint }[]>`
      insert into lease as l (name, epoch, owner, expires)
      values (${name}, 1, ${owner}, now() + ${ttlMs} * interval '1 ms')
      on conflict (name) do update set epoch = l.epoch + 1, owner = excluded.owner, expires = excluded.expires
      where l.owner is null or l.expires < now()
      returning epoch`;
    if (row === undefined) return;
    const epoch = Number(row.epoch);
    const lost = new AbortController();
    const work = (async () => await options.onHeld(epoch, lost.signal))().catch((error) =>
      log.error("work under a lease failed", { lease: name, epoch, reason: reason(error) })
    );
    held = { epoch, until: asked + ttlMs, lost, work };
  };
  const renew = async (mine: NonNullable<typeof held>) => {
    const asked = performance.now();
    try {
      const rows = await store.sql`
        update lease set expires = now() + ${ttlMs} * interval '1 ms'
        where name = ${name} and epoch = ${mine.epoch} and owner = ${owner} returning 1`;
      mine.until = rows.length === 1 ? asked + ttlMs : 0;
    } catch (error) {
      log.warn("lease not renewed", { lease: name, reason: reason(error) });
    }
  };
  const lose = (mine: NonNullable<typeof held>) => {
    held = undefined;
    mine.lost.abort();
    log.warn("lease lost", { lease: name, epoch: mine.epoch });
    options.onLost?.();
  };
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      try {
        // A renewal that hangs must not hide that the time is up.
        if (held) await Promise.race([renew(held), sleep(Math.max(0, held.until - performance.now()))]);
        else await take();
      } catch (error) {
        log.warn("lease not reached", { lease: name, reason: reason(error) });
      }
      if (held && performance.now() >= held.until) {
        const { work } = held;
        lose(held);
        await work;
      } else await sleep(ttlMs / 4, stopped.signal);
    }
    if (!held) return;
    const { epoch, lost, work } = held;
    held = undefined;
    lost.abort();
    await work;
    await store.sql`
      update lease set owner = null, expires = '-infinity'
      where name = ${name} and epoch = ${epoch} and owner = ${owner}`.catch((error) =>
      log.warn("lease not given back", { lease: name, reason: reason(error) })
    );
  })();
  return {
    epoch: () => held?.epoch,
    stop: async () => {
      stopped.abort();
      await loop;
    },
  };
}

/**
 * The row of a lease if `epoch` still holds it, locked so that the epoch cannot be raised before the transaction ends.
 * Awaited as the first statement of a transaction, no row means: lost, write nothing. It may also stand inside a statement.
 *
 * ```ts
 * await store.sql.begin(async (sql) => {
 *   if ((await fence(sql, "follower", epoch)).length === 0) return;
 *   …
 * });
 * ```
 */
export function fence(sql: Queries, name: string, epoch: number) {
  return sql<{ held: number }[]>`
    select 1 as held from lease where name = ${name} and epoch = ${epoch} for key share`;
}
