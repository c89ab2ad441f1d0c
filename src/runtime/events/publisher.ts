/**
 * Publishes transitions, in the order of each entity's versions: to the JetStream stream where there has been one, else
 * over core NATS. Transitions that the stream (else the server) confirmed are marked in their rows; the others wait in
 * them, however long. The sweeper finds unmarked ones, here or at the next owner, so that each transition is published
 * at least once.
 */
import { inTime, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { endSpan, type TraceRef } from "#src/base/trace.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Contents } from "#src/runtime/events/content.ts";
import {
  eventHeaders,
  eventMessages,
  type Transition,
  transitionOf,
  type TransitionRow,
} from "#src/runtime/events/transition.ts";
import { published, publishFailures } from "#src/runtime/metrics.ts";
import { partitionOf } from "#src/runtime/placement/partitions.ts";
import { publishSpan } from "#src/runtime/spans.ts";
import { createEventStream, type EventStream } from "#src/runtime/events/jetStream.ts";
import { streamRecord } from "#src/runtime/events/streamRecord.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Fragment, Store } from "#src/store/store.ts";

const BATCH = 512;
/** Most transitions in memory; beyond them the rows are the queue. */
const MOST = 20_000;
/** Time over which marks are collected, in milliseconds. */
const MARK_MS = 400;
/** Pause after a batch, in which transitions collect for the next one, in milliseconds. */
const GATHER_MS = 3;
/** Most transitions marked by one statement. */
const MARKED = 2_048;
/** How long a stream stores transitions by default, in milliseconds. */
const KEPT_MS = 30 * 86_400_000;

export interface Publisher {
  /** Publishes the transitions of a turn, after those pushed before; `trace` is the turn's span. */
  push(transitions: readonly Transition[], trace?: TraceRef): void;
  /** Pushes the unpublished transitions of an entity after a version. Rejects when they cannot be read. */
  pushUnpublished(entity: EntityRef, after: number): Promise<void>;
  /** Publishes the unmarked transitions of some partitions that are older than `olderMs`; resolves to their number. */
  sweep(partitions: readonly number[], olderMs: number): Promise<number>;
  /** Whether more than one batch is queued: unmarked transitions are then late, not lost. */
  behind(): boolean;
  /** Waits until everything pushed is published and marked, at most `ms` milliseconds; then stops. */
  stop(ms: number): Promise<void>;
}

export interface PublisherOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  /** Reads the content of transitions in rows, and knows which of it guests may not read. */
  readonly contents: Contents;
  /** Number of partitions. */
  readonly partitions: number;
  /** The partitions to sweep after the queue overflowed. */
  readonly owned: () => readonly number[];
  /** Id of the database's generation, in which turns write; empty for the first, as by default. */
  readonly generation?: (() => string) | undefined;
  /** How long a JetStream stream stores transitions, in milliseconds; 30 days by default. */
  readonly keptMs?: number | undefined;
}

/** Publishes batches to the stream or over core NATS, one after the other, so that no transition is in flight twice. */
class Sender {
  private failing = false;
  private last: Promise<unknown> = Promise.resolve();
  private readonly traces = new WeakMap<Transition, TraceRef>();
  private readonly stream: EventStream;

  constructor(private readonly options: PublisherOptions, private readonly stopped: AbortSignal) {
    const { store, bus, log, contents, keptMs = KEPT_MS, generation = FIRST } = options;
    const record = streamRecord(store);
    this.stream = createEventStream({ bus, log, contents, maxAgeMs: keptMs, record, generation });
  }

  /** Remembers the span of the turn that wrote some transitions. */
  trace(transitions: readonly Transition[], trace: TraceRef | undefined): void {
    if (trace !== undefined) { for (const transition of transitions) this.traces.set(transition, trace); }
  }

  /** Resolves when the server has confirmed all; rejects when the publisher stops before that. */
  publish(transitions: readonly Transition[]): Promise<void> {
    const mine = this.last.then(() => this.publishNow(transitions));
    this.last = mine.catch(() => {});
    return mine;
  }

  /** Looks for the stream; a failure is met again by the first batch. */
  async check(): Promise<void> {
    await this.stream.ready().catch(() => {});
  }

  stop(): void {
    this.stream.stop();
  }

  /** Repeats until the server confirms, so that a later version is never published before an earlier one. */
  private async publishNow(transitions: readonly Transition[]): Promise<void> {
    const { log } = this.options;
    const span = publishSpan(transitions.length, () => transitions.map((one) => this.traces.get(one)));
    let left = transitions;
    for (;;) {
      let why: string;
      try {
        const sent = await this.send(left);
        left = sent.left;
        if (sent.reason === undefined) break;
        why = sent.reason;
      } catch (error) {
        why = reason(error);
      }
      publishFailures.of().inc();
      if (this.stopped.aborted) {
        endSpan(span, "stopped");
        throw new Error(why);
      }
      if (!this.failing) {
        log.warn("events could not be published and will be retried", { count: left.length, reason: why });
      }
      this.failing = true;
      await sleep(250, this.stopped);
    }
    if (this.failing) log.info("events are published again");
    this.failing = false;
    published.of().inc(transitions.length);
    endSpan(span);
  }

  /** Sends transitions once. Resolves to those that were not confirmed, and the reason. */
  private async send(
    transitions: readonly Transition[],
  ): Promise<{ readonly left: readonly Transition[]; readonly reason?: string }> {
    const isStored = await this.stream.ready();
    const { bus, contents, generation = FIRST } = this.options;
    const current = generation();
    const isOther = transitions.some((one) => (one.generation ?? "") !== current);
    const exact = isOther ? await inGenerations(this.options, transitions) : transitions;
    if (isStored) return await this.stream.store(exact);
    for (const transition of exact) {
      for (const { subject, body, id } of eventMessages(transition, contents)) {
        bus.publish(subject, body, eventHeaders(id, current));
      }
    }
    await bus.flush();
    return { left: [] };
  }
}

const FIRST = () => "";

/** Transitions with the generations of their rows: one may have begun after they were written or read. */
async function inGenerations(options: Marking, transitions: readonly Transition[]): Promise<Transition[]> {
  const rows = await options.store.sql<{ kind: string; id: string; version: bigint; generation: string }[]>`
    select o.kind, o.id, o.version, o.generation from outbox o join ${keysOf(options, transitions)}
      on o.kind = x.kind and o.id = x.id and o.version = x.version`;
  const known = new Map(rows.map(({ kind, id, version, generation }) => [`${version} ${kind} ${id}`, generation]));
  return transitions.map((one) => {
    const { entity: { kind, id }, version } = one;
    return { ...one, generation: known.get(`${version} ${kind} ${id}`) ?? one.generation };
  });
}

/** Marks published transitions together: a lost mark costs a repetition, and a mark for each would cost a commit. */
class Marker {
  private unmarked: Transition[] = [];
  private marking: Promise<void> | undefined;

  constructor(private readonly options: PublisherOptions, private readonly stopped: AbortSignal) {}

  /** Marks transitions after `MARK_MS`, together with others. */
  add(transitions: readonly Transition[]): void {
    this.unmarked.push(...transitions);
    this.schedule();
  }

  /** Marks what is left, after the publisher was stopped. */
  async finish(): Promise<void> {
    await this.marking;
    await this.markSome().catch((error) => this.warn(error));
  }

  private schedule(): void {
    this.marking ??= sleep(MARK_MS, this.stopped).then(() => this.markSome())
      .catch((error) => this.warn(error))
      .finally(() => {
        this.marking = undefined;
        if (this.unmarked.length > 0 && !this.stopped.aborted) this.schedule();
      });
  }

  private async markSome(): Promise<void> {
    const some = this.unmarked;
    this.unmarked = [];
    for (let i = 0; i < some.length; i += MARKED) await mark(this.options, some.slice(i, i + MARKED));
  }

  private warn(error: unknown): void {
    this.options.log.warn("published events could not be marked", { reason: reason(error) });
  }
}

/** What marks need: the rows, and the number of partitions. */
type Marking = Pick<PublisherOptions, "store" | "partitions">;

async function mark(options: Marking, transitions: readonly Transition[]): Promise<void> {
  await options.store.sql`
      delete from outbox_unpublished o using ${keysOf(options, transitions)}
      where o.partition = x.partition and o.kind = x.kind and o.id = x.id and o.version = x.version`;
}

/** Marks transitions that workers of earlier versions wrote. */
async function markOld(options: Marking, transitions: readonly Transition[]): Promise<void> {
  await options.store.sql`
      update outbox o set published = true from ${keysOf(options, transitions)}
      where o.kind = x.kind and o.id = x.id and o.version = x.version and not published`;
}

/** The keys of transitions as the relation `x`. */
function keysOf({ store: { sql }, partitions }: Marking, transitions: readonly Transition[]): Fragment {
  return sql`unnest(${transitions.map(({ entity }) => partitionOf(entity, partitions))}::int[],
    ${transitions.map(({ entity }) => entity.kind)}::text[],
    ${transitions.map(({ entity }) => entity.id)}::text[], ${transitions.map(({ version }) => version)}::bigint[])
    as x(partition, kind, id, version)`;
}

/** Unpublished transitions in each entity's order, also those of workers of earlier versions. */
async function readUnpublished(
  { store: { sql }, contents }: Pick<PublisherOptions, "store" | "contents">,
  conditions: (table: Fragment) => Fragment,
  limit: number,
): Promise<Transition[]> {
  const order = (table: Fragment) => sql`order by ${table}.partition, ${table}.kind, ${table}.id, ${table}.version`;
  const [u, o] = [sql`u`, sql`o`];
  const rows = await sql<TransitionRow[]>`
    select o.kind, o.id, o.version, o.from_state, o.to_state, o.type, o.cause, o.at, o.body, o.generation from (
      (select partition, kind, id, version from outbox_unpublished u where ${conditions(u)} ${order(u)} limit ${limit})
      union (select partition, kind, id, version from outbox o where not published and ${conditions(o)}
        ${order(o)} limit ${limit})) u
    join outbox o using (kind, id, version) ${order(u)} limit ${limit}`;
  return rows.map((row) => transitionOf(row, contents));
}

/** Publishes and marks unmarked transitions, as `Publisher.sweep`. */
async function sweepRows(
  options: PublisherOptions,
  sender: Sender,
  partitions: readonly number[],
  olderMs: number,
): Promise<number> {
  const { store: { sql } } = options;
  let count = 0;
  for (;;) {
    const due = (table: Fragment) =>
      sql`${table}.partition = any(${sql.array([...partitions])}::int[])
        and ${table}.created <= now() - ${olderMs} * interval '1 ms'`;
    const transitions = await readUnpublished(options, due, BATCH);
    if (transitions.length > 0) {
      await sender.publish(transitions);
      await mark(options, transitions);
      await markOld(options, transitions);
    }
    count += transitions.length;
    if (transitions.length < BATCH) return count;
  }
}

/** Creates a publisher. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { store, log, contents, generation = FIRST } = options;
  const stopped = new AbortController();
  const sender = new Sender(options, stopped.signal);
  const marker = new Marker(options, stopped.signal);
  let queue: Transition[] = [];
  let overflown = false;
  let working: Promise<void> | undefined;

  const sweep: Publisher["sweep"] = (partitions, olderMs) => sweepRows(options, sender, partitions, olderMs);

  const work = async () => {
    // The turns of one statement end in the same moment.
    await Promise.resolve();
    while (queue.length > 0 || overflown) {
      if (overflown) {
        // Transitions pushed from now on are queued again, after those in the rows.
        overflown = false;
        await sweep(options.owned(), 0).catch((error) => {
          overflown = true;
          throw error;
        });
        continue;
      }
      const batch = queue.slice(0, BATCH);
      queue = queue.slice(BATCH);
      try {
        await sender.publish(batch);
        marker.add(batch);
        // Each batch costs a round trip to the server.
        await sleep(GATHER_MS, stopped.signal);
      } catch (error) {
        log.warn("events not published", { count: batch.length, reason: reason(error) });
      }
    }
  };
  const start = () => {
    working ??= work().catch(async (error) => {
      log.warn("events could not be published and will be retried", { reason: reason(error) });
      await sleep(250, stopped.signal);
    }).finally(() => {
      working = undefined;
      if (!stopped.signal.aborted && (queue.length > 0 || overflown)) start();
    });
  };

  const push: Publisher["push"] = (transitions, trace) => {
    if (overflown || transitions.length === 0) return;
    sender.trace(transitions, trace);
    for (const transition of transitions) queue.push(transition);
    if (queue.length > MOST) {
      queue = [];
      overflown = true;
    }
    start();
  };

  // A stream that shows that the database was restored is looked at before anything is written.
  void sender.check();

  return {
    push: (transitions, trace) => {
      const current = generation();
      push(current === "" ? transitions : transitions.map((one) => ({ ...one, generation: current })), trace);
    },
    pushUnpublished: async ({ kind, id }, after) => {
      const { sql } = store;
      const later = (table: Fragment) =>
        sql`${table}.kind = ${kind} and ${table}.id = ${id} and ${table}.version > ${after}`;
      push(await readUnpublished({ store, contents }, later, MOST));
    },
    sweep,
    behind: () => overflown || queue.length > BATCH,
    stop: async (ms) => {
      if (working) await inTime(working, ms);
      stopped.abort();
      sender.stop();
      await marker.finish();
    },
  };
}
