/**
 * The order of requests to foreign servers. Some take a place at a time, in order; one that takes long leaves its place
 * to the next and goes on beside it. So servers that do not respond delay a request by a moment each, not by their
 * timeout. At most `most * timeout / slowMs` requests are open.
 */

interface OutsideTurnsOptions {
  /** Places; 16 by default. */
  readonly most?: number;
  /** Milliseconds after which a request leaves its place; 500 by default. */
  readonly slowMs?: number;
}

export class OutsideTurns {
  private readonly waiting: (() => void)[] = [];
  private free: number;

  constructor(private readonly options: OutsideTurnsOptions = {}) {
    this.free = options.most ?? 16;
  }

  /** Runs `work` in its turn; the result is that of `work`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    let held = true;
    const leave = () => {
      if (!held) return;
      held = false;
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    };
    const timer = setTimeout(leave, this.options.slowMs ?? 500);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      leave();
    }
  }
}
