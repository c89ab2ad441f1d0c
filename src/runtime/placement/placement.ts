/**
 * Which worker owns which partition: leases in PostgreSQL, renewed four times in their time to live.
 *
 * A worker acts for a partition only while its own clock says that the lease has not run out since it asked for it; what it
 * writes counts only while the epoch is the one it took. Each worker aims at its share: who has more gives back, who has
 * less takes what is free, has run out, or belongs to a suspect that does not listen (`suspects.ts`). A partition that an operator
 * moved is wanted by one worker (`move.ts`): it stays there while that fits into the worker's share.
 */
import { inTime, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { moves } from "#src/runtime/metrics.ts";
import {
  clearSuspicion,
  type LeaseView,
  renewLeases,
  returnLeases,
  startDraining,
  takeLeases,
} from "#src/runtime/placement/leaseRows.ts";
import { shareOf } from "#src/runtime/placement/assignment.ts";
import { aliveSubject, ping, PLACEMENT } from "#src/runtime/placement/failureDetector.ts";
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

interface Lease {
  readonly epoch: number;
  /** By `performance.now()`, which goes on while the process is stopped. */
  until: number;
  ready: boolean;
  /** Who is to have the partition, where somebody said so. */
  wanted: string | undefined;
}

/** What a look at the rows of workers and partitions gave. */
interface ClusterView {
  /** Partitions that this worker is to hold. */
  readonly share: number;
  /** Workers that live, without this one. */
  readonly others: readonly string[];
  /** Suspects at which nobody listens. */
  readonly gone: readonly string[];
  /** Partitions that this worker does not hold and is wanted to. */
  readonly called: number;
  /** Milliseconds until a lease of somebody else runs out. */
  readonly freeIn: number;
}

/** How long turns in flight may take to end before the leases are given back all the same, in milliseconds: who writes later is fenced. */
const DRAIN_MS = 3_000;
/** When to look again after something failed, in milliseconds. */
const RETRY_MS = 250;
/** News of other workers come in bursts. */
const BURST_MS = 10;

export function startPlacement(options: PlacementOptions): Placement {
  const { store, bus, worker, leaseMs, log } = options;
  const leases = new Map<number, Lease>();
  const stopped = new AbortController();
  let wake = new AbortController();

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
    moves.of("ran_out").inc(run.length);
    void drop(run);
  };

  /** Says that this worker lives, renews what it holds, and looks at the others; in one commit. */
  const renew = async (): Promise<ClusterView> => {
    const held = [...leases];
    const asked = performance.now();
    const look = await renewLeases(store, {
      worker,
      leaseMs,
      held: held.map(([id, { epoch }]) => [id, epoch]),
    });
    const kept = new Map((look.kept ?? []).map(({ id, wanted }) => [id, wanted ?? undefined]));
    const lost: number[] = [];
    for (const [id, lease] of held) {
      if (kept.has(id)) {
        lease.until = asked + leaseMs;
        lease.wanted = kept.get(id);
      } else if (leases.get(id) === lease) lost.push(id);
    }
    if (lost.length > 0) {
      log.warn("partitions lost", { partitions: lost });
      moves.of("lost").inc(lost.length);
      void drop(lost);
    }
    return await judge(look);
  };

  /** Hears for itself whether suspects are there, this worker among them. */
  const judge = async ({ suspect, others, called, free_in }: LeaseView): Promise<ClusterView> => {
    const all = others ?? [];
    const gone = (await Promise.all(
      all.filter((other) => other.suspect).map(async (other) =>
        await ping(bus, other.worker) === "gone" ? other.worker : []
      ),
    )).flat();
    const live = all.filter((other) => !gone.includes(other.worker));
    const common = { others: live.map((other) => other.worker), gone, freeIn: free_in ?? Infinity };
    // Nobody could ask this worker: it takes nothing, and gives nothing away that nobody claims.
    if (suspect && await ping(bus, worker) !== "there") return { ...common, share: leases.size, called: 0 };
    if (suspect) {
      await clearSuspicion(store, worker);
      log.info("the suspicion against this worker has lapsed");
      tell();
    }
    return {
      ...common,
      share: shareOf(worker, [...live, { worker, partitions: leases.size }], options.partitions),
      called,
    };
  };

  /** Takes at most so many partitions: those that are wanted here, or whatever nobody else is to have. */
  const take = async (most: number, which: "wanted" | "free", { others, gone }: ClusterView) => {
    const asked = performance.now();
    const rows = await takeLeases(store, { worker, leaseMs, most, which, held: [...leases.keys()], others, gone });
    if (rows.length === 0) return;
    moves.of("taken").inc(rows.length);
    const taken = rows.map(({ id, epoch, wanted }) => {
      const lease = { epoch: Number(epoch), until: asked + leaseMs, ready: false, wanted: wanted ?? undefined };
      leases.set(id, lease);
      return [id, lease] as const;
    });
    const still = () => taken.filter(([id, lease]) => leases.get(id) === lease);
    log.info("partitions taken", { partitions: taken.map(([id]) => id) });
    // Beside the renewals, which must go on meanwhile.
    options.onTaken(taken.map(([id]) => id)).then(() => {
      for (const [, lease] of still()) lease.ready = true;
      options.onServed(still().map(([id]) => id));
      tell();
    }, async (error) => {
      log.warn("partitions not served", { reason: reason(error) });
      await sleep(RETRY_MS, stopped.signal);
      await giveBack(still().map(([id]) => id));
      wake.abort();
    }).catch(notGivenBack);
  };
  const notGivenBack = (error: unknown) => {
    log.warn("partitions not given back", { reason: reason(error) });
    return sleep(RETRY_MS, stopped.signal).then(() => wake.abort());
  };

  const giveBack = async (partitions: readonly number[]) => {
    const mine = partitions.flatMap((id) => leases.has(id) ? [[id, leases.get(id)!.epoch] as const] : []);
    if (mine.length === 0) return;
    moves.of("given_back").inc(mine.length);
    await drop(partitions);
    await returnLeases(store, { worker, held: mine });
    tell();
  };

  /**
   * What is wanted elsewhere, and what is too much: first what nobody wants here, of that what came last; then what was wanted
   * here for the longest.
   */
  const surplus = ({ share, others }: ClusterView): number[] => {
    const held = [...leases];
    const elsewhere = held.filter(([, { wanted }]) => wanted !== undefined && others.includes(wanted));
    const here = held.filter(([, { wanted }]) => wanted === worker);
    const rest = held.filter((lease) => !elsewhere.includes(lease) && !here.includes(lease)).reverse();
    const extra = Math.max(0, here.length + rest.length - share);
    return [...elsewhere, ...[...rest, ...here].slice(0, extra)].map(([id]) => id);
  };

  /** Resolves to how long it may take until the next look, in milliseconds. */
  const beat = async (): Promise<number> => {
    const view = await renew();
    if (stopped.signal.aborted) return 0;
    const extra = surplus(view);
    if (extra.length > 0) {
      log.info("partitions given back", { partitions: extra });
      giveBack(extra).catch(notGivenBack);
      return Infinity;
    }
    if (view.called > 0) await take(view.called, "wanted", view);
    if (view.share > leases.size) await take(view.share - leases.size, "free", view);
    // What was moved here may be too much now.
    return leases.size > view.share ? BURST_MS : Math.ceil(view.freeIn) + BURST_MS;
  };

  const unsubscribe = [
    bus.subscribe(PLACEMENT, (body) => {
      if ((body as { worker?: unknown } | null)?.worker !== worker) wake.abort();
    }),
    bus.subscribe(aliveSubject(worker), (_, respond) => respond?.(null)),
  ];
  // Beside the loop, which may be waiting for the database. The rows may still be ours and be taken again, but effects and
  // answers of these partitions stop here and now.
  const watch = setInterval(dropRunOut, leaseMs / 4);
  const loop = (async () => {
    let known = false;
    while (!stopped.signal.aborted) {
      const last = performance.now();
      let next = Infinity;
      try {
        next = await beat();
        // The others have somebody to share with.
        if (!known) tell();
        known = true;
      } catch (error) {
        log.warn("leases not renewed", { reason: reason(error) });
        next = RETRY_MS;
      }
      const rest = Math.max(0, Math.min(next, leaseMs / 4 - (performance.now() - last)));
      await Promise.race([sleep(rest, stopped.signal), sleep(rest, wake.signal)]);
      if (wake.signal.aborted) await sleep(BURST_MS, stopped.signal);
      wake = new AbortController();
    }
  })();

  const leave = async () => {
    // At once, so that nobody leaves a share for this worker, and beside the turns that end.
    const draining = startDraining(store, worker).catch((error) =>
      log.warn("nobody knows that this worker ends", { reason: reason(error) })
    );
    const ends = Promise.all([loop, draining, options.onLeft(new Set(leases.keys()))]);
    await inTime(ends, DRAIN_MS);
    const mine = [...leases].map(([id, { epoch }]) => [id, epoch] as const);
    leases.clear();
    moves.of("given_back").inc(mine.length);
    await returnLeases(store, { worker, held: mine, ends: true });
    tell();
  };

  return {
    epochOf: (partition) => {
      const lease = leases.get(partition);
      return serves(lease) && !stopped.signal.aborted ? lease!.epoch : undefined;
    },
    owned: () => stopped.signal.aborted ? [] : [...leases].filter(([, lease]) => serves(lease)).map(([id]) => id),
    lost: (partition, epoch) => {
      if (leases.get(partition)?.epoch !== epoch) return;
      moves.of("lost").inc();
      void drop([partition]);
    },
    stop: async () => {
      stopped.abort();
      clearInterval(watch);
      await leave().catch((error) => log.warn("leases not given back, they run out", { reason: reason(error) }));
      for (const end of unsubscribe) end();
    },
  };
}
