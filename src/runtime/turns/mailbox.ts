/**
 * One entity in a worker: what waits for it, taken in turns. There is one turn in flight; while it is being written the next
 * commands gather, and are folded into one.
 */
import { type Clock, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
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

/** A turn that was written, for what follows it. */
export interface CommittedTurn {
  readonly entity: EntityRef;
  readonly partition: number;
  readonly epoch: number;
  readonly folded: TurnRows;
  readonly causes: readonly string[];
  /** The turn's span. */
  readonly trace: TraceRef | undefined;
}

/** What a turn needs of its worker. */
export interface MailboxOptions {
  /** Epoch under which this worker owns a partition, if it does. */
  readonly epochOf: (partition: number) => number | undefined;
  /** Told when a write found another owner. */
  readonly onFenced: (partition: number, epoch: number) => void;
  readonly load: (wanted: EntityTarget) => Promise<LoadedEntity | Error>;
  /** The next unread rows of the input log for an entity, oldest first. */
  readonly readInputs: (
    entity: EntityRef,
    partition: number,
    most: number,
  ) => Promise<readonly { seq: number; event: Event }[]>;
  readonly write: (turn: TurnWrite) => Promise<Verdict>;
  /** What follows a commit once the replies are out: publishing and effects, in the order of commits for each entity. */
  readonly onCommitted: (turn: CommittedTurn) => void;
  /** Publishes the transitions behind a version, before any later one: they were written by a statement whose answer was lost. */
  readonly onFound: (entity: EntityRef, after: number) => Promise<void>;
  readonly onStep?: ((step: WorkerStage) => void | Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Most events in one turn. */
export const FOLD = 64;

export class Mailbox {
  private readonly waiting: MailboxQueue;
  running: Promise<void> | undefined;
  /** When something last arrived for the entity, by the worker's clock. */
  usedAt = 0;
  private held: EntityState | undefined;
  private epoch: number | undefined;
  /** Whether the input log may have rows to read. */
  private unread = false;
  /** Whether the row changed by other means than this cell's turns. */
  private outdated = false;
  /** Version up to which transitions were handed on under this epoch; undefined before the entity was loaded under it. */
  private told: number | undefined;
  /** Whether a turn may have been written whose answer was lost: the row is read again, whether anything waits or not. */
  private doubt = false;
  /** How many of the next items go one by one, because together they could not be written. */
  private alone = 0;
  /** Why an item could not be written even alone, by its cause. */
  private readonly poison = new Map<string, string>();
  private troubles = 0;

  constructor(
    readonly kind: ActorKind,
    readonly entity: EntityRef,
    readonly partition: number,
    private readonly options: MailboxOptions,
    total: WaitingTotal,
    /** Told when the entity need not be kept. */
    private readonly forget: (cell: Mailbox) => void,
  ) {
    this.waiting = new MailboxQueue(total);
  }

  /** How many entries wait. */
  get depth(): number {
    return this.waiting.depth;
  }

  /** Whether nothing is done or waited for. */
  get idle(): boolean {
    return this.running === undefined && this.waiting.idle;
  }

  /** The entity as its last turn left it, if that is known under the epoch of now. */
  get current(): EntityState | undefined {
    return this.epoch === this.options.epochOf(this.partition) && !this.outdated ? this.held : undefined;
  }

  /** Lets an asker wait with those who asked the same command before, if it waits here or its reply is open. */
  join(id: string, asker: Caller, deadline: number): boolean {
    return this.waiting.join(id, asker, deadline);
  }

  /** Drops the commands that nobody waits for any more. */
  expire(): void {
    this.waiting.expire(fail("unavailable", "The command's time was up before its turn; it was not applied."));
  }

  enqueue(entry: MailboxEntry): void {
    this.waiting.push(entry);
    this.start();
  }

  /** Has the input log read. */
  ring(): void {
    this.unread = true;
    this.start();
  }

  /** Has the row read again before anything that waits: somebody paused or resumed the entity, or set it back. */
  refresh(): void {
    this.outdated = true;
    this.start();
  }

  /** Sends who waits to the next owner, drops the rest and forgets the entity. */
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
      // What came after the last look at the mailbox.
      if (this.due) this.start();
    });
  }

  /** Whether there is something to do. */
  private get due(): boolean {
    return this.waiting.depth > 0 || this.unread || this.outdated || this.doubt;
  }

  private async run(): Promise<void> {
    while (this.due) {
      const epoch = this.options.epochOf(this.partition);
      if (epoch === undefined) return this.abandon();
      if (this.epoch !== epoch) this.told = undefined;
      if (this.epoch !== epoch || this.outdated) {
        this.epoch = epoch;
        this.outdated = false;
        this.held = undefined;
      }
      if (this.held === undefined && !(await this.load())) continue;
      if (this.held !== undefined) await this.turn(epoch, this.held);
    }
  }

  /** Loads an entity. When it cannot be worked on, its mailbox is answered and emptied. */
  private async load(): Promise<boolean> {
    let loaded: LoadedEntity | Error;
    try {
      loaded = await this.options.load(this);
    } catch (error) {
      await this.trouble(reason(error));
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
    const { version } = loaded.held;
    if (this.told !== undefined && version > this.told) {
      try {
        await this.options.onFound(this.entity, this.told);
      } catch (error) {
        await this.trouble(reason(error));
        return false;
      }
      if (this.outdated) return false;
    }
    this.told = version;
    this.doubt = false;
    this.held = loaded.held;
    this.unread ||= loaded.unread;
    return true;
  }

  private async turn(epoch: number, held: EntityState): Promise<void> {
    const { options } = this;
    const begun = performance.now();
    const most = this.alone > 0 ? 1 : FOLD;
    const items: (TurnItem | EffectEnd)[] = [];
    if (this.unread) {
      this.unread = false;
      try {
        const rows = await options.readInputs(this.entity, this.partition, most);
        this.unread ||= rows.length === most;
        for (const { seq, event } of rows) items.push(this.input(seq, event));
      } catch (error) {
        this.unread = true;
        return await this.trouble(reason(error));
      }
    }
    const hadInputs = items.length > 0;
    const entries = this.waiting.take(most - items.length);
    for (const { item } of entries) items.push(item);
    if (items.length === 0) return;
    const causes = items.map((item) => causeOf(this.entity, item));
    items.forEach((item, i) => {
      const poison = this.poison.get(causes[i]!);
      if (poison !== undefined) item.poison = poison;
    });
    const span = turnSpan(this.entity, entries);
    const trace = refOf(span);
    const at = options.clock.now();
    let folded: TurnRows;
    let verdict: Verdict;
    try {
      folded = fold(this.kind, this.entity, held, items, at);
      await this.step("before-commit", causes);
      verdict = await options.write({
        entity: this.entity,
        partition: this.partition,
        epoch,
        was: held.version,
        seen: held.inputSeq,
        machineVersion: this.kind.version,
        at,
        folded,
        trace,
      });
    } catch (error) {
      // Where the others that wait are answered, these are as well.
      this.waiting.putBack(entries, true);
      endSpan(span, "failed");
      throw error;
    }
    endSpan(span, verdict.is === "written" ? undefined : verdict.is);
    if (verdict.is === "written") {
      turnSeconds.of(this.kind.kind).since(begun);
      this.held = folded.next;
      this.told = folded.next.version;
      this.troubles = 0;
      this.alone = Math.max(0, this.alone - 1);
      if (this.poison.size > 0) { for (const cause of causes) this.poison.delete(cause); }
      if (options.onStep !== undefined) {
        await this.step("after-commit", causes);
        await this.step("before-reply", causes);
      }
      this.waiting.reply(entries, folded);
      if (options.onStep !== undefined) await this.step("before-publish", causes);
      options.onCommitted({ entity: this.entity, partition: this.partition, epoch, folded, causes, trace });
      return;
    }
    if (verdict.is !== "fenced") repeated.of(verdict.is).inc();
    this.unread ||= hadInputs;
    if (verdict.is === "known") return this.waiting.setAside(entries, verdict);
    this.waiting.putBack(entries, verdict.is === "unknown");
    if (verdict.is === "stale") this.held = undefined;
    else if (verdict.is === "fenced") {
      options.onFenced(this.partition, epoch);
      this.abandon();
    } else if (verdict.is === "unknown") {
      this.held = undefined;
      this.doubt = true;
      await this.trouble(verdict.reason);
    } else if (items.length > 1) this.alone = items.length;
    else this.spoil(causes[0]!, verdict.reason);
  }

  /** The database refuses the rows of one event: it is refused, or if that cannot be written either, everything that waits. */
  private spoil(cause: string, why: string): void {
    if (!this.poison.has(cause)) this.poison.set(cause, why);
    else {
      this.poison.delete(cause);
      this.options.log.error("what waits for an entity cannot be written", { entity: entityKey(this.entity), cause });
      this.clear(fail("failed", why));
    }
  }

  private input(seq: number, event: Event): TurnItem {
    const parsed = this.kind.inputs.safeParse(event);
    if (parsed.success) return { from: "input", seq, event: parsed.data };
    return { from: "input", seq, event, poison: "no event that this kind accepts from the input log" };
  }

  /** The database did not answer: wait, longer each time, while some of what waits runs out of time. */
  private async trouble(why: string): Promise<void> {
    this.troubles++;
    this.options.log.warn("a turn has to be tried again", { entity: entityKey(this.entity), reason: why });
    await sleep(Math.min(25 * 2 ** this.troubles, 1_000));
    this.waiting.expire(fail("unavailable", "The database did not answer in time; the command may have been applied."));
  }

  /** Answers everything that waits, drops the rest and forgets the entity. */
  private clear(answer: CommandAnswer): void {
    this.unread = false;
    this.outdated = false;
    this.doubt = false;
    this.waiting.clear(answer);
    this.forget(this);
  }

  private async step(at: WorkerStage["at"], causes: readonly string[]): Promise<void> {
    if (this.options.onStep !== undefined) await this.options.onStep({ at, entity: this.entity, causes });
  }
}
