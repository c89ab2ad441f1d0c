/**
 * The time of a turn by stages: as measured by every process itself, and by PostgreSQL for its flushes. Means, in
 * microseconds.
 */
import type { Store } from "#src/store/store.ts";
import type { Loaded } from "./runtime-clients.ts";
import type { Cluster } from "./runtime-cluster.ts";
import type { Stages } from "./runtime-host.ts";

/** The stages of a turn, in the order of a command's path. */
export const STAGES = [
  "HTTP: client, connection, edge",
  "the bus, there and back",
  "the mailbox",
  "fold, and the statement before",
  "the statement",
  "the flush of its WAL",
] as const;

export interface Spent {
  /** Microseconds of each of `STAGES`. */
  readonly stages: readonly number[];
  readonly turnsPerStatement: number;
  readonly flushesPerTurn: number;
  /** PostgreSQL's log, in bytes, with what publishing writes. */
  readonly walPerTurn: number;
}

/** Enables PostgreSQL's timing of its flushes. */
export async function timeFlushes(store: Store): Promise<void> {
  await store.sql`alter system set track_wal_io_timing = on`;
  await store.sql`select pg_reload_conf()`;
}

/** Puts a load on a cluster and returns the time of its turns by stage. */
export async function measureStages(cluster: Cluster, load: () => Promise<Loaded>, http: boolean): Promise<Spent> {
  const before = await look(cluster);
  const loaded = await load();
  const after = await look(cluster);
  const stage = (name: keyof Stages) => {
    const count = after[name].count - before[name].count;
    return { count, mean: 1e6 * (after[name].seconds - before[name].seconds) / count };
  };
  const flushes = after.flushes - before.flushes;
  const flush = 1e3 * (after.flushMs - before.flushMs) / flushes;
  const whole = 1e3 * loaded.mean;
  const ask = http ? stage("ask").mean : whole;
  const [command, turn, statement] = [stage("command"), stage("turn"), stage("statement")];
  return {
    stages: [
      whole - ask,
      ask - command.mean,
      command.mean - turn.mean,
      turn.mean - statement.mean,
      statement.mean - flush,
      flush,
    ],
    turnsPerStatement: turn.count / statement.count,
    flushesPerTurn: flushes / turn.count,
    walPerTurn: (after.wal - before.wal) / turn.count,
  };
}

async function look({ edge, workers, store }: Cluster) {
  const [first, ...others] = await Promise.all([edge.ask(null), ...workers.map((worker) => worker.ask(null))]);
  const sum = (name: keyof Stages) =>
    others.reduce((all, one) => ({
      count: all.count + one[name].count,
      seconds: all.seconds + one[name].seconds,
    }), { count: 0, seconds: 0 });
  // Backends report once a second: about as much is missing before a load as after it.
  const [row] = await store.sql<{ flushes: number; ms: number; wal: number }[]>`
    select sum(fsyncs)::float8 as flushes, sum(fsync_time)::float8 as ms, (pg_current_wal_lsn() - '0/0')::float8 as wal
    from pg_stat_io
    where object = 'wal' and backend_type = 'client backend'`;
  return {
    ask: first.ask,
    command: sum("command"),
    turn: sum("turn"),
    statement: sum("statement"),
    flushes: row!.flushes,
    flushMs: row!.ms,
    wal: row!.wal,
  };
}
