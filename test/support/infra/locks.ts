/** Waits until a statement of another session in this database waits for a lock. */
import type { Store } from "#src/store/store.ts";
import { until } from "../base/until.ts";

export async function untilBlocked({ sql }: Store): Promise<void> {
  const waiting = async () =>
    (await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`).length > 0;
  await until("a statement waits for a lock", waiting, 30_000, 5);
}
