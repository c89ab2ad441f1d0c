/**
 * How far the order of commits is settled when some transaction stays open.
 *
 * A server's snapshot says below which transaction id nothing is open, and that covers every transaction that has written
 * anything anywhere on the server: an import next door, another database. What matters here are those that may still write
 * transitions. Every such transaction has locked the table before it is given its id (a turn is one statement, and a statement
 * locks its tables before it runs). So: whoever holds that lock now and has an id is waited for; who gets an id after
 * this look gets a later one; and what the others wrote or will write is not in this table.
 */
import type { Store } from "#src/store/store.ts";

export interface SettledPosition {
  /** Every transaction below it that wrote transitions has ended, for statements that begin after this look. */
  readonly edge: bigint;
  /** Whether the server's own snapshot falls short of it. */
  readonly held: boolean;
  /** The oldest transaction that is being waited for, in words, where there is one. */
  readonly blocker: string | undefined;
}

/** Looks who may still write transitions below the next transaction id. */
export async function settledEdge(store: Store): Promise<SettledPosition> {
  const [row] = await store.sql<ServerTransactions[]>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as next, pg_snapshot_xmin(pg_current_snapshot())::text as oldest,
      (select json_agg(json_build_object('pid', l.pid, 'state', a.state, 'xid', a.backend_xid::text, 'name', a.application_name,
          'seconds', extract(epoch from now() - a.xact_start)::int))
        from pg_locks l left join pg_stat_activity a on a.pid = l.pid
        where l.locktype = 'relation' and l.relation = 'outbox'::regclass
          and l.database = (select oid from pg_database where datname = current_database())
          and l.mode not in ('AccessShareLock', 'RowShareLock', 'ShareLock', 'ShareUpdateExclusiveLock')
          and l.pid is distinct from pg_backend_pid()) as writers`;
  const next = BigInt(row!.next);
  const oldest = BigInt(row!.oldest);
  let edge = next;
  let blocker: string | undefined;
  for (const { pid, state, xid, name, seconds } of row!.writers ?? []) {
    // A prepared transaction has no process, and a session of another role may not be looked into: their ids are not told.
    const id = pid === null || state === null ? oldest : xid === null ? next : wholeId(xid, next);
    if (id >= edge) continue;
    edge = id;
    blocker = pid === null ? "a prepared transaction" : `${name || "unnamed"}, process ${pid}, open for ${seconds} s`;
  }
  return { edge, held: oldest < edge, blocker };
}

/** The 64-bit id of a transaction whose low half is known, near another id. */
function wholeId(xid: string, near: bigint): bigint {
  return near - BigInt.asIntN(32, near - BigInt(xid));
}

interface ServerTransactions {
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
