/** Rows that very many commands would have left, without waiting for them. */
import type { Store } from "#src/store/store.ts";
import { partitionOf } from "#src/runtime/placement/partitions.ts";
import { PARTITIONS } from "./runtime-cluster.ts";

const PAGE = 50_000;

/** Copies the counter `e0` to counters `x0`, `x1`, …, in their partitions. */
export async function fillCounters({ sql }: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += PAGE) {
    const ids = Array.from({ length: Math.min(PAGE, count - from) }, (_, i) => `x${from + i}`);
    const partitions = ids.map((id) => partitionOf({ kind: "counter", id }, PARTITIONS));
    await sql`
      insert into actor (kind, id, partition, version, input_seq, snapshot, machine_version, state)
      select a.kind, x.id, x.partition, a.version, a.input_seq, a.snapshot, a.machine_version, a.state
      from actor a, unnest(${ids}::text[], ${partitions}::int[]) x(id, partition)
      where a.kind = 'counter' and a.id = 'e0'`;
  }
  await sql`vacuum analyze actor`;
}

/** Rows of one transaction. */
const TURNS = 50;

/** Transitions and results of commands that are past their retention, one of each counter, older than all others. */
export async function fillHistory({ sql }: Store, count: number): Promise<void> {
  // Transactions below the present ones: ids that no row has.
  await sql.unsafe(`do $$ begin
    for i in 1..${Math.ceil(count / TURNS)} loop perform pg_current_xact_id(); commit; end loop; end $$`);
  const [now] = await sql<{ tx: string }[]>`select pg_snapshot_xmin(pg_current_snapshot())::text as tx`;
  const first = Number(now!.tx) - Math.ceil(count / TURNS);
  for (let from = 0; from < count; from += PAGE) {
    const to = Math.min(from + PAGE, count) - 1;
    await sql`
      insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, created, tx, published)
      select 'counter', 'x' || n, 1, 0, 'counting', 'counting', 'ADD', gen_random_uuid(), '{"type":"ADD","amount":1}',
        now() - interval '60 days', now() - interval '60 days', (${first} + n / ${TURNS})::text::xid8, true
      from generate_series(${from}::int, ${to}::int) n`;
    await sql`
      insert into command_result (kind, id, command, result, created)
      select 'counter', 'x' || n, gen_random_uuid(), '{"ok":true,"value":{"count":1}}', now() - interval '60 days'
      from generate_series(${from}::int, ${to}::int) n`;
  }
  await sql`analyze outbox, command_result`;
}
