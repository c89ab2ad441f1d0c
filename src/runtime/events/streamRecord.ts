/**
 * What the database remembers of the streams that store transitions: that they existed, so that no process takes a
 * server without them for one that never had them, and whether they lack transitions that were published before.
 */
import { z } from "zod";
import { beginGeneration, withGenerations } from "#src/runtime/events/generation.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";

export interface StreamRecord {
  /** Whether transitions have been stored in a stream. */
  isKnown(): Promise<boolean>;
  /**
   * Records that a stream exists, created at a time of its server's clock, and whether it lost messages that it had
   * confirmed. Resolves to whether it lacks earlier transitions and that is news.
   */
  found(stream: string, created: string, lost: boolean): Promise<boolean>;
  /**
   * Whether the newest message of a stream that is known with that time is a transition that the database lacks: then the database
   * was restored, and a generation begins. False while the stream is to be written again.
   */
  isAhead(stream: string, created: string, message: string): Promise<boolean>;
}

export function streamRecord(store: Store): StreamRecord {
  const { sql } = store;
  return {
    isAhead: async (stream, created, message) => {
      const event = storedEvent.safeParse(parsed(message)).data;
      if (event === undefined || !await isLacking(sql, { stream, created }, event)) return false;
      return await withGenerations(store, async (sql) => {
        // Another worker may have been faster.
        if (!await isLacking(sql, { stream, created }, event)) return true;
        const { since } = await onlyRow(sql<{ since: Date }[]>`select pg_postmaster_start_time() as since`);
        const reason = "the stream at the NATS server had transitions that the database lacks";
        await beginGeneration(sql, { reason, since: since.getTime() });
        return true;
      });
    },
    isKnown: async () =>
      (await onlyRow(sql<{ known: boolean }[]>`select exists(select from event_stream) as known`)).known,
    found: async (stream, created, lost) => {
      const rows = await sql`
        insert into event_stream as e (name, created) values (${stream}, ${created})
        on conflict (name) do update set created = excluded.created, incomplete = true
          where e.created <> excluded.created or (${lost} and not e.incomplete)
        returning incomplete`;
      return rows.some((row) => row.incomplete === true);
    },
  };
}

/** The members of a CloudEvent that tell transitions apart. */
const storedEvent = z.object({
  time: z.iso.datetime(),
  generation: z.string().default(""),
  data: z.object({
    entity: z.object({ kind: z.string(), id: z.string() }),
    version: z.int(),
    cause: z.string(),
  }),
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the database knows a stream with this newest event, and has another transition or none in its place. */
async function isLacking(
  sql: Queries,
  { stream, created }: { readonly stream: string; readonly created: string },
  event: z.infer<typeof storedEvent>,
): Promise<boolean> {
  const { time, generation, data: { entity: { kind, id }, version, cause } } = event;
  // A transition that is gone was deleted for its age, and so may be its actor.
  const { lacks } = await onlyRow(sql<{ lacks: boolean }[]>`
    select exists(select from event_stream where name = ${stream} and created = ${created})
      and not (select streams_due from event_generation order by n desc limit 1)
      and coalesce(
        (select generation <> ${generation} or cause <> ${cause}
            or date_trunc('milliseconds', at) <> ${new Date(time)} from outbox
          where kind = ${kind} and id = ${id} and version = ${version}),
        (select version < ${version} from actor where kind = ${kind} and id = ${id}),
        (select created < ${new Date(time)} from outbox order by tx limit 1),
        (select rows = 0 from outbox_pruned)) as lacks`);
  return lacks;
}

/** The streams that lack transitions which were published before. */
export async function readIncompleteStreams({ sql }: Store): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`select name from event_stream where incomplete order by name`;
  return rows.map(({ name }) => name);
}

/** Forgets that there were streams: without JetStream, transitions then go over core NATS. */
export async function forgetStreams({ sql }: Store): Promise<void> {
  await sql`delete from event_stream`;
}
