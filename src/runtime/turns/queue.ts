/** What waits for one entity: commands and other items for its next turn, and askers for replies that are still open. */
import type { Json } from "#src/base/json.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import type { TraceRef } from "#src/base/trace.ts";
import type { EffectEnd, TurnItem, TurnRows } from "#src/runtime/turns/fold.ts";
import type { Verdict } from "#src/runtime/turns/writer.ts";

/** What an asker is told: an answer, or to ask the owner instead. */
export type CommandAnswer = Result<Json, Failure> | "not_owner";

/** For who may not be told that nothing happened: the id brings the answer, another id would have it done twice. */
const UNSURE = fail("unavailable", "The command may have been applied; asked again with its id it tells.");

/** Someone who waits for the answer to a command until some time (ms since 1970). */
export interface Caller {
  readonly until: number;
  /** Where the question stands in its trace, and the request that it was asked for. */
  readonly trace?: TraceRef | undefined;
  readonly request?: string | undefined;
  respond(answer: CommandAnswer): void;
}

/** Something that waits for its turn. */
export interface MailboxEntry {
  readonly item: TurnItem | EffectEnd;
  /** When nobody waits for it any more, in milliseconds since 1970. */
  deadline: number;
  readonly askers: Caller[];
  /** Told whether the item is used up (`true`) or was dropped unread. */
  readonly settle?: (used: boolean) => void;
  /** Where the entry comes from, when nobody asked. */
  readonly trace?: TraceRef | undefined;
  /** Whether a turn with it may have been written although nobody knows. */
  tried?: boolean;
}

/** How much waits for all entities of a worker together. */
export interface WaitingTotal {
  waiting: number;
}

export class MailboxQueue {
  private queue: MailboxEntry[] = [];
  /** Commands whose reply is open, with those who wait for it. */
  private readonly open = new Map<string, Caller[]>();
  /** Commands that wait for a turn or are in one, by id. */
  private readonly taken = new Map<string, MailboxEntry>();

  constructor(private readonly total: WaitingTotal) {}

  /** How many entries wait for a turn. */
  get depth(): number {
    return this.queue.length;
  }

  /** Whether nobody waits for anything. */
  get idle(): boolean {
    const now = Date.now();
    for (const [id, askers] of this.open) {
      if (askers.every(({ until }) => until <= now)) this.open.delete(id);
    }
    return this.open.size === 0 && this.queue.length === 0;
  }

  /**
   * Lets an asker wait with those who asked the same command before, if it is here or its reply is open: who asks again takes no
   * room, and is not refused for want of it.
   */
  join(id: string, asker: Caller, deadline: number): boolean {
    const entry = this.taken.get(id);
    const askers = entry?.askers ?? this.open.get(id);
    if (askers === undefined) return false;
    if (entry !== undefined) entry.deadline = Math.max(entry.deadline, deadline);
    const now = Date.now();
    const waiting = askers.filter(({ until }) => until > now);
    askers.splice(0, askers.length, ...waiting, asker);
    return true;
  }

  push(entry: MailboxEntry): void {
    this.queue.push(entry);
    this.total.waiting++;
    if (entry.item.from === "command") this.taken.set(entry.item.id, entry);
  }

  /** Up to `most` entries: those that nobody waits for any more are dropped. */
  take(most: number): MailboxEntry[] {
    const now = Date.now();
    const entries: MailboxEntry[] = [];
    let looked = 0;
    while (entries.length < most && looked < this.queue.length) {
      const entry = this.queue[looked++]!;
      if (entry.item.from === "command") {
        const { id } = entry.item;
        if (entry.deadline <= now) {
          const late = fail("unavailable", "The command's time was up before its turn; it was not applied.");
          this.taken.delete(id);
          for (const asker of entry.askers) asker.respond(entry.tried === true ? UNSURE : late);
          continue;
        }
        const others = this.open.get(id);
        if (others !== undefined) {
          this.taken.delete(id);
          others.push(...entry.askers);
          continue;
        }
      }
      entries.push(entry);
    }
    this.queue = this.queue.slice(looked);
    this.total.waiting -= looked;
    return entries;
  }

  /** Puts entries back to the front, for another turn; `tried` where the last one may have been written. */
  putBack(entries: readonly MailboxEntry[], tried = false): void {
    if (tried) { for (const entry of entries) entry.tried = true; }
    this.queue = [...entries, ...this.queue];
    this.total.waiting += entries.length;
  }

  /** Answers what a written turn decided. */
  reply(entries: readonly MailboxEntry[], folded: TurnRows): void {
    for (const { item, askers, settle } of entries) {
      settle?.(true);
      if (item.from !== "command") continue;
      this.taken.delete(item.id);
      const result = folded.results.get(item.id);
      if (result === undefined) this.open.set(item.id, askers);
      else for (const asker of askers) asker.respond(result);
    }
    for (const [id, result] of folded.answers) {
      for (const asker of this.open.get(id) ?? []) asker.respond(result);
      this.open.delete(id);
    }
  }

  /** Answers what was used up before; the others go back to the front of the mailbox. */
  setAside(entries: readonly MailboxEntry[], known: Extract<Verdict, { is: "known" }>): void {
    const rest: MailboxEntry[] = [];
    for (const entry of entries) {
      const { item, askers, settle } = entry;
      if (item.from === "command" && known.results.has(item.id)) {
        this.taken.delete(item.id);
        const result = known.results.get(item.id);
        if (result === undefined) this.open.set(item.id, askers);
        else for (const asker of askers) asker.respond(result);
      } else if ((item.from === "outcome" || item.from === "ended") && known.effects.has(item.n)) settle?.(true);
      else if (item.from === "reminder" && known.reminders.has(item.n)) settle?.(true);
      else rest.push(entry);
    }
    this.putBack(rest);
  }

  /** Gives up what nobody waits for any more, with an answer all the same. */
  expire(answer: CommandAnswer): void {
    const now = Date.now();
    const late = this.queue.filter(({ deadline }) => deadline <= now);
    if (late.length === 0) return;
    this.queue = this.queue.filter(({ deadline }) => deadline > now);
    this.total.waiting -= late.length;
    for (const { item, askers, tried } of late) {
      if (item.from === "command") this.taken.delete(item.id);
      for (const asker of askers) asker.respond(tried === true ? UNSURE : answer);
    }
  }

  /** Answers everyone who waits, and drops the rest. A command that was or may have been applied is not told anything else. */
  clear(answer: CommandAnswer): void {
    const { queue } = this;
    this.queue = [];
    for (const { item } of queue) if (item.from === "command") this.taken.delete(item.id);
    this.total.waiting -= queue.length;
    const unsure = answer === "not_owner" ? answer : UNSURE;
    for (const { askers, settle, tried } of queue) {
      for (const asker of askers) asker.respond(tried === true ? unsure : answer);
      settle?.(false);
    }
    for (const askers of this.open.values()) for (const asker of askers) asker.respond(unsure);
    this.open.clear();
  }
}
