/** What a consumer sends, and to whom: a guest's consumer only to that guest's inboxes. */
import { Buffer } from "node:buffer";
import type { ClientConnection } from "#src/embedded/nats/clientConnection.ts";
import type { EndpointHub } from "#src/embedded/nats/endpoint.ts";
import type { ClientSubscription, PublishedMessage } from "#src/embedded/nats/hub.ts";

const EMPTY = Buffer.alloc(0);

/** A block of headers with a status line. */
function headerBlock(status: string, fields: Readonly<Record<string, string | number>>): Buffer {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`NATS/1.0 ${status}\r\n${lines.join("")}\r\n`, "latin1");
}

/** Sends for the consumers and requests of one guest, or with `undefined` for those of clients with rights. */
export class Outlet {
  constructor(private readonly hub: EndpointHub, readonly guest: ClientConnection | undefined) {}

  /** Whether a subject has subscribers. */
  hasInterest(subject: string, group = ""): boolean {
    for (const _ of this.candidates(subject, group)) return true;
    return false;
  }

  private *candidates(subject: string, group: string): Generator<readonly ClientSubscription[]> {
    for (const members of this.hub.recipients(this.guest, subject)) {
      const open = members.filter(({ connection }) => connection.isOpen);
      if (open.length > 0 && (group === "" || open[0]?.queue === group)) yield open;
    }
  }

  /**
   * Whether all subscribers of a subject have room for a message; if not, `whenRoom` is called when that may have
   * changed.
   */
  hasRoom(subject: string, group: string, whenRoom: () => void): boolean {
    for (const members of this.candidates(subject, group)) {
      if (!members.some(({ connection }) => connection.takes(whenRoom))) return false;
    }
    return true;
  }

  /** Delivers a message to the subscribers of a subject, which may differ from the message's; gives their number. */
  send(to: string, message: PublishedMessage, group = ""): number {
    let sent = 0;
    for (const members of [...this.candidates(to, group)]) {
      const first = members.length === 1 ? 0 : Math.floor(Math.random() * members.length);
      for (let i = 0; i < members.length; i++) {
        const member = members[(first + i) % members.length];
        if (member === undefined || !member.connection.deliver(member, message)) continue;
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
