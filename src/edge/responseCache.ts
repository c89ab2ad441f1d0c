/**
 * Cached answers that are valid as long as the database is unchanged.
 *
 * A PostgreSQL snapshot decides which transactions a statement sees. Two equal snapshots see the same database,
 * whichever process wrote to it, and so does everything between them. An answer made from the database alone is
 * therefore valid as long as the snapshot taken before it was made is still the current one: one small statement
 * replaces the statements that read and the work of serialising.
 */
import type { Context } from "hono";
import type { Keep } from "#src/edge/route.ts";
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

interface Kept {
  /** When it was made, by `performance.now()`. */
  readonly at: number;
  /** The snapshot before it was made; undefined where it was not read. */
  readonly snapshot: string | undefined;
  readonly headers: Record<string, string>;
  readonly body: ArrayBuffer;
}

/** Caches good answers that are made from the database alone, each for a second at most. */
export function keepUnchanged(sql: Queries): Keep {
  const answers = new Answers();
  const now = inTurn(() => readSnapshotId(sql));
  return async (c, make) => {
    const last = answers.get(c.req.url, LONGEST_MS);
    // The snapshot of the first request is not read: entries requested only once are never served from the cache.
    const snapshot = last && await now();
    if (snapshot !== undefined && last?.snapshot === snapshot) return told(c, last);
    return await answers.made(c, snapshot, make);
  };
}

/** Caches good answers for `ms` milliseconds. */
export function keepFor(ms: number): Keep {
  const answers = new Answers();
  return async (c, make) => {
    const last = answers.get(c.req.url, ms);
    return last ? told(c, last) : await answers.made(c, undefined, make);
  };
}

/** Cached answers by URL, the oldest first. */
class Answers {
  private readonly kept = new Map<string, Kept>();
  private bytes = 0;

  /** An answer not older than `longestMs` milliseconds. */
  get(url: string, longestMs: number): Kept | undefined {
    const kept = this.kept.get(url);
    if (kept && performance.now() - kept.at < longestMs) return kept;
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
    const kept = { at, snapshot, headers, body: await response.arrayBuffer() };
    this.drop(url);
    if (kept.body.byteLength <= LARGEST) {
      this.kept.set(url, kept);
      this.bytes += kept.body.byteLength;
      for (const [oldest, { at: made }] of this.kept) {
        if (this.bytes <= ALL && at - made < LONGEST_MS) break;
        this.drop(oldest);
      }
    }
    return told(c, kept);
  }

  private drop(url: string): void {
    this.bytes -= this.kept.get(url)?.body.byteLength ?? 0;
    this.kept.delete(url);
  }
}

function told(c: Context, { body, headers }: Kept): Response {
  return c.body(body, 200, headers);
}

/** Coalesces calls: a call during another one shares the next one, which begins after all of its callers called. */
export function inTurn<T>(ask: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const asked = ask().finally(() => {
      if (current === asked) current = undefined;
    });
    return current = asked;
  };
  return () => {
    if (current === undefined) return begin();
    return next ??= current.catch(() => {}).then(() => {
      next = undefined;
      return begin();
    });
  };
}
