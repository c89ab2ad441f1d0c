/**
 * Builder threads: work that costs CPU, away from the event loop that renews leases and serves HTTP.
 *
 * A thread runs one job at a time, so a job that hangs or crashes its thread affects no other; the thread is replaced.
 * Waiting jobs are in one queue, in order of arrival; a job with an affinity prefers its thread if that is free. Jobs
 * that are heavy are passed over while two of them run. Slices of background work have their own queue: they
 * get threads that no other job needs, and one of them is run from time to time while all threads are needed.
 */
import os from "node:os";
import type { Worker } from "node:worker_threads";
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { elementAt } from "#src/base/present.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { activeSpan, endSpan, refOf, type Span, startSpan } from "#src/base/trace.ts";
import { BuilderThread, MAX_TIMER_MS, type WaitingJob } from "#src/threads/builderThread.ts";
import type { JobFailure, JobInput, JobName, JobValue, ThreadFailure } from "#src/threads/jobs.ts";
import * as measure from "#src/threads/metrics.ts";

export interface BuildersOptions {
  /** Threads; cores − 1 by default, at least 1. */
  readonly threads?: number;
  /** Jobs that may wait; further ones fail as `overloaded`. 256 by default. */
  readonly queueLimit?: number;
  /** Milliseconds that a job may exceed its deadline before its thread is replaced; 2,000 by default. */
  readonly graceMs?: number;
  readonly log: Log;
  /** Starts a thread, whose module has a handler for every job. */
  readonly start: () => Worker;
  /** Encodes a job's input for a message, which the thread decodes. */
  readonly encode: (input: unknown) => unknown;
  /** Jobs that use much memory and time by design: at most two threads run them. */
  readonly heavy: ReadonlySet<JobName>;
}

export interface RunOptions {
  /** When the caller stops waiting, in ms since 1970. */
  readonly deadline: number;
  /** Jobs with the same affinity prefer the same thread: its code and data are warm. */
  readonly affinity?: string;
  /** Whether this is a short slice of background work, which runs after all other jobs. */
  readonly slice?: boolean;
}

export interface Builders {
  /** Runs a job in a thread. Never rejects. */
  run<J extends JobName>(
    job: J,
    input: JobInput<J>,
    options: RunOptions,
  ): Promise<Result<JobValue<J>, JobFailure<J> | ThreadFailure>>;
  /** Loads the code that jobs need in every thread. Called after the ports listen. */
  warm(): Promise<void>;
  /** Ends all threads; running and waiting jobs fail as `overloaded`. */
  stop(): Promise<void>;
}

const WARM_MS = 60_000;
/** Most threads that run heavy jobs. */
const HEAVY_LIMIT = 2;
/** Milliseconds that slices wait at most while other jobs run; then one slice is next. */
const MAX_SLICE_WAIT_MS = 1_000;

/** Starts the threads. They load little until a job or `warm` needs more. */
export function createBuilders(options: BuildersOptions): Builders {
  const pool = new ThreadPool(options);
  return {
    run: (job, input, { deadline, affinity, slice }) =>
      pool.submit(job, options.encode(input), deadline, affinity, slice) as Promise<Result<never, never>>,
    warm: () => pool.warm(),
    stop: () => pool.stop(),
  };
}

class ThreadPool {
  private readonly threads: BuilderThread[];
  private readonly queue: WaitingJob[] = [];
  /** Slices of background work. */
  private readonly slices: WaitingJob[] = [];
  /** When a thread last took a slice, or slices began to wait. */
  private lastSliceAt = 0;
  private readonly queueLimit: number;
  private readonly heavy: ReadonlySet<JobName>;
  private nextId = 1;
  private stopped = false;
  private readonly unmeasure: readonly (() => void)[];

  constructor(options: BuildersOptions) {
    const { threads = os.availableParallelism() - 1, queueLimit = 256, graceMs = 2_000, log, start, heavy } = options;
    this.queueLimit = queueLimit;
    this.heavy = heavy;
    const count = Math.max(1, Math.floor(threads));
    this.threads = Array.from(
      { length: count },
      (_, number) => new BuilderThread(start, graceMs, log.with({ thread: number }), () => this.assign()),
    );
    this.unmeasure = [
      measure.threads.of().from(() => this.threads.length),
      measure.busy.of().from(() => this.threads.filter(({ free }) => !free).length),
      measure.waiting.of().from(() => this.queue.length),
      measure.slicesWaiting.of().from(() => this.slices.length),
    ];
  }

  submit(
    job: JobName,
    input: unknown,
    deadline: number,
    affinity = "",
    slice = false,
  ): Promise<Result<unknown, Failure>> {
    const queue = slice ? this.slices : this.queue;
    return new Promise((settle) => {
      const measured = instrument(job, settle);
      if (this.stopped) return measured.settle(fail("overloaded", "The service is stopping."));
      const left = deadline - Date.now();
      if (left <= 0) return measured.settle(fail("deadline", "The timeout expired before the job started."));
      if (queue.length >= this.queueLimit) {
        return measured.settle(fail("overloaded", "Too many jobs are queued; try again later."));
      }
      const timer = setTimeout(() => {
        const place = queue.indexOf(waiting);
        if (place >= 0) queue.splice(place, 1);
        waiting.settle(fail("deadline", "The job did not finish in time."));
      }, Math.min(left, MAX_TIMER_MS));
      const waiting: WaitingJob = {
        order: { id: this.nextId++, job, input },
        deadline,
        affinity: hash(affinity),
        slice,
        settle: (result) => {
          clearTimeout(timer);
          measured.settle(result);
        },
        onStart: measured.begin,
      };
      if (slice && queue.length === 0) this.lastSliceAt = performance.now();
      queue.push(waiting);
      this.assign();
    });
  }

  /** Warms one thread after the others: meanwhile it takes the first jobs, which need little code (keys). */
  async warm(): Promise<void> {
    const deadline = Date.now() + WARM_MS;
    const order = () => ({ id: this.nextId++, job: "warm" as const, input: null });
    const inPlace = (thread: BuilderThread) =>
      new Promise<void>((settle) => {
        if (thread.free) thread.take({ order: order(), deadline, affinity: 0, slice: false, settle: () => settle() });
        else settle(); // a thread at work loads what it needs
      });
    const last = elementAt(this.threads, 0);
    const others = this.threads.slice(1);
    if (others.length === 0) {
      await this.waitUntilIdle();
      return this.stopped ? undefined : await last.renew(order(), WARM_MS);
    }
    await Promise.all(others.map(inPlace));
    await inPlace(last);
  }

  /** Waits until no job has run for a moment, at most some seconds: loading would compete with jobs for the CPU. */
  private async waitUntilIdle(): Promise<void> {
    for (let idle = 0, left = 50; idle < 3 && left > 0 && !this.stopped; left--) {
      await sleep(100);
      idle = this.queue.length === 0 && this.threads.every(({ job }) => job === undefined) ? idle + 1 : 0;
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    for (const end of this.unmeasure) end();
    const error = fail("overloaded", "The service is stopping.");
    for (const { settle } of [...this.queue.splice(0), ...this.slices.splice(0)]) settle(error);
    await Promise.all(this.threads.map((thread) => thread.stop(error)));
  }

  private assign(): void {
    if (performance.now() - this.lastSliceAt > MAX_SLICE_WAIT_MS) this.assignSlice();
    this.assignJobs();
    while (this.assignSlice());
  }

  /** Gives a slice to a free thread; false if there is no slice or thread, or slices have all threads but one. */
  private assignSlice(): boolean {
    const most = Math.max(1, this.threads.length - 1);
    const [next] = this.slices;
    if (!next || this.threads.filter(({ slices }) => slices).length >= most) return false;
    const thread = this.threads.find(({ free }) => free);
    if (!thread) return false;
    this.lastSliceAt = performance.now();
    this.slices.shift();
    thread.take(next);
    return true;
  }

  private assignJobs(): void {
    let atHeavy = this.threads.filter(({ job }) => job !== undefined && this.heavy.has(job)).length;
    for (let place = 0; place < this.queue.length;) {
      const next = elementAt(this.queue, place);
      const isHeavy = this.heavy.has(next.order.job);
      if (isHeavy && atHeavy >= HEAVY_LIMIT) {
        place++;
        continue;
      }
      const liked = elementAt(this.threads, next.affinity % this.threads.length);
      const thread = liked.free ? liked : this.threads.find(({ free }) => free);
      if (!thread) return;
      this.queue.splice(place, 1);
      thread.take(next);
      if (isHeavy) atHeavy++;
    }
  }
}

/** Measures a job's time in the queue and in its thread, and gives it a span below the caller's. */
function instrument(job: JobName, settle: (result: Result<unknown, Failure>) => void) {
  const asked = performance.now();
  let begun: number | undefined;
  let span: Span | undefined;
  const parent = refOf(activeSpan());
  return {
    begin: () => {
      begun = performance.now();
      measure.waitSeconds.of(job).observe((begun - asked) / 1_000);
      span = startSpan(`builder ${job}`, "internal", parent, { "arbor.job": job, "arbor.waited_ms": begun - asked });
    },
    settle: (result: Result<unknown, Failure>) => {
      const outcome = result.ok ? "ok" : result.error.code;
      measure.jobs.of(job, outcome).inc();
      if (begun !== undefined) measure.jobSeconds.of(job).since(begun);
      endSpan(span, result.ok ? undefined : outcome);
      settle(result);
    },
  };
}

/** FNV-1a hash. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}
