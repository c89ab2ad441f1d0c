/**
 * Notices that the database was restored to an earlier point.
 *
 * - At a start: the log is on another server (`pg_restore`, `pg_upgrade`) or its table is another one; the server is on
 *   another timeline, and no process of this service lived through the change; the log has transactions that the server
 *   has not reached.
 * - While processes run: the server changed its timeline, and a transition that was read before is missing. Where all are
 *   there a replica was promoted: the timeline is written down, and the generation stays.
 *
 * A copy of the data folder that is started in place of the original has neither another identity nor another timeline.
 * Only what others have seen shows it: the newest message of a stream (`streamRecord.ts`), or an operator
 * (`POST /events/restored`).
 */
import { sleep } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";
import {
  beginGeneration,
  type Generation,
  GENERATION_SUBJECT,
  type NewGeneration,
  placeOf,
  readGeneration,
  withGenerations,
} from "#src/runtime/events/generation.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import { readRebuild, type RebuildOptions, startRebuild } from "#src/runtime/events/rebuild.ts";
import type { Transition } from "#src/runtime/events/transition.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Which server writes the log. */
interface ServerIdentity {
  readonly system: string;
  readonly timeline: number;
  /** Object id of the log's table. */
  readonly relation: string;
}

/** How long other processes have to learn of a generation before the streams are written again, in milliseconds. */
const KNOWN_MS = 5_000;

const identity = (sql: Queries) =>
  sql`(select system_identifier::text from pg_control_system()) as system,
    ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int as timeline,
    'outbox'::regclass::oid::text as relation`;

/** Begins a generation where this start finds that the database was restored; resolves to the current one. */
export async function checkGeneration(store: Store): Promise<Generation> {
  return await withGenerations(store, async (sql) => {
    const server = await onlyRow(sql<(ServerIdentity & { ahead: boolean })[]>`
      select ${identity(sql)},
        exists(select from outbox where tx > ${placeOf(sql, sql`pg_snapshot_xmax(pg_current_snapshot())`)}) as ahead`);
    const [known] = await sql<ServerIdentity[]>`select system, timeline, relation from event_server`;
    const begun = restoreOf(server, known);
    if (begun !== undefined) await beginGeneration(sql, begun);
    await noteServer(sql, server);
    return await readGeneration({ sql });
  });
}

/** What a server that is not the known one says about the log on it. */
function restoreOf(
  { system, timeline, relation, ahead }: ServerIdentity & { readonly ahead: boolean },
  known: ServerIdentity | undefined,
): NewGeneration | undefined {
  if (ahead || (known !== undefined && (system !== known.system || relation !== known.relation))) {
    return { reason: "the log of transitions is on another server or in another table", sameServer: false };
  }
  if (known === undefined || timeline === known.timeline) return undefined;
  return { reason: `the server went from timeline ${known.timeline} to ${timeline} while no process ran` };
}

async function noteServer(sql: Queries, { system, timeline, relation }: ServerIdentity): Promise<void> {
  await sql`
    insert into event_server (system, timeline, relation) values (${system}, ${timeline}, ${relation})
    on conflict (one) do update set system = ${system}, timeline = ${timeline}, relation = ${relation}`;
}

/** A sentence for the log of a process that starts on a restored database; `undefined` for one that never was. */
export function restoredSentence({ n, reason, began }: Generation): string | undefined {
  if (n === 0) return undefined;
  return `The database was restored (${reason}; ${
    new Date(began).toISOString()
  }): subscribers begin again, and requests ` +
    "and payments after the restored point may be on the chain without a record or an idempotency key here.";
}

export interface RestoreWatchOptions extends RebuildOptions {
  /** The generation at the start. */
  readonly generation: Generation;
  /** Interval of its reads, in milliseconds; 2,000 by default. */
  readonly everyMs?: number;
}

export interface RestoreWatch {
  generation(): Generation;
  /** The newest transition when it last looked. */
  newest(): SeenTransition | undefined;
  /** Has the readers of a log begin again with a generation, and asks it what they have seen. */
  add(events: EventLog): void;
  stop(): Promise<void>;
}

/** Follows the generation and the server, and has the streams of NATS written again after a restore. */
export function watchRestores(options: RestoreWatchOptions): RestoreWatch {
  return new RunningWatch(options);
}

interface Look extends ServerIdentity {
  readonly now: Date;
  readonly known: number | null;
}

class RunningWatch implements RestoreWatch {
  readonly #stopped = new AbortController();
  readonly #unsubscribe: () => void;
  #wake = new AbortController();
  readonly #logs: EventLog[] = [];
  readonly #run: Promise<void>;
  #generation: Generation;
  /** What the last look found, and the newest transition then. */
  #last: { readonly timeline: number; readonly at: number; readonly newest: SeenTransition | undefined } | undefined;

  constructor(private readonly options: RestoreWatchOptions) {
    this.#generation = options.generation;
    this.#unsubscribe = options.bus.subscribe(GENERATION_SUBJECT, () => this.#wake.abort());
    this.#run = this.#loop();
  }

  generation(): Generation {
    return this.#generation;
  }

  newest(): SeenTransition | undefined {
    return this.#last?.newest;
  }

  add(events: EventLog): void {
    this.#logs.push(events);
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stopped.abort();
    this.#wake.abort();
    await this.#run;
  }

  async #loop(): Promise<void> {
    const { everyMs = 2_000, log } = this.options;
    while (!this.#stopped.signal.aborted) {
      this.#wake = new AbortController();
      // A database that is away is reported by the parts that need it.
      await this.#look().catch((error) => log.debug("the generation was not read", { reason: reason(error) }));
      await sleep(everyMs, this.#wake.signal);
    }
  }

  async #look(): Promise<void> {
    const { store, log } = this.options;
    const { sql } = store;
    const look = await onlyRow(sql<Look[]>`
      select ${identity(sql)}, clock_timestamp() as now, (select timeline from event_server) as known`);
    if (this.#last !== undefined && look.timeline !== this.#last.timeline) await this.#changed(look, this.#last.at);
    const generation = await readGeneration(store);
    if (generation.n !== this.#generation.n) {
      log.error(restoredSentence(generation) ?? "");
      this.#generation = generation;
      for (const events of this.#logs) events.restart();
    }
    const [newest] = await sql<Row[]>`
      select kind, id, version, at from outbox order by tx desc, kind desc, id desc, version desc limit 1`;
    this.#last = { timeline: look.timeline, at: look.now.getTime(), newest: newest && seenOf(newest) };
    if (generation.streamsDue && look.now.getTime() - generation.began > KNOWN_MS) await this.#rebuild(generation);
  }

  /** The server has another timeline: a replica was promoted, with or without everything, or the database restored. */
  async #changed(look: Look, since: number): Promise<void> {
    const { store, bus, log } = this.options;
    const seen = [this.#last?.newest, ...this.#logs.map((events) => events.newest()?.transition)]
      .filter((one) => one !== undefined);
    const reason = `transitions were lost when the server went to timeline ${look.timeline}`;
    await withGenerations(store, async (sql) => {
      const lost = await areMissing(sql, seen);
      if (lost) await beginGeneration(sql, { reason, since });
      await noteServer(sql, look);
      if (!lost) {
        log.info("the database server has another timeline, and every transition", { timeline: look.timeline });
      }
    });
    bus.publish(GENERATION_SUBJECT, null);
  }

  async #rebuild({ n }: Generation): Promise<void> {
    const { store, log } = this.options;
    const started = await startRebuild(this.options);
    if (started.ok) await started.value.done;
    else if (started.error.code !== "no_stream") return log.debug(started.error.message);
    if (started.ok && (await readRebuild(store))?.status !== "done") return;
    await store.sql`update event_generation set streams_due = false where n = ${n}`;
  }
}

interface Row {
  kind: string;
  id: string;
  version: bigint;
  at: Date;
}

type SeenTransition = Pick<Transition, "entity" | "version" | "at">;

const seenOf = ({ kind, id, version, at }: Row): SeenTransition => ({
  entity: { kind, id },
  version: Number(version),
  at: at.getTime(),
});

/** Whether any of some transitions is not in the log, or another one is in its place. */
async function areMissing(sql: Queries, seen: readonly SeenTransition[]): Promise<boolean> {
  for (const { entity: { kind, id }, version, at } of seen) {
    const rows = await sql`
      select from outbox where kind = ${kind} and id = ${id} and version = ${version}
        and date_trunc('milliseconds', at) = ${new Date(at)}`;
    if (rows.length === 0) return true;
  }
  return false;
}
