/**
 * What the database remembers of the streams that store transitions: that they existed, so that no process takes a
 * server without them for one that never had them, and whether they lack transitions that were published before.
 */
import type { Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

export interface StreamRecord {
  /** Whether transitions have been stored in a stream. */
  isKnown(): Promise<boolean>;
  /**
   * Records that a stream exists, created at a time of its server's clock, and whether it lost messages that it had
   * confirmed. Resolves to whether it lacks earlier transitions and that is news.
   */
  found(stream: string, created: string, lost: boolean): Promise<boolean>;
}

export function streamRecord({ sql }: Store): StreamRecord {
  return {
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

/** The streams that lack transitions which were published before. */
export async function readIncompleteStreams({ sql }: Store): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`select name from event_stream where incomplete order by name`;
  return rows.map(({ name }) => name);
}

/** Forgets that there were streams: without JetStream, transitions then go over core NATS. */
export async function forgetStreams({ sql }: Store): Promise<void> {
  await sql`delete from event_stream`;
}
