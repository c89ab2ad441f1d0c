/**
 * Builder threads: everything that costs CPU, away from the loop that renews leases and serves HTTP.
 *
 * A thread does one job at a time, so a job that hangs or breaks its thread concerns no other: the thread is replaced. Waiting jobs stand in
 * one queue in the order in which they came; a free thread that a job's affinity names gets it before others. Jobs that stretch a passphrase
 * let others pass while two of them are under way. Slices of long work stand in a queue apart: they get a thread that nobody else wants, and
 * one now and then while all are wanted.
 */
import os from "node:os";
import type { Worker } from "node:worker_threads";
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { activeSpan, endSpan, refOf, type Span, startSpan } from "#src/base/trace.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import { packed } from "#src/builders/threadCodec.ts";
import type { JobFailure, JobInput, JobName, JobValue, Order, Report, ThreadFailure } from "#src/builders/jobs.ts";
import * as measure from "#src/builders/metrics.ts";
import { startThread } from "#src/builders/worker.ts";

export interface BuildersOptions {
  /** Threads; cores − 1 unless set, at least 1. */
  readonly threads?: number;
  /** Jobs that may wait; one more is `overloaded`. 256 unless set. */
  readonly queueLimit?: number;
  /** How long a job may go on past its deadline before its thread is replaced, in ms. Two seconds unless set. */
  readonly graceMs?: number;
  readonly log: Log;
  /** Starts a thread; another one in tests. */
  readonly start?: () => Worker;
}

export interface RunOptions {
  /** When the caller stops waiting, in ms since 1970. */
  readonly deadline: number;
  /** Jobs with the same one go to the same thread while it is free: its code and data are warm. */
  readonly affinity?: string;
  /** Whether it is a slice of background work: it must be short, and all other jobs go first. */
  readonly slice?: boolean;
}

export interface Builders {
  /** Has a thread do a job. Never rejects. */
  run<J extends JobName>(
    job: J,
    input: JobInput<J>,
    options: RunOptions,
  ): Promise<Result<JobValue<J>, JobFailure<J> | ThreadFailure>>;
  /** Evaluates scripts. Rejects when the threads cannot do it within 30 s: that says nothing about the scripts. */
  readonly evaluate: Evaluate;
  /** Loads in every thread what jobs need. Called after the ports listen. */
  warm(): Promise<void>;
  /** Ends all threads; jobs under way and waiting fail as `overloaded`. */
  stop(): Promise<void>;
}

const EVALUATION_MS = 30_000;
const WARM_MS = 60_000;
/** A thread that dies so soon after its start will do so again: its successor waits. */
const EARLY_MS = 5_000;
const RESTART_MS = 1_000;
/** Jobs that stretch a passphrase. They hold memory and time of a thread on purpose, so they never have more than two threads of many. */
const STRETCHING: ReadonlySet<JobName> = new Set<JobName>(["openRoot", "signMessages", "reseal", "publicKeys"]);
const STRETCHING_LIMIT = 2;
/** A day: timers hold no more than 2^31 ms. */
const LONGEST_MS = 86_400_000;
/** How long slices of long work let others pass at the most, in milliseconds: then one of them is next. */
const SLICES_PASS_MS = 1_000;

interface Waiting {
  readonly order: Order;
  readonly deadline: number;
  readonly affinity: number;
  readonly slice: boolean;
  readonly settle: (result: Result<unknown, Failure>) => void;
  /** Told when a thread begins with it. */
  readonly begin?: () => void;
}

/** Starts the threads. They load little until a job or `warm` asks for more. */
export function createBuilders(options: BuildersOptions): Builders {
  const pool = new Pool(options);
  const run: Builders["run"] = (job, input, { deadline, affinity, slice }) =>
    pool.submit(job, packed(job, input), deadline, affinity, slice) as Promise<Result<never, never>>;
  return {
    run,
    async evaluate(input) {
      const result = await run("evaluate", input, { deadline: Date.now() + EVALUATION_MS });
      if (result.ok) return result.value;
      throw new Error(`no evaluation: ${result.error.message}`);
    },
    warm: () => pool.warm(),
    stop: () => pool.stop(),
  };
}

class Pool {
  private readonly threads: Thread[];
  private readonly queue: Waiting[] = [];
  /** Slices of long work. */
  private readonly slices: Waiting[] = [];
  /** When a thread last took a slice, or slices began to wait. */
  private slicesPassed = 0;
  private readonly queueLimit: number;
  private nextId = 1;
  private stopped = false;
  private readonly unmeasure: readonly (() => void)[];

  constructor(options: BuildersOptions) {
    const { threads = os.availableParallelism() - 1, queueLimit = 256, graceMs = 2_000, log, start = startThread } =
      options;
    this.queueLimit = queueLimit;
    const count = Math.max(1, Math.floor(threads));
    this.threads = Array.from(
      { length: count },
      (_, number) => new Thread(start, graceMs, log.with({ thread: number }), () => this.assign()),
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
      const measured = measureJob(job, settle);
      if (this.stopped) return measured.settle(fail("overloaded", "The service is stopping."));
      const left = deadline - Date.now();
      if (left <= 0) return measured.settle(fail("deadline", "There was no time left for this."));
      if (queue.length >= this.queueLimit) {
        return measured.settle(fail("overloaded", "Too many jobs are waiting; try again in a moment."));
      }
      const timer = setTimeout(() => {
        const place = queue.indexOf(waiting);
        if (place >= 0) queue.splice(place, 1);
        waiting.settle(fail("deadline", "The job was not done in time."));
      }, Math.min(left, LONGEST_MS));
      const waiting: Waiting = {
        order: { id: this.nextId++, job, input },
        deadline,
        affinity: hash(affinity),
        slice,
        settle: (result) => {
          clearTimeout(timer);
          measured.settle(result);
        },
        begin: measured.begin,
      };
      if (slice && queue.length === 0) this.slicesPassed = performance.now();
      queue.push(waiting);
      this.assign();
    });
  }

  /** One of them takes jobs meanwhile: the first that anybody asks for have little to load, such as keys. */
  async warm(): Promise<void> {
    const deadline = Date.now() + WARM_MS;
    const order = () => ({ id: this.nextId++, job: "warm" as const, input: null });
    const inPlace = (thread: Thread) =>
      new Promise<void>((settle) => {
        if (thread.free) thread.take({ order: order(), deadline, affinity: 0, slice: false, settle: () => settle() });
        else settle(); // It is at work, so it is warming itself.
      });
    const [last, ...others] = this.threads;
    if (others.length === 0) {
      await this.quiet();
      return this.stopped ? undefined : await last!.renew(order(), WARM_MS);
    }
    await Promise.all(others.map(inPlace));
    await inPlace(last!);
  }

  /** Waits until nobody has wanted anything for a moment, or for some seconds: what loads takes the CPU of what is wanted now. */
  private async quiet(): Promise<void> {
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
    if (performance.now() - this.slicesPassed > SLICES_PASS_MS) this.assignSlice();
    this.assignJobs();
    while (this.assignSlice());
  }

  /** Gives a slice to a free thread; false where there is none of either, or slices have all threads but one. */
  private assignSlice(): boolean {
    const most = Math.max(1, this.threads.length - 1);
    if (this.slices.length === 0 || this.threads.filter(({ slices }) => slices).length >= most) return false;
    const thread = this.threads.find(({ free }) => free);
    if (!thread) return false;
    this.slicesPassed = performance.now();
    thread.take(this.slices.shift()!);
    return true;
  }

  private assignJobs(): void {
    let stretching = this.threads.filter(({ job }) => job !== undefined && STRETCHING.has(job)).length;
    for (let place = 0; place < this.queue.length;) {
      const { affinity, order } = this.queue[place]!;
      const stretches = STRETCHING.has(order.job);
      if (stretches && stretching >= STRETCHING_LIMIT) {
        place++;
        continue;
      }
      const liked = this.threads[affinity % this.threads.length]!;
      const thread = liked.free ? liked : this.threads.find(({ free }) => free);
      if (!thread) return;
      thread.take(this.queue.splice(place, 1)[0]!);
      if (stretches) stretching++;
    }
  }
}

/** Counts a job, its time in the queue and in a thread, and gives it a span under what asked for it. */
function measureJob(job: JobName, settle: (result: Result<unknown, Failure>) => void) {
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

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}

/** One thread and what it is at; a new worker takes the place of one that died or hangs. */
class Thread {
  private worker: Worker | undefined;
  /** One that has loaded what jobs need, until it takes the place of the other. */
  private warmed: Worker | undefined;
  /** Whether it waits for the other to have nothing to do. */
  private waiting = false;
  private startedAt = 0;
  private current: Waiting | undefined;
  private hanging: ReturnType<typeof setTimeout> | undefined;
  private restart: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;

  constructor(
    private readonly start: () => Worker,
    private readonly graceMs: number,
    private readonly log: Log,
    private readonly onFree: () => void,
  ) {
    this.begin();
  }

  get free(): boolean {
    return this.worker !== undefined && this.current === undefined;
  }

  /** Whether it does a slice of long work. */
  get slices(): boolean {
    return this.current?.slice === true;
  }

  /** What it is at. */
  get job(): JobName | undefined {
    return this.current?.order.job;
  }

  take(waiting: Waiting): void {
    this.current = waiting;
    waiting.begin?.();
    const left = Math.max(0, waiting.deadline - Date.now()) + this.graceMs;
    this.hanging = setTimeout(() => this.replace(waiting), Math.min(left, LONGEST_MS));
    this.worker!.postMessage(waiting.order);
  }

  /** Has another worker load what jobs need while this one works, and puts it in its place; resolves when it has loaded, or cannot. */
  async renew(order: Order, ms: number): Promise<void> {
    const worker = this.open();
    this.warmed = worker;
    const loaded = await new Promise<boolean>((settle) => {
      const timer = setTimeout(() => settle(false), ms);
      const end = (done: boolean) => {
        clearTimeout(timer);
        settle(done);
      };
      worker.once("message", (report: Report) => end("result" in report));
      worker.once("exit", () => end(false));
      worker.postMessage(order);
    });
    if (this.warmed !== worker) return;
    this.waiting = loaded;
    if (!loaded) {
      this.warmed = undefined;
      await worker.terminate();
    } else if (this.free) this.exchange();
  }

  async stop(error: Result<never, Failure>): Promise<void> {
    this.stopped = true;
    clearTimeout(this.restart);
    this.finish(error);
    const workers = [this.worker, this.warmed];
    this.worker = undefined;
    this.warmed = undefined;
    await Promise.all(workers.map((worker) => worker?.terminate()));
  }

  /** Puts the warm worker in the place of the one that has nothing to do. */
  private exchange(): void {
    const cold = this.worker;
    this.worker = this.warmed;
    this.startedAt = Date.now();
    this.waiting = false;
    this.warmed = undefined;
    void cold?.terminate();
  }

  private begin(): void {
    this.worker = this.open();
    this.startedAt = Date.now();
  }

  private open(): Worker {
    const worker = this.start();
    worker.on("message", (report: Report) => this.hear(worker, report));
    worker.on("error", (error) => this.died(worker, reason(error)));
    worker.on("exit", () => this.died(worker, "it ended"));
    worker.unref();
    return worker;
  }

  private hear(worker: Worker, report: Report): void {
    if (worker !== this.worker || report.id !== this.current?.order.id) return;
    if ("result" in report) this.finish(report.result);
    else {
      this.log.error("a builder's job broke", { job: this.current.order.job, reason: report.broke });
      this.finish(fail("crashed", "The job broke; the log says how."));
    }
    if (this.waiting) this.exchange();
    this.onFree();
  }

  private finish(result: Result<unknown, Failure>): void {
    clearTimeout(this.hanging);
    this.current?.settle(result);
    this.current = undefined;
  }

  private replace({ order }: Waiting): void {
    this.log.error("a builder thread hangs and is replaced", { job: order.job });
    const worker = this.worker;
    this.worker = undefined;
    void worker?.terminate();
    this.lost();
  }

  private died(worker: Worker, why: string): void {
    if (worker === this.warmed) {
      this.warmed = undefined;
      this.waiting = false;
    }
    if (worker !== this.worker) return;
    this.log.error("a builder thread died and is replaced", { reason: why, job: this.current?.order.job });
    this.worker = undefined;
    this.lost();
  }

  private lost(): void {
    this.finish(fail("crashed", "The thread that did the job broke."));
    if (this.stopped) return;
    measure.restarts.of().inc();
    this.restart = setTimeout(() => {
      if (this.waiting) this.exchange();
      else this.begin();
      this.onFree();
    }, Date.now() - this.startedAt < EARLY_MS ? RESTART_MS : 0);
  }
}
