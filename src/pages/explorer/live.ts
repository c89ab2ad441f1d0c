/// <reference lib="dom" />
/** The state of the devnet as it changes: one stream for the whole page. */
import { computed, signal } from "@preact/signals";
import { parseJson } from "#src/base/json.ts";
import { readEvents } from "#src/client/sse.ts";
import { report } from "../kit/connection.ts";
import type { Live } from "./api.ts";

/** The newest state; undefined until the first arrives. */
export const live = signal<Live | undefined>(undefined);

/** Changes with every block, rollback, and change of the mempool, so that views know when to read again. */
export const moment = computed(() => {
  const state = live.value;
  return state === undefined ? "" : `${state.tip.hash} ${state.departed} ${state.changes}`;
});

/** Transactions in the mempool. */
export const waiting = computed(() => live.value?.mempool.size);

/** Milliseconds between two states that views see: a fast devnet makes a block every few milliseconds. */
const PACE_MS = 400;
const AGAIN_MS = 1_000;
/** Longest silence of the stream before it counts as broken; its keep-alive is sent every 15 s. */
const SILENCE_MS = 40_000;
const part = Symbol("live");

/** Follows the state until the page is closed. */
export async function startLive(): Promise<void> {
  report(part, "connecting");
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest: Live | undefined;
  const show = (state: Live) => {
    newest = state;
    if (timer !== undefined) return;
    live.value = state;
    timer = setTimeout(() => {
      timer = undefined;
      if (newest !== undefined && newest !== live.value) show(newest);
    }, PACE_MS);
  };
  for (;;) {
    const ends = new AbortController();
    let quiet: ReturnType<typeof setTimeout> | undefined;
    try {
      const response = await fetch("/live", { signal: ends.signal });
      if (response.ok && response.body !== null) {
        for await (const item of readEvents(response.body, ends.signal)) {
          clearTimeout(quiet);
          // a connection that broke without a word: the stream is never silent for longer than its keep-alive
          quiet = setTimeout(() => ends.abort(), SILENCE_MS);
          report(part, "live");
          if (item.type === "event") show(parseJson(item.event.data) as unknown as Live);
        }
      }
    } catch {
      // the devnet is away; it is tried again
    }
    clearTimeout(quiet);
    report(part, "stale");
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
