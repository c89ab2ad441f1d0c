/** Durations in an actor's history: in its states, and of its effects. */
import { requestedAt } from "#src/base/effectNumbers.ts";
import type { Entry } from "./history.tsx";
import type { Actor } from "./types.ts";

/** A span of time with a name; `open` spans have not ended. Milliseconds since 1970. */
export interface Span {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly open: boolean;
}

type Step = Pick<Entry, "version" | "from" | "to" | "cause" | "at" | "causes">;

/** The states of an actor one after the other; `history` is newest first. The last one is open. */
export function stateSpans(history: readonly Step[], end: number): Span[] {
  const spans: Span[] = [];
  for (const { to: name, at } of [...history].reverse()) {
    const time = Date.parse(at);
    const last = spans.at(-1);
    if (last?.name === name) continue;
    if (last !== undefined) spans[spans.length - 1] = { ...last, to: time, open: false };
    spans.push({ name, from: time, to: Math.max(end, time), open: true });
  }
  return spans;
}

/** The cause of a transition that is an effect of an actor; undefined for others. */
export function effectOf(cause: string, { kind, id }: Actor["entity"]): number | undefined {
  const start = `effect:${kind}/${id}:`;
  return cause.startsWith(start) ? Number(cause.slice(start.length)) : undefined;
}

/** From the event that requested an effect to the one with its outcome; those that are open last until `end`. */
export function effectSpans(
  entity: Actor["entity"],
  history: readonly Step[],
  open: Actor["effects"],
  end: number,
): Span[] {
  const times = new Map(history.map(({ version, at }) => [version, Date.parse(at)]));
  const spans = [...history].reverse().flatMap(({ cause, causes, at }): Span[] => {
    const n = effectOf(cause, entity);
    const from = n === undefined ? undefined : times.get(requestedAt(n));
    if (from === undefined) return [];
    const [first] = causes ?? [];
    const name = first?.type === "effect" && first.name !== null ? first.name : "effect";
    return [{ name, from, to: Date.parse(at), open: false }];
  });
  return [
    ...spans,
    ...open.flatMap(({ n, name }) => {
      const from = times.get(requestedAt(n));
      return from === undefined ? [] : [{ name, from, to: Math.max(end, from), open: true }];
    }),
  ];
}

export interface Sum {
  readonly name: string;
  readonly times: number;
  /** Milliseconds. */
  readonly total: number;
  readonly longest: number;
  readonly open: boolean;
}

/** Durations by name, the longest in total first. */
export function sumsOf(spans: readonly Span[]): Sum[] {
  const by = new Map<string, Sum>();
  for (const { name, from, to, open } of spans) {
    const { times, total, longest, open: was } = by.get(name) ?? { times: 0, total: 0, longest: 0, open: false };
    by.set(name, {
      name,
      times: times + 1,
      total: total + to - from,
      longest: Math.max(longest, to - from),
      open: open || was,
    });
  }
  return [...by.values()].sort((a, b) => b.total - a.total);
}
