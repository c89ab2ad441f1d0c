/**
 * Answers that are made again only when something may have changed.
 *
 * What PostgreSQL shows a statement is decided by the statement's snapshot: which transactions count, and no others. Two equal snapshots see the
 * same database, whoever wrote to it in this process or elsewhere, and whatever lies between them saw it too. An answer that is made from the
 * database alone is therefore good for as long as the snapshot that was taken before it was made is still the one that is given: one small
 * statement, in place of those that read and of the work of telling them.
 */
import type { Context } from "hono";
import type { Keep } from "#src/edge/route.ts";
import { readSnapshotId } from "#src/store/server.ts";
import type { Queries } from "#src/store/store.ts";

/** What else an answer tells runs on by itself: how far a wallet is behind the clock. It is made anew after so many milliseconds. */
const LONGEST_MS = 1_000;
/** Larger answers are not kept, in bytes. */
const LARGEST = 2 ** 21;
/** All that are kept, in bytes. */
const ALL = 2 ** 24;
/** The headers of an answer that belong to it, not to its request. */
const HEADERS = ["content-type", "link"];

interface Kept {
  /** When it was made, as `performance.now()` has it. */
  readonly at: number;
  /** What the database was before; undefined where that was not asked. */
  readonly snapshot: string | undefined;
  readonly headers: Record<string, string>;
  readonly body: ArrayBuffer;
}

/** Keeps good answers that are made from the database alone, each for a second at most. */
export function keepUnchanged(sql: Queries): Keep {
  const answers = new Answers();
  const now = inTurn(() => readSnapshotId(sql));
  return async (c, make) => {
    const last = answers.get(c.req.url, LONGEST_MS);
    // what is asked once is not worth the question
    const snapshot = last && await now();
    if (snapshot !== undefined && last?.snapshot === snapshot) return told(c, last);
    return await answers.made(c, snapshot, make);
  };
}

/** Keeps good answers for so many milliseconds, whatever happens meanwhile. */
export function keepFor(ms: number): Keep {
  const answers = new Answers();
  return async (c, make) => {
    const last = answers.get(c.req.url, ms);
    return last ? told(c, last) : await answers.made(c, undefined, make);
  };
}

/** Answers by their address, the oldest first. */
class Answers {
  private readonly kept = new Map<string, Kept>();
  private bytes = 0;

  /** One that is not older than so many milliseconds. */
  get(url: string, longestMs: number): Kept | undefined {
    const kept = this.kept.get(url);
    if (kept && performance.now() - kept.at < longestMs) return kept;
    this.drop(url);
    return undefined;
  }

  /** Makes an answer, and keeps it if it is a good one. */
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

/** Asks for many at a time: who comes while a question is under way shares the next one, which is begun after all of them came. */
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
