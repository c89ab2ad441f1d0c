/** Address pools: each reaches `gap` unused addresses beyond the last used one. */

/** The pool of one role of a wallet. */
export class AddressPool {
  /** Credentials of indices 0 to `size - 1` are the wallet's. */
  size: number;
  /** Last used index, or −1. */
  used: number;

  constructor(size: number, used: number, private readonly gap: number) {
    this.size = size;
    this.used = used;
  }

  /** Marks those of the indices as used that the pool reaches, and grows with each. */
  use(indices: Iterable<number>): void {
    for (const index of [...indices].sort((a, b) => a - b)) {
      // ascending: one that is out of reach means that all after it are
      if (index >= this.size) return;
      if (index <= this.used) continue;
      this.used = index;
      this.size = Math.max(this.size, index + 1 + this.gap);
    }
  }
}
