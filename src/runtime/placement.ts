/**
 * Which worker owns which partition: leases in PostgreSQL, renewed four times in their time to live.
 *
 * A worker acts for a partition only while its own clock says that the lease has not run out since it asked for it; what it
 * writes counts only while the epoch is the one it took. Each worker aims at its fair share: who has more gives back, who has
 * less takes what is free or has run out.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Bus } from "#src/runtime/bus.ts";
import type { Store } from "#src/store/store.ts";

export interface PlacementOptions {
  /** Answers quickly even when there is much other work: a pool of its own where that is large. */
  readonly store: Store;
  readonly bus: Bus;
  readonly worker: string;
  readonly partitions: number;
  readonly leaseMs: number;
  /** Does what must come before the first turn in partitions just taken; they are served once it resolves. */
  readonly onTaken: (partitions: readonly number[]) => Promise<void>;
  /** Told when partitions just taken are served. */
  readonly onServed: (partitions: readonly number[]) => void;
  /** Told when partitions are no longer served; resolves when their turns in flight have ended. */
  readonly onLeft: (partitions: ReadonlySet<number>) => Promise<void>;
  readonly log: Log;
}

export interface Placement {
  /** Epoch under which a partition is served here. */
  epochOf(partition: number): number | undefined;
  /** The partitions served here. */
  owned(): readonly number[];
  /** Told by whoever found that the epoch was raised. */
  lost(partition: number, epoch: number): void;
  /** Serves nothing more, lets turns end, gives every lease back. */
  stop(): Promise<void>;
}

/** Subject of the message that says that leases changed hands. */
export const PLACEMENT = "arbor.placement";

interface Lease {
  readonly epoch: number;
  /** By `performance.now()`, which goes on while the process is stopped. */
  until: number;
  ready: boolean;
}

export function startPlacement(options: PlacementOptions): Placement {
  const { store, bus, worker, leaseMs, log } = options;
  const leases = new Map<number, Lease>();
  const stopped = new AbortController();
  let wake = new AbortController();
  const ttl = `${leaseMs} ms`;

  const serves = (lease: Lease | undefined) => lease !== undefined && lease.ready && performance.now() < lease.until;
  const tell = () => bus.publish(PLACEMENT, { worker });

  /** Serves partitions no more; resolves when their turns in flight have ended. */
  const drop = async (partitions: readonly number[]) => {
    for (const partition of partitions) leases.delete(partition);
    await options.onLeft(new Set(partitions)).catch((error) =>
      log.error("partitions not left", { partitions, reason: reason(error) })
    );
  };
  const dropRunOut = () => {
    const run = [...leases].filter(([, { until }]) => performance.now() >= until).map(([id]) => id);
    if (run.length === 0) return;
    log.warn("leases ran out", { partitions: run });
    void drop(run);
  };

  /** Says that this worker lives, renews what it holds, and gives its fair share of the partitions; in one commit. */
  const renew = async () => {
    const held = [...leases];
    const asked = performance.now();
    const [row] = await store.sql<{ kept: number[]; others: number }[]>`
      with me as (insert into worker (id, seen) values (${worker}, now())
          on conflict (id) do update set seen = excluded.seen returning 1),
        kept as (update partition p set expires = now() + ${ttl}::interval
          from unnest(${held.map(([id]) => id)}::int[], ${held.map(([, { epoch }]) => epoch)}::bigint[]) as x(id, epoch)
          where p.id = x.id and p.epoch = x.epoch and p.owner = ${worker} returning p.id)
      select (select coalesce(array_agg(id), '{}') from kept) as kept,
        (select count(*)::int from worker where seen > now() - ${ttl}::interval and id <> ${worker}) as others
      from me`;
    const kept = new Set(row!.kept);
    const lost: number[] = [];
    for (const [id, lease] of held) {
      if (kept.has(id)) lease.until = asked + leaseMs;
      else if (leases.get(id) === lease) lost.push(id);
    }
    if (lost.length > 0) {
      log.warn("partitions lost", { partitions: lost });
      void drop(lost);
    }
    return Math.ceil(options.partitions / (row!.others + 1));
  };

  const take = async (most: number) => {
    const asked = performance.now();
    // Skipping rows that a statement holds means never to wait for a worker that may still be writing.
    const rows = await store.sql<{ id: number; epoch: bigint }[]>`
      update partition p set epoch = p.epoch + 1, owner = ${worker}, expires = now() + ${ttl}::interval
      from (select id from partition
        where (owner is null or expires < now() or owner = ${worker}) and id <> all(${[...leases.keys()]}::int[])
        order by id limit ${most} for update skip locked) free
      where p.id = free.id returning p.id, p.epoch`;
    if (rows.length === 0) return;
    const taken = rows.map(({ id, epoch }) => {
      const lease: Lease = { epoch: Number(epoch), until: asked + leaseMs, ready: false };
      leases.set(id, lease);
      return [id, lease] as const;
    });
    log.info("partitions taken", { partitions: taken.map(([id]) => id) });
    // Beside the renewals, which must go on meanwhile.
    options.onTaken(taken.map(([id]) => id)).then(() => {
      for (const [, lease] of taken) lease.ready = true;
      options.onServed(taken.map(([id]) => id));
      tell();
    }, async (error) => {
      log.warn("partitions not served", { reason: reason(error) });
      await giveBack(taken.filter(([id, lease]) => leases.get(id) === lease).map(([id]) => id));
    }).catch((error) => log.warn("partitions not given back", { reason: reason(error) }));
  };

  const giveBack = async (partitions: readonly number[]) => {
    const mine = partitions.flatMap((id) => leases.has(id) ? [[id, leases.get(id)!.epoch] as const] : []);
    if (mine.length === 0) return;
    await drop(partitions);
    await store.sql`
      update partition p set owner = null, expires = '-infinity'
      from unnest(${mine.map(([id]) => id)}::int[], ${mine.map(([, epoch]) => epoch)}::bigint[]) as x(id, epoch)
      where p.id = x.id and p.epoch = x.epoch and p.owner = ${worker}`;
    tell();
  };

  const beat = async () => {
    const fair = await renew();
    if (leases.size > fair) {
      const extra = [...leases.keys()].slice(fair);
      log.info("partitions given back", { partitions: extra });
      giveBack(extra).catch((error) => log.warn("partitions not given back", { reason: reason(error) }));
    } else if (leases.size < fair && !stopped.signal.aborted) await take(fair - leases.size);
  };

  const unsubscribe = bus.subscribe(PLACEMENT, (body) => {
    if ((body as { worker?: unknown } | null)?.worker !== worker) wake.abort();
  });
  // Beside the loop, which may be waiting for the database. The rows may still be ours and be taken again, but effects and
  // answers of these partitions stop here and now.
  const watch = setInterval(dropRunOut, leaseMs / 4);
  const loop = (async () => {
    let last = -Infinity;
    while (!stopped.signal.aborted) {
      last = performance.now();
      await beat().catch((error) => log.warn("leases not renewed", { reason: reason(error) }));
      const rest = Math.max(0, leaseMs / 4 - (performance.now() - last));
      await Promise.race([sleep(rest, stopped.signal), sleep(rest, wake.signal)]);
      // News of other workers come in bursts.
      if (wake.signal.aborted) await sleep(20, stopped.signal);
      wake = new AbortController();
    }
  })();

  return {
    epochOf: (partition) => {
      const lease = leases.get(partition);
      return serves(lease) && !stopped.signal.aborted ? lease!.epoch : undefined;
    },
    owned: () => stopped.signal.aborted ? [] : [...leases].filter(([, lease]) => serves(lease)).map(([id]) => id),
    lost: (partition, epoch) => {
      if (leases.get(partition)?.epoch !== epoch) return;
      void drop([partition]);
    },
    stop: async () => {
      stopped.abort();
      unsubscribe();
      clearInterval(watch);
      await loop;
      await giveBack([...leases.keys()]);
      await store.sql`delete from worker where id = ${worker}`;
      tell();
    },
  };
}
