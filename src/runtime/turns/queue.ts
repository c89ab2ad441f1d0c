/** The queue of a mailbox: items that wait for the next turn, and callers that wait for an open reply. */
import type { Json } from "#src/base/json.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import type { TraceRef } from "#src/base/trace.ts";
import type { EffectEnd, TurnItem, TurnRows } from "#src/runtime/turns/fold.ts";
import type { Verdict } from "#src/runtime/turns/writer.ts";

/** The answer to a caller: a result, or the hint that another worker owns the entity. */
export type CommandAnswer = Result<Json, Failure> | "not_owner";

/** For commands that may have been applied: repeating the id gives the result, another id would apply it twice. */
const UNCERTAIN = fail(
  "unavailable",
  "The command may have been applied; repeat it with the same id to get its result.",
);

/** A caller that waits for the reply to a command. */
export interface Caller {
  /** When it stops waiting, in milliseconds since 1970. */
  readonly until: number;
  /** Its span, and the id of the HTTP request it works for. */
  readonly trace?: TraceRef | undefined;
  readonly request?: string | undefined;
  respond(answer: CommandAnswer): void;
}

/** An item that waits for its turn. */
export interface MailboxEntry {
  readonly item: TurnItem | EffectEnd;
  /** When its last caller stops waiting, in milliseconds since 1970. */
  deadline: number;
  readonly callers: Caller[];
  /** Called with whether the item was consumed (`true`) or dropped. */
  readonly settle?: (used: boolean) => void;
  /** Parent of the turn's span, for an item without callers. */
  readonly trace?: TraceRef | undefined;
  /** Whether a turn with it may have been written without a response. */
  tried?: boolean;
}

/** Number of entries that wait in all queues of a worker. */
export interface WaitingTotal {
  waiting: number;
}

export class MailboxQueue {
  private queue: MailboxEntry[] = [];
  /** Callers of commands whose reply is open, by command id. */
  private readonly open = new Map<string, Caller[]>();
  /** Commands that wait for a turn or are in one, by id. */
  private readonly commands = new Map<string, MailboxEntry>();

  constructor(private readonly total: WaitingTotal) {}

  /** Number of entries that wait for a turn. */
  get depth(): number {
    return this.queue.length;
  }

  /** Whether nothing waits, neither an entry nor a caller. */
  get idle(): boolean {
    const now = Date.now();
    for (const [id, callers] of this.open) {
      if (callers.every(({ until }) => until <= now)) this.open.delete(id);
    }
    return this.open.size === 0 && this.queue.length === 0;
  }

  /**
   * Adds a caller to a command with the same id that waits or whose reply is open; false when there is none. A repeated
   * command takes no space in the queue, so it is not refused when the queue is full.
   */
  join(id: string, caller: Caller, deadline: number): boolean {
    const entry = this.commands.get(id);
    const callers = entry?.callers ?? this.open.get(id);
    if (callers === undefined) return false;
    if (entry !== undefined) entry.deadline = Math.max(entry.deadline, deadline);
    const now = Date.now();
    const waiting = callers.filter(({ until }) => until > now);
    callers.splice(0, callers.length, ...waiting, caller);
    return true;
  }

  push(entry: MailboxEntry): void {
    this.queue.push(entry);
    this.total.waiting++;
    if (entry.item.from === "command") this.commands.set(entry.item.id, entry);
  }

  /** Takes up to `most` entries. Commands past their deadline are dropped. */
  take(most: number): MailboxEntry[] {
    const now = Date.now();
    const entries: MailboxEntry[] = [];
    let seen = 0;
    for (const entry of this.queue) {
      if (entries.length >= most) break;
      seen++;
      if (entry.item.from === "command") {
        const { id } = entry.item;
        if (entry.deadline <= now) {
          const late = fail("unavailable", "The command's timeout expired before its turn; it was not applied.");
          this.commands.delete(id);
          for (const caller of entry.callers) caller.respond(entry.tried === true ? UNCERTAIN : late);
          continue;
        }
        const others = this.open.get(id);
        if (others !== undefined) {
          this.commands.delete(id);
          others.push(...entry.callers);
          continue;
        }
      }
      entries.push(entry);
    }
    this.queue = this.queue.slice(seen);
    this.total.waiting -= seen;
    return entries;
  }

  /** Puts entries back to the front of the queue; `tried`: their turn may have been written. */
  putBack(entries: readonly MailboxEntry[], tried = false): void {
    if (tried) { for (const entry of entries) entry.tried = true; }
    this.queue = [...entries, ...this.queue];
    this.total.waiting += entries.length;
  }

  /** Answers the callers after a committed turn. */
  reply(entries: readonly MailboxEntry[], rows: TurnRows): void {
    for (const { item, callers, settle } of entries) {
      settle?.(true);
      if (item.from !== "command") continue;
      this.commands.delete(item.id);
      const result = rows.results.get(item.id);
      if (result === undefined) this.open.set(item.id, callers);
      else for (const caller of callers) caller.respond(result);
    }
    for (const [id, result] of rows.answers) {
      for (const caller of this.open.get(id) ?? []) caller.respond(result);
      this.open.delete(id);
    }
  }

  /**
   * Has the callers of open commands ask again. A turn that answers the commands may have been written without a
   * response, or is yet to be: the stored result says which.
   */
  askAgain(commands: Iterable<string>): void {
    for (const id of commands) {
      for (const caller of this.open.get(id) ?? []) caller.respond("not_owner");
      this.open.delete(id);
    }
  }

  /** Answers the entries that were consumed before; the others go back to the front of the queue. */
  dropConsumed(entries: readonly MailboxEntry[], known: Extract<Verdict, { is: "known" }>): void {
    const rest: MailboxEntry[] = [];
    for (const entry of entries) {
      const { item, callers, settle } = entry;
      if (item.from === "command" && known.results.has(item.id)) {
        this.commands.delete(item.id);
        const result = known.results.get(item.id);
        if (result === undefined) this.open.set(item.id, callers);
        else for (const caller of callers) caller.respond(result);
      } else if ((item.from === "outcome" || item.from === "ended") && known.effects.has(item.n)) settle?.(true);
      else if (item.from === "reminder" && known.reminders.has(item.n)) settle?.(true);
      else rest.push(entry);
    }
    this.putBack(rest);
  }

  /** Drops and answers the entries past their deadline. */
  expire(answer: CommandAnswer): void {
    const now = Date.now();
    const late = this.queue.filter(({ deadline }) => deadline <= now);
    if (late.length === 0) return;
    this.queue = this.queue.filter(({ deadline }) => deadline > now);
    this.total.waiting -= late.length;
    for (const { item, callers, tried } of late) {
      if (item.from === "command") this.commands.delete(item.id);
      for (const caller of callers) caller.respond(tried === true ? UNCERTAIN : answer);
    }
  }

  /** Answers all callers and drops everything. Callers of a command that may have been applied get `UNCERTAIN`. */
  clear(answer: CommandAnswer): void {
    const { queue } = this;
    this.queue = [];
    for (const { item } of queue) if (item.from === "command") this.commands.delete(item.id);
    this.total.waiting -= queue.length;
    const uncertain = answer === "not_owner" ? answer : UNCERTAIN;
    for (const { callers, settle, tried } of queue) {
      for (const caller of callers) caller.respond(tried === true ? uncertain : answer);
      settle?.(false);
    }
    for (const callers of this.open.values()) for (const caller of callers) caller.respond(uncertain);
    this.open.clear();
  }
}
