/**
 * Cached answers that are valid as long as the database is unchanged.
 *
 * A PostgreSQL snapshot decides which transactions a statement sees. Two equal snapshots see the same database,
 * whichever process wrote to it, and so does everything between them. An answer made from the database alone is
 * therefore valid as long as the snapshot taken before it was made is still the current one: one small statement
 * replaces the statements that read and the work of serialising.
 */
import type { Context } from "hono";
import type { ResponseCache } from "#src/http/route.ts";
import { readSnapshotId } from "#src/store/server.ts";
import type { Queries } from "#src/store/store.ts";

/** Longest use of an answer, in milliseconds: how far a wallet is behind the clock changes without a transaction. */
const LONGEST_MS = 1_000;
/** Size of the largest answer that is cached, in bytes. */
const LARGEST = 2 ** 21;
/** Size of all cached answers together, in bytes. */
const ALL = 2 ** 24;
/** Headers that are part of a cached answer. */
const HEADERS = ["content-type", "link"];

interface CachedResponse {
  /** When it was made, by `performance.now()`. */
  readonly at: number;
  /** The snapshot before it was made; undefined where it was not read. */
  readonly snapshot: string | undefined;
  readonly headers: Record<string, string>;
  readonly body: ArrayBuffer;
}

/** Caches good answers that are made from the database alone, each for a second at most. */
export function cacheWhileUnchanged(sql: Queries): ResponseCache {
  const cached = new CachedResponses();
  const now = coalesce(() => readSnapshotId(sql));
  return async (c, make) => {
    const entry = cached.get(c.req.url, LONGEST_MS);
    // The snapshot of the first request is not read: entries requested only once are never served from the cache.
    const snapshot = entry && await now();
    if (snapshot !== undefined && entry?.snapshot === snapshot) return replay(c, entry);
    return await cached.made(c, snapshot, make);
  };
}

/** Caches good answers for `ms` milliseconds. */
export function cacheFor(ms: number): ResponseCache {
  const cached = new CachedResponses();
  return async (c, make) => {
    const entry = cached.get(c.req.url, ms);
    return entry ? replay(c, entry) : await cached.made(c, undefined, make);
  };
}

/** Cached answers by URL, the oldest first. */
class CachedResponses {
  private readonly entries = new Map<string, CachedResponse>();
  private bytes = 0;

  /** An answer not older than `longestMs` milliseconds. */
  get(url: string, longestMs: number): CachedResponse | undefined {
    const entry = this.entries.get(url);
    if (entry && performance.now() - entry.at < longestMs) return entry;
    this.drop(url);
    return undefined;
  }

  /** Makes an answer, and caches it where its status is 200. */
  async made(c: Context, snapshot: string | undefined, make: () => Promise<Response>): Promise<Response> {
    const { url } = c.req;
    const at = performance.now();
    const response = await make();
    if (response.status !== 200) return response;
    const headers = Object.fromEntries(
      HEADERS.flatMap((name) => {
        const value = response.headers.get(name);
        return value === null ? [] : [[name, value]];
      }),
    );
    const entry = { at, snapshot, headers, body: await response.arrayBuffer() };
    this.drop(url);
    if (entry.body.byteLength <= LARGEST) {
      this.entries.set(url, entry);
      this.bytes += entry.body.byteLength;
      for (const [oldest, { at: made }] of this.entries) {
        if (this.bytes <= ALL && at - made < LONGEST_MS) break;
        this.drop(oldest);
      }
    }
    return replay(c, entry);
  }

  private drop(url: string): void {
    this.bytes -= this.entries.get(url)?.body.byteLength ?? 0;
    this.entries.delete(url);
  }
}

function replay(c: Context, { body, headers }: CachedResponse): Response {
  return c.body(body, 200, headers);
}

/** Coalesces calls: a call during another one shares the next one, which begins after all of its callers called. */
export function coalesce<T>(call: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const started = call().finally(() => {
      if (current === started) current = undefined;
    });
    return current = started;
  };
  return () => {
    if (current === undefined) return begin();
    return next ??= current.catch(() => {}).then(() => {
      next = undefined;
      return begin();
    });
  };
}
