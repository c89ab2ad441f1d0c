/**
 * Delivery of events to guests: clients without the token, which may be many, slow or hostile.
 *
 * Assumptions: an event is stored once, however many guests get it, in a backlog of bounded size in which each guest
 * has a position. A guest is sent more only after it has answered a PING for what it was sent (`Connection.hasRoom`),
 * so stream and kernel buffers hold a bounded part too. Guests are served in turn, in a bounded share of the process's
 * time, so they cannot slow down clients with the token. A guest whose position falls out of the backlog reads too
 * slowly and is disconnected.
 */
import { Buffer } from "node:buffer";
import type { ClientConnection, ClientSubscription } from "#src/embedded/nats/clientConnection.ts";
import type { EndpointStats, PublishedMessage } from "#src/embedded/nats/hub.ts";
import type { EndpointLimits } from "#src/embedded/nats/limits.ts";
import { GUEST } from "#src/embedded/nats/rights.ts";
import { type SubjectMatches, SubscriptionRoutes } from "#src/embedded/nats/routes.ts";

/** Prefixes of every subject that guests may receive. */
const PREFIXES = GUEST.subscribe.allow.map((pattern) => pattern.replace(/[*>].*$/, ""));
/** Memory of a message beside its bytes. */
const EVENT_OVERHEAD = 256;
/** Milliseconds that events are collected before guests are served. */
const GATHER_MS = 5;
/** Milliseconds that guests are served at a stretch, and the pause after a stretch that was too short. */
const SERVE_MS = 3;
const PAUSE_MS = 15;

type Recipients = ReadonlyMap<ClientConnection, readonly ClientSubscription[]>;

interface BacklogEvent {
  readonly message: PublishedMessage;
  readonly to: Recipients;
  readonly size: number;
}

/** The guests of an endpoint that have subscriptions. */
export class GuestDelivery {
  readonly routes = new SubscriptionRoutes<ClientSubscription>();
  private readonly recipients = new WeakMap<SubjectMatches<ClientSubscription>, Recipients>();
  /** The next entry of each guest, by number; the guest to be served next is first. */
  private readonly places = new Map<ClientConnection, number>();
  /** Events that some guest has not been sent; the first has the number `first`. */
  private entries: BacklogEvent[] = [];
  private first = 0;
  private bytes = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly limits: EndpointLimits, private readonly stats: EndpointStats) {}

  /** Adds a guest's subscription, for events from now on. */
  add(subscription: ClientSubscription): void {
    this.routes.add(subscription);
    const { connection } = subscription;
    if (!this.places.has(connection)) this.places.set(connection, this.end);
  }

  /** Removes a guest that is gone; its subscriptions are removed separately. */
  leave(guest: ClientConnection): void {
    this.places.delete(guest);
  }

  /** Stores an event for its guests; gives their number. */
  offer(message: PublishedMessage): number {
    if (this.places.size === 0 || !PREFIXES.some((one) => message.subject.startsWith(one))) return 0;
    const to = this.recipientsOf(message.subject);
    if (to.size === 0) return 0;
    const size = message.body.length + message.subject.length + EVENT_OVERHEAD;
    this.entries.push({ message: { ...message, body: Buffer.from(message.body) }, to, size });
    this.bytes += size;
    while (this.bytes > this.limits.guestBacklog) this.evict();
    this.wake();
    return to.size;
  }

  /** Schedules serving guests: there is an event, or a guest has room again. */
  wake(ms = GATHER_MS): void {
    if (this.timer === undefined && this.entries.length > 0) this.timer = setTimeout(() => this.serve(SERVE_MS), ms);
  }

  /** Sends what guests have room for, and stops serving. */
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
      // to the end of the queue, served or not
      this.places.delete(guest);
      this.places.set(guest, this.sendTo(guest, place));
    }
    this.trim(Math.min(...this.places.values(), this.end));
  }

  /** Sends a guest what it has room for; gives its new position. */
  private sendTo(guest: ClientConnection, from: number): number {
    let place = from;
    for (let event = this.entries[place - this.first]; event; event = this.entries[++place - this.first]) {
      const { message, to } = event;
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

  /** Drops the oldest event; a guest that still needs it reads too slowly. */
  private evict(): void {
    const [oldest] = this.entries;
    if (!oldest) return;
    for (const [guest, place] of [...this.places]) {
      if (place > this.first) continue;
      if (!oldest.to.has(guest)) this.places.set(guest, this.first + 1);
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
      const byGuest = new Map<ClientConnection, ClientSubscription[]>();
      for (const subscription of matches.plain) addSubscription(byGuest, subscription);
      this.recipients.set(matches, plain = byGuest);
    }
    if (matches.groups.length === 0) return plain;
    const to = new Map([...plain].map(([guest, subscriptions]) => [guest, [...subscriptions]]));
    for (const group of matches.groups) {
      const chosen = group[Math.floor(Math.random() * group.length)];
      if (chosen) addSubscription(to, chosen);
    }
    return to;
  }
}

function addSubscription(to: Map<ClientConnection, ClientSubscription[]>, subscription: ClientSubscription): void {
  const own = to.get(subscription.connection);
  if (own) own.push(subscription);
  else to.set(subscription.connection, [subscription]);
}
