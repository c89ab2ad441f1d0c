/**
 * Several callers, one commit: what is asked for together is done in order and its rows are written in one transaction, after which
 * everybody is answered.
 */

/** Milliseconds that jobs are done for before what they gave is committed. */
const BATCH_MS = 50;

/** One caller's doing. */
export interface Job<Row> {
  /** Does it; the row to be written, if there is one, and the answer to give once that is committed. */
  run(): Promise<{ readonly row?: Row; readonly answer: () => void }>;
  /** Tells the caller that it came to nothing. */
  failed(): void;
}

export class Batch<Row> {
  #jobs: Job<Row>[] = [];

  /**
   * `exclusive` runs work when nothing else runs; `commit` writes rows; `failed` hears of what went wrong, after which nothing that
   * the jobs of that batch did counts.
   */
  constructor(
    private readonly exclusive: (work: () => Promise<void>) => Promise<void>,
    private readonly commit: (rows: readonly Row[]) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Has a job done; the promise is the caller's, settled by `resolve`. */
  add<T>(job: (resolve: (answer: T) => void) => Job<Row>): Promise<T> {
    return new Promise((resolve) => {
      this.#jobs.push(job(resolve));
      if (this.#jobs.length === 1) void this.#work();
    });
  }

  async #work(): Promise<void> {
    const done: { readonly job: Job<Row>; answer?: () => void }[] = [];
    try {
      await this.exclusive(async () => {
        const rows: Row[] = [];
        for (const started = performance.now(); this.#jobs.length > 0 && performance.now() - started < BATCH_MS;) {
          const one: typeof done[number] = { job: this.#jobs.shift()! };
          done.push(one);
          const { row, answer } = await one.job.run();
          one.answer = answer;
          if (row) rows.push(row);
        }
        if (rows.length > 0) await this.commit(rows);
      });
      for (const { answer } of done) answer?.();
    } catch (error) {
      this.failed(error);
      if (done.length === 0) this.#jobs.shift()?.failed();
      for (const { job } of done) job.failed();
    }
    if (this.#jobs.length > 0) void this.#work();
  }
}
