/** What a consumer sends, and to whom: a guest's consumer only to that guest's inboxes. */
import { Buffer } from "node:buffer";
import type { ClientConnection, ClientSubscription } from "#src/embedded/nats/clientConnection.ts";
import type { EndpointHub } from "#src/embedded/nats/endpoint.ts";
import type { PublishedMessage } from "#src/embedded/nats/hub.ts";

const EMPTY = Buffer.alloc(0);

/** A block of headers with a status line. */
function headerBlock(status: string, fields: Readonly<Record<string, string | number>>): Buffer {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`NATS/1.0 ${status}\r\n${lines.join("")}\r\n`, "latin1");
}

/** Subscriptions of which one gets a message: a single one, or the members of a queue group. */
type Receivers = readonly ClientSubscription[];

/** Subjects whose receivers are remembered until subscriptions change. */
const REMEMBERED = 4_096;
const NONE: readonly Receivers[] = [];

const isOpen = ({ connection }: ClientSubscription) => connection.isOpen;

/** Sends for the consumers and requests of one guest, or with `undefined` for those of clients with rights. */
export class Outlet {
  private static made = 0;
  /** Another one for each. */
  readonly number = Outlet.made++;
  private readonly remembered = new Map<string, readonly Receivers[]>();
  private changes = -1;

  constructor(private readonly hub: EndpointHub, readonly guest: ClientConnection | undefined) {}

  /** Whether a subject has subscribers. */
  hasInterest(subject: string, group = ""): boolean {
    return this.receivers(subject, group).some((members) => members.some(isOpen));
  }

  /** Who gets the messages for a subject: of a guest its own inboxes, otherwise all subscribers with rights. */
  private receivers(subject: string, group: string): readonly Receivers[] {
    const routes = this.guest === undefined ? this.hub.routes : this.guest.inboxes;
    if (routes === undefined) return NONE;
    if (routes.changes !== this.changes || this.remembered.size >= REMEMBERED) this.remembered.clear();
    this.changes = routes.changes;
    const key = group === "" ? subject : `${group}\n${subject}`;
    let receivers = this.remembered.get(key);
    if (receivers === undefined) {
      const { plain, groups } = routes.match(subject);
      receivers = group === ""
        ? [...plain.map((one) => [one]), ...groups]
        : groups.filter(([member]) => member?.queue === group);
      this.remembered.set(key, receivers);
    }
    return receivers;
  }

  /**
   * Whether all subscribers of a subject have room for a message; if not, `whenRoom` is called when that may have
   * changed.
   */
  hasRoom(subject: string, group: string, whenRoom: () => void): boolean {
    return this.receivers(subject, group).every((members) =>
      !members.some(isOpen) || members.some(({ connection }) => connection.isOpen && connection.takes(whenRoom))
    );
  }

  /** Delivers a message to the subscribers of a subject, which may differ from the message's; gives their number. */
  send(to: string, message: PublishedMessage, group = ""): number {
    let sent = 0;
    for (const members of this.receivers(to, group)) {
      const first = members.length === 1 ? 0 : Math.floor(Math.random() * members.length);
      for (let i = 0; i < members.length; i++) {
        const member = members[(first + i) % members.length];
        if (member === undefined || member.delivered >= member.max) continue;
        if (!member.connection.deliver(member, message)) continue;
        sent++;
        break;
      }
    }
    this.hub.stats.messagesOut += sent;
    return sent;
  }

  /** Sends a message without a body that consists of a status. */
  status(to: string, status: string, fields: Readonly<Record<string, string | number>> = {}, reply = ""): void {
    const body = headerBlock(status, fields);
    this.send(to, { subject: to, reply, headerLength: body.length, body });
  }

  /** Sends an answer. */
  answer(to: string, text: string): void {
    this.send(to, { subject: to, reply: "", headerLength: 0, body: text === "" ? EMPTY : Buffer.from(text) });
  }
}
