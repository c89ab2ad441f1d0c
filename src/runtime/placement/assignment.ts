/** Assigns a number of partitions to each worker. */

/** A worker and how many partitions it holds. */
export interface WorkerLoad {
  readonly worker: string;
  readonly partitions: number;
}

/**
 * The number of partitions that a worker should hold; `loads` are those of all live workers, itself included. Shares
 * differ by at most one. The larger shares go to the workers that hold the most, so that as few partitions as possible
 * move, and none once all workers hold their shares.
 */
export function shareOf(worker: string, loads: readonly WorkerLoad[], partitions: number): number {
  const least = Math.floor(partitions / loads.length);
  const larger = partitions - least * loads.length;
  const order = [...loads].sort((a, b) => b.partitions - a.partitions || (a.worker < b.worker ? -1 : 1));
  return least + (order.findIndex((load) => load.worker === worker) < larger ? 1 : 0);
}
