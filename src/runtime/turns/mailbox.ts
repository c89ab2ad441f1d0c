/**
 * The mailbox of one entity: runs its turns, one at a time. Commands that arrive while a turn is being written wait,
 * and are rows into the next turn.
 */
import { type Clock, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { onlyOf } from "#src/base/present.ts";
import { fail } from "#src/base/result.ts";
import { endSpan, refOf, type TraceRef } from "#src/base/trace.ts";
import {
  causeOf,
  type EffectEnd,
  type EntityState,
  fold,
  type TurnItem,
  type TurnRows,
} from "#src/runtime/turns/fold.ts";
import type { EntityTarget, LoadedEntity } from "#src/runtime/turns/loader.ts";
import { unreadableFailure } from "#src/runtime/turns/machine.ts";
import { repeated, turnSeconds } from "#src/runtime/metrics.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import { turnSpan } from "#src/runtime/spans.ts";
import type { TurnWrite } from "#src/runtime/turns/statement.ts";
import type { ActorKind, EntityRef, Event, WorkerStage } from "#src/runtime/types.ts";
import {
  type Caller,
  type CommandAnswer,
  type MailboxEntry,
  MailboxQueue,
  type WaitingTotal,
} from "#src/runtime/turns/queue.ts";
import type { Verdict } from "#src/runtime/turns/writer.ts";

/** A committed turn, for publishing and effects. */
export interface CommittedTurn {
  readonly entity: EntityRef;
  readonly partition: number;
  readonly epoch: number;
  readonly rows: TurnRows;
  readonly causes: readonly string[];
  /** The turn's span. */
  readonly trace: TraceRef | undefined;
}

/** What a mailbox needs of its worker. */
export interface MailboxOptions {
  /** Epoch under which this worker owns a partition; `undefined` when it does not own it. */
  readonly epochOf: (partition: number) => number | undefined;
  /** Called when a write was fenced: another worker owns the partition. */
  readonly onFenced: (partition: number, epoch: number) => void;
  readonly load: (target: EntityTarget) => Promise<LoadedEntity | Error>;
  /** The oldest unread rows of the input log for an entity, in order. */
  readonly readInputs: (
    entity: EntityRef,
    partition: number,
    most: number,
  ) => Promise<readonly { seq: number; event: Event }[]>;
  readonly write: (turn: TurnWrite) => Promise<Verdict>;
  /** Called when effects of an entity were cancelled, or may have been. */
  readonly onCancelled: (entity: EntityRef, cancelled: TurnRows["cancelled"]) => void;
  /** Called after a commit and its replies, in the order of commits of each entity: publishes and starts effects. */
  readonly onCommitted: (turn: CommittedTurn) => void;
  /**
   * Publishes the transitions after a version, before any later one: the response of the statement that wrote them was
   * lost.
   */
  readonly onUnpublished: (entity: EntityRef, after: number) => Promise<void>;
  readonly onStep?: ((step: WorkerStage) => void | Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Most events in one turn. */
export const FOLD = 64;

/** The turns of one entity. It matches `EntityTarget`, so that it can be loaded. */
export class Mailbox {
  private readonly queue: MailboxQueue;
  running: Promise<void> | undefined;
  /** When something last arrived for the entity, by the worker's clock. */
  usedAt = 0;
  private state: EntityState | undefined;
  private epoch: number | undefined;
  /** Whether the input log may have rows to read. */
  private unread = false;
  /** Whether the row was changed by something other than this mailbox's turns. */
  private outdated = false;
  /**
   * Version up to which transitions were given to the publisher in this epoch; undefined before the entity was loaded
   * in it.
   */
  private handedOn: number | undefined;
  /** Whether a turn may have been written without a response: the row is then read again, even if nothing waits. */
  private uncertain = false;
  /** How many of the next items are written one by one, because the database refused them together. */
  private single = 0;
  /** By cause: why an item could not be written even alone. */
  private readonly poison = new Map<string, string>();
  private failures = 0;

  constructor(
    readonly kind: ActorKind,
    readonly entity: EntityRef,
    readonly partition: number,
    private readonly options: MailboxOptions,
    total: WaitingTotal,
    /** Called when the mailbox need not be kept in memory. */
    private readonly forget: (mailbox: Mailbox) => void,
  ) {
    this.queue = new MailboxQueue(total);
  }

  /** Number of waiting entries. */
  get depth(): number {
    return this.queue.depth;
  }

  /** Whether no turn runs and nothing waits. */
  get idle(): boolean {
    return this.running === undefined && this.queue.idle;
  }

  /** The state after the last turn, if it is known in the current epoch. */
  get current(): EntityState | undefined {
    return this.epoch === this.options.epochOf(this.partition) && !this.outdated ? this.state : undefined;
  }

  /** Adds a caller to a command with the same id that waits or whose reply is open; false when there is none. */
  join(id: string, caller: Caller, deadline: number): boolean {
    return this.queue.join(id, caller, deadline);
  }

  /** Drops the commands whose callers have stopped waiting. */
  expire(): void {
    this.queue.expire(fail("unavailable", "The command's timeout expired before its turn; it was not applied."));
  }

  enqueue(entry: MailboxEntry): void {
    this.queue.push(entry);
    this.start();
  }

  /** Has the next turn read the input log. */
  readInputs(): void {
    this.unread = true;
    this.start();
  }

  /**
   * Has the row read again before the next turn: it was changed by an operator (pause, resume, retry of a dead letter).
   */
  refresh(): void {
    this.outdated = true;
    this.start();
  }

  /** Sends the callers to the next owner, drops everything else and forgets the entity. */
  abandon(): void {
    this.clear("not_owner");
  }

  private start(): void {
    if (this.running !== undefined) return;
    this.running = this.run().catch((error) => {
      this.options.log.error("an entity's turns stopped", { entity: entityKey(this.entity), reason: reason(error) });
      this.abandon();
    }).finally(() => {
      this.running = undefined;
      // Entries that arrived after the last check.
      if (this.due) this.start();
    });
  }

  /** Whether there is something to do. */
  private get due(): boolean {
    return this.queue.depth > 0 || this.unread || this.outdated || this.uncertain;
  }

  private async run(): Promise<void> {
    while (this.due) {
      const epoch = this.options.epochOf(this.partition);
      if (epoch === undefined) return this.abandon();
      if (this.epoch !== epoch) this.handedOn = undefined;
      if (this.epoch !== epoch || this.outdated) {
        this.epoch = epoch;
        this.outdated = false;
        this.state = undefined;
      }
      if (this.state === undefined && !(await this.load())) continue;
      if (this.state !== undefined) await this.turn(epoch, this.state);
    }
  }

  /** Loads the entity. If it is paused or unreadable, everything that waits is answered so. */
  private async load(): Promise<boolean> {
    let loaded: LoadedEntity | Error;
    try {
      loaded = await this.options.load(this);
    } catch (error) {
      await this.backOff(reason(error));
      return false;
    }
    if (this.outdated) return false;
    if (loaded instanceof Error || loaded.paused) {
      const answer = loaded instanceof Error
        ? unreadableFailure(this.kind, loaded)
        : fail("paused", `This ${this.entity.kind} is paused.`);
      if (loaded instanceof Error) {
        this.options.log.error("an entity cannot be read", {
          entity: entityKey(this.entity),
          reason: loaded.message,
        });
      }
      this.clear(answer);
      return false;
    }
    const { version } = loaded.state;
    if (this.handedOn !== undefined && version > this.handedOn) {
      try {
        await this.options.onUnpublished(this.entity, this.handedOn);
      } catch (error) {
        await this.backOff(reason(error));
        return false;
      }
      if (this.outdated) return false;
    }
    this.handedOn = version;
    this.uncertain = false;
    this.state = loaded.state;
    this.unread ||= loaded.unread;
    return true;
  }

  private async turn(epoch: number, state: EntityState): Promise<void> {
    const { options } = this;
    const start = performance.now();
    const most = this.single > 0 ? 1 : FOLD;
    let items: (TurnItem | EffectEnd)[];
    try {
      items = this.unread ? await this.takeInputs(most) : [];
    } catch (error) {
      this.unread = true;
      return await this.backOff(reason(error));
    }
    const hadInputs = items.length > 0;
    const entries = this.queue.take(most - items.length);
    for (const { item } of entries) items.push(item);
    if (items.length === 0) return;
    const causes = items.map((item) => {
      const cause = causeOf(this.entity, item);
      const poison = this.poison.get(cause);
      if (poison !== undefined) item.poison = poison;
      return cause;
    });
    const span = turnSpan(this.entity, entries);
    const trace = refOf(span);
    const at = options.clock.now();
    let rows: TurnRows;
    let verdict: Verdict;
    try {
      rows = fold(this.kind, this.entity, state, items, at);
      await this.step("before-commit", causes);
      verdict = await options.write({
        entity: this.entity,
        partition: this.partition,
        epoch,
        was: state.version,
        seen: state.inputSeq,
        machineVersion: this.kind.version,
        at,
        rows,
        trace,
      });
    } catch (error) {
      // They are then answered together with the others that wait.
      this.queue.putBack(entries, true);
      endSpan(span, "failed");
      throw error;
    }
    endSpan(span, verdict.is === "written" ? undefined : verdict.is);
    if (rows.cancelled.length > 0 && (verdict.is === "written" || verdict.is === "unknown")) {
      options.onCancelled(this.entity, rows.cancelled);
    }
    if (verdict.is === "written") {
      turnSeconds.of(this.kind.kind).since(start);
      this.state = rows.next;
      this.handedOn = rows.next.version;
      this.failures = 0;
      this.single = Math.max(0, this.single - 1);
      if (this.poison.size > 0) { for (const cause of causes) this.poison.delete(cause); }
      if (options.onStep !== undefined) {
        await this.step("after-commit", causes);
        await this.step("before-reply", causes);
      }
      this.queue.reply(entries, rows);
      if (options.onStep !== undefined) await this.step("before-publish", causes);
      options.onCommitted({ entity: this.entity, partition: this.partition, epoch, rows, causes, trace });
      return;
    }
    if (verdict.is !== "fenced") repeated.of(verdict.is).inc();
    this.unread ||= hadInputs;
    this.queue.askAgain(rows.answers.keys());
    if (verdict.is === "known") {
      // By an earlier turn whose response was lost, perhaps: the state is then an older one.
      this.state = undefined;
      return this.queue.dropConsumed(entries, verdict);
    }
    this.queue.putBack(entries, verdict.is === "unknown");
    if (verdict.is === "stale") this.state = undefined;
    else if (verdict.is === "fenced") {
      options.onFenced(this.partition, epoch);
      this.abandon();
    } else if (verdict.is === "unknown") {
      this.state = undefined;
      this.uncertain = true;
      await this.backOff(verdict.reason);
    } else if (items.length > 1) this.single = items.length;
    else this.refuseItem(onlyOf(causes), verdict.reason);
  }

  /**
   * The database refused the rows of one event: refuse the event, and if that cannot be written either, everything that
   * waits.
   */
  private refuseItem(cause: string, why: string): void {
    if (!this.poison.has(cause)) this.poison.set(cause, why);
    else {
      this.poison.delete(cause);
      this.options.log.error("queued events of an entity cannot be written", { entity: entityKey(this.entity), cause });
      this.clear(fail("failed", why));
    }
  }

  /** Reads the next rows of the input log. */
  private async takeInputs(most: number): Promise<TurnItem[]> {
    this.unread = false;
    const inputs = await this.options.readInputs(this.entity, this.partition, most);
    this.unread ||= inputs.length === most;
    return inputs.map(({ seq, event }) => this.input(seq, event));
  }

  private input(seq: number, event: Event): TurnItem {
    const parsed = this.kind.inputs.safeParse(event);
    if (parsed.success) return { from: "input", seq, event: parsed.data };
    return { from: "input", seq, event, poison: "not an event that this kind accepts from the input log" };
  }

  /** The database did not answer: wait, longer each time, and expire what is past its deadline. */
  private async backOff(why: string): Promise<void> {
    this.failures++;
    this.options.log.warn("a turn will be retried", { entity: entityKey(this.entity), reason: why });
    await sleep(Math.min(25 * 2 ** this.failures, 1_000));
    this.queue.expire(fail("unavailable", "The database did not respond in time; the command may have been applied."));
  }

  /** Answers all callers, drops everything else and forgets the entity. */
  private clear(answer: CommandAnswer): void {
    this.unread = false;
    this.outdated = false;
    this.uncertain = false;
    this.queue.clear(answer);
    this.forget(this);
  }

  private async step(at: WorkerStage["at"], causes: readonly string[]): Promise<void> {
    if (this.options.onStep !== undefined) await this.options.onStep({ at, entity: this.entity, causes });
  }
}
