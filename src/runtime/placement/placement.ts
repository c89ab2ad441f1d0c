/**
 * Assigns partitions to workers by leases in PostgreSQL, renewed four times in their time to live.
 *
 * A worker serves a partition only while the lease has not expired by its own monotonic clock, counted from when it
 * sent the renewal. Its writes count only while the epoch is the one it took. Each worker aims at its share: one with
 * more returns partitions; one with less takes those that are free, expired, or held by a suspect that does not answer
 * (`failureDetector.ts`). A partition that an operator moved is `wanted` by one worker (`movePartition.ts`) and stays
 * there as long as it fits into that worker's share. A worker takes no partition once others took some with later versions
 * of its kinds: it keeps what it has, until it stops or they claim it.
 */
import { inTime, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { moves } from "#src/runtime/metrics.ts";
import {
  clearSuspicion,
  type KindVersions,
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
  /** Must answer quickly under load: a separate pool where there is much other work. */
  readonly store: Store;
  readonly bus: Bus;
  readonly worker: string;
  /** Versions of the kinds that the worker runs. */
  readonly kinds: KindVersions;
  readonly partitions: number;
  readonly leaseMs: number;
  /** Prepares partitions just taken; they are served once it resolves. */
  readonly onTaken: (partitions: readonly number[]) => Promise<void>;
  /** Called when partitions just taken are served. */
  readonly onServed: (partitions: readonly number[]) => void;
  /** Called when partitions are no longer served; resolves when their running turns have ended. */
  readonly onLeft: (partitions: ReadonlySet<number>) => Promise<void>;
  readonly log: Log;
}

export interface Placement {
  /** Epoch under which a partition is served here. */
  epochOf(partition: number): number | undefined;
  /** The partitions served here. */
  owned(): readonly number[];
  /** To be called when a write found that the epoch was raised. */
  lost(partition: number, epoch: number): void;
  /** Stops serving, waits for running turns, returns all leases. */
  stop(): Promise<void>;
}

interface Lease {
  readonly epoch: number;
  /** By `performance.now()`, which continues while the process is suspended. */
  until: number;
  ready: boolean;
  /** The owner that an operator chose. */
  wanted: string | undefined;
}

/** What this worker decides from the rows of workers and partitions. */
interface ClusterView {
  /** Number of partitions that this worker should hold. */
  readonly share: number;
  /** The other live workers that take partitions. */
  readonly others: readonly string[];
  /** Suspects without a subscriber. */
  readonly gone: readonly string[];
  /** Number of partitions that an operator moved here and this worker does not hold yet. */
  readonly called: number;
  /** Whether this worker takes no partitions, because others with later versions of its kinds did. */
  readonly outdated: boolean;
  /** Milliseconds until the next lease of another worker expires. */
  readonly freeIn: number;
}

/** How long running turns may take before the leases are returned anyway, in milliseconds; later writes are fenced. */
const DRAIN_MS = 3_000;
/** Pause after a failure, in milliseconds. */
const RETRY_MS = 250;
/** Pause after a notification, in milliseconds: they come in bursts. */
const BURST_MS = 10;

/** Starts the placement of a worker. */
export function startPlacement(options: PlacementOptions): Placement {
  return new RunningPlacement(options);
}

class RunningPlacement implements Placement {
  private readonly leases = new Map<number, Lease>();
  private readonly stopped = new AbortController();
  private wake = new AbortController();
  private outdated = false;
  /** A message with the name of this worker and another instance is of a second process with the name. */
  private readonly instance = crypto.randomUUID();
  private readonly ends: readonly (() => void)[];
  private readonly loop: Promise<void>;

  constructor(private readonly options: PlacementOptions) {
    const { bus, worker, leaseMs, log } = options;
    // Not in the loop, which may be waiting for the database. The leases may still be held in the database and be taken
    // again, but effects and replies of these partitions must stop now.
    const watch = setInterval(() => this.dropExpired(), leaseMs / 4);
    this.ends = [
      bus.subscribe(PLACEMENT, (body) => {
        if (memberOf(body, "worker") !== worker) this.wake.abort();
        else if (memberOf(body, "instance") !== this.instance) {
          log.error("another process has the name of this worker: each takes the partitions of the other (--worker)");
        }
      }),
      bus.subscribe(aliveSubject(worker), (_, respond) => respond?.(null)),
    ];
    this.stopped.signal.addEventListener("abort", () => clearInterval(watch), { once: true });
    this.loop = this.run();
  }

  epochOf(partition: number): number | undefined {
    const lease = this.leases.get(partition);
    return serves(lease) && !this.stopped.signal.aborted ? lease.epoch : undefined;
  }

  owned(): readonly number[] {
    if (this.stopped.signal.aborted) return [];
    return [...this.leases].filter(([, lease]) => serves(lease)).map(([id]) => id);
  }

  lost(partition: number, epoch: number): void {
    if (this.leases.get(partition)?.epoch !== epoch) return;
    moves.of("lost").inc();
    void this.drop([partition]);
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.leave().catch((error) =>
      this.options.log.warn("leases could not be released and will expire", { reason: reason(error) })
    );
    for (const end of this.ends) end();
  }

  private notify(): void {
    this.options.bus.publish(PLACEMENT, { worker: this.options.worker, instance: this.instance });
  }

  private async run(): Promise<void> {
    const { stopped, options: { leaseMs, log } } = this;
    let announced = false;
    while (!stopped.signal.aborted) {
      const last = performance.now();
      let next = Infinity;
      try {
        next = await this.beat();
        // The others compute their shares with this worker.
        if (!announced) this.notify();
        announced = true;
      } catch (error) {
        log.warn("leases could not be renewed", { reason: reason(error) });
        next = RETRY_MS;
      }
      const rest = Math.max(0, Math.min(next, leaseMs / 4 - (performance.now() - last)));
      await sleep(rest, stopped.signal, this.wake.signal);
      if (this.wake.signal.aborted) await sleep(BURST_MS, stopped.signal);
      this.wake = new AbortController();
    }
  }

  /** One round. Resolves to the longest time until the next one, in milliseconds. */
  private async beat(): Promise<number> {
    const { leases, options: { worker, log } } = this;
    const view = await this.renew();
    if (this.stopped.signal.aborted) return 0;
    const extra = surplus(worker, [...leases], view);
    if (extra.length > 0) {
      log.info("partitions released", { partitions: extra });
      this.giveBack(extra).catch((error) => this.notGivenBack(error));
      return Infinity;
    }
    if (view.outdated) {
      if (!this.outdated) log.warn("workers with later versions of the actors took partitions; this one takes no more");
      this.outdated = true;
      return Infinity;
    }
    this.outdated = false;
    if (view.called > 0) await this.take(view.called, "wanted", view);
    if (view.share > leases.size) await this.take(view.share - leases.size, "free", view);
    // With partitions that were moved here it may now exceed its share.
    return leases.size > view.share ? BURST_MS : Math.ceil(view.freeIn) + BURST_MS;
  }

  /** Renews the leases, drops those that were lost, and reads the other workers. */
  private async renew(): Promise<ClusterView> {
    const { leases, options } = this;
    const { store, worker, leaseMs, kinds, log } = options;
    const held = [...leases];
    const asked = performance.now();
    const view = await renewLeases(store, {
      worker,
      leaseMs,
      kinds,
      held: held.map(([id, { epoch }]) => [id, epoch]),
    });
    const kept = new Map((view.kept ?? []).map(({ id, wanted }) => [id, wanted ?? undefined]));
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
      void this.drop(lost);
    }
    return await assess(options, view, () => leases.size, () => this.notify());
  }

  /** Takes at most `most` partitions: those that an operator moved here, or those free to all. */
  private async take(most: number, which: "wanted" | "free", { others, gone }: ClusterView): Promise<void> {
    const { leases, options } = this;
    const { store, worker, leaseMs, kinds, log } = options;
    const asked = performance.now();
    const held = [...leases.keys()];
    const rows = await takeLeases(store, { worker, leaseMs, kinds, most, which, held, others, gone });
    if (rows.length === 0) return;
    moves.of("taken").inc(rows.length);
    const taken = rows.map(({ id, epoch, wanted }) => {
      const lease = { epoch: Number(epoch), until: asked + leaseMs, ready: false, wanted: wanted ?? undefined };
      leases.set(id, lease);
      return [id, lease] as const;
    });
    const still = () => taken.filter(([id, lease]) => leases.get(id) === lease);
    log.info("partitions taken", { partitions: taken.map(([id]) => id) });
    // Not awaited: renewals must continue meanwhile.
    options.onTaken(taken.map(([id]) => id)).then(() => {
      for (const [, lease] of still()) lease.ready = true;
      options.onServed(still().map(([id]) => id));
      this.notify();
    }, async (error) => {
      log.warn("partitions could not be acquired", { reason: reason(error) });
      await sleep(RETRY_MS, this.stopped.signal);
      await this.giveBack(still().map(([id]) => id));
      this.wake.abort();
    }).catch((error) => this.notGivenBack(error));
  }

  private async giveBack(partitions: readonly number[]): Promise<void> {
    const mine = partitions.flatMap((id) => {
      const lease = this.leases.get(id);
      return lease === undefined ? [] : [[id, lease.epoch] as const];
    });
    if (mine.length === 0) return;
    moves.of("given_back").inc(mine.length);
    await this.drop(partitions);
    await returnLeases(this.options.store, { worker: this.options.worker, held: mine });
    this.notify();
  }

  private async notGivenBack(error: unknown): Promise<void> {
    this.options.log.warn("partitions could not be released", { reason: reason(error) });
    await sleep(RETRY_MS, this.stopped.signal);
    this.wake.abort();
  }

  /** Stops serving partitions; resolves when their running turns have ended. */
  private async drop(partitions: readonly number[]): Promise<void> {
    for (const partition of partitions) this.leases.delete(partition);
    await this.options.onLeft(new Set(partitions)).catch((error) =>
      this.options.log.error("partitions could not be left", { partitions, reason: reason(error) })
    );
  }

  private dropExpired(): void {
    const expired = [...this.leases].filter(([, { until }]) => performance.now() >= until).map(([id]) => id);
    if (expired.length === 0) return;
    this.options.log.warn("leases expired", { partitions: expired });
    moves.of("ran_out").inc(expired.length);
    void this.drop(expired);
  }

  /** Returns all leases. */
  private async leave(): Promise<void> {
    const { leases, options: { store, worker, log, onLeft } } = this;
    // First and in parallel with the turns that end, so that the others leave no share for this worker.
    const draining = startDraining(store, worker).catch((error) =>
      log.warn("draining could not be announced", { reason: reason(error) })
    );
    const ends = Promise.all([this.loop, draining, onLeft(new Set(leases.keys()))]);
    await inTime(ends, DRAIN_MS);
    const mine = [...leases].map(([id, { epoch }]) => [id, epoch] as const);
    leases.clear();
    moves.of("given_back").inc(mine.length);
    await returnLeases(store, { worker, held: mine, ends: true });
    this.notify();
  }
}

/** Whether the partition of a lease is served here. */
function serves(lease: Lease | undefined): lease is Lease {
  return lease !== undefined && lease.ready && performance.now() < lease.until;
}

/**
 * Pings the suspects, this worker among them, and computes the share of this worker. `held` gives the number of
 * partitions that it holds; `notify` tells the others that it is no longer suspect.
 */
async function assess(
  { store, bus, worker, log, partitions }: PlacementOptions,
  { suspect, outdated, others, mine, called, free_in }: LeaseView,
  held: () => number,
  notify: () => void,
): Promise<ClusterView> {
  const all = others ?? [];
  const gone = (await Promise.all(
    all.filter((other) => other.suspect).map(async (other) =>
      await ping(bus, other.worker) === "gone" ? other.worker : []
    ),
  )).flat();
  const live = all.filter((other) => !gone.includes(other.worker));
  // An outdated worker keeps what it has until others take their shares of it, and leaves the rest to them.
  const current = live.filter((other) => !other.outdated);
  const common = { others: current.map((other) => other.worker), gone, outdated, freeIn: free_in ?? Infinity };
  // Callers cannot reach this worker: it takes nothing, and returns only what others claim.
  if (suspect && await ping(bus, worker) !== "there") return { ...common, share: held(), called: 0 };
  if (suspect) {
    await clearSuspicion(store, worker);
    log.info("this worker is no longer suspect");
    notify();
  }
  // By the rows, as the others count: they include partitions whose taking was not answered, or whose leases expired
  // here. With other numbers each of two workers would leave a partition to the other.
  const loads = [...outdated ? live : current, { worker, partitions: mine }];
  return { ...common, share: shareOf(worker, loads, partitions), called };
}

/**
 * The partitions to return: those that an operator moved to another worker, and those above the share. Of the latter
 * first the ones that were not moved here, the last taken first; then the ones moved here, the longest held first.
 */
function surplus(
  worker: string,
  held: readonly (readonly [id: number, lease: Lease])[],
  { share, others }: ClusterView,
): number[] {
  const elsewhere = held.filter(([, { wanted }]) => wanted !== undefined && others.includes(wanted));
  const here = held.filter(([, { wanted }]) => wanted === worker);
  const rest = held.filter((lease) => !elsewhere.includes(lease) && !here.includes(lease)).reverse();
  const extra = Math.max(0, here.length + rest.length - share);
  return [...elsewhere, ...[...rest, ...here].slice(0, extra)].map(([id]) => id);
}
