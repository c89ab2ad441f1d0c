/**
 * Group commit: jobs of several callers run in order, and their rows are written in one transaction before any caller
 * is answered.
 */

/** Milliseconds that jobs run before their rows are committed. */
const BATCH_MS = 50;

/** The work of one caller. */
interface GroupCommitJob<Row> {
  /**
   * Runs the job. Gives the row to write, if any, and the answer to give once it is committed; `again`: it counts on a row
   * of an earlier commit.
   */
  run(): Promise<{ readonly row?: Row; readonly again?: boolean; readonly answer: () => void }>;
  /** Tells the caller that the job failed. */
  failed(): void;
}

export class GroupCommit<Row> {
  #jobs: GroupCommitJob<Row>[] = [];

  /**
   * `exclusive` runs work while nothing else runs. `commit` writes rows; none if jobs only count on earlier ones. `failed` is called with an error, after which
   * nothing that the jobs of the batch did counts.
   */
  constructor(
    private readonly exclusive: (work: () => Promise<void>) => Promise<void>,
    private readonly commit: (rows: readonly Row[]) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Adds a job. The promise resolves with what the job passes to `resolve`. */
  add<T>(job: (resolve: (answer: T) => void) => GroupCommitJob<Row>): Promise<T> {
    return new Promise((resolve) => {
      this.#jobs.push(job(resolve));
      if (this.#jobs.length === 1) void this.#work();
    });
  }

  async #work(): Promise<void> {
    const done: { readonly job: GroupCommitJob<Row>; answer?: () => void }[] = [];
    try {
      await this.exclusive(async () => {
        const rows: Row[] = [];
        let isAgain = false;
        const started = performance.now();
        while (performance.now() - started < BATCH_MS) {
          const job = this.#jobs.shift();
          if (!job) break;
          const one: typeof done[number] = { job };
          done.push(one);
          const { row, again = false, answer } = await job.run();
          one.answer = answer;
          if (row) rows.push(row);
          isAgain ||= again;
        }
        if (rows.length > 0 || isAgain) await this.commit(rows);
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
