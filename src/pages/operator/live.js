// @ts-check
/// <reference lib="dom" />
/**
 * The stream of transitions, by fetch rather than EventSource, so that a token can go along.
 *
 * A stream that ended or fell silent is opened again behind the last event that came, and what it missed comes first. A
 * hidden page closes its stream after a while (a browser allows six connections to a service) and opens it
 * again when it is visible; after a long time it starts from now instead of catching up, and listeners reload
 * what it shows.
 */
import { openStream, queryOf } from "./api.js";
import { createParser } from "./sse.js";

/** The service sends a comment every 15 s: after this long without one the stream counts as stale, */
const STALE_MS = 20_000;
/** and after so long it is reopened. */
const DEAD_MS = 40_000;
const HIDDEN_MS = 30_000;
/** Hidden for longer than this, a page starts from now. */
const LONG_MS = 300_000;
/** Most characters of an event. */
const LARGEST = 1_000_000;

/** @typedef {"connecting" | "live" | "stale" | "paused"} LinkState */
/** @typedef {import("./types.ts").TransitionEvent} TransitionEvent */

/**
 * Watches transitions until `signal` aborts.
 * @param {object} options
 * @param {Record<string, string>} [options.filter] `kind`, `id`, `transition`
 * @param {(events: TransitionEvent[]) => void} options.onEvents in order; those that arrive together in one call
 * @param {() => void} options.onOpen the stream is open and earlier events are not sent: load what you show
 * @param {(state: LinkState) => void} options.onState
 * @param {AbortSignal} options.signal
 */
export async function watch({ filter = {}, onEvents, onOpen, onState, signal }) {
  /** @type {string | undefined} */
  let lastId;
  let failures = 0;
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
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let stale;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let dead;
    const alive = () => {
      clearTimeout(stale);
      clearTimeout(dead);
      stale = setTimeout(() => onState("stale"), STALE_MS);
      dead = setTimeout(end, DEAD_MS);
    };
    try {
      alive();
      const path = `/events${queryOf({ ...filter, ...(lastId === undefined ? { from: "now" } : {}) })}`;
      const body = await openStream(path, lastId, attempt.signal);
      onState("live");
      let begins = lastId === undefined;
      let reset = false;
      /** @type {TransitionEvent[]} */
      let received = [];
      const parser = createParser({
        maxBufferSize: LARGEST,
        onId: (id) => {
          lastId = id;
          reset ||= begins;
          begins = false;
        },
        onEvent: ({ event, data }) => {
          if (event === "reset") reset = true;
          if (event === "transition") received.push(JSON.parse(data));
        },
        onError: (error) => {
          if (error.type === "max-buffer-size-exceeded") throw error;
        },
      });
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        failures = 0;
        alive();
        onState("live");
        parser.feed(value);
        if (reset) onOpen();
        if (received.length > 0) onEvents(received);
        reset = false;
        received = [];
      }
    } catch {
      // It is reopened whatever ended it; a refused token opens the login form itself.
    } finally {
      clearTimeout(stale);
      clearTimeout(dead);
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

/** Resolves when the page is seen, or at the end. @param {AbortSignal} signal */
function seen(signal) {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      resolve(undefined);
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}

/** Calls when the page was hidden for `ms`; gives what ends that. @param {number} ms @param {() => void} call */
function whenHidden(ms, call) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
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

/** @param {number} ms @param {AbortSignal} signal */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const waiting = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(waiting);
      resolve(undefined);
    }, { once: true });
  });
}
