/** Size of write transactions, adapted to how long earlier ones took. */

/** Target duration of a transaction of many blocks, in ms: well below the 100 that none may exceed. */
export const WRITE_MS = 30;
/** Growth per transaction at most: on a machine with varying load, a single fast transaction proves little. */
const GROWTH = 1.3;
const MAX_CHANGES = 20_000;

export class WriteBudget {
  /** Changes that a transaction may hold so as to take about `WRITE_MS`. */
  changes: number;

  /** `first`: changes before anything was measured; `least`: changes that are always allowed. */
  constructor(first: number, private readonly least: number) {
    this.changes = first;
  }

  /** Records that a transaction with so many changes took `ms` milliseconds. */
  took(changes: number, ms: number): void {
    // a small transaction says little about a large one
    if (ms <= WRITE_MS && changes * 2 < this.changes) return;
    const fits = Math.max(1, changes) * WRITE_MS / ms;
    this.changes = Math.round(Math.min(MAX_CHANGES, Math.max(this.least, Math.min(fits, this.changes * GROWTH))));
  }
}
