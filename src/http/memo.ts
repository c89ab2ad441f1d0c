/**
 * A value that costs time to read, shared by callers: each value is used for `ms` milliseconds, which may depend on the
 * value, and for `times` as long as reading it took, so that expensive values are read less often.
 */
export function memo<T>(ms: number | ((value: T) => number), find: () => Promise<T>, times = 0): () => Promise<T> {
  let found: { until: number; readonly value: Promise<T> } | undefined;
  return () => {
    const begun = performance.now();
    if (found !== undefined && begun < found.until) return found.value;
    const mine = { until: Infinity, value: find() };
    found = mine;
    mine.value.then((value) => {
      const now = performance.now();
      mine.until = now + Math.max(typeof ms === "number" ? ms : ms(value), times * (now - begun));
    }, () => {
      // A failure is not kept.
      if (found === mine) found = undefined;
    });
    return mine.value;
  };
}
