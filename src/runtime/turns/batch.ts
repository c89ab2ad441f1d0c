/**
 * Group commit of calls: calls made at the same moment run as one batch; while batches run, later calls join the next
 * one.
 */

/**
 * Turns a function of many items into a function of one. `run` returns the results in the order of its items; if it
 * rejects, every call of the batch rejects. At most `inFlight` batches run at a time, each of at most `most` items.
 * Beside a running batch another one starts only with at least `worth` items (1 by default), because each batch has a
 * cost of its own. Where `worth` is given, a batch does not wait for the end of the moment once it has that many: it runs
 * while the rest of them are still arriving.
 */
export function batched<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  limits: { readonly most: number; readonly inFlight: number; readonly worth?: number },
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  let running = 0;
  const { worth = 1, worth: early = Infinity } = limits;
  let scheduled = false;
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(flush);
  };
  const flush = () => {
    scheduled = false;
    while (waiting.length > 0 && (running === 0 || running < limits.inFlight && waiting.length >= worth)) {
      const batch = waiting.slice(0, limits.most);
      waiting = waiting.slice(limits.most);
      running++;
      run(batch.map(({ item }) => item)).then(
        (results) => {
          if (results.length !== batch.length) throw new Error("a batch gave another number of results");
          for (const [i, result] of results.entries()) batch[i]?.resolve(result);
        },
      ).catch((error) => batch.forEach(({ reject }) => reject(error))).finally(() => {
        running--;
        schedule();
      });
    }
  };
  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (waiting.length >= early && running < limits.inFlight) flush();
      else schedule();
    });
}
