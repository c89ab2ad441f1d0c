/**
 * Simulated time and processes. Everything asynchronous of a simulation is a task of a process at a time; the next task
 * runs when all that the last one caused without a further task has happened. So the order follows from the seed alone.
 */
import { setImmediate } from "node:timers";

/** A process: a worker, a client or a server. */
export interface Process {
  readonly name: string;
  /** False after its crash or its end: its tasks are then dropped. */
  alive: boolean;
  /** Its tasks wait until then, as those of a process that was stopped. */
  stalledUntil: number;
  /** How far its wall clock is ahead, in milliseconds. */
  skew: number;
  /** Where its monotonic clock began. */
  readonly since: number;
}

interface Task {
  readonly at: number;
  readonly number: number;
  readonly process: Process;
  readonly run: () => void;
  cancelled: boolean;
}

/** The time at which a simulation begins, in milliseconds since 1970. */
export const EPOCH = Date.UTC(2026, 0);

export class World {
  time = 0;
  /** Number of tasks that ran. */
  steps = 0;
  /** Differs when two runs had other tasks. */
  trace = 0;
  current: Process | undefined;
  private readonly heap: Task[] = [];
  private numbers = 0;

  constructor(readonly random: () => number) {}

  chance = (probability: number): boolean => this.random() < probability;
  integer = (limit: number): number => Math.floor(this.random() * limit);
  between = (least: number, most: number): number => least + this.random() * (most - least);
  pick<T>(list: readonly T[]): T {
    return list[this.integer(list.length)]!;
  }

  spawn(name: string): Process {
    const skew = Math.round(this.between(-5_000, 5_000));
    return { name, alive: true, stalledUntil: 0, skew, since: Math.round(this.between(-1e6, 0)) };
  }

  /** Adds a task of a process; the result cancels it. */
  after(ms: number, process: Process, run: () => void): () => void {
    const task = { at: this.time + Math.max(0, ms), number: ++this.numbers, process, run, cancelled: false };
    this.push(task);
    return () => void (task.cancelled = true);
  }

  /** Runs tasks until a time, or until `done` says so after one. */
  async run(until: number, done: () => boolean = () => false): Promise<void> {
    for (let task = this.heap[0]; task !== undefined && task.at <= until; task = this.heap[0]) {
      this.pop();
      const { process } = task;
      if (task.cancelled || !process.alive) continue;
      if (process.stalledUntil > task.at) {
        this.push({ ...task, at: process.stalledUntil });
        continue;
      }
      this.time = Math.max(this.time, task.at);
      this.current = process;
      this.steps++;
      this.trace = (Math.imul(this.trace, 31) + task.number + Math.floor(task.at)) | 0;
      task.run();
      await new Promise<void>((resolve) => void setImmediate(resolve));
      this.current = undefined;
      if (done()) return;
    }
    this.time = Math.max(this.time, until);
  }

  /** Replaces the clocks, timers and random numbers of this process; the result restores them. */
  install(): () => void {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const [dateNow, mathRandom, performanceNow] = [Date.now, Math.random, performance.now];
    const nobody = this.spawn("nobody");
    const process = () => this.current ?? nobody;
    const cancels = new Map<unknown, () => void>();
    const clear = (handle: unknown) => {
      cancels.get(handle)?.();
      cancels.delete(handle);
    };
    let handles = 0;
    const timer = (run: () => void, ms = 0) => {
      const handle = ++handles;
      cancels.set(
        handle,
        this.after(ms, process(), () => {
          cancels.delete(handle);
          run();
        }),
      );
      return handle;
    };
    const interval = (run: () => void, ms = 0) => {
      const handle = ++handles;
      const owner = process();
      const next = () =>
        cancels.set(
          handle,
          this.after(ms, owner, () => {
            next();
            run();
          }),
        );
      next();
      return handle;
    };
    Object.assign(globalThis, {
      setTimeout: timer,
      clearTimeout: clear,
      setInterval: interval,
      clearInterval: clear,
    });
    Date.now = () => Math.floor(EPOCH + this.time + process().skew);
    performance.now = () => this.time - process().since;
    Math.random = this.random;
    return () => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      Date.now = dateNow;
      Math.random = mathRandom;
      performance.now = performanceNow;
    };
  }

  private push(task: Task): void {
    const { heap } = this;
    let i = heap.push(task) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (isBefore(heap[parent]!, task)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = task;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || a.at === b.at && a.number < b.number;
}
