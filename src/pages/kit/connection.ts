/** How fresh the page is, for the whole page: the worst of what its parts report. */
import { computed, signal } from "@preact/signals";

/** `locked`: the service requires a token. */
export type Freshness = "connecting" | "live" | "stale" | "paused" | "locked";

const parts = signal<ReadonlyMap<symbol, Freshness>>(new Map());
const ORDER: readonly Freshness[] = ["locked", "stale", "connecting", "paused", "live"];

/** Reports how fresh a part of the page is; undefined when the part is gone. */
export function report(part: symbol, state: Freshness | undefined): void {
  if (parts.peek().get(part) === state) return;
  const next = new Map(parts.peek());
  if (state === undefined) next.delete(part);
  else next.set(part, state);
  parts.value = next;
}

export const freshness = computed<Freshness>(() => {
  const states = new Set(parts.value.values());
  return ORDER.find((state) => states.has(state)) ?? "live";
});
