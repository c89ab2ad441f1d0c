/// <reference lib="dom" />
/** Data of the service in a view: loading, ready, failed, and still shown when a refresh fails. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { report } from "./connection.ts";
import { Failure, Loading } from "./states.tsx";

export interface Data<T> {
  /** The newest value; undefined until there is one. */
  readonly value: T | undefined;
  /** Why the newest read failed. A value from before is then stale. */
  readonly error: unknown;
  readonly loading: boolean;
  /** Reads again now. */
  readonly reload: () => Promise<void>;
}

export interface UseDataOptions {
  /** Milliseconds after a read until the next one, while the page is visible; without it the data is read once. */
  readonly everyMs?: number;
  /** Keeps the value on view while data for other dependencies is read, as when a list is paged. */
  readonly keep?: boolean;
  /**
   * A name for the data. A view that is opened again within a minute shows the value that it showed last, until the new one
   * is there. Views that read the same data share the name.
   */
  readonly remember?: string;
}

/** How long a value is remembered, in milliseconds, and how many are. */
const REMEMBERED = { ms: 60_000, values: 30 };
const remembered = new Map<string, { readonly value: unknown; readonly at: number }>();

function recall<T>(name: string | undefined): T | undefined {
  const found = name === undefined ? undefined : remembered.get(name);
  // what is kept under a name is what was read under it
  return found !== undefined && Date.now() - found.at < REMEMBERED.ms ? found.value as T : undefined;
}

function keepValue(name: string, value: unknown): void {
  remembered.delete(name);
  remembered.set(name, { value, at: Date.now() });
  const [oldest] = remembered.keys();
  if (remembered.size > REMEMBERED.values && oldest !== undefined) remembered.delete(oldest);
}

/**
 * Reads data when the view appears, when a dependency changes, again every `everyMs`, and when the page is visible again.
 * A read that is no longer wanted is aborted.
 */
export function useData<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
  { everyMs, keep = false, remember }: UseDataOptions = {},
): Data<T> {
  const [state, set] = useState<Omit<Data<T>, "reload">>(() => ({
    value: recall<T>(remember),
    error: undefined,
    loading: true,
  }));
  const reload = useRef<() => Promise<void>>(() => Promise.resolve());
  const latest = useRef(load);
  const shows = useRef(false);
  latest.current = load;
  // not `useEffect`, which runs a frame later: the request would wait for it, and be aborted as late
  useLayoutEffect(() => {
    const part = Symbol();
    const left = new AbortController();
    const { signal } = left;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let running: Promise<void> | undefined;
    let again = false;
    set((before) => ({
      value: recall<T>(remember) ?? (keep ? before.value : undefined),
      error: undefined,
      loading: true,
    }));
    const read = async () => {
      clearTimeout(timer);
      try {
        const value = await latest.current(signal);
        if (signal.aborted) return;
        report(part, "live");
        shows.current = true;
        if (remember !== undefined) keepValue(remember, value);
        set({ value, error: undefined, loading: false });
      } catch (error) {
        if (signal.aborted) return;
        // a refusal is an answer as well
        report(part, isAway(error) ? "stale" : "live");
        set((before) => ({ value: before.value, error, loading: false }));
      } finally {
        running = undefined;
        if (!signal.aborted) {
          if (again) {
            again = false;
            running = read();
          } else if (everyMs !== undefined) timer = setTimeout(tick, everyMs);
        }
      }
    };
    const tick = () => {
      if (!document.hidden) running ??= read();
    };
    const visible = () => {
      if (!document.hidden && everyMs !== undefined) running ??= read();
    };
    reload.current = () => {
      // a read that has begun may not see what the caller has just changed
      if (running === undefined) return running = read();
      again = true;
      return running.then(() => running);
    };
    // a value that stays on view while it is read again says nothing about the connection
    if (!keep || !shows.current) report(part, "connecting");
    document.addEventListener("visibilitychange", visible, { signal });
    running = read();
    return () => {
      clearTimeout(timer);
      left.abort();
      report(part, undefined);
    };
  }, dependencies);
  return { ...state, reload: () => reload.current() };
}

/** Whether an error says that the service, or something that it depends on, is away. */
export const isAway = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 0 || error.status >= 500 || error.status === 429;

/** Shows data: a placeholder while it loads, the error with a button, or what `children` makes of the value. */
export function Loaded<T>({ data, rows = 3, children }: {
  readonly data: Data<T>;
  /** Lines of the placeholder. */
  readonly rows?: number;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { value, error, reload } = data;
  if (value === undefined) {
    return error === undefined ? <Loading rows={rows} /> : <Failure error={error} retry={reload} />;
  }
  return (
    <>
      {error !== undefined && <Failure error={error} retry={reload} stale />}
      {children(value)}
    </>
  );
}

export interface Pages<T> {
  readonly data: Data<T>;
  /** Number of the page from 0. */
  readonly page: number;
  readonly previous: (() => void) | undefined;
  readonly next: (() => void) | undefined;
}

/**
 * A list that the service pages by cursors: `load` reads the page at a cursor (undefined: the first), `nextOf` finds the
 * cursor of the page behind it.
 */
export function usePages<T>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<T>,
  nextOf: (value: T) => string | undefined,
  dependencies: readonly unknown[],
  options: UseDataOptions = {},
): Pages<T> {
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  const key = JSON.stringify(dependencies.map(String));
  const shown = useRef(key);
  const current = shown.current === key ? cursors : [undefined];
  // not `useEffect`: the page that a reader opens before it runs would be lost
  useLayoutEffect(() => {
    if (shown.current === key) return;
    shown.current = key;
    setCursors([undefined]);
  }, [key]);
  const cursor = current.at(-1);
  const data = useData((signal) => load(cursor, signal), [key, cursor], { ...options, keep: true });
  const next = data.value === undefined || data.loading ? undefined : nextOf(data.value);
  return {
    data,
    page: current.length - 1,
    previous: current.length > 1 ? () => setCursors(current.slice(0, -1)) : undefined,
    next: next === undefined ? undefined : () => setCursors([...current, next]),
  };
}
