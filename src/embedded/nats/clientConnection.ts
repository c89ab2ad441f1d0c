/** A client of the NATS endpoint: its rights, its subscriptions, and its outgoing data. */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { Log } from "#src/base/log.ts";
import { type Account, ANYBODY, type Authenticator, SERVICE } from "#src/embedded/nats/authenticator.ts";
import { BEFORE_CONNECT, connectFields, connectOptions } from "#src/embedded/nats/connectOptions.ts";
import { credentialsOf } from "#src/embedded/nats/credentials.ts";
import type { EndpointStats, PublishedMessage } from "#src/embedded/nats/hub.ts";
import { InputShare, type InputSwitch } from "#src/embedded/nats/inputShare.ts";
import type { EndpointLimits } from "#src/embedded/nats/limits.ts";
import { type RoutedSubscription, SubscriptionRoutes } from "#src/embedded/nats/routes.ts";
import { Outgoing } from "#src/embedded/nats/outgoing.ts";
import { NatsParser, type ParserOperations } from "#src/embedded/nats/parser.ts";
import { deniedPart, isInbox, mayPublish, maySubscribe, type Rights } from "#src/embedded/nats/rights.ts";
import { isLiteral, isSubscription, isWithin } from "#src/embedded/nats/subjects.ts";
import { type CountedSubscription, SubscriptionSet } from "#src/embedded/nats/subscriptionSet.ts";

/** The answer to a request without subscribers. */
const NO_RESPONDERS = Buffer.from("NATS/1.0 503\r\n\r\n");

/** How a connection was accepted. */
export interface AcceptedSocket {
  /** The connection; with TLS, its decrypted side. */
  readonly socket: Socket;
  readonly input: InputSwitch;
  /** The client's address. */
  readonly address: string | undefined;
  /** The INFO line, unless it was sent already. */
  readonly info: string;
  /** Whether only this service's own processes may use it. */
  readonly serviceOnly: boolean;
}

/** A subscription of a connection. */
export interface ClientSubscription extends RoutedSubscription, CountedSubscription {
  readonly connection: ClientConnection;
  /** Patterns of messages that it matches and its connection must not get. */
  readonly denied: readonly string[];
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
  options = BEFORE_CONNECT;
  /** Whether the client has authenticated, or has subscribed without doing so. */
  private greeted = false;
  /** A guest's inboxes. Only the endpoint's service delivers to them. */
  inboxes: SubscriptionRoutes<ClientSubscription> | undefined;
  /** Whether the payload that is read now was accepted. */
  private accepted = false;
  private readonly subscriptions: SubscriptionSet<ClientSubscription>;
  private readonly parser: NatsParser;
  private readonly output: Outgoing;
  private readonly since = performance.now();
  private heard = this.since;
  private pinged = 0;
  private readonly input: InputShare;
  private closedAt: number | undefined;
  private readonly socket: Socket;

  constructor(private readonly hub: ConnectionHub, private readonly origin: AcceptedSocket) {
    const { socket } = origin;
    this.socket = socket;
    this.parser = new NatsParser(hub.limits, this);
    this.subscriptions = new SubscriptionSet(hub.limits, () => this.rights.guest);
    this.input = new InputShare(origin.input, () => hub.guestInput);
    this.output = new Outgoing({
      socket,
      limits: hub.limits,
      stats: hub.stats,
      isGuest: () => this.rights.guest,
      tooSlow: () => this.cutSlow(),
    });
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.data(chunk));
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
    return this.output.pending;
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
    if (this.rights.guest) this.input.took(chunk.length);
  }

  private leave(): void {
    this.closedAt ??= performance.now();
    this.parser.stop();
    for (const subscription of this.subscriptions.all()) subscription.routes.remove(subscription);
    this.subscriptions.clear();
    this.output.roomAgain();
  }

  /** Whether the endpoint's service may send another message; if not, `whenRoom` is called when that may have changed. */
  takes(whenRoom: () => void): boolean {
    return !this.isOpen || this.output.takes(whenRoom);
  }

  private send(text: string): void {
    this.output.text(text);
  }

  /** Whether a guest may be sent an event. If not, `GuestDelivery.wake` is called when it may have room again. */
  hasRoom(): boolean {
    return this.output.hasRoom();
  }

  /** Writes the buffered output to the socket. */
  flush(): void {
    this.output.flush();
  }

  /** Sends an error and then ends the connection. */
  close(reason: string): void {
    if (!this.isOpen) return;
    this.output.last(`-ERR '${reason}'\r\n`);
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
    this.output.drop();
    this.destroy();
  }

  /** Checks that the client is alive and reads. */
  tick(now: number): void {
    const { connectMs, pingMs, stallMs } = this.hub.limits;
    const { stalledSince, unanswered } = this.output;
    if (this.closedAt !== undefined) {
      if (now - this.closedAt > 1_000) this.socket.destroy();
    } else if (stalledSince !== undefined && now - stalledSince > stallMs) this.cutSlow();
    else if (!this.greeted && now - this.since > connectMs) this.close("Authentication Timeout");
    else if (now - Math.max(this.heard, this.pinged) > pingMs) {
      if (unanswered >= 2) return this.close("Stale Connection");
      this.pinged = now;
      this.output.ping();
    }
    this.input.tick();
  }

  private acknowledge(): void {
    if (this.options.verbose) this.send("+OK\r\n");
  }

  /** Sends an error about missing rights; the connection stays open. */
  private refuse(what: string): void {
    this.hub.stats.refused++;
    // deno-lint-ignore no-control-regex -- what a client sent goes back to it on one line
    this.send(`-ERR '${what.replace(/[\x00-\x1f]/g, "?")}'\r\n`);
  }

  private greet(): boolean {
    if (this.origin.serviceOnly && this.account !== SERVICE) return this.violation();
    if (this.greeted) return true;
    if (!this.hub.admits(this)) {
      this.close("maximum connections exceeded");
      return false;
    }
    return this.greeted = true;
  }

  connect(json: string): void {
    const fields = connectFields(json);
    if (fields === undefined) return this.broken();
    const found = this.hub.authenticator.check(credentialsOf(fields), this.origin.address, () => this.isOpen);
    if (!(found instanceof Promise)) return this.authenticated(found, fields);
    this.parser.hold();
    this.input.check(true);
    void found.then((account) => {
      // first: another CONNECT may follow among what has arrived, and hold again
      this.input.check(false);
      if (!this.isOpen) return;
      this.authenticated(account, fields);
      this.parser.resume();
    });
  }

  private violation(): false {
    this.hub.stats.refused++;
    this.close("Authorization Violation");
    return false;
  }

  /** Ends the connection if its account no longer exists as it was. */
  revoke(): void {
    if (!this.hub.authenticator.isCurrent(this.account)) this.close("Authorization Violation");
  }

  private authenticated(account: Account | undefined, fields: Record<string, unknown>): void {
    if (account === undefined) return void this.violation();
    if (account.rights !== this.rights) {
      // another CONNECT on the same connection: what the earlier account was subscribed to may not be this one's
      for (const subscription of this.subscriptions.all()) this.drop(subscription);
    }
    this.account = account;
    if (!this.greet()) return;
    this.options = connectOptions(fields);
    if (this.options.noResponders && !this.options.headers) return this.close("No Responders Requires Headers Support");
    this.acknowledge();
  }

  broken(reason: string = "Parser Error"): void {
    this.close(reason);
  }

  ping(): void {
    this.send("PONG\r\n");
  }

  pong(): void {
    if (!this.output.pong()) return;
    this.hub.guests.wake();
    this.output.roomAgain();
  }

  subscribe(subject: string, queue: string, sid: string): void {
    if (!isSubscription(subject) || (queue !== "" && !isLiteral(queue))) return this.send("-ERR 'Invalid Subject'\r\n");
    const inbox = this.rights.guest && this.hub.service !== undefined && isInbox(subject);
    if (!inbox && !maySubscribe(this.rights, subject)) {
      const using = queue ? ` using queue "${queue}"` : "";
      return this.refuse(`Permissions Violation for Subscription to "${subject}"${using}`);
    }
    if (!this.greet()) return;
    if (this.subscriptions.get(sid) === undefined) {
      const { guest } = this.rights;
      const tokens = subject.split(".");
      const others = this.subscriptions.overlapping(tokens);
      if (guest && !this.subscriptions.mayAdd(others)) return this.refuse("maximum subscriptions exceeded");
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
      this.subscriptions.add(subscription, others);
      if (guest && !inbox) this.hub.guests.add(subscription);
      else subscription.routes.add(subscription);
      this.hub.service?.subscribed();
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
    this.subscriptions.remove(subscription);
    subscription.routes.remove(subscription);
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
    if (headerLength > 0 && !this.options.headers) return this.close("Message Headers Not Supported");
    if (this.options.pedantic && !isLiteral(subject)) return this.send("-ERR 'Invalid Publish Subject'\r\n");
    this.acknowledge();
    const message = { subject, reply, headerLength, body };
    const served = this.hub.service?.publish(this, message) ?? false;
    if (!mayPublish(this.rights, subject)) return;
    const delivered = this.hub.route(this, message);
    if (served || delivered > 0 || !reply || !this.options.noResponders) return;
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
    const { subject } = message;
    if (subscription.denied.some((pattern) => isWithin(subject, pattern))) return false;
    this.output.message(subscription.sid, message, this.options.headers);
    if (++subscription.delivered >= subscription.max) this.drop(subscription);
    this.output.gathered();
    return true;
  }
}
