/** How much a write transaction may hold so as to be short, learnt from how long those before it took. */

/** What a transaction of many blocks is to take, in milliseconds: well below the 100 that none may exceed. */
export const WRITE_MS = 30;
/** How much more than the last a transaction may hold: a machine that is busy now and then makes some seem quick that are not. */
const GROWTH = 1.3;
const MOST = 20_000;

export class Budget {
  /** Changes that a transaction may hold to take `WRITE_MS`. */
  changes: number;

  /** `first` is what a transaction may hold as long as nothing was measured, `least` what it may hold however long it takes. */
  constructor(first: number, private readonly least: number) {
    this.changes = first;
  }

  /** A transaction with so many changes took so many milliseconds. */
  took(changes: number, ms: number): void {
    // a small transaction says little of a large one
    if (ms <= WRITE_MS && changes * 2 < this.changes) return;
    const fits = Math.max(1, changes) * WRITE_MS / ms;
    this.changes = Math.round(Math.min(MOST, Math.max(this.least, Math.min(fits, this.changes * GROWTH))));
  }
}
