/**
 * Events on their way to guests: clients without the token, which may be many, slow or hostile.
 *
 * Hypotheses: an event is kept once, whatever the number of guests that are to get it, in a backlog of bounded size in which each guest
 * has a place; a guest is sent more only once it has answered for what it was sent (`Connection.hasRoom`), so that the buffers of streams
 * and of the kernel hold a bounded part as well; guests are served in turn, in a bounded share of the process's time, so that they cannot
 * slow down those who have the token. A guest that the backlog has left behind reads too slowly and is cut.
 */
import { Buffer } from "node:buffer";
import type { Connection } from "#src/embedded/nats/connection.ts";
import type { ClientSubscription, Message, Stats } from "#src/embedded/nats/hub.ts";
import type { Limits } from "#src/embedded/nats/limits.ts";
import { EVENTS } from "#src/embedded/nats/rights.ts";
import { type Matches, Routes } from "#src/embedded/nats/routes.ts";

/** How every subject begins that a guest may hear. */
const PREFIX = EVENTS.slice(0, -">".length);
/** What a message costs in memory beside its bytes. */
const OVERHEAD = 256;
/** How long events gather before guests are served, in milliseconds. */
const GATHER_MS = 5;
/** How long guests are served at a stretch, and the pause after a stretch that was not enough, in milliseconds. */
const SERVE_MS = 3;
const PAUSE_MS = 15;

type Recipients = ReadonlyMap<Connection, readonly ClientSubscription[]>;

interface Entry {
  readonly message: Message;
  readonly to: Recipients;
  readonly size: number;
}

/** The guests of an endpoint that listen to something. */
export class Guests {
  readonly routes = new Routes<ClientSubscription>();
  private readonly recipients = new WeakMap<Matches<ClientSubscription>, Recipients>();
  /** The next entry of each guest, by number; the one to be served next is first. */
  private readonly places = new Map<Connection, number>();
  /** Events that some guest has not been sent; the first has the number `first`. */
  private entries: Entry[] = [];
  private first = 0;
  private bytes = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly limits: Limits, private readonly stats: Stats) {}

  /** Adds a subscription of a guest, for events from now on. */
  add(subscription: ClientSubscription): void {
    this.routes.add(subscription);
    const { connection } = subscription;
    if (!this.places.has(connection)) this.places.set(connection, this.end);
  }

  /** Forgets a guest that is gone; its subscriptions are removed by itself. */
  leave(guest: Connection): void {
    this.places.delete(guest);
  }

  /** Keeps an event for its guests; how many it is for. */
  offer(message: Message): number {
    if (this.places.size === 0 || !message.subject.startsWith(PREFIX)) return 0;
    const to = this.recipientsOf(message.subject);
    if (to.size === 0) return 0;
    const size = message.body.length + message.subject.length + OVERHEAD;
    this.entries.push({ message: { ...message, body: Buffer.from(message.body) }, to, size });
    this.bytes += size;
    while (this.bytes > this.limits.guestBacklog) this.evict();
    this.wake();
    return to.size;
  }

  /** Serves guests soon: there is an event, or one of them has room again. */
  wake(ms = GATHER_MS): void {
    if (this.timer === undefined && this.entries.length > 0) this.timer = setTimeout(() => this.serve(SERVE_MS), ms);
  }

  /** Sends what guests have room for, and serves them no more. */
  stop(): void {
    this.serve(Infinity);
    clearTimeout(this.timer);
    this.entries = [];
  }

  private get end(): number {
    return this.first + this.entries.length;
  }

  private serve(ms: number): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const begun = performance.now();
    for (const [guest, place] of [...this.places]) {
      if (performance.now() - begun > ms) {
        this.wake(PAUSE_MS);
        break;
      }
      // To the end of the line, served or not.
      this.places.delete(guest);
      this.places.set(guest, this.sendTo(guest, place));
    }
    this.trim(Math.min(...this.places.values(), this.end));
  }

  /** Sends a guest what it has room for; gives its next place. */
  private sendTo(guest: Connection, from: number): number {
    let place = from;
    for (; place < this.end; place++) {
      const { message, to } = this.entries[place - this.first]!;
      const subscriptions = to.get(guest);
      if (subscriptions === undefined) continue;
      if (!guest.hasRoom()) break;
      for (const subscription of subscriptions) {
        if (subscription.delivered < subscription.max && guest.deliver(subscription, message)) this.stats.messagesOut++;
      }
    }
    guest.flush();
    return place;
  }

  /** Forgets the oldest event; a guest that still waits for it reads too slowly. */
  private evict(): void {
    const { to } = this.entries[0]!;
    for (const [guest, place] of [...this.places]) {
      if (place > this.first) continue;
      if (!to.has(guest)) this.places.set(guest, this.first + 1);
      else {
        guest.cutSlow();
        this.places.delete(guest);
      }
    }
    this.trim(this.first + 1);
  }

  private trim(to: number): void {
    for (const { size } of this.entries.splice(0, to - this.first)) this.bytes -= size;
    this.first = Math.max(this.first, to);
  }

  /** The subscriptions that match a subject, by guest, and one member of each queue group. */
  private recipientsOf(subject: string): Recipients {
    const matches = this.routes.match(subject);
    let plain = this.recipients.get(matches);
    if (plain === undefined) {
      const byGuest = new Map<Connection, ClientSubscription[]>();
      for (const subscription of matches.plain) append(byGuest, subscription);
      this.recipients.set(matches, plain = byGuest);
    }
    if (matches.groups.length === 0) return plain;
    const to = new Map([...plain].map(([guest, subscriptions]) => [guest, [...subscriptions]]));
    for (const group of matches.groups) append(to, group[Math.floor(Math.random() * group.length)]!);
    return to;
  }
}

function append(to: Map<Connection, ClientSubscription[]>, subscription: ClientSubscription): void {
  const own = to.get(subscription.connection);
  if (own) own.push(subscription);
  else to.set(subscription.connection, [subscription]);
}
