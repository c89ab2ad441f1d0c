/**
 * The mailboxes of a worker: what waits for each entity, taken in turns. An entity has one turn in flight; while it is being
 * written the next commands gather, and are folded into one.
 */
import type { Json } from "#src/base/json.ts";
import { type Clock, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { causeOf, type Ended, fold, type Folded, type Held, type Item } from "#src/runtime/fold.ts";
import type { Loaded, Wanted } from "#src/runtime/loader.ts";
import { entityKey, partitionOf } from "#src/runtime/partition.ts";
import type { TurnWrite } from "#src/runtime/statement.ts";
import type { ActorKind, EntityRef, Event, Step } from "#src/runtime/types.ts";
import type { Verdict } from "#src/runtime/writer.ts";

/** What an asker is told: an answer, or to ask the owner instead. */
export type Answer = Result<Json, Failure> | "not_owner";

/** Someone who waits for the answer to a command until some time (ms since 1970). */
export interface Asker {
  readonly until: number;
  respond(answer: Answer): void;
}

/** A turn that was written, for what follows it. */
export interface Committed {
  readonly entity: EntityRef;
  readonly partition: number;
  readonly epoch: number;
  readonly folded: Folded;
  readonly causes: readonly string[];
}

export interface MailboxOptions {
  readonly partitions: number;
  /** Epoch under which this worker owns a partition, if it does. */
  readonly epochOf: (partition: number) => number | undefined;
  /** Told when a write found another owner. */
  readonly onFenced: (partition: number, epoch: number) => void;
  readonly load: (wanted: Wanted) => Promise<Loaded | Error>;
  /** The next unread rows of the input log for an entity, oldest first. */
  readonly readInputs: (
    entity: EntityRef,
    partition: number,
    most: number,
  ) => Promise<readonly { seq: number; event: Event }[]>;
  readonly write: (turn: TurnWrite) => Promise<Verdict>;
  /** What follows a commit once the replies are out: publishing and effects, in the order of commits for each entity. */
  readonly onCommitted: (turn: Committed) => void;
  readonly onStep?: ((step: Step) => void | Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Most commands that wait for one entity, and for all of them. */
  readonly waiting?: { readonly entity: number; readonly all: number };
  /** Most entities kept in memory. */
  readonly resident?: number;
}

/** Most events in one turn. */
export const FOLD = 64;

interface Entry {
  readonly item: Item | Ended;
  readonly deadline: number;
  readonly askers: Asker[];
  /** Told whether the item is used up (`true`) or was dropped unread. */
  readonly settle?: (used: boolean) => void;
}

interface Cell {
  readonly kind: ActorKind;
  readonly entity: EntityRef;
  readonly partition: number;
  epoch: number | undefined;
  held: Held | undefined;
  queue: Entry[];
  /** Whether the input log may have rows to read. */
  unread: boolean;
  running: Promise<void> | undefined;
  /** Commands whose reply is open, with those who wait for it. */
  readonly open: Map<string, Asker[]>;
  /** How many of the next items go one by one, because together they could not be written. */
  alone: number;
  /** Why an item could not be written even alone, by its cause. */
  readonly poison: Map<string, string>;
  troubles: number;
}

export class Mailboxes {
  private readonly cells = new Map<string, Cell>();
  private waiting = 0;

  constructor(private readonly options: MailboxOptions) {}

  /** Puts a command into its entity's mailbox; its event was checked against the kind's schema. */
  ask(kind: ActorKind, entity: EntityRef, id: string, event: Event, deadline: number, asker: Asker): void {
    const cell = this.cell(kind, entity);
    if (cell === undefined) return asker.respond("not_owner");
    const open = cell.open.get(id);
    if (open !== undefined) {
      const now = Date.now();
      cell.open.set(id, [...open.filter(({ until }) => until > now), asker]);
      return;
    }
    const { entity: most, all } = this.options.waiting ?? { entity: 1_024, all: 16_384 };
    if (cell.queue.length >= most || this.waiting >= all) {
      return asker.respond(fail("overloaded", `Too many commands wait for this ${entity.kind}; try again later.`));
    }
    this.enqueue(cell, { item: { from: "command", id, event }, deadline, askers: [asker] });
  }

  /** Puts a reminder or an effect's end into its entity's mailbox; resolves to whether it was used up. */
  deliver(kind: ActorKind, entity: EntityRef, item: Item | Ended): Promise<boolean> {
    return new Promise((settle) => {
      const cell = this.cell(kind, entity);
      if (cell === undefined) return settle(false);
      this.enqueue(cell, { item, deadline: Infinity, askers: [], settle });
    });
  }

  /** Has the entity read the input log. */
  ring(kind: ActorKind, entity: EntityRef): void {
    const cell = this.cell(kind, entity);
    if (cell === undefined) return;
    cell.unread = true;
    this.start(cell);
  }

  /** The entity as its last turn left it, if it is in memory. */
  resident(entity: EntityRef): Held | undefined {
    const cell = this.cells.get(entityKey(entity));
    return cell !== undefined && cell.epoch === this.options.epochOf(cell.partition) ? cell.held : undefined;
  }

  /** Lets the turns in flight of some partitions end, then forgets their entities; who waits is sent to the next owner. */
  async leave(partitions: ReadonlySet<number>): Promise<void> {
    const leaving = [...this.cells.values()].filter((cell) => partitions.has(cell.partition));
    for (const cell of leaving) if (cell.running === undefined) this.abandon(cell);
    await Promise.all(leaving.map((cell) => cell.running));
    for (const cell of leaving) this.abandon(cell);
  }

  /** Counts, for health and metrics. */
  counts(): { readonly resident: number; readonly waiting: number } {
    return { resident: this.cells.size, waiting: this.waiting };
  }

  private cell(kind: ActorKind, entity: EntityRef): Cell | undefined {
    const key = entityKey(entity);
    const partition = partitionOf(entity, this.options.partitions);
    const epoch = this.options.epochOf(partition);
    if (epoch === undefined) return undefined;
    let cell = this.cells.get(key);
    if (cell !== undefined) this.cells.delete(key);
    cell ??= {
      kind,
      entity,
      partition,
      epoch,
      held: undefined,
      queue: [],
      unread: false,
      running: undefined,
      open: new Map(),
      alone: 0,
      poison: new Map(),
      troubles: 0,
    };
    this.cells.set(key, cell);
    if (this.cells.size > (this.options.resident ?? 20_000)) this.evict();
    return cell;
  }

  /** Forgets the entity unused for longest. */
  private evict(): void {
    let looked = 0;
    for (const [key, cell] of this.cells) {
      this.sweepOpen(cell);
      if (cell.running === undefined && cell.open.size === 0 && cell.queue.length === 0) {
        this.cells.delete(key);
        return;
      }
      if (++looked >= 64) return;
    }
  }

  private enqueue(cell: Cell, entry: Entry): void {
    cell.queue.push(entry);
    this.waiting++;
    this.start(cell);
  }

  private start(cell: Cell): void {
    if (cell.running !== undefined) return;
    cell.running = this.run(cell).catch((error) => {
      this.options.log.error("an entity's turns stopped", { entity: entityKey(cell.entity), reason: reason(error) });
      this.abandon(cell);
    }).finally(() => {
      cell.running = undefined;
      if (cell.queue.length > 0 && this.cells.get(entityKey(cell.entity)) === cell) this.start(cell);
    });
  }

  private async run(cell: Cell): Promise<void> {
    while (cell.queue.length > 0 || cell.unread) {
      const epoch = this.options.epochOf(cell.partition);
      if (epoch === undefined) return this.abandon(cell);
      if (cell.epoch !== epoch) {
        cell.epoch = epoch;
        cell.held = undefined;
      }
      if (cell.held === undefined && !(await this.load(cell))) continue;
      if (cell.held !== undefined) await this.turn(cell, epoch, cell.held);
    }
    this.sweepOpen(cell);
  }

  /** Loads an entity. When it cannot be worked on, its mailbox is answered and emptied. */
  private async load(cell: Cell): Promise<boolean> {
    let loaded: Loaded | Error;
    try {
      loaded = await this.options.load(cell);
    } catch (error) {
      await this.trouble(cell, reason(error));
      return false;
    }
    if (loaded instanceof Error || loaded.paused) {
      const answer = loaded instanceof Error
        ? fail("failed", `This ${cell.entity.kind} cannot be read: ${loaded.message}`)
        : fail("paused", `This ${cell.entity.kind} is paused.`);
      if (loaded instanceof Error) {
        this.options.log.error("an entity cannot be read", {
          entity: entityKey(cell.entity),
          reason: loaded.message,
        });
      }
      this.clear(cell, answer);
      return false;
    }
    cell.held = loaded.held;
    cell.unread ||= loaded.unread;
    return true;
  }

  private async turn(cell: Cell, epoch: number, held: Held): Promise<void> {
    const { options } = this;
    const most = cell.alone > 0 ? 1 : FOLD;
    const items: (Item | Ended)[] = [];
    if (cell.unread) {
      cell.unread = false;
      try {
        const rows = await options.readInputs(cell.entity, cell.partition, most);
        cell.unread ||= rows.length === most;
        for (const { seq, event } of rows) items.push(this.input(cell, seq, event));
      } catch (error) {
        cell.unread = true;
        return await this.trouble(cell, reason(error));
      }
    }
    const hadInputs = items.length > 0;
    const entries = this.take(cell, most - items.length);
    for (const { item } of entries) items.push(item);
    if (items.length === 0) return;
    const causes = items.map((item) => causeOf(cell.entity, item));
    items.forEach((item, i) => {
      const poison = cell.poison.get(causes[i]!);
      if (poison !== undefined) item.poison = poison;
    });
    const at = options.clock.now();
    const folded = fold(cell.kind, cell.entity, held, items, at);
    await this.step("before-commit", cell, causes);
    const verdict = await options.write({
      entity: cell.entity,
      partition: cell.partition,
      epoch,
      was: held.version,
      machineVersion: cell.kind.version,
      at,
      folded,
    });
    if (verdict.is === "written") {
      cell.held = folded.next;
      cell.troubles = 0;
      cell.alone = Math.max(0, cell.alone - 1);
      if (cell.poison.size > 0) { for (const cause of causes) cell.poison.delete(cause); }
      if (options.onStep !== undefined) {
        await this.step("after-commit", cell, causes);
        await this.step("before-reply", cell, causes);
      }
      this.reply(cell, entries, folded);
      if (options.onStep !== undefined) await this.step("before-publish", cell, causes);
      options.onCommitted({ entity: cell.entity, partition: cell.partition, epoch, folded, causes });
      return;
    }
    cell.unread ||= hadInputs;
    if (verdict.is === "known") return this.setAside(cell, entries, verdict);
    this.putBack(cell, entries);
    if (verdict.is === "stale") cell.held = undefined;
    else if (verdict.is === "fenced") {
      options.onFenced(cell.partition, epoch);
      this.abandon(cell);
    } else if (verdict.is === "unknown") {
      cell.held = undefined;
      await this.trouble(cell, verdict.reason);
    } else if (items.length > 1) cell.alone = items.length;
    else if (!cell.poison.has(causes[0]!)) {
      options.log.error("an event cannot be written", {
        entity: entityKey(cell.entity),
        cause: causes[0],
        reason: verdict.reason,
      });
      cell.poison.set(causes[0]!, verdict.reason);
    } else {
      // Not even the refusal can be written.
      cell.poison.delete(causes[0]!);
      this.clear(cell, fail("failed", verdict.reason));
    }
  }

  private input(cell: Cell, seq: number, event: Event): Item {
    const parsed = cell.kind.inputs.safeParse(event);
    if (parsed.success) return { from: "input", seq, event: parsed.data };
    return { from: "input", seq, event, poison: "no event that this kind accepts from the input log" };
  }

  /** Up to `most` entries: those that nobody waits for any more are dropped, a command that is there twice counts once. */
  private take(cell: Cell, most: number): Entry[] {
    const now = Date.now();
    const entries: Entry[] = [];
    const ids = new Map<string, Entry>();
    let looked = 0;
    while (entries.length < most && looked < cell.queue.length) {
      const entry = cell.queue[looked++]!;
      if (entry.item.from === "command") {
        const { id } = entry.item;
        if (entry.deadline <= now) {
          const late = fail("unavailable", "The command's time was up before its turn; it was not applied.");
          for (const asker of entry.askers) asker.respond(late);
          continue;
        }
        const others = ids.get(id)?.askers ?? cell.open.get(id);
        if (others !== undefined) {
          others.push(...entry.askers);
          continue;
        }
        ids.set(id, entry);
      }
      entries.push(entry);
    }
    cell.queue = cell.queue.slice(looked);
    this.waiting -= looked;
    return entries;
  }

  private putBack(cell: Cell, entries: readonly Entry[]): void {
    cell.queue = [...entries, ...cell.queue];
    this.waiting += entries.length;
  }

  private reply(cell: Cell, entries: readonly Entry[], folded: Folded): void {
    for (const { item, askers, settle } of entries) {
      settle?.(true);
      if (item.from !== "command") continue;
      const result = folded.results.get(item.id);
      if (result === undefined) cell.open.set(item.id, askers);
      else for (const asker of askers) asker.respond(result);
    }
    for (const [id, result] of folded.answers) {
      for (const asker of cell.open.get(id) ?? []) asker.respond(result);
      cell.open.delete(id);
    }
  }

  /** Answers what was used up before; the others go back to the front of the mailbox. */
  private setAside(cell: Cell, entries: readonly Entry[], known: Extract<Verdict, { is: "known" }>): void {
    const rest: Entry[] = [];
    for (const entry of entries) {
      const { item, askers, settle } = entry;
      if (item.from === "command" && known.results.has(item.id)) {
        const result = known.results.get(item.id);
        if (result === undefined) cell.open.set(item.id, askers);
        else for (const asker of askers) asker.respond(result);
      } else if ((item.from === "outcome" || item.from === "ended") && known.effects.has(item.n)) settle?.(true);
      else if (item.from === "reminder" && known.reminders.has(item.n)) settle?.(true);
      else rest.push(entry);
    }
    this.putBack(cell, rest);
  }

  /** The database did not answer: wait, longer each time, while some of what waits runs out of time. */
  private async trouble(cell: Cell, why: string): Promise<void> {
    cell.troubles++;
    this.options.log.warn("a turn has to be tried again", { entity: entityKey(cell.entity), reason: why });
    await sleep(Math.min(25 * 2 ** cell.troubles, 1_000));
    const now = Date.now();
    const late = cell.queue.filter(({ deadline }) => deadline <= now);
    if (late.length === 0) return;
    cell.queue = cell.queue.filter(({ deadline }) => deadline > now);
    this.waiting -= late.length;
    const answer = fail("unavailable", "The database did not answer in time; the command may have been applied.");
    for (const { askers } of late) for (const asker of askers) asker.respond(answer);
  }

  /** Answers everything that waits, drops the rest and forgets the entity. */
  private clear(cell: Cell, answer: Answer): void {
    cell.unread = false;
    const { queue } = cell;
    cell.queue = [];
    this.waiting -= queue.length;
    for (const { askers, settle } of queue) {
      for (const asker of askers) asker.respond(answer);
      settle?.(false);
    }
    for (const askers of cell.open.values()) for (const asker of askers) asker.respond(answer);
    cell.open.clear();
    const key = entityKey(cell.entity);
    if (this.cells.get(key) === cell) this.cells.delete(key);
  }

  private abandon(cell: Cell): void {
    this.clear(cell, "not_owner");
  }

  private sweepOpen(cell: Cell): void {
    const now = Date.now();
    for (const [id, askers] of cell.open) {
      if (askers.every(({ until }) => until <= now)) cell.open.delete(id);
    }
  }

  private async step(at: Step["at"], cell: Cell, causes: readonly string[]): Promise<void> {
    if (this.options.onStep !== undefined) await this.options.onStep({ at, entity: cell.entity, causes });
  }
}
