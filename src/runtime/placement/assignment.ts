/** How many partitions each worker is to hold. */

/** A worker and how many partitions it holds. */
export interface WorkerLoad {
  readonly worker: string;
  readonly partitions: number;
}

/**
 * The share of one worker among all that live, itself included. Shares differ by at most one, and the larger ones belong to
 * those that hold the most already: so nothing moves that need not, and when all hold their shares nothing moves at all.
 */
export function shareOf(worker: string, loads: readonly WorkerLoad[], partitions: number): number {
  const least = Math.floor(partitions / loads.length);
  const larger = partitions - least * loads.length;
  const order = [...loads].sort((a, b) => b.partitions - a.partitions || (a.worker < b.worker ? -1 : 1));
  return least + (order.findIndex((load) => load.worker === worker) < larger ? 1 : 0);
}
