/**
 * Finds the position up to which the order of commits is final while an unrelated transaction stays open.
 *
 * The server's snapshot gives the oldest open transaction of the whole server, which may be an import into another
 * database. Only transactions that may still write transitions matter here. Each of them locks the table `outbox`
 * before it gets its transaction id: a turn is one statement, and a statement locks its tables before it runs.
 * Therefore the oldest id among the current holders of that lock is the edge. A transaction that gets its id after this
 * query gets a later id, and all other transactions do not write to this table.
 */
import type { Position } from "#src/runtime/events/position.ts";
import type { Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

export interface SettledPosition {
  /** All transactions below it that wrote transitions have ended, for statements that begin after this query. */
  readonly edge: bigint;
  /** Whether the server's own snapshot ends before the edge. */
  readonly held: boolean;
  /** Description of the oldest transaction that may still write transitions, where there is one. */
  readonly blocker: string | undefined;
}

/** Finds the transactions that may still write transitions below the next transaction id. */
export async function settledEdge(store: Store): Promise<SettledPosition> {
  const row = await onlyRow(store.sql<ServerTransactions[]>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as next, pg_snapshot_xmin(pg_current_snapshot())::text as oldest,
      (select shift from event_generation order by n desc limit 1) as shift,
      (select json_agg(json_build_object('pid', l.pid, 'state', a.state, 'xid', a.backend_xid::text, 'name', a.application_name,
          'seconds', extract(epoch from now() - a.xact_start)::int))
        from pg_locks l left join pg_stat_activity a on a.pid = l.pid
        where l.locktype = 'relation' and l.relation = 'outbox'::regclass
          and l.database = (select oid from pg_database where datname = current_database())
          and l.mode not in ('AccessShareLock', 'RowShareLock', 'ShareLock', 'ShareUpdateExclusiveLock')
          and l.pid is distinct from pg_backend_pid()) as writers`);
  const next = BigInt(row.next);
  const oldest = BigInt(row.oldest);
  let edge = next;
  let blocker: string | undefined;
  for (const { pid, state, xid, name, seconds } of row.writers ?? []) {
    // The id is unknown for a prepared transaction, which has no process, and for a session of another role, which is
    // hidden.
    const id = pid === null || state === null ? oldest : xid === null ? next : wholeId(xid, next);
    if (id >= edge) continue;
    edge = id;
    blocker = pid === null ? "a prepared transaction" : `${name || "unnamed"}, process ${pid}, open for ${seconds} s`;
  }
  return { edge: edge + row.shift, held: oldest < edge, blocker };
}

/** The current position: after all transitions that are committed, unless an older transaction may still write some. */
export async function currentPosition(store: Store): Promise<Position> {
  return { tx: (await settledEdge(store)).edge };
}

/** The 64-bit transaction id with these low 32 bits that is nearest to another id. */
function wholeId(xid: string, near: bigint): bigint {
  return near - BigInt.asIntN(32, near - BigInt(xid));
}

interface ServerTransactions {
  shift: bigint;
  next: string;
  oldest: string;
  writers: {
    pid: number | null;
    state: string | null;
    xid: string | null;
    name: string | null;
    seconds: number | null;
  }[] | null;
}
