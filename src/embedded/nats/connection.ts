/** One client of the NATS endpoint: its rights, its subscriptions, and what waits to be sent to it. */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { ClientSubscription, Hub, Message } from "#src/embedded/nats/hub.ts";
import { Output } from "#src/embedded/nats/output.ts";
import { type Operations, Parser } from "#src/embedded/nats/parser.ts";
import { credentialsOf, maySubscribe, type Rights } from "#src/embedded/nats/rights.ts";
import { isLiteral, isSubscription } from "#src/embedded/nats/subjects.ts";

/** The answer to a request that nobody listens for. */
const NO_RESPONDERS = Buffer.from("NATS/1.0 503\r\n\r\n");

/** A client. The endpoint calls `tick` about once a second. */
export class Connection implements Operations {
  rights: Rights = "events";
  echo = true;
  private verbose = true;
  private pedantic = true;
  private headers = false;
  private noResponders = false;
  /** Whether the client has said who it is, or has begun to listen without saying so. */
  private greeted = false;
  private readonly subscriptions = new Map<string, ClientSubscription>();
  private readonly parser: Parser;
  private readonly output = new Output();
  private flushing = false;
  private readonly since = performance.now();
  private heard = this.since;
  private pinged = 0;
  private pingsOut = 0;
  private stalledSince: number | undefined;
  private closedAt: number | undefined;

  constructor(private readonly hub: Hub, private readonly socket: Socket, info: Record<string, unknown>) {
    this.parser = new Parser(hub.limits, this);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.data(chunk));
    socket.on("drain", () => this.stalledSince = undefined);
    socket.on("error", () => socket.destroy());
    // A client that has said its last word hears nothing any more, though the connection takes a moment to close.
    socket.on("end", () => this.leave());
    socket.on("close", () => {
      this.leave();
      hub.gone(this);
    });
    this.send(`INFO ${JSON.stringify(info)}\r\n`);
  }

  /** Bytes that wait for the client to read. */
  get pending(): number {
    return this.output.length + this.socket.writableLength;
  }

  get isGuest(): boolean {
    return this.greeted && this.rights === "events";
  }

  get isOpen(): boolean {
    return this.closedAt === undefined;
  }

  private data(chunk: Buffer): void {
    if (!this.isOpen) return;
    this.heard = performance.now();
    this.hub.stats.bytesIn += chunk.length;
    this.parser.read(chunk);
  }

  private leave(): void {
    this.closedAt ??= performance.now();
    this.parser.stop();
    for (const subscription of this.subscriptions.values()) this.hub.routes.remove(subscription);
    this.subscriptions.clear();
  }

  private send(text: string): void {
    this.output.text(text);
    this.gathered();
  }

  private gathered(): void {
    const limit = this.rights === "all" ? this.hub.limits.pending : this.hub.limits.guestPending;
    if (this.pending > limit) return this.cutSlow();
    if (this.flushing) return;
    this.flushing = true;
    queueMicrotask(() => this.flush());
  }

  private flush(): void {
    this.flushing = false;
    if (this.output.length === 0 || this.socket.destroyed || this.socket.writableEnded) return;
    this.hub.stats.bytesOut += this.output.length;
    if (!this.socket.write(this.output.take())) this.stalledSince ??= performance.now();
  }

  /** Says why, and ends the connection once that is sent. */
  close(reason: string): void {
    if (!this.isOpen) return;
    this.output.text(`-ERR '${reason}'\r\n`);
    this.flush();
    this.end();
  }

  /** Ends the connection once everything is sent. */
  end(): void {
    this.flush();
    this.closedAt ??= performance.now();
    this.parser.stop();
    this.socket.end();
  }

  /** Ends the connection now. */
  destroy(): void {
    this.closedAt ??= performance.now();
    this.socket.destroy();
  }

  /** Cuts a client that reads too slowly; what waits for it is dropped. */
  cutSlow(): void {
    if (!this.isOpen) return;
    this.hub.stats.slowConsumers++;
    this.hub.log.warn("a NATS client reads too slowly and was cut", {
      client: `${this.socket.remoteAddress}:${this.socket.remotePort}`,
      pending: this.pending,
    });
    this.output.take();
    this.destroy();
  }

  /** Checks that the client lives and keeps up. */
  tick(now: number): void {
    const { connectMs, pingMs, stallMs } = this.hub.limits;
    if (this.closedAt !== undefined) {
      if (now - this.closedAt > 1_000) this.socket.destroy();
    } else if (this.stalledSince !== undefined && now - this.stalledSince > stallMs) this.cutSlow();
    else if (!this.greeted && now - this.since > connectMs) this.close("Authentication Timeout");
    else if (now - Math.max(this.heard, this.pinged) > pingMs) {
      if (this.pingsOut >= 2) return this.close("Stale Connection");
      this.pingsOut++;
      this.pinged = now;
      this.send("PING\r\n");
    }
  }

  private acknowledge(): void {
    if (this.verbose) this.send("+OK\r\n");
  }

  /** Says that something is not allowed; the connection stays open. */
  private refuse(what: string): void {
    this.hub.stats.refused++;
    // deno-lint-ignore no-control-regex -- what a client sent goes back to it on one line
    this.send(`-ERR '${what.replace(/[\x00-\x1f]/g, "?")}'\r\n`);
  }

  private greet(): boolean {
    if (this.greeted || this.rights === "all") return this.greeted = true;
    if (!this.hub.admits()) {
      this.close("maximum connections exceeded");
      return false;
    }
    return this.greeted = true;
  }

  connect(json: string): void {
    let fields: Record<string, unknown>;
    try {
      const value: unknown = JSON.parse(json);
      if (typeof value !== "object" || value === null) return this.broken();
      fields = value as Record<string, unknown>;
    } catch {
      return this.broken();
    }
    const { token, foreign } = credentialsOf(fields);
    if (token === undefined ? foreign : !this.hub.isToken(token)) {
      this.hub.stats.refused++;
      return this.close("Authorization Violation");
    }
    if (token !== undefined) this.rights = "all";
    if (!this.greet()) return;
    this.verbose = fields.verbose === true;
    this.pedantic = fields.pedantic === true;
    this.echo = fields.echo !== false;
    this.headers = fields.headers === true;
    this.noResponders = fields.no_responders === true;
    if (this.noResponders && !this.headers) return this.close("No Responders Requires Headers Support");
    this.acknowledge();
  }

  broken(reason: string = "Parser Error"): void {
    this.close(reason);
  }

  ping(): void {
    this.send("PONG\r\n");
  }

  pong(): void {
    this.pingsOut = 0;
  }

  subscribe(subject: string, queue: string, sid: string): void {
    if (!isSubscription(subject) || (queue !== "" && !isLiteral(queue))) return this.send("-ERR 'Invalid Subject'\r\n");
    if (!maySubscribe(this.rights, subject)) {
      const using = queue ? ` using queue "${queue}"` : "";
      return this.refuse(`Permissions Violation for Subscription to "${subject}"${using}`);
    }
    if (!this.greet()) return;
    if (!this.subscriptions.has(sid)) {
      if (this.rights !== "all" && this.subscriptions.size >= this.hub.limits.guestSubscriptions) {
        return this.refuse("maximum subscriptions exceeded");
      }
      // A guest shares no queue group with those who have the token: it would take messages from them.
      const group = queue && this.rights !== "all" ? `\n${queue}` : queue;
      const subscription = { connection: this, subject, queue: group, sid, max: Infinity, delivered: 0 };
      this.subscriptions.set(sid, subscription);
      this.hub.routes.add(subscription);
    }
    this.acknowledge();
  }

  unsubscribe(sid: string, max: number): void {
    const subscription = this.subscriptions.get(sid);
    if (subscription) {
      if (max > subscription.delivered) subscription.max = max;
      else this.drop(subscription);
    }
    this.acknowledge();
  }

  private drop(subscription: ClientSubscription): void {
    this.subscriptions.delete(subscription.sid);
    this.hub.routes.remove(subscription);
  }

  accepts(subject: string): boolean {
    if (this.rights === "all") return true;
    this.refuse(`Permissions Violation for Publish to "${subject}"`);
    return false;
  }

  publish(subject: string, reply: string, headerLength: number, body: Buffer): void {
    if (this.rights !== "all") return;
    if (headerLength > 0 && !this.headers) return this.close("Message Headers Not Supported");
    if (this.pedantic && !isLiteral(subject)) return this.send("-ERR 'Invalid Publish Subject'\r\n");
    this.acknowledge();
    const delivered = this.hub.route(this, { subject, reply, headerLength, body });
    if (delivered > 0 || !reply || !this.noResponders) return;
    for (const subscription of this.hub.routes.match(reply).plain) {
      if (subscription.connection !== this) continue;
      this.deliver(subscription, {
        subject: reply,
        reply: "",
        headerLength: NO_RESPONDERS.length,
        body: NO_RESPONDERS,
      });
    }
  }

  /** Sends a message to one of this client's subscriptions; false where the client is gone. */
  deliver(subscription: ClientSubscription, message: Message): boolean {
    if (!this.isOpen) return false;
    const { subject, headerLength } = message;
    const body = this.headers ? message.body : message.body.subarray(headerLength);
    const to = message.reply ? `${subject} ${subscription.sid} ${message.reply}` : `${subject} ${subscription.sid}`;
    this.output.text(
      headerLength > 0 && this.headers
        ? `HMSG ${to} ${headerLength} ${body.length}\r\n`
        : `MSG ${to} ${body.length}\r\n`,
    );
    this.output.raw(body);
    this.output.text("\r\n");
    if (++subscription.delivered >= subscription.max) this.drop(subscription);
    this.gathered();
    return true;
  }
}
