/**
 * A value that costs time to read, shared by callers: each value is used for `ms` milliseconds, and for `times` as long
 * as reading it took, so that expensive values are read less often.
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
      // A failure is not kept.
      if (found === mine) found = undefined;
    });
    return mine.value;
  };
}
