/// <reference lib="dom" />
/**
 * The stream of transitions, by fetch rather than EventSource, so that a token can go along.
 *
 * A stream that ended or fell silent is opened again behind the last event that came, and what it missed comes first. A
 * hidden page closes its stream after a while (a browser allows six connections to a service) and opens it again when it
 * is visible; after a long time it starts from now instead of catching up, and readers load what they show again.
 */
import { useEffect, useRef } from "preact/hooks";
import { parseJson } from "#src/base/json.ts";
import { queryText } from "#src/client/http.ts";
import { readEvents } from "#src/client/sse.ts";
import { type Freshness, report } from "../kit/connection.ts";
import { authorization, unauthorized } from "./service.ts";
import type { TransitionEvent } from "./types.ts";

/** The service sends a position every 15 s: after this long without one the stream counts as stale, */
const STALE_MS = 20_000;
/** and after so long it is opened again. */
const DEAD_MS = 40_000;
const HIDDEN_MS = 30_000;
/** Hidden for longer than this, a page starts from now. */
const LONG_MS = 300_000;

export interface Listener {
  /** Transitions in order; those that arrive together in one call. */
  readonly onEvents: (events: readonly TransitionEvent[]) => void;
  /** The stream is open and earlier transitions are not sent: load what is shown. */
  readonly onOpen: () => void;
}

/** Listens to transitions while the view is shown. */
export function useTransitions(filter: { readonly kind?: string; readonly id?: string }, listener: Listener): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const part = Symbol();
    const left = new AbortController();
    void watch({
      filter,
      signal: left.signal,
      onState: (state) => left.signal.aborted || report(part, state),
      onEvents: (events) => latest.current.onEvents(events),
      onOpen: () => latest.current.onOpen(),
    });
    return () => {
      left.abort();
      report(part, undefined);
    };
  }, [filter.kind, filter.id]);
}

interface WatchOptions extends Listener {
  readonly filter: { readonly kind?: string; readonly id?: string };
  readonly onState: (state: Freshness) => void;
  readonly signal: AbortSignal;
}

async function watch({ filter, onEvents, onOpen, onState, signal }: WatchOptions): Promise<void> {
  let lastId: string | undefined;
  let failures = 0;
  onState("connecting");
  while (!signal.aborted) {
    if (document.hidden) {
      onState("paused");
      const since = Date.now();
      await seen(signal);
      if (Date.now() - since > LONG_MS) lastId = undefined;
      continue;
    }
    const attempt = new AbortController();
    const end = () => attempt.abort();
    signal.addEventListener("abort", end, { once: true });
    const stopWatching = whenHidden(HIDDEN_MS, end);
    let stale: ReturnType<typeof setTimeout> | undefined;
    let dead: ReturnType<typeof setTimeout> | undefined;
    let passing: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(stale);
      clearTimeout(dead);
      stale = setTimeout(() => onState("stale"), STALE_MS);
      dead = setTimeout(end, DEAD_MS);
    };
    let received: TransitionEvent[] = [];
    const pass = () => {
      passing = undefined;
      const events = received;
      received = [];
      if (!signal.aborted && events.length > 0) onEvents(events);
    };
    try {
      alive();
      const path = `/events${queryText({ ...filter, from: lastId === undefined ? "now" : undefined })}`;
      const body = await open(path, lastId, attempt.signal);
      if (body === "restored") {
        lastId = undefined;
        continue;
      }
      onState("live");
      let begins = lastId === undefined;
      for await (const item of readEvents(body, attempt.signal)) {
        failures = 0;
        alive();
        onState("live");
        if (item.type === "id") {
          lastId = item.id;
          if (begins) onOpen();
          begins = false;
        } else if (item.type === "event") {
          if (item.event.event === "reset") onOpen();
          if (item.event.event !== "transition") continue;
          received.push(parseJson(item.event.data) as unknown as TransitionEvent);
          passing ??= setTimeout(pass);
        }
      }
    } catch {
      // It is opened again whatever ended it; a refused token has shown the form for another one.
    } finally {
      clearTimeout(stale);
      clearTimeout(dead);
      clearTimeout(passing);
      pass();
      stopWatching();
      signal.removeEventListener("abort", end);
      attempt.abort();
    }
    if (signal.aborted || document.hidden) continue;
    onState("stale");
    failures++;
    await pause(Math.min(10_000, 250 * 2 ** failures) * (0.75 + Math.random() / 2), signal);
  }
}

async function open(path: string, lastId: string | undefined, signal: AbortSignal) {
  const response = await fetch(path, {
    headers: {
      accept: "text/event-stream",
      ...authorization(),
      ...(lastId === undefined ? {} : { "last-event-id": lastId }),
    },
    cache: "no-store",
    signal,
  });
  if (response.status === 401) unauthorized();
  // The database was restored to a point before the last id: the page is read again.
  if (response.status === 409) return "restored";
  if (!response.ok || response.body === null) throw new Error(`the stream was refused with ${response.status}`);
  return response.body;
}

/** Resolves when the page is visible, or at the end. */
function seen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}

/** Calls when the page was hidden for `ms`; gives what ends that. */
function whenHidden(ms: number, call: () => void): () => void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(waiting);
    if (document.hidden) waiting = setTimeout(call, ms);
  };
  document.addEventListener("visibilitychange", look);
  return () => {
    clearTimeout(waiting);
    document.removeEventListener("visibilitychange", look);
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const waiting = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(waiting);
      resolve();
    }, { once: true });
  });
}

/** A function that calls at most once in `ms`, the last time included; nothing after the view is left. */
export function useAtMostEvery(call: () => void, ms: number): () => void {
  const latest = useRef(call);
  latest.current = call;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const last = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useRef(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      last.current = Date.now();
      latest.current();
    }, Math.max(0, last.current + ms - Date.now()));
  }).current;
}
