/** Durations of write transactions: from the response to BEGIN to that of COMMIT, for all callers of the store. */
import type { Store } from "#src/store/store.ts";
import { percentile } from "./machine.ts";

/** A store that records every transaction. */
export interface MeasuredStore {
  readonly store: Store;
  /** Milliseconds of the transactions since the last reading, which clears the list. */
  taken(): number[];
}

/** Bounds of the histogram in milliseconds. */
const BOUNDS = [10, 30, 50, 100, 200];

/** Records the transactions of a store from now on. */
export function measured(store: Store): MeasuredStore {
  let times: number[] = [];
  const begin = async (work: (sql: unknown) => Promise<unknown>) => {
    let began = performance.now();
    const result = await store.sql.begin((sql) => {
      began = performance.now();
      return work(sql);
    });
    times.push(performance.now() - began);
    return result;
  };
  const sql = new Proxy(store.sql, {
    get: (target, name) => name === "begin" ? begin : Reflect.get(target, name),
  });
  return {
    store: { ...store, sql },
    taken: () => {
      const taken = times;
      times = [];
      return taken;
    },
  };
}

/** As text: how many, the 99th percentile, the longest, and how many fall between the bounds of a histogram. */
export function histogram(times: readonly number[]): string {
  const counts = [...BOUNDS, Infinity].map((bound, i) => {
    const least = BOUNDS[i - 1] ?? 0;
    const count = times.filter((ms) => ms >= least && ms < bound).length;
    return `${bound === Infinity ? `over ${least}` : `under ${bound}`}: ${count}`;
  });
  const longest = times.reduce((most, ms) => Math.max(most, ms), 0);
  return `${times.length.toLocaleString("en")} write transactions, p99 ${
    percentile(times, 0.99).toFixed(0)
  } ms, longest ${longest.toFixed(0)} ms (ms ${counts.join(", ")})`;
}
