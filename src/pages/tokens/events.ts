/// <reference lib="dom" />
/** Events of a token, as they come. */
import { useEffect, useRef } from "preact/hooks";
import { report } from "../kit/connection.ts";

/** The sentence for each event of a stream. */
const EVENTS: Readonly<Record<string, string>> = {
  booted: "The token was booted.",
  requested: "A request was created.",
  retracted: "A request was taken back.",
  refused: "A request was refused.",
  applied: "Requests were applied.",
  updated: "The token changed.",
  ended: "The token ended.",
  "rolled-back": "The chain was rolled back.",
  quarantined: "The token was put into quarantine.",
  released: "The token was released from quarantine.",
  reset: "Events were missed; the page is reloaded.",
};

/** Milliseconds between two calls of `onEvent`. */
const AT_MOST_EVERY = 300;
const RETRY_MS = 3_000;

/**
 * Listens to a token's events: `onEvent` is called after some of them, and when the stream stands again, with a sentence
 * that says what happened. A lost stream reconnects.
 */
export function useEvents(tokenId: string, onEvent: (says: string | undefined) => void): void {
  const call = useRef(onEvent);
  call.current = onEvent;
  useEffect(() => {
    const part = Symbol();
    let stream: EventSource | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let says: string | undefined;
    let last = 0;
    let opened = false;
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        last = Date.now();
        call.current(says);
        says = undefined;
      }, Math.max(0, last + AT_MOST_EVERY - Date.now()));
    };
    const follow = () => {
      const one = new EventSource(`/token/${tokenId}/events`);
      stream = one;
      one.addEventListener("open", () => {
        report(part, "live");
        // the first reads of the view may be older than the stream
        soon();
        opened = true;
      });
      for (const [type, sentence] of Object.entries(EVENTS)) {
        one.addEventListener(type, () => {
          says = sentence;
          soon();
        });
      }
      one.addEventListener("error", () => {
        report(part, opened ? "stale" : "connecting");
        if (one.readyState !== EventSource.CLOSED) return;
        // a token that is not known (yet) has no stream
        retry = setTimeout(follow, RETRY_MS);
        if (!opened) report(part, undefined);
      });
    };
    report(part, "connecting");
    follow();
    return () => {
      stream?.close();
      clearTimeout(retry);
      clearTimeout(timer);
      report(part, undefined);
    };
  }, [tokenId]);
}
