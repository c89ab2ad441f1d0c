/// <reference lib="dom" />
/** Moments and spans of time. */
import { signal } from "@preact/signals";
import { span } from "./span.ts";

export { span };

/** Milliseconds since 1970, kept right by the second while the page is visible. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);

/** A moment: milliseconds since 1970, or a time in ISO 8601. */
export type Moment = number | string | Date;
const dateOf = (at: Moment) => new Date(at);

/** How long ago a moment was, or how far ahead it is; the local time is its tooltip. */
export function Ago({ at }: { readonly at: Moment }) {
  const date = dateOf(at);
  // one second is the finest that a label which changes by the second can say
  const ms = Math.floor((now.value - date.getTime()) / 1_000) * 1_000;
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {ms >= 1_000 ? `${ms < 10_000 ? `${ms / 1_000} s` : span(ms)} ago` : ms > -2_000 ? "now" : `in ${span(ms)}`}
    </time>
  );
}

/** A moment of the day, to the second or the millisecond; the whole local time is its tooltip. */
export function Clock({ at, ms = false }: { readonly at: Moment; readonly ms?: boolean }) {
  const date = dateOf(at);
  const text = date.toLocaleTimeString("en-GB") + (ms ? `.${String(date.getMilliseconds()).padStart(3, "0")}` : "");
  return <time dateTime={date.toISOString()} title={date.toLocaleString()}>{text}</time>;
}

/** Made once: each use of `toLocaleString` with options makes a formatter. */
const toTheMinute = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** A date with the time to the minute. */
export function DateTime({ at }: { readonly at: Moment }) {
  const date = dateOf(at);
  const text = toTheMinute.format(date);
  return <time dateTime={date.toISOString()} title={date.toLocaleString()}>{text}</time>;
}
