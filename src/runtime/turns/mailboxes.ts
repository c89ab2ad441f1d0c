/** The mailboxes of a worker, and with them its entities in memory. */
import { fail } from "#src/base/result.ts";
import type { TraceRef } from "#src/base/trace.ts";
import { Mailbox, type MailboxOptions } from "#src/runtime/turns/mailbox.ts";
import type { EffectEnd, EntityState, TurnItem } from "#src/runtime/turns/fold.ts";
import { entityKey, partitionOf } from "#src/runtime/placement/partitions.ts";
import type { ActorKind, EntityRef, Event } from "#src/runtime/types.ts";
import type { Caller, WaitingTotal } from "#src/runtime/turns/queue.ts";

export interface MailboxesOptions extends MailboxOptions {
  readonly partitions: number;
  /** Most commands that wait for one entity, and for all entities: 1,024 and 16,384 by default. */
  readonly waiting?: { readonly entity: number; readonly all: number };
  /** Most entities kept in memory, 20,000 by default. */
  readonly resident?: number;
  /** Milliseconds after which an unused entity leaves memory; a minute unless given. */
  readonly unusedMs?: number;
}

/** State of an entity's mailbox: number of waiting entries, whether the entity is in memory, whether a turn runs. */
export interface MailboxView {
  readonly depth: number;
  readonly resident: boolean;
  readonly inTurn: boolean;
}

export class Mailboxes {
  private readonly mailboxes = new Map<string, Mailbox>();
  private readonly total: WaitingTotal = { waiting: 0 };

  constructor(private readonly options: MailboxesOptions) {}

  /** Puts a command into its entity's mailbox. Its event has been checked against the kind's schema. */
  ask(kind: ActorKind, entity: EntityRef, id: string, event: Event, deadline: number, caller: Caller): void {
    const mailbox = this.mailbox(kind, entity);
    if (mailbox === undefined) return caller.respond("not_owner");
    if (mailbox.join(id, caller, deadline)) return;
    const { entity: most, all } = this.options.waiting ?? { entity: 1_024, all: 16_384 };
    if (mailbox.depth >= most) mailbox.expire();
    if (mailbox.depth >= most || this.total.waiting >= all) {
      return caller.respond(
        fail("overloaded", `Too many commands are queued for this ${entity.kind}; try again later.`),
      );
    }
    mailbox.enqueue({ item: { from: "command", id, event }, deadline, callers: [caller] });
  }

  /** Puts a reminder or the end of an effect into its entity's mailbox; resolves to whether it was consumed. */
  deliver(kind: ActorKind, entity: EntityRef, item: TurnItem | EffectEnd, trace?: TraceRef): Promise<boolean> {
    return new Promise((settle) => {
      const mailbox = this.mailbox(kind, entity);
      if (mailbox === undefined) return settle(false);
      mailbox.enqueue({ item, deadline: Infinity, callers: [], settle, trace });
    });
  }

  /** Has the entity read the input log. */
  readInputs(kind: ActorKind, entity: EntityRef): void {
    this.mailbox(kind, entity)?.readInputs();
  }

  /** Has an entity's row read again before its next turn; returns whether this worker owns it. */
  refresh(kind: ActorKind, entity: EntityRef): boolean {
    const mailbox = this.mailbox(kind, entity);
    mailbox?.refresh();
    return mailbox !== undefined;
  }

  /** Removes an idle entity from memory; returns whether it did. */
  passivate(entity: EntityRef): boolean {
    const key = entityKey(entity);
    return this.mailboxes.get(key)?.idle === true && this.mailboxes.delete(key);
  }

  /** The state of an entity's mailbox, for operators. */
  view(entity: EntityRef): MailboxView {
    const mailbox = this.mailboxes.get(entityKey(entity));
    return { depth: mailbox?.depth ?? 0, resident: mailbox !== undefined, inTurn: mailbox?.running !== undefined };
  }

  /** The state of an entity after its last turn, if it is in memory. */
  resident(entity: EntityRef): EntityState | undefined {
    const key = entityKey(entity);
    const mailbox = this.mailboxes.get(key);
    if (mailbox !== undefined) this.use(key, mailbox);
    return mailbox?.current;
  }

  /**
   * Waits for the running turns of some partitions, then forgets their entities and sends callers to the next owner.
   */
  async leave(partitions: ReadonlySet<number>): Promise<void> {
    const leaving = [...this.mailboxes.values()].filter((mailbox) => partitions.has(mailbox.partition));
    for (const mailbox of leaving) if (mailbox.running === undefined) mailbox.abandon();
    await Promise.all(leaving.map((mailbox) => mailbox.running));
    for (const mailbox of leaving) mailbox.abandon();
  }

  /** Counts, for health and metrics. */
  counts(): { readonly resident: number; readonly waiting: number } {
    return { resident: this.mailboxes.size, waiting: this.total.waiting };
  }

  /** The mailbox of an entity, if this worker owns it. The most recently used one is the last in the map. */
  private mailbox(kind: ActorKind, entity: EntityRef): Mailbox | undefined {
    const partition = partitionOf(entity, this.options.partitions);
    if (this.options.epochOf(partition) === undefined) return undefined;
    const key = entityKey(entity);
    const mailbox = this.mailboxes.get(key) ??
      new Mailbox(kind, entity, partition, this.options, this.total, this.forget);
    this.use(key, mailbox);
    this.passivateUnused(mailbox.usedAt);
    if (this.mailboxes.size > (this.options.resident ?? 20_000)) this.evict();
    return mailbox;
  }

  /** Makes a mailbox the most recently used one. */
  private use(key: string, mailbox: Mailbox): void {
    this.mailboxes.delete(key);
    mailbox.usedAt = this.options.clock.now();
    this.mailboxes.set(key, mailbox);
  }

  /** Removes the two entities unused for longest if their time is over: memory follows the rate of use, and no call pays for many. */
  private passivateUnused(now: number): void {
    let looked = 0;
    for (const [key, mailbox] of this.mailboxes) {
      if (now - mailbox.usedAt < (this.options.unusedMs ?? 60_000) || ++looked > 2) return;
      if (mailbox.idle) this.mailboxes.delete(key);
    }
  }

  private readonly forget = (mailbox: Mailbox) => {
    const key = entityKey(mailbox.entity);
    if (this.mailboxes.get(key) === mailbox) this.mailboxes.delete(key);
  };

  /** Forgets the least recently used idle entity. Looks at 64 of them at most. */
  private evict(): void {
    let looked = 0;
    for (const [key, mailbox] of this.mailboxes) {
      if (mailbox.idle) return void this.mailboxes.delete(key);
      if (++looked >= 64) return;
    }
  }
}
