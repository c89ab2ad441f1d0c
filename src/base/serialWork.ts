/** Runs long jobs one at a time, in the order of their first request. */
import { inTime } from "#src/base/clock.ts";

/**
 * A long job. `signal` aborts when its last request has expired. The job calls `pass` after the part that must not run
 * concurrently, so that the next job can start.
 */
export type LongWork = (signal: AbortSignal, pass: () => void) => Promise<void>;

interface Job {
  readonly work: LongWork;
  /** Time of the last request, by `performance.now()`. */
  requested: number;
  begun: boolean;
  /** Settles when the job has ended; `undefined` before it starts. */
  outcome?: Promise<void>;
}

export class SerialWork {
  private readonly jobs = new Map<string, Job>();
  private current: string | undefined;

  /** A job without a request for `expireMs` milliseconds is not started; if it runs, it is aborted. */
  constructor(private readonly expireMs = 60_000) {}

  /**
   * Queues a job unless one of that name is queued, and waits at most `ms` milliseconds for it if it runs. Resolves to
   * whether it is done; otherwise it continues as long as `advance` is called again. Rejects when the job rejects.
   */
  async advance(name: string, work: LongWork, ms: number): Promise<boolean> {
    let job = this.jobs.get(name);
    if (job === undefined) this.jobs.set(name, job = { work, requested: 0, begun: false });
    job.requested = performance.now();
    this.next();
    if (job.outcome === undefined) return false;
    return await inTime(job.outcome.then(() => true), ms) ?? false;
  }

  /** Starts the first queued job if none is running. */
  private next(): void {
    if (this.current !== undefined) return;
    for (const [name, job] of this.jobs) {
      if (job.begun) continue;
      if (performance.now() - job.requested <= this.expireMs) return this.begin(name, job);
      this.jobs.delete(name);
    }
  }

  private begin(name: string, job: Job): void {
    this.current = name;
    job.begun = true;
    const expired = new AbortController();
    const watch = setInterval(() => {
      if (performance.now() - job.requested > this.expireMs) {
        expired.abort(new Error("the last request for this work expired"));
      }
    }, this.expireMs / 4);
    const pass = () => {
      if (this.current !== name) return;
      this.current = undefined;
      this.next();
    };
    job.outcome = job.work(expired.signal, pass).finally(() => {
      clearInterval(watch);
      this.jobs.delete(name);
      pass();
    });
    // A rejection without a waiting request is ignored: the next request starts the job again.
    job.outcome.catch(() => {});
  }
}
