/**
 * Named leases in PostgreSQL: at most one holder writes at a time.
 *
 * The clock of the database decides when another process may take a lease, and only the epoch decides whose write
 * counts. A holder starts each of its transactions with `fence`, which finds no row once the lease was taken over.
 * Therefore a standby need not wait for the end of a lease whose holder does not answer pings. And a holder whose time
 * is up by its own clock asks the database before it gives up: a process that was suspended has usually lost nothing.
 *
 * Renewals have connections of their own: they must not wait behind the statements of the work under the lease.
 */
import { inTime, sleep } from "#src/base/clock.ts";
import { type Log, reason, silentLog } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { aliveSubject, MISSED_OVER_MS, MISSED_PINGS, ping } from "#src/runtime/placement/failureDetector.ts";
import { leaseMoves, leases } from "#src/runtime/metrics.ts";
import { renewLease, returnLease, takeLease } from "#src/runtime/placement/leaseRows.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Subject of the message that says that a lease was given back. */
const LEASES = "arbor.lease";

export interface LeaseOptions {
  readonly store: Store;
  /** To learn at once that the lease was returned or its holder is gone; without a bus only the clock decides. */
  readonly bus?: Bus;
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** Name of this process, unique. */
  readonly owner: string;
  /** Time to live, in milliseconds; the lease is renewed four times in it. */
  readonly ttlMs: number;
  readonly log?: Log;
  /** Called each time the lease is taken; `signal` aborts when it is lost or returned. Its errors are logged. */
  readonly onHeld: (epoch: number, signal: AbortSignal) => void | Promise<void>;
  readonly onLost?: () => void;
}

export interface Lease {
  /** The epoch while the lease is held. */
  epoch(): number | undefined;
  /** Waits for `onHeld` to end, returns the lease and does not take it again. */
  stop(): Promise<void>;
}

/** In place of an expiry time: another process has taken the lease. */
const TAKEN = -Infinity;
/**
 * Connections of a process for its leases. Several, because taking a lease may wait for a transaction of its last
 * holder.
 */
const CONNECTIONS = 4;
const pools = new WeakMap<Store, Store>();

/** The pool for leases that belongs to a store; it is closed with the store. */
function leasePool(store: Store): Store {
  let pool = pools.get(store);
  if (pool === undefined) pools.set(store, pool = store.beside({ max: CONNECTIONS, settings: {} }));
  return pool;
}

/**
 * Takes a lease as soon as it is free, keeps it while it can, and tries again after losing it, until stopped.
 *
 * It is one function, because its parts share the lease that is held.
 *
 * @example
 * ```ts
 * const lease = holdLease({
 *   store, bus, name: "reporter", owner: "process-1", ttlMs: 2_000,
 *   onHeld: async (epoch, signal) => {
 *     while (!signal.aborted) await report(epoch);
 *   },
 * });
 * await lease.stop();
 * ```
 */
export function holdLease(options: LeaseOptions): Lease {
  const { bus, name, owner, ttlMs, log = silentLog } = options;
  const store = leasePool(options.store);
  const stopped = new AbortController();
  let wake = new AbortController();
  let held: { epoch: number; until: number; lost: AbortController; work: Promise<void> } | undefined;
  /** Since when, and how often, the holder of an epoch did not answer pings. */
  let missed: { epoch: number; count: number; since: number } | undefined;
  const alive = `lease.${name}`;

  /** Takes the lease if it is free. Resolves to the time until the next attempt, in milliseconds. */
  const take = async (): Promise<number> => {
    const asked = performance.now();
    const gone = missed !== undefined && missed.count >= MISSED_PINGS && asked - missed.since >= MISSED_OVER_MS
      ? missed.epoch
      : -1;
    const row = await takeLease(store, { name, owner, ttlMs, gone });
    const { taken, left } = row;
    if (taken === null) {
      const later = Math.min(ttlMs / 4, Math.max(0, left ?? 0) + 5);
      return bus !== undefined && await missing(bus, Number(row.epoch))
        ? Math.min(later, MISSED_OVER_MS / MISSED_PINGS)
        : later;
    }
    const epoch = Number(taken);
    missed = undefined;
    moved("taken");
    const lost = new AbortController();
    if (bus !== undefined) {
      const silence = bus.subscribe(aliveSubject(alive), (_, respond) => respond?.(null));
      lost.signal.addEventListener("abort", silence, { once: true });
    }
    const work = (async () => await options.onHeld(epoch, lost.signal))().catch((error) =>
      log.error("work under a lease failed", { lease: name, epoch, reason: reason(error) })
    );
    held = { epoch, until: asked + ttlMs, lost, work };
    return ttlMs / 4;
  };
  /** Pings the holder of the lease; whether it is missing. */
  const missing = async (bus: Bus, epoch: number): Promise<boolean> => {
    if (await ping(bus, alive) !== "gone") missed = undefined;
    else if (missed?.epoch === epoch) missed.count++;
    else missed = { epoch, count: 1, since: performance.now() };
    return missed !== undefined;
  };
  const unsubscribe = bus?.subscribe(LEASES, (body) => {
    if (memberOf(body, "name") === name) wake.abort();
  });
  const moved = (move: "taken" | "lost" | "given_back") => {
    leases.of(name).set(move === "taken" ? 1 : 0);
    leaseMoves.of(name, move).inc();
  };
  const renew = async (mine: NonNullable<typeof held>) => {
    const asked = performance.now();
    try {
      const kept = await renewLease(store, { name, owner, ttlMs, epoch: mine.epoch });
      mine.until = kept ? Math.max(mine.until, asked + ttlMs) : TAKEN;
    } catch (error) {
      log.warn("the lease could not be renewed", { lease: name, reason: reason(error) });
    }
  };
  const lose = (mine: NonNullable<typeof held>) => {
    held = undefined;
    moved("lost");
    mine.lost.abort();
    log.warn("lease lost", { lease: name, epoch: mine.epoch });
    options.onLost?.();
  };
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      let rest = ttlMs / 4;
      try {
        if (!held) rest = await take();
        else {
          // A renewal that hangs must not delay the end of the lease.
          await inTime(renew(held), held.until - performance.now());
          if (held.until !== TAKEN && performance.now() >= held.until) await inTime(renew(held), ttlMs / 2);
        }
      } catch (error) {
        log.warn("the lease could not be queried", { lease: name, reason: reason(error) });
      }
      if (held && performance.now() >= held.until) {
        const { work } = held;
        lose(held);
        await work;
        continue;
      }
      await sleep(rest, stopped.signal, wake.signal);
      wake = new AbortController();
    }
    unsubscribe?.();
    if (!held) return;
    const { epoch, lost, work } = held;
    held = undefined;
    moved("given_back");
    lost.abort();
    await work;
    await returnLease(store, { name, owner, epoch }).catch((error) =>
      log.warn("the lease could not be released", { lease: name, reason: reason(error) })
    );
    bus?.publish(LEASES, { name });
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
 * Selects the row of a lease if it is still at `epoch`, locked so that the epoch cannot be raised before the
 * transaction ends. As the first statement of a transaction: without a row the lease is lost, and nothing may be
 * written. It can also be a part of a larger statement.
 *
 * @example
 * ```ts
 * await store.sql.begin(async (sql) => {
 *   if ((await fence(sql, "follower", epoch)).length === 0) return;
 *   await sql`insert into report (epoch) values (${epoch})`;
 * });
 * ```
 */
export function fence(sql: Queries, name: string, epoch: number) {
  return sql<{ held: number }[]>`
    select 1 as held from lease where name = ${name} and epoch = ${epoch} for key share`;
}
