/** One thread of the builders, and its job. A worker that ends or hangs is replaced. */
import type { Worker } from "node:worker_threads";
import { type Log, reason } from "#src/base/log.ts";
import { present } from "#src/base/present.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import type { JobName, JobOrder, JobReport } from "#src/threads/jobs.ts";
import { unbox } from "#src/threads/messages.ts";
import * as measure from "#src/threads/metrics.ts";

/** A thread that ends this soon after its start would end again: its successor is delayed. */
const EARLY_END_MS = 5_000;
const RESTART_MS = 1_000;
/** One day: timers hold at most 2^31 ms. */
export const MAX_TIMER_MS = 86_400_000;

/** A job that waits for a thread, or runs in one. */
export interface WaitingJob {
  readonly order: JobOrder;
  readonly deadline: number;
  readonly affinity: number;
  readonly slice: boolean;
  readonly settle: (result: Result<unknown, Failure>) => void;
  /** Called when a thread starts the job. */
  readonly onStart?: () => void;
}

export class BuilderThread {
  private worker: Worker | undefined;
  /** A worker that is loading in the background, until it replaces the present one. */
  private replacement: Worker | undefined;
  /** Whether the loaded worker waits for the present one to be idle. */
  private swapWhenIdle = false;
  private startedAt = 0;
  private currentJob: WaitingJob | undefined;
  private hangTimer: ReturnType<typeof setTimeout> | undefined;
  private restartTimer: ReturnType<typeof setTimeout> | undefined;
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
    return this.worker !== undefined && this.currentJob === undefined;
  }

  /** Whether it runs a slice of background work. */
  get slices(): boolean {
    return this.currentJob?.slice === true;
  }

  /** The running job. */
  get job(): JobName | undefined {
    return this.currentJob?.order.job;
  }

  /** @throws Error unless the thread is `free`. */
  take(waiting: WaitingJob): void {
    const worker = present(this.worker, "the worker of a free thread");
    this.currentJob = waiting;
    waiting.onStart?.();
    const left = Math.max(0, waiting.deadline - Date.now()) + this.graceMs;
    this.hangTimer = setTimeout(() => this.replace(waiting), Math.min(left, MAX_TIMER_MS));
    worker.postMessage(waiting.order);
  }

  /**
   * Loads a new worker while the present one works, then replaces it when idle. Resolves when loaded, or on failure.
   */
  async renew(order: JobOrder, ms: number): Promise<void> {
    const worker = this.open();
    this.replacement = worker;
    const loaded = await new Promise<boolean>((settle) => {
      const timer = setTimeout(() => settle(false), ms);
      const end = (done: boolean) => {
        clearTimeout(timer);
        settle(done);
      };
      worker.once("message", (report: JobReport) => end("result" in report));
      worker.once("exit", () => end(false));
      worker.postMessage(order);
    });
    if (this.replacement !== worker) return;
    this.swapWhenIdle = loaded;
    if (!loaded) {
      this.replacement = undefined;
      await worker.terminate();
    } else if (this.free) this.swap();
  }

  async stop(error: Result<never, Failure>): Promise<void> {
    this.stopped = true;
    clearTimeout(this.restartTimer);
    this.finish(error);
    const workers = [this.worker, this.replacement];
    this.worker = undefined;
    this.replacement = undefined;
    await Promise.all(workers.map((worker) => worker?.terminate()));
  }

  /** Replaces the idle worker by the loaded one. */
  private swap(): void {
    const cold = this.worker;
    this.worker = this.replacement;
    this.startedAt = Date.now();
    this.swapWhenIdle = false;
    this.replacement = undefined;
    void cold?.terminate();
  }

  private begin(): void {
    this.worker = this.open();
    this.startedAt = Date.now();
  }

  private open(): Worker {
    const worker = this.start();
    worker.on("message", (message: unknown) => this.onReport(worker, unbox(message) as JobReport));
    worker.on("error", (error) => this.onEnd(worker, reason(error)));
    worker.on("exit", () => this.onEnd(worker, "it ended"));
    worker.unref();
    return worker;
  }

  private onReport(worker: Worker, report: JobReport): void {
    if (worker !== this.worker || report.id !== this.currentJob?.order.id) return;
    if ("result" in report) this.finish(report.result);
    else {
      this.log.error("a builder job failed", { job: this.currentJob.order.job, reason: report.broke });
      this.finish(fail("crashed", "The job failed; see the log of the service."));
    }
    if (this.swapWhenIdle) this.swap();
    this.onFree();
  }

  private finish(result: Result<unknown, Failure>): void {
    clearTimeout(this.hangTimer);
    this.currentJob?.settle(result);
    this.currentJob = undefined;
  }

  private replace({ order }: WaitingJob): void {
    this.log.error("a builder thread hangs and is replaced", { job: order.job });
    const worker = this.worker;
    this.worker = undefined;
    void worker?.terminate();
    this.restartLater();
  }

  private onEnd(worker: Worker, why: string): void {
    if (worker === this.replacement) {
      this.replacement = undefined;
      this.swapWhenIdle = false;
    }
    if (worker !== this.worker) return;
    this.log.error("a builder thread died and is replaced", { reason: why, job: this.currentJob?.order.job });
    this.worker = undefined;
    this.restartLater();
  }

  private restartLater(): void {
    this.finish(fail("crashed", "The thread that ran the job crashed."));
    if (this.stopped) return;
    measure.restarts.of().inc();
    this.restartTimer = setTimeout(() => {
      if (this.swapWhenIdle) this.swap();
      else this.begin();
      this.onFree();
    }, Date.now() - this.startedAt < EARLY_END_MS ? RESTART_MS : 0);
  }
}
