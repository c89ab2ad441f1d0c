/** Spans of time as text. */

/** A span of milliseconds: `1.2 s`, `4 min`, `3 h`, `12 days`. */
export function span(ms: number): string {
  const s = Math.abs(ms) / 1000;
  if (s < 1) return `${Math.round(Math.abs(ms))} ms`;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 90) return `${Math.round(s)} s`;
  if (s < 5_400) return `${Math.round(s / 60)} min`;
  if (s < 129_600) return `${Math.round(s / 3_600)} h`;
  return `${Math.round(s / 86_400)} days`;
}
