/**
 * A NATS endpoint inside this process: the core protocol, for any client library.
 *
 * Hypotheses: messages are doorbells and answers, never the only copy of anything, so nothing is stored here and JetStream is
 * not offered; whoever has the token is one of ours, everybody else may watch `arbor.event.>` and is never trusted.
 */
import { randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import type { Log } from "#src/base/log.ts";
import { Connection } from "#src/embedded/nats/connection.ts";
import { Guests } from "#src/embedded/nats/guests.ts";
import type { ClientSubscription, Hub, Message, Stats } from "#src/embedded/nats/hub.ts";
import { type Limits, USUAL_LIMITS } from "#src/embedded/nats/limits.ts";
import { tokenCheck } from "#src/embedded/nats/rights.ts";
import { Routes } from "#src/embedded/nats/routes.ts";
import { explainListenError } from "#src/embedded/ports.ts";

export type { Limits } from "#src/embedded/nats/limits.ts";
export type { Stats } from "#src/embedded/nats/hub.ts";

export interface NatsEndpointOptions {
  /** 127.0.0.1 where not given. */
  readonly host?: string;
  /** 0 for any free port. */
  readonly port: number;
  /** How a person chooses the port, for the sentence when it is taken. */
  readonly portOption?: string;
  /** Whoever connects with it may do everything. */
  readonly token: string;
  readonly log: Log;
  /** Longest payload in bytes, headers included; 1 MiB where not given. */
  readonly maxPayload?: number;
  /** Other bounds than the usual ones. */
  readonly limits?: Partial<Limits>;
}

/** A running endpoint. */
export interface NatsEndpoint {
  /** `nats://host:port`, without the token. */
  readonly url: string;
  readonly port: number;
  /** Counts of now. */
  stats(): Stats;
  /** Sends what waits, ends every connection, and stops listening. */
  stop(): Promise<void>;
}

/** Bytes that are read from each guest in a second, however many there are: subscriptions and answers to PINGs. */
const LEAST_INPUT = 1_024;

class Endpoint implements Hub {
  readonly routes = new Routes<ClientSubscription>();
  readonly connections = new Set<Connection>();
  /** Connections that have not said yet who they are, the oldest first. */
  private readonly silent = new Set<Connection>();
  readonly stats: Stats = {
    connections: 0,
    subscriptions: 0,
    messagesIn: 0,
    messagesOut: 0,
    bytesIn: 0,
    bytesOut: 0,
    slowConsumers: 0,
    refused: 0,
  };
  readonly guests: Guests;
  guestInput: number;

  constructor(readonly limits: Limits, readonly log: Log, readonly isToken: (candidate: string) => boolean) {
    this.guests = new Guests(limits, this.stats);
    this.guestInput = limits.guestsInput;
  }

  admits(connection: Connection): boolean {
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
    // The new one may have the token: connections that say nothing must not keep it out.
    for (const oldest of this.silent) {
      if (this.silent.size < this.limits.maxSilent) break;
      this.silent.delete(oldest);
      oldest.destroy();
    }
    const connection = new Connection(this, socket, info);
    this.connections.add(connection);
    this.silent.add(connection);
  }

  gone(connection: Connection): void {
    this.connections.delete(connection);
    this.silent.delete(connection);
    this.guests.leave(connection);
  }

  route(from: Connection, message: Message): number {
    this.stats.messagesIn++;
    const { plain, groups } = this.routes.match(message.subject);
    let delivered = 0;
    const offer = (subscription: ClientSubscription) => {
      const { connection } = subscription;
      if (connection === from && !from.echo) return false;
      // One that lapsed earlier in this very message's round is in the list still.
      if (subscription.delivered >= subscription.max || !connection.deliver(subscription, message)) return false;
      delivered++;
      return true;
    };
    for (const subscription of plain) offer(subscription);
    for (const group of groups) {
      const first = group.length === 1 ? 0 : Math.floor(Math.random() * group.length);
      for (let i = 0; i < group.length && !offer(group[(first + i) % group.length]!); i++);
    }
    this.stats.messagesOut += delivered;
    return delivered + this.guests.offer(message);
  }

  tick(now: number): void {
    const guests = [...this.connections].filter(({ rights }) => rights === "events").length;
    this.guestInput = Math.max(LEAST_INPUT, this.limits.guestsInput / Math.max(1, guests));
    for (const connection of [...this.connections]) connection.tick(now);
  }
}

/** Starts an endpoint. Throws an `EmbeddedError` with code `port_taken` where the port is not free. */
export async function startNatsEndpoint(options: NatsEndpointOptions): Promise<NatsEndpoint> {
  const host = options.host ?? "127.0.0.1";
  const limits = { ...USUAL_LIMITS, ...options.limits, maxPayload: options.maxPayload ?? USUAL_LIMITS.maxPayload };
  const endpoint = new Endpoint(limits, options.log, tokenCheck(options.token));
  const id = randomBytes(16).toString("hex").toUpperCase();
  let port = options.port;
  let clients = 0;
  const server = createServer((socket) =>
    endpoint.accept(socket, {
      server_id: id,
      server_name: "arbor",
      // The level of the protocol, by which client libraries decide what they may use.
      version: "2.10.0",
      proto: 1,
      host,
      port,
      headers: true,
      max_payload: limits.maxPayload,
      client_id: ++clients,
      client_ip: socket.remoteAddress,
      // Some client libraries (Java's, Python's) send a token only where this says so; guests may ignore it.
      auth_required: true,
      jetstream: false,
    })
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        explainListenError(error, {
          service: "the NATS endpoint",
          port: options.port,
          option: options.portOption ?? "--nats-port",
        }),
      ));
    server.listen(options.port, host, resolve);
  });
  server.removeAllListeners("error");
  server.on("error", (error) => options.log.error("the NATS endpoint failed", { reason: error.message }));
  const address = server.address();
  if (typeof address === "object" && address !== null) port = address.port;
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
    stop: () => stopped ??= stop(),
  };
}
