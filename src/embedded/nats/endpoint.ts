/**
 * A NATS endpoint inside this process: the core protocol, for any client library.
 *
 * Assumptions: messages are notifications and answers, never the only copy of anything, so nothing is stored here.
 * JetStream's API to read events is a service that the program attaches. Clients with the token belong to this service; all others are guests, which may subscribe
 * to `arbor.event.>`, may send what that service allows, and are not trusted.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { Log } from "#src/base/log.ts";
import { ClientConnection } from "#src/embedded/nats/clientConnection.ts";
import { GuestDelivery } from "#src/embedded/nats/guestDelivery.ts";
import type { ClientSubscription, EndpointService, EndpointStats, PublishedMessage } from "#src/embedded/nats/hub.ts";
import { DEFAULT_LIMITS, type EndpointLimits } from "#src/embedded/nats/limits.ts";
import { tokenCheck } from "#src/embedded/nats/rights.ts";
import { SubscriptionRoutes } from "#src/embedded/nats/routes.ts";
import { explainListenError, listeningPort } from "#src/embedded/ports.ts";

export interface NatsEndpointOptions {
  /** Host to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** Port; 0 for any free one. */
  readonly port: number;
  /** The option that sets the port, for the message when it is taken. */
  readonly portOption?: string;
  /** Clients with this token have all rights. */
  readonly token: string;
  readonly log: Log;
  /** Longest payload in bytes, including headers; 1 MiB by default. */
  readonly maxPayload?: number;
  /** Limits that differ from the default ones. */
  readonly limits?: Partial<EndpointLimits>;
}

/** A running endpoint. */
export interface NatsEndpoint {
  /** `nats://host:port`, without the token. */
  readonly url: string;
  readonly port: number;
  /** Current counts. */
  stats(): EndpointStats;
  /** Has a service answer clients from now on. */
  attach(make: (hub: EndpointHub) => EndpointService): void;
  /** Sends buffered output, ends every connection, and stops listening. */
  stop(): Promise<void>;
}

/** Bytes per second read from each guest at least, however many there are: subscriptions and answers to PINGs. */
const MIN_INPUT = 1_024;

/** What the connections of an endpoint share. */
export class EndpointHub {
  /** Subscriptions of clients with the token. */
  readonly routes = new SubscriptionRoutes<ClientSubscription>();
  readonly connections = new Set<ClientConnection>();
  /** Connections that have not authenticated yet, oldest first. */
  private readonly silent = new Set<ClientConnection>();
  readonly stats: EndpointStats = {
    connections: 0,
    subscriptions: 0,
    messagesIn: 0,
    messagesOut: 0,
    bytesIn: 0,
    bytesOut: 0,
    slowConsumers: 0,
    refused: 0,
  };
  readonly guests: GuestDelivery;
  /** The service that answers clients, once it is attached. */
  service: EndpointService | undefined;
  /** Bytes per second that may be read from a guest. */
  guestInput: number;

  constructor(readonly limits: EndpointLimits, readonly log: Log, readonly isToken: (candidate: string) => boolean) {
    this.guests = new GuestDelivery(limits, this.stats);
    this.guestInput = limits.guestsInput;
  }

  /** Whether one more client, with or without the token, is admitted; if so it is counted. */
  admits(connection: ClientConnection): boolean {
    const { maxConnections, maxGuests } = this.limits;
    if (this.connections.size - this.silent.size >= maxConnections) return false;
    if (connection.rights === "events") {
      let guests = 0;
      for (const other of this.connections) if (other.isGuest) guests++;
      if (guests >= maxGuests) return false;
    }
    this.silent.delete(connection);
    return true;
  }

  accept(socket: Socket, info: Record<string, unknown>): void {
    // the new connection may have the token: silent connections must not keep it out
    for (const oldest of this.silent) {
      if (this.silent.size < this.limits.maxSilent) break;
      this.silent.delete(oldest);
      oldest.destroy();
    }
    const connection = new ClientConnection(this, socket, info);
    this.connections.add(connection);
    this.silent.add(connection);
  }

  gone(connection: ClientConnection): void {
    this.connections.delete(connection);
    this.silent.delete(connection);
    this.guests.leave(connection);
    this.service?.left(connection);
  }

  /** Delivers a message to its subscribers; gives their number. */
  route(from: ClientConnection, message: PublishedMessage): number {
    this.stats.messagesIn++;
    const { plain, groups } = this.routes.match(message.subject);
    let delivered = 0;
    const offer = (subscription: ClientSubscription | undefined) => {
      if (!subscription) return false;
      const { connection } = subscription;
      if (connection === from && !from.echo) return false;
      // a subscription that lapsed earlier while this message was delivered is still in the list
      if (subscription.delivered >= subscription.max || !connection.deliver(subscription, message)) return false;
      delivered++;
      return true;
    };
    for (const subscription of plain) offer(subscription);
    for (const group of groups) {
      const first = group.length === 1 ? 0 : Math.floor(Math.random() * group.length);
      for (let i = 0; i < group.length && !offer(group[(first + i) % group.length]); i++);
    }
    this.stats.messagesOut += delivered;
    return delivered + this.guests.offer(message);
  }

  tick(now: number): void {
    const guests = [...this.connections].filter(({ rights }) => rights === "events").length;
    this.guestInput = Math.max(MIN_INPUT, this.limits.guestsInput / Math.max(1, guests));
    for (const connection of [...this.connections]) connection.tick(now);
  }
}

/** Starts an endpoint. Throws `EmbeddedError` with code `port_taken` if the port is not free. */
export async function startNatsEndpoint(options: NatsEndpointOptions): Promise<NatsEndpoint> {
  const host = options.host ?? "127.0.0.1";
  const limits = { ...DEFAULT_LIMITS, ...options.limits, maxPayload: options.maxPayload ?? DEFAULT_LIMITS.maxPayload };
  const endpoint = new EndpointHub(limits, options.log, tokenCheck(options.token));
  const id = randomBytes(16).toString("hex").toUpperCase();
  let port = options.port;
  let clients = 0;
  const server = createServer((socket) =>
    endpoint.accept(socket, {
      server_id: id,
      server_name: "arbor",
      // protocol level, from which client libraries derive the features they may use
      version: "2.10.0",
      proto: 1,
      host,
      port,
      headers: true,
      max_payload: limits.maxPayload,
      client_id: ++clients,
      client_ip: socket.remoteAddress,
      // some client libraries (Java, Python) only send a token if this is set; guests may ignore it
      auth_required: true,
      jetstream: endpoint.service !== undefined,
    })
  );
  const use = { service: "the NATS endpoint", port: options.port, option: options.portOption ?? "--nats-port" };
  try {
    server.listen(options.port, host);
    await once(server, "listening");
  } catch (error) {
    throw explainListenError(error, use);
  }
  server.on("error", (error) => options.log.error("the NATS endpoint failed", { reason: error.message }));
  port = listeningPort(server);
  const timer = setInterval(() => endpoint.tick(performance.now()), 1_000);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    clearInterval(timer);
    endpoint.guests.stop();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of [...endpoint.connections]) connection.end();
    const cut = setTimeout(() => {
      for (const connection of [...endpoint.connections]) connection.destroy();
    }, 500);
    await closed;
    clearTimeout(cut);
  };
  return {
    url: `nats://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    stats: () => ({
      ...endpoint.stats,
      connections: endpoint.connections.size,
      subscriptions: endpoint.routes.size + endpoint.guests.routes.size,
    }),
    attach: (make) => void (endpoint.service = make(endpoint)),
    stop: () => stopped ??= stop(),
  };
}
