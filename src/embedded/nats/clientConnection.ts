/** A client of the NATS endpoint: its rights, its subscriptions, and its outgoing data. */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { Log } from "#src/base/log.ts";
import { type Account, ANYBODY, type Authenticator, SERVICE } from "#src/embedded/nats/authenticator.ts";
import { credentialsOf } from "#src/embedded/nats/credentials.ts";
import type { EndpointStats, PublishedMessage } from "#src/embedded/nats/hub.ts";
import type { EndpointLimits } from "#src/embedded/nats/limits.ts";
import { type RoutedSubscription, SubscriptionRoutes } from "#src/embedded/nats/routes.ts";
import { OutputBuffer } from "#src/embedded/nats/outputBuffer.ts";
import { NatsParser, type ParserOperations } from "#src/embedded/nats/parser.ts";
import { deniedPart, isInbox, mayPublish, maySubscribe, type Rights } from "#src/embedded/nats/rights.ts";
import { isLiteral, isSubscription, isWithin, overlap } from "#src/embedded/nats/subjects.ts";

/** The answer to a request without subscribers. */
const NO_RESPONDERS = Buffer.from("NATS/1.0 503\r\n\r\n");

/** How a connection was accepted. */
export interface AcceptedSocket {
  /** The connection; with TLS, its decrypted side. */
  readonly socket: Socket;
  /** Stops and continues reading. */
  readonly input: { hold(): void; release(): void };
  /** The client's address. */
  readonly address: string | undefined;
  /** The INFO line, unless it was sent already. */
  readonly info: string;
  /** Whether only this service's own processes may use it. */
  readonly serviceOnly: boolean;
}

/** A subscription of a connection. */
export interface ClientSubscription extends RoutedSubscription {
  readonly connection: ClientConnection;
  readonly sid: string;
  /** The tokens of its subject. */
  readonly tokens: readonly string[];
  /** Patterns of messages that it matches and its connection must not get. */
  readonly denied: readonly string[];
  /** How many other subscriptions of the same guest may match the same message. */
  overlaps: number;
  /** The set to which it was added. */
  readonly routes: SubscriptionRoutes<ClientSubscription>;
  /** Messages until it lapses. */
  max: number;
  delivered: number;
}

/** A service inside this process that answers clients of the endpoint. */
export interface EndpointService {
  /** Whether a guest may publish to a subject. */
  allows(guest: ClientConnection, subject: string): boolean;
  /** Handles a message; false if it is not for the service. The body is valid only during the call. */
  publish(from: ClientConnection, message: PublishedMessage): boolean;
  /** To be called when a client has subscribed to a subject that the service may deliver to. */
  subscribed(): void;
  /** To be called when a client is gone. */
  left(connection: ClientConnection): void;
}

/** What a connection needs of its endpoint. */
export interface ConnectionHub {
  readonly limits: EndpointLimits;
  readonly log: Log;
  readonly authenticator: Authenticator;
  readonly stats: EndpointStats;
  /** Subscriptions of clients with the token. */
  readonly routes: SubscriptionRoutes<ClientSubscription>;
  /** Delivery to guests. */
  readonly guests: {
    readonly routes: SubscriptionRoutes<ClientSubscription>;
    add(subscription: ClientSubscription): void;
    wake(): void;
  };
  /** The service that answers clients, once it is attached. */
  readonly service: EndpointService | undefined;
  /** Bytes per second that may be read from a guest. */
  readonly guestInput: number;
  /** Whether one more client, with or without the token, is admitted; if so it is counted. */
  admits(connection: ClientConnection): boolean;
  /** Delivers a message to its subscribers; gives their number. */
  route(from: ClientConnection, message: PublishedMessage): number;
  gone(connection: ClientConnection): void;
}

/** A client connection. The endpoint calls `tick` about once a second. */
export class ClientConnection implements ParserOperations {
  account: Account = ANYBODY;
  echo = true;
  private verbose = true;
  private pedantic = true;
  private headers = false;
  private noResponders = false;
  /** Whether the client has authenticated, or has subscribed without doing so. */
  private greeted = false;
  /** A guest's inboxes. Only the endpoint's service delivers to them. */
  inboxes: SubscriptionRoutes<ClientSubscription> | undefined;
  /** Called when there may be room for more messages of the service. */
  private readonly waiting = new Set<() => void>();
  /** Whether the payload that is read now was accepted. */
  private accepted = false;
  private readonly subscriptions = new Map<string, ClientSubscription>();
  private readonly parser: NatsParser;
  private readonly output = new OutputBuffer();
  private flushing = false;
  private readonly since = performance.now();
  private heard = this.since;
  private pinged = 0;
  /** For each unanswered PING: how many bytes of events were sent before it. */
  private readonly pings: number[] = [];
  /** Bytes of events sent to a guest, and those of them before a PING that it has answered. */
  private sent = 0;
  private confirmed = 0;
  /** Bytes read from a guest beyond its share of the elapsed time. */
  private taken = 0;
  /** Since when outgoing data waits that the client does not read. */
  private stalledSince: number | undefined;
  private closedAt: number | undefined;
  /** Whether a password is being checked; nothing is read in the meantime. */
  private checking = false;
  /** Whether nothing is read for now. */
  private held = false;
  private readonly socket: Socket;

  constructor(private readonly hub: ConnectionHub, private readonly origin: AcceptedSocket) {
    const { socket } = origin;
    this.socket = socket;
    this.parser = new NatsParser(hub.limits, this);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.data(chunk));
    socket.on("drain", () => {
      this.stalledSince = undefined;
      this.roomAgain();
    });
    socket.on("error", () => socket.destroy());
    // a client that has ended its side gets no messages any more, although the connection takes a moment to close
    socket.on("end", () => this.leave());
    socket.on("close", () => {
      this.leave();
      hub.gone(this);
    });
    this.send(origin.info);
  }

  get rights(): Rights {
    return this.account.rights;
  }

  /** Whether it may get every message of a subject, with wildcards or without. */
  mayReceive(subject: string): boolean {
    return maySubscribe(this.rights, subject) && deniedPart(this.rights, subject.split(".")).length === 0;
  }

  /** Bytes that wait for the client to read. */
  get pending(): number {
    return this.output.length + this.socket.writableLength;
  }

  get isGuest(): boolean {
    return this.greeted && this.rights.guest;
  }

  get isOpen(): boolean {
    return this.closedAt === undefined;
  }

  private data(chunk: Buffer): void {
    if (!this.isOpen) return;
    this.heard = performance.now();
    this.hub.stats.bytesIn += chunk.length;
    this.parser.read(chunk);
    if (!this.rights.guest) return;
    this.taken += chunk.length;
    if (this.taken > this.hub.guestInput) this.hold();
  }

  private hold(): void {
    if (!this.held) this.origin.input.hold();
    this.held = true;
  }

  private release(): void {
    if (!this.held || this.checking) return;
    this.held = false;
    this.origin.input.release();
  }

  private leave(): void {
    this.closedAt ??= performance.now();
    this.parser.stop();
    for (const subscription of this.subscriptions.values()) subscription.routes.remove(subscription);
    this.subscriptions.clear();
    this.roomAgain();
  }

  /** Whether the endpoint's service may send another message; if not, `whenRoom` is called when that may have changed. */
  takes(whenRoom: () => void): boolean {
    if (!this.isOpen) return true;
    if (this.rights.guest ? this.hasRoom() : this.pending < this.hub.limits.serviceWindow) return true;
    this.waiting.add(whenRoom);
    return false;
  }

  private roomAgain(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const whenRoom of waiting) whenRoom();
  }

  private send(text: string): void {
    this.output.text(text);
    this.gathered();
  }

  private gathered(): void {
    const { pending, guestWindow } = this.hub.limits;
    // a guest is only sent events that it has room for, so what else waits are answers
    const over = this.rights.guest ? this.pending - this.unconfirmed > guestWindow : this.pending > pending;
    if (over) return this.cutSlow();
    if (this.flushing) return;
    this.flushing = true;
    queueMicrotask(() => this.flush());
  }

  /** Bytes of events that may still be in stream and kernel buffers on their way to a guest. */
  private get unconfirmed(): number {
    return this.sent - this.confirmed;
  }

  /**
   * Whether a guest may be sent an event. If not, `Guests.wake` is called once it has answered a PING after earlier
   * ones.
   */
  hasRoom(): boolean {
    const { guestWindow } = this.hub.limits;
    if (this.sent - (this.pings.at(-1) ?? this.confirmed) >= guestWindow / 2) this.sendPing();
    if (this.unconfirmed < guestWindow) return true;
    this.stalledSince ??= performance.now();
    return false;
  }

  private sendPing(): void {
    this.pings.push(this.sent);
    this.send("PING\r\n");
  }

  /** Writes the buffered output to the socket. */
  flush(): void {
    this.flushing = false;
    if (this.output.length === 0 || this.socket.destroyed || this.socket.writableEnded) return;
    this.hub.stats.bytesOut += this.output.length;
    if (!this.socket.write(this.output.take())) this.stalledSince ??= performance.now();
    else if (!this.rights.guest) this.roomAgain();
  }

  /** Sends an error and then ends the connection. */
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

  /** Disconnects a client that reads too slowly; its outgoing data is dropped. */
  cutSlow(): void {
    if (!this.isOpen) return;
    this.hub.stats.slowConsumers++;
    this.hub.log.warn("a slow NATS client was disconnected", {
      client: this.origin.address,
      pending: this.pending,
    });
    this.output.take();
    this.destroy();
  }

  /** Checks that the client is alive and reads. */
  tick(now: number): void {
    const { connectMs, pingMs, stallMs } = this.hub.limits;
    if (this.closedAt !== undefined) {
      if (now - this.closedAt > 1_000) this.socket.destroy();
    } else if (this.stalledSince !== undefined && now - this.stalledSince > stallMs) this.cutSlow();
    else if (!this.greeted && now - this.since > connectMs) this.close("Authentication Timeout");
    else if (now - Math.max(this.heard, this.pinged) > pingMs) {
      if (this.pings.length >= 2) return this.close("Stale Connection");
      this.pinged = now;
      this.sendPing();
    }
    this.taken = Math.max(0, this.taken - this.hub.guestInput);
    if (this.taken <= this.hub.guestInput) this.release();
  }

  private acknowledge(): void {
    if (this.verbose) this.send("+OK\r\n");
  }

  /** Sends an error about missing rights; the connection stays open. */
  private refuse(what: string): void {
    this.hub.stats.refused++;
    // deno-lint-ignore no-control-regex -- what a client sent goes back to it on one line
    this.send(`-ERR '${what.replace(/[\x00-\x1f]/g, "?")}'\r\n`);
  }

  private greet(): boolean {
    if (this.origin.serviceOnly && this.account !== SERVICE) {
      this.violation();
      return false;
    }
    if (this.greeted) return true;
    if (!this.hub.admits(this)) {
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
      fields = { ...value };
    } catch {
      return this.broken();
    }
    const found = this.hub.authenticator.check(credentialsOf(fields), this.origin.address, () => this.isOpen);
    if (!(found instanceof Promise)) return this.authenticated(found, fields);
    this.checking = true;
    this.parser.hold();
    this.hold();
    void found.then((account) => {
      this.checking = false;
      if (!this.isOpen) return;
      this.authenticated(account, fields);
      this.parser.resume();
      this.release();
    });
  }

  private violation(): void {
    this.hub.stats.refused++;
    this.close("Authorization Violation");
  }

  /** Ends the connection if its account no longer exists as it was. */
  revoke(): void {
    if (!this.hub.authenticator.isCurrent(this.account)) this.close("Authorization Violation");
  }

  private authenticated(account: Account | undefined, fields: Record<string, unknown>): void {
    if (account === undefined) return this.violation();
    if (account.rights !== this.rights) {
      // another CONNECT on the same connection: what the earlier account was subscribed to may not be this one's
      for (const subscription of [...this.subscriptions.values()]) this.drop(subscription);
    }
    this.account = account;
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
    const confirmed = this.pings.shift();
    if (confirmed === undefined || confirmed === this.confirmed) return;
    this.confirmed = confirmed;
    this.stalledSince = undefined;
    this.hub.guests.wake();
    this.roomAgain();
  }

  subscribe(subject: string, queue: string, sid: string): void {
    if (!isSubscription(subject) || (queue !== "" && !isLiteral(queue))) return this.send("-ERR 'Invalid Subject'\r\n");
    const inbox = this.rights.guest && this.hub.service !== undefined && isInbox(subject);
    if (!inbox && !maySubscribe(this.rights, subject)) {
      const using = queue ? ` using queue "${queue}"` : "";
      return this.refuse(`Permissions Violation for Subscription to "${subject}"${using}`);
    }
    if (!this.greet()) return;
    if (!this.subscriptions.has(sid)) {
      const { guest } = this.rights;
      const tokens = subject.split(".");
      const others = this.overlapping(tokens);
      if (guest && !this.mayAdd(others)) return this.refuse("maximum subscriptions exceeded");
      for (const other of others) other.overlaps++;
      const subscription = {
        connection: this,
        subject,
        tokens,
        denied: deniedPart(this.rights, tokens),
        overlaps: others.length,
        // guests may not join queue groups: they would take messages from clients with the token
        queue: queue && guest ? `\n${queue}` : queue,
        sid,
        routes: inbox ? this.inboxes ??= new SubscriptionRoutes() : guest ? this.hub.guests.routes : this.hub.routes,
        max: Infinity,
        delivered: 0,
      };
      this.subscriptions.set(sid, subscription);
      if (guest && !inbox) this.hub.guests.add(subscription);
      else subscription.routes.add(subscription);
      this.hub.service?.subscribed();
    }
    this.acknowledge();
  }

  /**
   * Whether a guest may add a subscription, which overlaps some of those it has: there must not be too many, and not
   * too many that match one message. Subscriptions that match one message overlap each other: more than `guestCopies`
   * of them would each overlap as many others.
   */
  private mayAdd(overlapping: readonly ClientSubscription[]): boolean {
    const { guestSubscriptions, guestCopies } = this.hub.limits;
    if (this.subscriptions.size >= guestSubscriptions) return false;
    return overlapping.filter(({ overlaps }) => overlaps + 1 >= guestCopies).length < guestCopies;
  }

  /** A guest's subscriptions that may match the same message as one with these tokens. */
  private overlapping(tokens: readonly string[]): ClientSubscription[] {
    if (!this.rights.guest) return [];
    return [...this.subscriptions.values()].filter((other) => overlap(other.tokens, tokens));
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
    subscription.routes.remove(subscription);
    for (const other of this.overlapping(subscription.tokens)) other.overlaps--;
  }

  accepts(subject: string, length: number): boolean {
    const { service, limits } = this.hub;
    const served = this.rights.guest && this.greeted && length <= limits.guestPayload &&
      (service?.allows(this, subject) ?? false);
    this.accepted = served || mayPublish(this.rights, subject);
    if (this.accepted) return true;
    this.refuse(`Permissions Violation for Publish to "${subject}"`);
    return false;
  }

  publish(subject: string, reply: string, headerLength: number, body: Buffer): void {
    if (!this.accepted) return;
    if (headerLength > 0 && !this.headers) return this.close("Message Headers Not Supported");
    if (this.pedantic && !isLiteral(subject)) return this.send("-ERR 'Invalid Publish Subject'\r\n");
    this.acknowledge();
    const message = { subject, reply, headerLength, body };
    const served = this.hub.service?.publish(this, message) ?? false;
    if (!mayPublish(this.rights, subject)) return;
    const delivered = this.hub.route(this, message);
    if (served || delivered > 0 || !reply || !this.noResponders) return;
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

  /** Sends a message to one of this client's subscriptions; false if the client is gone or may not get it. */
  deliver(subscription: ClientSubscription, message: PublishedMessage): boolean {
    if (!this.isOpen) return false;
    const { subject, headerLength } = message;
    if (subscription.denied.some((pattern) => isWithin(subject, pattern))) return false;
    const before = this.output.length;
    const body = this.headers ? message.body : message.body.subarray(headerLength);
    const to = message.reply ? `${subject} ${subscription.sid} ${message.reply}` : `${subject} ${subscription.sid}`;
    this.output.text(
      headerLength > 0 && this.headers
        ? `HMSG ${to} ${headerLength} ${body.length}\r\n`
        : `MSG ${to} ${body.length}\r\n`,
    );
    this.output.raw(body);
    this.output.text("\r\n");
    if (this.rights.guest) this.sent += this.output.length - before;
    if (++subscription.delivered >= subscription.max) this.drop(subscription);
    this.gathered();
    return true;
  }
}
