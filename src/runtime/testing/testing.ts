/** A runtime in memory, for tests of actors. */
import { VirtualClock } from "#src/base/clock.ts";
import { yieldToEventLoop } from "#src/base/eventLoop.ts";
import { type Json, parseWritten, toJson } from "#src/base/json.ts";
import { type Log, silentLog } from "#src/base/log.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { seeded } from "#src/base/seededRandom.ts";
import type { WorkerReply } from "#src/runtime/bus/protocol.ts";
import { createEffects, type Effects } from "#src/runtime/effects/effects.ts";
import {
  readDueEffects,
  readDueReminders,
  readEntitiesWithInputs,
  readInputs,
  type Reminder,
} from "#src/runtime/effects/openRows.ts";
import { contentsOf } from "#src/runtime/events/content.ts";
import { type Transition, transitionOf } from "#src/runtime/events/transition.ts";
import { appendInputs } from "#src/runtime/inputLog.ts";
import { takeLeases } from "#src/runtime/placement/leaseRows.ts";
import { createPartitions, entityKey } from "#src/runtime/placement/partitions.ts";
import { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import { memoryStore, type SentStatement, serverOf } from "#src/runtime/testing/memory/store.ts";
import { createBuilds } from "#src/runtime/turns/builds.ts";
import { effectId, type FailedEvent } from "#src/runtime/turns/fold.ts";
import { createLoader } from "#src/runtime/turns/loader.ts";
import { hydrate, kindsByName, viewOf } from "#src/runtime/turns/machine.ts";
import { Mailboxes } from "#src/runtime/turns/mailboxes.ts";
import { createRequestHandler } from "#src/runtime/turns/requests.ts";
import { createWriter } from "#src/runtime/turns/writer.ts";
import type { ActorKind, ActorView, EntityRef, Event, WorkerStage } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

export type { Transition } from "#src/runtime/events/transition.ts";

export interface TestRuntimeOptions {
  /** The kinds of actors that it runs. */
  readonly actors: readonly ActorKind[];
  /** The time at the start, in milliseconds since 1970; by default 2026-01-01T00:00:00Z. */
  readonly now?: number;
  /** Seed of the jitter of retries and of the ids of commands that are given none; 1 by default. */
  readonly seed?: number;
  /** Timeout of one attempt of an effect, in milliseconds; 30,000 by default. */
  readonly effectMs?: number;
  /** Receives the log lines of the runtime; by default they are dropped. */
  readonly log?: Log;
}

/** A point at which the worker is to crash. */
export interface CrashPoint {
  readonly at: WorkerStage["at"];
  /** Only in a turn or an effect of this entity. */
  readonly entity?: EntityRef;
}

/** A runtime in memory. */
export interface TestRuntime {
  /** The time, in milliseconds since 1970. */
  now(): number;
  /**
   * Has an entity apply an event, as `ask` of a client. A crash does not end it: the next worker gets the command with
   * the same id. A reply that waits for a later time comes with `advance`.
   */
  ask(entity: EntityRef, event: Event, options?: { readonly commandId?: string }): Promise<Result<Json, Failure>>;
  /** Runs a build of an entity. */
  build(entity: EntityRef, name: string, input: Json): Promise<Result<Json, Failure>>;
  /** Appends an event to the input log of an entity, and waits until it is applied. */
  input(entity: EntityRef, event: Event): Promise<void>;
  /** An entity as its last turn left it; `undefined` before its first event. */
  read(entity: EntityRef): ActorView | undefined;
  /** Rows of one of the kinds' own tables, by the table's name in the database. */
  rows(table: string): readonly { readonly [column: string]: Json }[];
  /** The transitions so far, of one entity or of all, in the order of their commits. */
  transitions(entity?: EntityRef): readonly Transition[];
  /** What is still to be done: reminders with their times, and effects without an outcome. */
  pending(): { readonly reminders: readonly Reminder[]; readonly effects: readonly PendingEffect[] };
  /** Events that failed. */
  deadLetters(): readonly (FailedEvent & { readonly entity: EntityRef })[];
  /**
   * Moves the clock, stopping at each moment at which a reminder, the retry of an effect or a timeout is due, and waits
   * there as `settled` does.
   */
  advance(ms: number): Promise<void>;
  /** Waits for all turns, and for effects as long as they do not wait for something outside of the process. */
  settled(): Promise<void>;
  /** Waits for effects too, however long they take, and for the turns that apply their outcomes. */
  idle(): Promise<void>;
  /**
   * Crashes the worker, now or when its work reaches a point, and starts another one. Resolves once that has taken
   * over. What the worker had committed stays; its running effects are aborted and run again.
   */
  crash(point?: CrashPoint): Promise<void>;
  /** Aborts what runs. */
  stop(): void;
}

/** An effect without an outcome. */
export interface PendingEffect {
  readonly entity: EntityRef;
  /** The id that its function gets. */
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** Number of failed attempts, and the reason of the last one. */
  readonly attempts: number;
  readonly error: string | null;
  /** When it is due, in milliseconds since 1970. */
  readonly at: number;
}

const PARTITIONS = 8;
/** Timeout of a request, in milliseconds: the longest of a timer. */
const REQUEST_MS = 2 ** 31 - 1;
/** Most rows that one sweep reads. */
const MOST = 1_000;

/**
 * Creates a runtime in memory that runs some kinds of actors.
 *
 * @throws TypeError when a kind cannot be run; the message says why.
 *
 * @example
 * ```ts
 * const runtime = await createTestRuntime({ actors: [door] });
 * const crashed = runtime.crash({ at: "after-commit" });
 * // The worker crashes before it replies; the next one finds the result of the command.
 * await runtime.ask({ kind: "door", id: "front" }, { type: "OPEN" });
 * await crashed;
 * console.log(runtime.transitions().length); // 1
 * ```
 */
export async function createTestRuntime(options: TestRuntimeOptions): Promise<TestRuntime> {
  const runtime = new MemoryRuntime(options);
  await runtime.start();
  return runtime;
}

type RequestBody =
  & { readonly id: string; readonly entity: EntityRef }
  & ({ readonly ask: "command"; readonly event: Event } | {
    readonly ask: "build";
    readonly name: string;
    readonly input: Json;
  });

/** A request that waits for its reply. */
interface OpenRequest {
  readonly body: RequestBody;
  readonly resolve: (result: Result<Json, Failure>) => void;
}

class MemoryRuntime implements TestRuntime {
  readonly #kinds: ReadonlyMap<string, ActorKind>;
  readonly #clock: VirtualClock;
  readonly #db: MemoryDatabase;
  readonly #store: Store;
  readonly #random: () => number;
  readonly #requests = new Set<OpenRequest>();
  readonly #crashes = new Set<{ readonly point: CrashPoint; readonly done: () => void }>();
  #worker: MemoryWorker | undefined;
  #workers = 0;
  /** Number of statements so far: work goes on while it grows. */
  #statements = 0;
  #ids = 0;

  constructor(private readonly options: TestRuntimeOptions) {
    this.#kinds = kindsByName(options.actors);
    this.#clock = new VirtualClock(options.now ?? Date.UTC(2026, 0));
    this.#db = new MemoryDatabase(() => this.#clock.now());
    const server = serverOf(this.#db);
    const run = (statement: SentStatement) => {
      this.#statements++;
      return server.run(statement);
    };
    this.#store = memoryStore({ ...server, run });
    this.#random = seeded(options.seed ?? 1);
  }

  async start(): Promise<void> {
    await createPartitions(this.#store, PARTITIONS);
    await this.#takeOver();
  }

  now(): number {
    return this.#clock.now();
  }

  ask(entity: EntityRef, event: Event, options: { readonly commandId?: string } = {}): Promise<Result<Json, Failure>> {
    const id = options.commandId ?? `command-${this.options.seed ?? 1}-${++this.#ids}`;
    return this.#request({ ask: "command", id, entity, event });
  }

  build(entity: EntityRef, name: string, input: Json): Promise<Result<Json, Failure>> {
    return this.#request({ ask: "build", id: `build-${++this.#ids}`, entity, name, input });
  }

  async input(entity: EntityRef, event: Event): Promise<void> {
    await this.#store.sql.begin((sql) => appendInputs(sql, [{ entity, event }]));
    this.#worker?.readInputs([entity]);
    await this.settled();
  }

  read(entity: EntityRef): ActorView | undefined {
    const kind = this.#kinds.get(entity.kind);
    const row = this.#db.tables.actor.get(entity.kind, entity.id);
    if (kind === undefined || row === undefined) return undefined;
    return viewOf(entity, hydrate(kind, row.snapshot, row.machine_version), row.version);
  }

  rows(table: string): readonly { readonly [column: string]: Json }[] {
    return this.#db.ownRows(table);
  }

  transitions(entity?: EntityRef): readonly Transition[] {
    const contents = contentsOf(this.#kinds.values());
    return this.#db.tables.outbox.all()
      .filter(({ kind, id }) => entity === undefined || kind === entity.kind && id === entity.id)
      .map((row) =>
        transitionOf({ ...row, version: BigInt(row.version), at: new Date(row.at), generation: "" }, contents)
      );
  }

  pending(): { reminders: Reminder[]; effects: PendingEffect[] } {
    const { reminder, effect } = this.#db.tables;
    return {
      // Machines write their events, hence the cast.
      reminders: reminder.all().map(({ kind, id, name, n, at, event }) => ({
        entity: { kind, id },
        name,
        n,
        at,
        event: event as unknown as Event,
      })),
      effects: effect.all().filter(({ done }) => !done).map(
        ({ kind, id, n, name, input, attempts, error, next_attempt }) => {
          const entity = { kind, id };
          return { entity, id: effectId(entity, n), name, input, attempts, error, at: next_attempt };
        },
      ),
    };
  }

  deadLetters(): (FailedEvent & { readonly entity: EntityRef })[] {
    return this.#db.tables.dead_letter.all().map(({ kind, id, source, cause, event, error }) =>
      ({ entity: { kind, id }, from: source, cause, event, error }) as unknown as FailedEvent & { entity: EntityRef }
    );
  }

  async advance(ms: number): Promise<void> {
    const end = this.now() + ms;
    for (;;) {
      await this.settled();
      const { reminders, effects } = this.pending();
      const next = Math.min(
        this.#clock.next(),
        ...[...reminders, ...effects].map(({ at }) => at).filter((at) => at > this.now()),
      );
      if (!(next <= end)) break;
      this.#clock.advance(next - this.now());
      await this.#worker?.sweep();
    }
    this.#clock.advance(end - this.now());
  }

  async settled(): Promise<void> {
    for (let rounds = 0, before = ""; rounds < 3; rounds++) {
      await yieldToEventLoop();
      const now = `${this.#statements} ${this.#worker?.effects.count()} ${this.#requests.size} ${this.#workers}`;
      if (now !== before) rounds = 0;
      before = now;
    }
  }

  async idle(): Promise<void> {
    do {
      await this.settled();
    } while ((this.#worker?.effects.count() ?? 0) > 0);
  }

  crash(point?: CrashPoint): Promise<void> {
    if (point === undefined) return this.#takeOver();
    return new Promise((done) => this.#crashes.add({ point, done }));
  }

  stop(): void {
    this.#worker?.kill();
    this.#worker = undefined;
  }

  #request(body: RequestBody): Promise<Result<Json, Failure>> {
    return new Promise((resolve) => {
      const request = { body, resolve };
      this.#requests.add(request);
      this.#send(request);
    });
  }

  #send(request: OpenRequest): void {
    const worker = this.#worker;
    worker?.request({ ...request.body, deadline: REQUEST_MS, until: REQUEST_MS }, (reply) => {
      if (worker !== this.#worker || !this.#requests.has(request)) return;
      if ("again" in reply) return this.#send(request);
      this.#requests.delete(request);
      request.resolve(reply);
    });
  }

  /** Has a new worker take over from the current one, and sends it the open requests. */
  async #takeOver(): Promise<void> {
    this.#worker?.kill();
    this.#worker = undefined;
    const before = `worker-${this.#workers}`;
    const worker = `worker-${++this.#workers}`;
    const kinds = Object.fromEntries([...this.#kinds].map(([name, { version }]) => [name, version]));
    const leases = { worker, leaseMs: Number.MAX_SAFE_INTEGER, kinds, most: PARTITIONS, which: "free" as const };
    const taken = await takeLeases(this.#store, { ...leases, held: [], others: [], gone: [before] });
    this.#worker = new MemoryWorker({
      ...this.options,
      store: this.#store,
      kinds: this.#kinds,
      epochs: new Map(taken.map(({ id, epoch }) => [id, Number(epoch)])),
      clock: this.#clock,
      random: this.#random,
      onStep: (stage) => this.#reach(stage),
    });
    await this.#worker.sweep();
    for (const request of this.#requests) this.#send(request);
  }

  /** Crashes the worker when a crash at this stage was requested: the stage then never ends. */
  async #reach(stage: WorkerStage): Promise<void> {
    const crash = [...this.#crashes].find(({ point: { at, entity } }) =>
      at === stage.at && (entity === undefined || entityKey(entity) === entityKey(stage.entity))
    );
    if (crash === undefined) return;
    this.#crashes.delete(crash);
    void this.#takeOver().then(crash.done);
    await new Promise(() => {});
  }
}

interface MemoryWorkerOptions {
  readonly store: Store;
  readonly kinds: ReadonlyMap<string, ActorKind>;
  /** The partitions that it has, with their epochs. */
  readonly epochs: ReadonlyMap<number, number>;
  readonly clock: VirtualClock;
  readonly random: () => number;
  readonly onStep: (stage: WorkerStage) => Promise<void>;
  readonly effectMs?: number;
  readonly log?: Log;
}

/** A worker without leases, bus and publisher. */
class MemoryWorker {
  readonly effects: Effects;
  readonly #mailboxes: Mailboxes;
  readonly #killed = new AbortController();
  readonly #handle: ReturnType<typeof createRequestHandler>;
  /** Reminders that were delivered at the current time: one that is not consumed is delivered again later. */
  #delivered = { at: 0, keys: new Set<string>() };

  constructor(private readonly options: MemoryWorkerOptions) {
    const { store, kinds, epochs, clock, random, onStep, log = silentLog } = options;
    const load = createLoader(store);
    const epochOf = (partition: number) => this.#killed.signal.aborted ? undefined : epochs.get(partition);
    this.#mailboxes = new Mailboxes({
      partitions: PARTITIONS,
      epochOf,
      load,
      readInputs: (entity, partition, most) => readInputs(store, entity, partition, most),
      write: createWriter(store),
      onUnpublished: () => Promise.resolve(),
      onFenced: () => {},
      onCancelled: (entity, cancelled) => this.effects.cancel(entity, cancelled),
      onCommitted: ({ entity, partition, rows }) => {
        this.effects.start(rows.effects.map((effect) => ({ entity, partition, attempts: 0, ...effect })));
        for (const [name, reminder] of rows.reminders) {
          if (reminder !== undefined && reminder.at <= clock.now()) this.#remind({ entity, name, ...reminder });
        }
      },
      onStep,
      clock,
      log,
    });
    this.effects = createEffects({
      store,
      kinds,
      epochOf,
      deliver: (kind, entity, item, trace) => this.#mailboxes.deliver(kind, entity, item, trace),
      onStep,
      log,
      timers: clock,
      random,
      ...(options.effectMs === undefined ? {} : { attemptMs: options.effectMs }),
    });
    const resident = ({ entity }: { readonly entity: EntityRef }) => this.#mailboxes.resident(entity);
    const builds = createBuilds({ load, resident, epochOf, stopping: this.#killed.signal, log });
    this.#handle = createRequestHandler({ kinds, partitions: PARTITIONS, mailboxes: this.#mailboxes, builds, log });
  }

  /** Handles a request as a message: what is not JSON does not pass. */
  request(body: object, respond: (reply: WorkerReply) => void): void {
    this.#handle(parseWritten(toJson(body)), (reply) => respond(parseWritten(toJson(reply)) as WorkerReply));
  }

  readInputs(entities: readonly EntityRef[]): void {
    for (const entity of entities) {
      const kind = this.options.kinds.get(entity.kind);
      if (kind !== undefined) this.#mailboxes.readInputs(kind, entity);
    }
  }

  /** Does what is due in the rows. */
  async sweep(): Promise<void> {
    const { store, epochs, clock } = this.options;
    const partitions = [...epochs.keys()];
    const due = await readDueReminders(store, partitions, clock.now(), MOST);
    due.forEach((reminder) => this.#remind(reminder));
    this.readInputs(await readEntitiesWithInputs(store, partitions, MOST));
    await this.effects.resume(() => readDueEffects(store, partitions, MOST));
  }

  /** Ends it as a crash does: what runs is left as it is. */
  kill(): void {
    this.#killed.abort();
    this.effects.leave(new Set(this.options.epochs.keys()));
  }

  #remind({ entity, name, n, event }: Reminder): void {
    const { kinds, clock } = this.options;
    const kind = kinds.get(entity.kind);
    if (this.#delivered.at !== clock.now()) this.#delivered = { at: clock.now(), keys: new Set() };
    const { keys } = this.#delivered;
    const key = `${entityKey(entity)} ${n}`;
    if (kind === undefined || keys.has(key)) return;
    keys.add(key);
    void this.#mailboxes.deliver(kind, entity, { from: "reminder", name, n, event });
  }
}
