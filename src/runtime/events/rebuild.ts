/**
 * Writes the streams of transitions again from the database.
 *
 * While that lasts the streams take messages at private subjects only, which they transform back, so that workers get no
 * confirmation: what they have waits in the outbox and follows what is rebuilt, in each actor's order. Consumers stay,
 * and get the transitions again. A rebuild whose process dies leaves the streams closed until another one completes.
 */
import { sleep } from "#src/base/clock.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Contents } from "#src/runtime/events/content.ts";
import {
  callApi,
  createStreamWriter,
  describe,
  ensureStream,
  limits,
  REBUILDING,
  STREAMS,
} from "#src/runtime/events/jetStream.ts";
import { placeOf, readGeneration } from "#src/runtime/events/generation.ts";
import { START } from "#src/runtime/events/position.ts";
import { readPage } from "#src/runtime/events/replay.ts";
import { settledEdge } from "#src/runtime/events/settledPosition.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Store } from "#src/store/store.ts";

export interface RebuildOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  readonly contents: Contents;
  /** How long the streams store a transition, in milliseconds. */
  readonly maxAgeMs: number;
}

export type RebuildFailure = Failure<"no_stream" | "stream_unavailable" | "rebuild_running">;

/** The last rebuild, running or ended. */
export interface Rebuild {
  readonly status: "running" | "done" | "failed";
  /** Transitions written so far, and those in the database at the start. */
  readonly stored: number;
  readonly total: number;
  /** Why it failed. */
  readonly reason: string | null;
}

const PAGE = 1_024;
/** Shortest duplicate window of a stream, in nanoseconds. */
const SHORT_NS = 100_000_000;
/**
 * How long a stream has to forget the ids of earlier messages, in milliseconds, by attempt. A busy server forgets late, and
 * confirms what it still knows as a duplicate without storing it: the next attempt waits longer. All are shorter than `DEAD`.
 */
const FORGOTTEN_MS = [300, 2_000, 5_000, 10_000];
/** Time without progress after which a rebuild counts as dead. */
const DEAD = "15 seconds";

/** The private subject of a message during a rebuild. */
const hidden = (subject: string) => subject.replace(/^arbor\./, "arbor.rebuild.");

/** The last rebuild; `undefined` before the first. */
export async function readRebuild({ sql }: Store): Promise<Rebuild | undefined> {
  const [row] = await sql<(Omit<Rebuild, "stored" | "total"> & { stored: bigint; total: bigint })[]>`
    select case when status = 'running' and beat < now() - ${DEAD}::interval then 'failed' else status end as status,
      stored, total, case when status = 'running' and beat < now() - ${DEAD}::interval then 'its process has ended'
        else reason end as reason
    from event_rebuild`;
  return row && { ...row, stored: Number(row.stored), total: Number(row.total) };
}

/**
 * Starts a rebuild. It fails where there is nothing to rebuild: without JetStream, or where an embedded endpoint serves
 * the streams from the database. `done` settles when it has ended, as `readRebuild` says.
 */
export async function startRebuild(
  options: RebuildOptions,
): Promise<Result<{ readonly done: Promise<void> }, RebuildFailure>> {
  const { sql } = options.store;
  const id = crypto.randomUUID();
  try {
    const found = await closeStreams(options, true);
    if (!found) return fail("no_stream", "The NATS server has no stream of its own: replays come from the database.");
  } catch (error) {
    return fail("stream_unavailable", `The stream cannot be rebuilt now: ${reason(error)}.`);
  }
  const claimed = await sql`
    insert into event_rebuild as r (id, status, total) select ${id}, 'running', count(*) from outbox
    on conflict (one) do update set id = excluded.id, status = 'running', beat = now(), stored = 0, total = excluded.total,
      reason = null
      where r.status <> 'running' or r.beat < now() - ${DEAD}::interval
    returning 1`;
  if (claimed.length === 0) return fail("rebuild_running", "A rebuild of the streams is running.");
  const end = async (status: Rebuild["status"], why: string | null) =>
    void await sql`update event_rebuild set status = ${status}, reason = ${why} where id = ${id}`;
  const done = rebuild(options, id).then(() => end("done", null), async (error) => {
    options.log.warn("the streams of events could not be rebuilt", { reason: reason(error) });
    await end("failed", reason(error)).catch(() => {});
  });
  return ok({ done });
}

async function rebuild(options: RebuildOptions, id: string): Promise<void> {
  for (const waitMs of FORGOTTEN_MS) {
    if (await writeAll(options, id, waitMs)) return await openStreams(options);
    options.log.info("the server still knows the messages that a stream had: the rebuild begins again", { waitMs });
  }
  throw new Error("the server does not forget the messages that the stream had");
}

/** Has the streams take the messages of workers again. */
async function openStreams({ store: { sql }, bus, log }: RebuildOptions): Promise<void> {
  for (const [stream, subjects] of Object.entries(STREAMS)) {
    const created = await update(bus, stream, ({ subject_transform: _, metadata, ...config }) => {
      const { [REBUILDING]: _rebuilding, ...kept } = isObject(metadata) ? metadata : {};
      return { ...config, subjects, metadata: kept };
    });
    await sql`
      insert into event_stream (name, created) values (${stream}, ${created})
      on conflict (name) do update set created = excluded.created, incomplete = false`;
  }
  log.info("the streams of events were rebuilt from the database");
}

/**
 * Empties the streams and writes the log of transitions to them, `waitMs` after their duplicate window is at its shortest.
 * Resolves to `false` when a stream took a message for one that it had before.
 */
async function writeAll(options: RebuildOptions, id: string, waitMs: number): Promise<boolean> {
  const { store, bus, contents, maxAgeMs } = options;
  const { sql } = store;
  await closeStreams(options, false);
  await sleep(waitMs);
  for (const stream of Object.keys(STREAMS)) {
    await update(bus, stream, (config) => ({ ...config, duplicate_window: limits(maxAgeMs).duplicate_window ?? 0 }));
  }
  const edge = await edgeAfterAll(store);
  let complete = true;
  const { id: generation } = await readGeneration(store);
  const writer = createStreamWriter(
    { bus, contents, generation: () => generation },
    hidden,
    (_stream, _seq, duplicate) => {
      if (duplicate) complete = false;
    },
  );
  try {
    let stored = 0;
    for (let at = START, more = true; more && complete;) {
      const page = await readPage(store, at, {}, PAGE, { contents, edge });
      const { left, reason: refused } = await writer.store(page.events.map(({ transition }) => transition));
      if (refused !== undefined) throw new Error(`${left.length} transitions were not stored: ${refused}`);
      stored += page.events.length;
      const mine = await sql`update event_rebuild set stored = ${stored}, beat = now() where id = ${id} returning 1`;
      if (mine.length === 0) throw new Error("another process has begun a rebuild");
      at = page.next;
      more = page.more;
    }
  } finally {
    writer.stop();
  }
  return complete;
}

type Config = { readonly [name: string]: Json };

/** Changes a stream's configuration. Resolves to when the stream was created. */
async function update(bus: Bus, stream: string, change: (config: Config) => Json): Promise<string> {
  const info = await callApi(bus, `STREAM.INFO.${stream}`, null);
  if (info.error !== undefined || info.config === undefined) throw new Error(describe(info));
  const updated = await callApi(bus, `STREAM.UPDATE.${stream}`, change(info.config));
  if (updated.error !== undefined) throw new Error(describe(updated));
  return info.created ?? "";
}

/**
 * Has the streams take messages at their private subjects only, and empties them; with `only`, looks whether that is
 * possible. Resolves to whether there are streams.
 */
async function closeStreams({ bus, log, maxAgeMs }: RebuildOptions, only: boolean): Promise<boolean> {
  for (const [stream, subjects] of Object.entries(STREAMS)) {
    const info = await callApi(bus, `STREAM.INFO.${stream}`, null);
    if (memberOf(info.config?.metadata, REBUILDING) === undefined) {
      const found = await ensureStream({ bus, log, maxAgeMs }, stream, subjects);
      if (typeof found === "string") return false;
    }
    if (only) continue;
    const source = hidden("arbor.>");
    await update(bus, stream, ({ metadata, ...config }) => ({
      ...config,
      subjects: subjects.map(hidden),
      subject_transform: { src: source, dest: "arbor.>" },
      duplicate_window: SHORT_NS,
      metadata: { ...(isObject(metadata) && metadata), [REBUILDING]: "true" },
    }));
    const { config } = await callApi(bus, `STREAM.INFO.${stream}`, null);
    // A server before 2.10 does not know the member.
    if (memberOf(config?.subject_transform, "src") !== source) {
      await update(bus, stream, ({ metadata: _, ...rest }) => ({ ...rest, subjects, ...limits(maxAgeMs) }));
      throw new Error("the server is older than nats-server 2.10");
    }
    const purged = await callApi(bus, `STREAM.PURGE.${stream}`, null);
    if (purged.error !== undefined) throw new Error(describe(purged));
  }
  return true;
}

/** An edge of the log (`settledEdge`) above every transition that was written before this call. */
async function edgeAfterAll(store: Store): Promise<bigint> {
  const { sql } = store;
  const { next } = await onlyRow(
    sql<{ next: string }[]>`select ${placeOf(sql, sql`pg_snapshot_xmax(pg_current_snapshot())`)}::text as next`,
  );
  for (;;) {
    const { edge } = await settledEdge(store);
    if (edge >= BigInt(next)) return edge;
    await sleep(50);
  }
}
