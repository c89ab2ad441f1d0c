/**
 * Publishes transitions, in the order of each entity's versions: to the JetStream stream where there is one, else over
 * core NATS. Transitions that the server confirmed are marked in their rows. The sweeper finds unmarked ones, here or
 * at the next owner, so that each transition is published at least once.
 */
import { inTime, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { endSpan, type TraceRef } from "#src/base/trace.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import {
  cloudEvent,
  eventId,
  eventSubject,
  type Transition,
  transitionOf,
  type TransitionRow,
} from "#src/runtime/events/transition.ts";
import { published, publishFailures } from "#src/runtime/metrics.ts";
import { publishSpan } from "#src/runtime/spans.ts";
import { createEventStream } from "#src/runtime/events/jetStream.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

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
  /** The partitions to sweep after the queue overflowed. */
  readonly owned: () => readonly number[];
  /** How long a JetStream stream stores transitions, in milliseconds; 30 days by default. */
  readonly keptMs?: number | undefined;
}

/** Creates a publisher. One function, because its parts share the queue and the transitions that are not marked yet. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { store, bus, log } = options;
  const stopped = new AbortController();
  const stream = createEventStream({ bus, log, maxAgeMs: options.keptMs ?? KEPT_MS });
  let failing = false;
  let queue: Transition[] = [];
  let overflown = false;
  let working: Promise<void> | undefined;
  const traces = new WeakMap<Transition, TraceRef>();
  let unmarked: Transition[] = [];
  let marking: Promise<void> | undefined;

  let publishing: Promise<unknown> = Promise.resolve();

  /** Publishes one batch after the other, so that no transition is in flight twice. */
  const publish = (transitions: readonly Transition[]): Promise<void> => {
    const mine = publishing.then(() => publishNow(transitions));
    publishing = mine.catch(() => {});
    return mine;
  };

  /** Repeats until the server confirms, so that a later version is never published before an earlier one. */
  const publishNow = async (transitions: readonly Transition[]) => {
    const span = publishSpan(transitions.length, () => transitions.map((one) => traces.get(one)));
    let left = transitions;
    for (;;) {
      let why: string;
      try {
        if (await stream.ready()) {
          const stored = await stream.store(left);
          left = stored.left;
          if (stored.reason === undefined) break;
          why = stored.reason;
        } else {
          for (const transition of left) {
            bus.publish(eventSubject(transition), cloudEvent(transition), { "Nats-Msg-Id": eventId(transition) });
          }
          await bus.flush();
          break;
        }
      } catch (error) {
        why = reason(error);
      }
      publishFailures.of().inc();
      if (stopped.signal.aborted) {
        endSpan(span, "stopped");
        throw new Error(why);
      }
      if (!failing) log.warn("events could not be published and will be retried", { count: left.length, reason: why });
      failing = true;
      await sleep(250, stopped.signal);
    }
    if (failing) log.info("events are published again");
    failing = false;
    published.of().inc(transitions.length);
    endSpan(span);
  };

  const mark = (transitions: readonly Transition[]) =>
    store.sql`
      update outbox o set published = true
      from unnest(${transitions.map(({ entity }) => entity.kind)}::text[],
        ${transitions.map(({ entity }) => entity.id)}::text[], ${transitions.map(({ version }) => version)}::bigint[])
        as x(kind, id, version)
      where o.kind = x.kind and o.id = x.id and o.version = x.version`;

  const markSome = async () => {
    const some = unmarked;
    unmarked = [];
    for (let i = 0; i < some.length; i += MARKED) await mark(some.slice(i, i + MARKED));
  };

  /** Marks published transitions together: a lost mark costs a repetition, and a mark for each would cost a commit. */
  const markSoon = () => {
    marking ??= sleep(MARK_MS, stopped.signal).then(markSome)
      .catch((error) => log.warn("published events could not be marked", { reason: reason(error) }))
      .finally(() => {
        marking = undefined;
        if (unmarked.length > 0 && !stopped.signal.aborted) markSoon();
      });
  };

  const sweep = async (partitions: readonly number[], olderMs: number) => {
    let count = 0;
    for (;;) {
      const rows = await store.sql<TransitionRow[]>`
        select kind, id, version, from_state, to_state, type, cause, at from outbox
        where not published and partition = any(${[
        ...partitions,
      ]}::int[]) and created <= now() - ${olderMs} * interval '1 ms'
        order by partition, kind, id, version limit ${BATCH}`;
      const transitions = rows.map(transitionOf);
      if (rows.length > 0) {
        await publish(transitions);
        await mark(transitions);
      }
      count += rows.length;
      if (rows.length < BATCH) return count;
    }
  };

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
        await publish(batch);
        unmarked.push(...batch);
        markSoon();
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
    if (trace !== undefined) { for (const transition of transitions) traces.set(transition, trace); }
    for (const transition of transitions) queue.push(transition);
    if (queue.length > MOST) {
      queue = [];
      overflown = true;
    }
    start();
  };

  return {
    push,
    pushUnpublished: async ({ kind, id }, after) => {
      const rows = await store.sql<TransitionRow[]>`
        select kind, id, version, from_state, to_state, type, cause, at from outbox
        where kind = ${kind} and id = ${id} and version > ${after} and not published order by version`;
      push(rows.map(transitionOf));
    },
    sweep,
    behind: () => overflown || queue.length > BATCH,
    stop: async (ms) => {
      if (working) await inTime(working, ms);
      stopped.abort();
      stream.stop();
      await marking;
      await markSome().catch((error) => log.warn("published events could not be marked", { reason: reason(error) }));
    },
  };
}
