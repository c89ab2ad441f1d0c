/** A worker: owns a share of the partitions, and runs the actors in them. */
import type { Clock } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { createBuilds } from "#src/runtime/turns/builds.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { serveControl, type WorkerState } from "#src/runtime/operations/control.ts";
import { createEffects } from "#src/runtime/effects/effects.ts";
import { INPUTS_SUBJECT } from "#src/runtime/inputLog.ts";
import { createLoader } from "#src/runtime/turns/loader.ts";
import { kindsByName } from "#src/runtime/turns/machine.ts";
import type { CommittedTurn } from "#src/runtime/turns/mailbox.ts";
import { Mailboxes } from "#src/runtime/turns/mailboxes.ts";
import * as measure from "#src/runtime/metrics.ts";
import { createPartitions, entityKey, partitionOf } from "#src/runtime/placement/partitions.ts";
import { startPlacement } from "#src/runtime/placement/placement.ts";
import { workerSubject } from "#src/runtime/bus/protocol.ts";
import { contentsOf } from "#src/runtime/events/content.ts";
import { createPublisher } from "#src/runtime/events/publisher.ts";
import { createRequestHandler } from "#src/runtime/turns/requests.ts";
import { RateCounter } from "#src/runtime/operations/rateCounter.ts";
import { readInputs } from "#src/runtime/effects/openRows.ts";
import { createSweeper } from "#src/runtime/effects/sweeper.ts";
import type { ActorKind, EntityRef, WorkerStage } from "#src/runtime/types.ts";
import { createWriter } from "#src/runtime/turns/writer.ts";
import { turnStore } from "#src/runtime/turns/connections.ts";
import { followDatabaseClock, type RunningClock } from "#src/store/clock.ts";
import type { Store } from "#src/store/store.ts";

export interface WorkerOptions {
  /** Name of this worker: letters, digits, `_` and `-`, unique among running workers. */
  readonly id: string;
  readonly store: Store;
  /** Pool on which leases are renewed; a separate one where `store` may be busy with other work. */
  readonly leaseStore?: Store;
  readonly bus: Bus;
  readonly kinds: readonly ActorKind[];
  readonly log: Log;
  /** Clock of turns and reminders; by default the database's. */
  readonly clock?: Clock;
  /** Number of partitions of a new database; an existing one keeps its number. */
  readonly partitions?: number;
  /** Time to live of a partition's lease, in milliseconds. */
  readonly leaseMs?: number;
  /** Interval of sweeps over open rows, in milliseconds. */
  readonly sweepMs?: number;
  /** Timeout of one attempt of an effect, in milliseconds. */
  readonly effectMs?: number;
  /** Most commands that wait for one entity, and for all entities of the worker. */
  readonly waiting?: { readonly entity: number; readonly all: number };
  /** Most entities kept in memory, 20,000 by default. */
  readonly resident?: number;
  /** Time after which an unused entity leaves memory, in milliseconds; a minute by default. */
  readonly unusedMs?: number;
  /** How long a JetStream stream keeps transitions, in milliseconds. */
  readonly eventsKeptMs?: number;
  /** Id of the database's generation; empty, that of a database that was never restored, by default. */
  readonly generation?: () => string;
  /** Called and awaited at each stage of the work, for fault injection in tests. */
  readonly onStep?: (step: WorkerStage) => void | Promise<void>;
}

export interface Worker {
  readonly id: string;
  state(): WorkerState;
  /** Accepts no more work, waits for running turns, publishes their transitions and returns the leases. */
  stop(): Promise<void>;
}

/**
 * Starts a worker. The tables must exist (`migrations`).
 *
 * The function is long because it only wires the parts together: each depends on some of the others.
 *
 * @throws TypeError when the id is malformed or a kind cannot be run; the message says why.
 *
 * @example
 * ```ts
 * const worker = await startWorker({ id: "one", store, bus, kinds: [door], log });
 * const { ask } = createAsk({ bus, store });
 * await ask({ kind: "door", id: "front" }, { type: "OPEN" });
 * await worker.stop();
 * ```
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { store, bus, onStep } = options;
  const log = options.log.with({ worker: options.id });
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(options.id)) throw new TypeError(`"${options.id}" is no name for a worker`);
  const kinds = kindsByName(options.kinds);
  const partitions = await createPartitions(store, options.partitions ?? 64);
  const clock = await clockOf(options);
  let turns = 0;
  let events = 0;
  let fenced = 0;
  const rate = new RateCounter();

  const turnPool = turnStore(store);
  const load = createLoader(turnPool);
  const epochOf = (partition: number): number | undefined => placement.epochOf(partition);
  const publisher = createPublisher({
    store: turnPool,
    bus,
    log,
    contents: contentsOf(kinds.values()),
    partitions,
    owned: () => placement.owned(),
    keptMs: options.eventsKeptMs,
    generation: options.generation,
  });

  const mailboxes = new Mailboxes({
    partitions,
    epochOf,
    load,
    readInputs: (entity, partition, most) => readInputs(turnPool, entity, partition, most),
    write: createWriter(turnPool),
    onUnpublished: publisher.pushUnpublished,
    onFenced: (partition, epoch) => {
      fenced++;
      measure.fenced.of().inc();
      placement.lost(partition, epoch);
    },
    onCancelled: (entity, cancelled) => effects.cancel(entity, cancelled),
    onCommitted: (turn) => {
      turns++;
      events += turn.rows.transitions.length;
      rate.add(turn.rows.transitions.length);
      afterCommit(turn);
    },
    onStep,
    clock,
    log,
    ...(options.waiting === undefined ? {} : { waiting: options.waiting }),
    ...(options.resident === undefined ? {} : { resident: options.resident }),
    ...(options.unusedMs === undefined ? {} : { unusedMs: options.unusedMs }),
  });
  const effects = createEffects({
    store,
    kinds,
    epochOf,
    deliver: (kind, entity, item, trace) => mailboxes.deliver(kind, entity, item, trace),
    onStep,
    log,
    limits: { bus, worker: options.id },
    ...(options.effectMs === undefined ? {} : { attemptMs: options.effectMs }),
  });
  const sweeper = createSweeper({
    store,
    kinds,
    owned: () => placement.owned(),
    mailboxes,
    effects,
    publisher,
    clock,
    log,
    everyMs: options.sweepMs ?? 1_000,
  });
  const afterCommit = ({ entity, partition, rows, trace }: CommittedTurn) => {
    measure.turns.of(entity.kind).inc();
    measure.turnEvents.of(entity.kind).observe(rows.transitions.length);
    for (const { type } of rows.transitions) measure.events.of(entity.kind, type).inc();
    if (rows.failed.length > 0) measure.dead.of(entity.kind).inc(rows.failed.length);
    for (const { cause, event } of rows.failed) {
      // The dead letter holds the reason, with the values.
      log.error("an event failed and is a dead letter", { entity: entityKey(entity), cause, event: event.type });
    }
    publisher.push(rows.transitions, trace);
    if (rows.effects.length > 0) {
      effects.start(rows.effects.map((effect) => ({ entity, partition, attempts: 0, trace, ...effect })));
    }
    for (const [name, reminder] of rows.reminders) {
      if (reminder !== undefined) sweeper.remind({ entity, name, ...reminder });
    }
  };
  const stopping = new AbortController();
  const builds = createBuilds({
    load,
    resident: ({ entity }) => mailboxes.resident(entity),
    epochOf,
    stopping: stopping.signal,
    log,
  });

  const handleRequest = createRequestHandler({ kinds, partitions, mailboxes, builds, log });
  const handleNotification = (body: Json) => {
    if (!Array.isArray(body)) return;
    for (const pair of body) {
      if (!Array.isArray(pair) || typeof pair[0] !== "string" || typeof pair[1] !== "string") continue;
      const entity: EntityRef = { kind: pair[0], id: pair[1] };
      const kind = kinds.get(entity.kind);
      if (kind !== undefined) mailboxes.readInputs(kind, entity);
    }
  };

  const state = (): WorkerState => {
    const { resident, waiting } = mailboxes.counts();
    const owned = placement.owned();
    return {
      owned,
      turns,
      events,
      fenced,
      resident,
      waiting,
      effects: effects.count(),
      eventsPerSecond: rate.perSecond(),
      clockAheadMs: Math.round(Date.now() - clock.now()),
    };
  };
  const owns = (entity: EntityRef) => epochOf(partitionOf(entity, partitions)) !== undefined;
  const subscriptions = [
    bus.serve(workerSubject(options.id), handleRequest),
    bus.subscribe(INPUTS_SUBJECT, handleNotification),
    serveControl({ id: options.id, store, bus, kinds, mailboxes, owns, state, log }),
  ];
  const placement = startPlacement({
    store: options.leaseStore ?? store,
    bus,
    worker: options.id,
    kinds: Object.fromEntries([...kinds].map(([name, { version }]) => [name, version])),
    partitions,
    leaseMs: options.leaseMs ?? 2_000,
    log,
    // Transitions that the former owner did not publish go first: no later version may overtake them.
    onTaken: async (taken) => void await publisher.sweep(taken, 0),
    onServed: (served) =>
      void sweeper.sweep(served).catch((error) => log.warn("sweep failed", { reason: reason(error) })),
    onLeft: async (left) => {
      effects.leave(left);
      await mailboxes.leave(left);
    },
  });
  const gauges = [
    measure.resident.of().from(() => mailboxes.counts().resident),
    measure.waiting.of().from(() => mailboxes.counts().waiting),
    measure.effectsRunning.of().from(() => effects.count()),
    measure.partitions.of().from(() => placement.owned().length),
  ];
  log.info("worker started", { partitions, kinds: [...kinds.keys()] });

  return {
    id: options.id,
    state,
    stop: async () => {
      const swept = sweeper.stop();
      effects.stop();
      const left = placement.stop();
      // After the partitions are no longer served here.
      stopping.abort();
      await left;
      await swept;
      await publisher.stop(2_000);
      clock.stop();
      await turnPool.close();
      for (const end of [...subscriptions, ...gauges]) end();
      await bus.flush().catch(() => {});
      log.info("worker stopped", { turns, events });
    },
  };
}

/** The clock of turns: the given one, or the database's, which is followed until it is stopped. */
async function clockOf({ clock, store }: WorkerOptions): Promise<RunningClock> {
  return clock === undefined ? await followDatabaseClock(store) : { now: () => clock.now(), stop: () => {} };
}
