/**
 * Tells subscribers of transitions, in the order of each entity's versions: through the JetStream stream where there is one,
 * else over core NATS. What the server has confirmed is marked; what is not marked is found again by the sweeper, here or at
 * the next owner, so that each one is told at least once.
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
/** Beyond this many waiting transitions the rows serve as the queue. */
const MOST = 20_000;
/** How long a transition may be told and not marked, in milliseconds. */
const MARK_MS = 400;
/** How long transitions gather after a round of telling, in milliseconds. */
const GATHER_MS = 3;
/** Most transitions marked by one statement. */
const MARKED = 2_048;
/** How long a stream keeps transitions unless said otherwise, in milliseconds. */
const KEPT_MS = 30 * 86_400_000;

export interface Publisher {
  /** Tells of the transitions of a turn, after those handed over before; `trace` is the turn's span. */
  push(transitions: readonly Transition[], trace?: TraceRef): void;
  /** Tells of an entity's transitions behind a version, as `push` does. Rejects when they cannot be read. */
  pushUnpublished(entity: EntityRef, after: number): Promise<void>;
  /** Tells of what is not marked in some partitions and is older than `olderMs`. Rejects when it cannot. */
  sweep(partitions: readonly number[], olderMs: number): Promise<number>;
  /** Whether more was handed over than one round tells: what is not marked then is late, and not lost. */
  behind(): boolean;
  /** Waits until everything handed over was told and marked, or for `ms`; then ends. */
  stop(ms: number): Promise<void>;
}

export interface PublisherOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  /** The partitions to look through after the queue had grown too long. */
  readonly owned: () => readonly number[];
  /** How long a JetStream stream keeps transitions, in milliseconds. */
  readonly keptMs?: number | undefined;
}

export function createPublisher(options: PublisherOptions): Publisher {
  const { store, bus, log } = options;
  const stopped = new AbortController();
  const stream = createEventStream({ bus, log, maxAgeMs: options.keptMs ?? KEPT_MS });
  let troubled = false;
  let queue: Transition[] = [];
  let overflown = false;
  let working: Promise<void> | undefined;
  const traces = new WeakMap<Transition, TraceRef>();
  let told: Transition[] = [];
  let marking: Promise<void> | undefined;

  let telling: Promise<unknown> = Promise.resolve();

  /** One after the other, so that of one entity nothing is on its way twice. */
  const tell = (transitions: readonly Transition[]): Promise<void> => {
    const mine = telling.then(() => tellNow(transitions));
    telling = mine.catch(() => {});
    return mine;
  };

  /** Publishes until the server confirms, so that a later version is never told before an earlier one. */
  const tellNow = async (transitions: readonly Transition[]) => {
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
      if (!troubled) log.warn("events not published yet", { count: left.length, reason: why });
      troubled = true;
      await sleep(250, stopped.signal);
    }
    if (troubled) log.info("events are published again");
    troubled = false;
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
    const some = told;
    told = [];
    for (let i = 0; i < some.length; i += MARKED) await mark(some.slice(i, i + MARKED));
  };

  /** Marks what was told, gathered for a moment: a mark that is lost costs a repetition, and one each would cost a commit. */
  const markTold = () => {
    marking ??= sleep(MARK_MS, stopped.signal).then(markSome)
      .catch((error) => log.warn("events not marked as told", { reason: reason(error) }))
      .finally(() => {
        marking = undefined;
        if (told.length > 0 && !stopped.signal.aborted) markTold();
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
        await tell(transitions);
        await mark(transitions);
      }
      count += rows.length;
      if (rows.length < BATCH) return count;
    }
  };

  const work = async () => {
    // The turns of one statement end together.
    await Promise.resolve();
    while (queue.length > 0 || overflown) {
      if (overflown) {
        // What comes from now on is queued again, behind what the rows still hold.
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
        await tell(batch);
        told.push(...batch);
        markTold();
        // Each round costs a question to the server.
        await sleep(GATHER_MS, stopped.signal);
      } catch (error) {
        log.warn("events not told", { count: batch.length, reason: reason(error) });
      }
    }
  };
  const start = () => {
    working ??= work().catch(async (error) => {
      log.warn("events not published yet", { reason: reason(error) });
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
      await markSome().catch((error) => log.warn("events not marked as told", { reason: reason(error) }));
    },
  };
}
