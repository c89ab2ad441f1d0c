/** How pools of addresses grow: each keeps `gap` unused ones after the last that is used. */

/** A pool of one role of a wallet, as a block finds it and leaves it. */
export class Pool {
  /** Credentials of indices 0 to `size - 1` are the wallet's. */
  size: number;
  /** Last used index, or −1. */
  used: number;

  constructor(size: number, used: number, private readonly gap: number) {
    this.size = size;
    this.used = used;
  }

  /** Uses what of these indices the pool reaches over, again and again as it grows. */
  use(indices: Iterable<number>): void {
    for (const index of [...indices].sort((a, b) => a - b)) {
      // in order, one that is out of reach puts all after it out of reach
      if (index >= this.size) return;
      if (index <= this.used) continue;
      this.used = index;
      this.size = Math.max(this.size, index + 1 + this.gap);
    }
  }
}
