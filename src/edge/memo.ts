/**
 * An answer that several ask for at once, and that serves for a moment: found once. It serves for `ms` milliseconds from when it
 * was there, and for `times` as long as it took to find, so that what costs more is found less often.
 */
export function memo<T>(ms: number, find: () => Promise<T>, times = 0): () => Promise<T> {
  let found: { until: number; readonly value: Promise<T> } | undefined;
  return () => {
    const begun = performance.now();
    if (found !== undefined && begun < found.until) return found.value;
    const mine = { until: Infinity, value: find() };
    found = mine;
    mine.value.then(() => {
      const now = performance.now();
      mine.until = now + Math.max(ms, times * (now - begun));
    }, () => {
      // What failed serves nobody.
      if (found === mine) found = undefined;
    });
    return mine.value;
  };
}
