/** Calls made in the same moment, carried out together: a few batches in flight, the rest waits and grows the next one. */

/**
 * A function of one item out of one of many. `run` gives the results in the order of its items; if it throws, all of them fail.
 * Beside a batch in flight another one starts only when `worth` items wait for it: batches cost much by themselves.
 */
export function batched<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
  limits: { readonly most: number; readonly inFlight: number; readonly worth?: number },
): (item: Item) => Promise<Answer> {
  let waiting: { item: Item; resolve: (answer: Answer) => void; reject: (error: unknown) => void }[] = [];
  let flying = 0;
  let scheduled = false;
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(flush);
  };
  const flush = () => {
    scheduled = false;
    const worth = limits.worth ?? 1;
    while (waiting.length > 0 && (flying === 0 || flying < limits.inFlight && waiting.length >= worth)) {
      const batch = waiting.slice(0, limits.most);
      waiting = waiting.slice(limits.most);
      flying++;
      run(batch.map(({ item }) => item)).then(
        (answers) => batch.forEach(({ resolve }, i) => resolve(answers[i]!)),
        (error) => batch.forEach(({ reject }) => reject(error)),
      ).finally(() => {
        flying--;
        schedule();
      });
    }
  };
  return (item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
