/** The mailboxes of a worker: entities in memory, with what waits for each of them. */
import { fail } from "#src/base/result.ts";
import type { TraceRef } from "#src/base/trace.ts";
import { Mailbox, type MailboxOptions } from "#src/runtime/turns/mailbox.ts";
import type { EffectEnd, EntityState, TurnItem } from "#src/runtime/turns/fold.ts";
import { entityKey, partitionOf } from "#src/runtime/placement/partitions.ts";
import type { ActorKind, EntityRef, Event } from "#src/runtime/types.ts";
import type { Caller, WaitingTotal } from "#src/runtime/turns/queue.ts";

export interface MailboxesOptions extends MailboxOptions {
  readonly partitions: number;
  /** Most commands that wait for one entity, and for all of them. */
  readonly waiting?: { readonly entity: number; readonly all: number };
  /** Most entities kept in memory. */
  readonly resident?: number;
  /** Milliseconds after which an unused entity leaves memory; a minute unless given. */
  readonly unusedMs?: number;
}

export class Mailboxes {
  private readonly cells = new Map<string, Mailbox>();
  private readonly total: WaitingTotal = { waiting: 0 };

  constructor(private readonly options: MailboxesOptions) {}

  /** Puts a command into its entity's mailbox; its event was checked against the kind's schema. */
  ask(kind: ActorKind, entity: EntityRef, id: string, event: Event, deadline: number, asker: Caller): void {
    const cell = this.cell(kind, entity);
    if (cell === undefined) return asker.respond("not_owner");
    if (cell.join(id, asker, deadline)) return;
    const { entity: most, all } = this.options.waiting ?? { entity: 1_024, all: 16_384 };
    if (cell.depth >= most) cell.expire();
    if (cell.depth >= most || this.total.waiting >= all) {
      return asker.respond(fail("overloaded", `Too many commands wait for this ${entity.kind}; try again later.`));
    }
    cell.enqueue({ item: { from: "command", id, event }, deadline, askers: [asker] });
  }

  /** Puts a reminder or an effect's end into its entity's mailbox; resolves to whether it was used up. */
  deliver(kind: ActorKind, entity: EntityRef, item: TurnItem | EffectEnd, trace?: TraceRef): Promise<boolean> {
    return new Promise((settle) => {
      const cell = this.cell(kind, entity);
      if (cell === undefined) return settle(false);
      cell.enqueue({ item, deadline: Infinity, askers: [], settle, trace });
    });
  }

  /** Has the entity read the input log. */
  ring(kind: ActorKind, entity: EntityRef): void {
    this.cell(kind, entity)?.ring();
  }

  /** Has an entity's row read again before anything that waits for it; gives whether this worker owns it. */
  refresh(kind: ActorKind, entity: EntityRef): boolean {
    const cell = this.cell(kind, entity);
    cell?.refresh();
    return cell !== undefined;
  }

  /** Forgets an entity that has nothing to do; gives whether it was in memory and is not any more. */
  passivate(entity: EntityRef): boolean {
    const key = entityKey(entity);
    return this.cells.get(key)?.idle === true && this.cells.delete(key);
  }

  /** What an operator may know of an entity's mailbox. */
  look(entity: EntityRef): { readonly depth: number; readonly resident: boolean; readonly inTurn: boolean } {
    const cell = this.cells.get(entityKey(entity));
    return { depth: cell?.depth ?? 0, resident: cell !== undefined, inTurn: cell?.running !== undefined };
  }

  /** The entity as its last turn left it, if it is in memory. */
  resident(entity: EntityRef): EntityState | undefined {
    return this.cells.get(entityKey(entity))?.current;
  }

  /** Lets the turns in flight of some partitions end, then forgets their entities; who waits is sent to the next owner. */
  async leave(partitions: ReadonlySet<number>): Promise<void> {
    const leaving = [...this.cells.values()].filter((cell) => partitions.has(cell.partition));
    for (const cell of leaving) if (cell.running === undefined) cell.abandon();
    await Promise.all(leaving.map((cell) => cell.running));
    for (const cell of leaving) cell.abandon();
  }

  /** Counts, for health and metrics. */
  counts(): { readonly resident: number; readonly waiting: number } {
    return { resident: this.cells.size, waiting: this.total.waiting };
  }

  /** The cell of an entity, if this worker owns it; the one used last is the last in the map. */
  private cell(kind: ActorKind, entity: EntityRef): Mailbox | undefined {
    const partition = partitionOf(entity, this.options.partitions);
    if (this.options.epochOf(partition) === undefined) return undefined;
    const key = entityKey(entity);
    const known = this.cells.get(key);
    if (known !== undefined) this.cells.delete(key);
    const cell = known ?? new Mailbox(kind, entity, partition, this.options, this.total, this.forget);
    cell.usedAt = this.options.clock.now();
    this.cells.set(key, cell);
    this.passivateUnused(cell.usedAt);
    if (this.cells.size > (this.options.resident ?? 20_000)) this.evict();
    return cell;
  }

  /** Removes the two entities unused for longest if their time is over: memory follows the rate of use, and no call pays for many. */
  private passivateUnused(now: number): void {
    let looked = 0;
    for (const [key, cell] of this.cells) {
      if (now - cell.usedAt < (this.options.unusedMs ?? 60_000) || ++looked > 2) return;
      if (cell.idle) this.cells.delete(key);
    }
  }

  private readonly forget = (cell: Mailbox) => {
    const key = entityKey(cell.entity);
    if (this.cells.get(key) === cell) this.cells.delete(key);
  };

  /** Forgets the entity unused for longest that has nothing to do. */
  private evict(): void {
    let looked = 0;
    for (const [key, cell] of this.cells) {
      if (cell.idle) return void this.cells.delete(key);
      if (++looked >= 64) return;
    }
  }
}
