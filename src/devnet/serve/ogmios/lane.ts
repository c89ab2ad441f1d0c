/** Requests of one protocol of a connection: answered in order, one at a time. */

/** Work of a request, and the bytes that it holds until it is done. */
export interface LaneTask {
  readonly bytes: number;
  run(): Promise<void>;
}

/** A queue of requests. */
export class Lane {
  #waiting: LaneTask[] = [];
  /** Index of the next request in `#waiting`. */
  #next = 0;
  #running = false;

  /** `room` resolves when answers can be sent; `done` is called after each request. */
  constructor(private readonly room: () => Promise<void> | undefined, private readonly done: (bytes: number) => void) {}

  /** Adds a request. */
  add(task: LaneTask): void {
    this.#waiting.push(task);
    if (!this.#running) void this.#run();
  }

  /** Forgets the requests that wait. */
  clear(): void {
    this.#waiting = [];
    this.#next = 0;
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let task = this.#take(); task !== undefined; task = this.#take()) {
      await this.room();
      await task.run();
      this.done(task.bytes);
    }
    this.#running = false;
  }

  #take(): LaneTask | undefined {
    const task = this.#waiting[this.#next++];
    if (task === undefined) this.clear();
    // what was taken is dropped in large pieces: an array that is shifted by one is copied each time
    else if (this.#next === 1_000) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    return task;
  }
}
