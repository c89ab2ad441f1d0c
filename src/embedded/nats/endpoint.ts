/**
 * A NATS endpoint inside this process: the core protocol, for any client library.
 *
 * Assumptions: messages are notifications and answers, never the only copy of anything, so nothing is stored here.
 * JetStream's API to read events is a service that the program attaches. Clients with the token belong to this service;
 * users of a file have the rights that it states; all others are guests, which may subscribe to `arbor.event.>`, may
 * send what that service allows, and are not trusted.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { type Log, reason } from "#src/base/log.ts";
import { Authenticator } from "#src/embedded/nats/authenticator.ts";
import {
  type AcceptedSocket,
  ClientConnection,
  type ClientSubscription,
  type ConnectionHub,
  type EndpointService,
} from "#src/embedded/nats/clientConnection.ts";
import { GuestDelivery } from "#src/embedded/nats/guestDelivery.ts";
import type { EndpointStats, PublishedMessage } from "#src/embedded/nats/hub.ts";
import { DEFAULT_LIMITS, type EndpointLimits } from "#src/embedded/nats/limits.ts";
import { SubscriptionRoutes } from "#src/embedded/nats/routes.ts";
import { EncryptedSide, handshake } from "#src/embedded/nats/tls.ts";
import { readTls, type TlsFiles } from "#src/embedded/postgres/tlsFiles.ts";
import { isReadableByAll, readUsers } from "#src/embedded/nats/users.ts";
import { explainListenError, listeningPort } from "#src/embedded/postgres/ports.ts";
import { watchFiles } from "#src/embedded/postgres/watchFiles.ts";

export interface NatsEndpointOptions {
  /** Host to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** Port; 0 for any free one. */
  readonly port: number;
  /** The option that sets the port, for the message when it is taken. */
  readonly portOption?: string;
  /** Clients with this token have all rights. */
  readonly token: string;
  /** File of users (`users.ts`); it is read again when it changes. */
  readonly users?: string | undefined;
  /** TLS for all clients but those of `ownUrl`; the files are read again when they change. */
  readonly tls?: TlsFiles | undefined;
  readonly log: Log;
  /** Longest payload in bytes, including headers; 1 MiB by default. */
  readonly maxPayload?: number;
  /** Limits that differ from the default ones. */
  readonly limits?: Partial<EndpointLimits>;
}

/** A running endpoint. */
export interface NatsEndpoint {
  /** `nats://host:port`, without the token; `tls://host:port` with TLS. */
  readonly url: string;
  /**
   * For this process. With TLS it is another port, of this machine only and without TLS, so that the process depends on
   * no name in the certificate; it needs the token.
   */
  readonly ownUrl: string;
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
export class EndpointHub implements ConnectionHub {
  /** Subscriptions of clients with the token. */
  readonly routes = new SubscriptionRoutes<ClientSubscription>();
  readonly connections = new Set<ClientConnection>();
  /** Connections that have not authenticated yet, oldest first. */
  private readonly silent = new Set<ClientConnection>();
  /** Connections whose TLS handshake has not ended yet, oldest first. */
  private readonly handshakes = new Set<EncryptedSide>();
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

  constructor(readonly limits: EndpointLimits, readonly log: Log, readonly authenticator: Authenticator) {
    this.guests = new GuestDelivery(limits, this.stats);
    this.guestInput = limits.guestsInput;
  }

  /** Whether one more client, with or without the token, is admitted; if so it is counted. */
  admits(connection: ClientConnection): boolean {
    const { maxConnections, maxGuests } = this.limits;
    if (this.connections.size - this.silent.size >= maxConnections) return false;
    if (connection.account.rights.guest) {
      let guests = 0;
      for (const other of this.connections) if (other.isGuest) guests++;
      if (guests >= maxGuests) return false;
    }
    this.silent.delete(connection);
    return true;
  }

  accept(accepted: AcceptedSocket): void {
    // the new connection may have the token: silent connections must not keep it out
    for (const oldest of this.silent) {
      if (this.silent.size < this.limits.maxSilent) break;
      this.silent.delete(oldest);
      oldest.destroy();
    }
    const connection = new ClientConnection(this, accepted);
    this.connections.add(connection);
    this.silent.add(connection);
  }

  /** Accepts a connection after its TLS handshake, which must end as soon as a client must authenticate. */
  acceptEncrypted(socket: Socket, options: TlsOptions): void {
    for (const oldest of this.handshakes) {
      if (this.handshakes.size < this.limits.maxSilent) break;
      oldest.destroy();
      this.handshakes.delete(oldest);
    }
    const address = socket.remoteAddress;
    const encrypted = new EncryptedSide(socket);
    const timer = setTimeout(() => encrypted.destroy(), this.limits.connectMs);
    const ended = () => {
      clearTimeout(timer);
      this.handshakes.delete(encrypted);
    };
    this.handshakes.add(encrypted);
    encrypted.on("close", ended);
    handshake(encrypted, options, (decrypted) => {
      ended();
      encrypted.on("close", () => decrypted.destroy());
      this.accept({ socket: decrypted, input: encrypted, address, info: "", serviceOnly: false });
    });
  }

  /** Ends the handshakes in progress. */
  stopHandshakes(): void {
    for (const encrypted of [...this.handshakes]) encrypted.destroy();
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
      if (connection === from && !from.options.echo) return false;
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
    const guests = [...this.connections].filter(({ account }) => account.rights.guest).length;
    this.guestInput = Math.max(MIN_INPUT, this.limits.guestsInput / Math.max(1, guests));
    for (const connection of [...this.connections]) connection.tick(now);
  }
}

async function listening(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  return listeningPort(server);
}

/** Warns of a file with secrets that every account of this machine can read. */
async function checkAccess(file: string, log: Log): Promise<void> {
  if (await isReadableByAll(file)) log.warn("a file with secrets can be read by all users of this machine", { file });
}

/**
 * Starts an endpoint.
 * @throws EmbeddedError `port_taken` if the port is not free; `bad_file` for the files of users and TLS.
 *
 * It is long because it is the list of the parts of an endpoint.
 */
export async function startNatsEndpoint(options: NatsEndpointOptions): Promise<NatsEndpoint> {
  const { users, tls, log } = options;
  const host = options.host ?? "127.0.0.1";
  const limits = { ...DEFAULT_LIMITS, ...options.limits, maxPayload: options.maxPayload ?? DEFAULT_LIMITS.maxPayload };
  const authenticator = new Authenticator(options.token, users === undefined ? [] : await readUsers(users));
  let secrets = tls && await readTls(tls);
  for (const file of [users, tls?.key]) if (file !== undefined) await checkAccess(file, log);
  const endpoint = new EndpointHub(limits, log, authenticator);
  const id = randomBytes(16).toString("hex").toUpperCase();
  let port = options.port;
  let clients = 0;
  const infoLine = (address: string | undefined, more: Record<string, unknown>) => {
    const info = {
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
      client_ip: address,
      // some client libraries (Java, Python) only send a token if this is set; guests may ignore it
      auth_required: true,
      jetstream: endpoint.service !== undefined,
      ...more,
    };
    return `INFO ${JSON.stringify(info)}\r\n`;
  };
  const plain = (serviceOnly: boolean) =>
    createServer((socket) => {
      const input = { hold: () => void socket.pause(), release: () => void socket.resume() };
      const address = socket.remoteAddress;
      endpoint.accept({ socket, input, address, info: infoLine(address, {}), serviceOnly });
    });
  const server = secrets === undefined ? plain(false) : createServer((socket) => {
    const verify = tls?.ca === undefined ? {} : { tls_verify: true };
    socket.write(infoLine(socket.remoteAddress, { tls_required: true, ...verify }));
    endpoint.acceptEncrypted(socket, { ...secrets });
  });
  const own = secrets === undefined ? undefined : plain(true);
  const use = { service: "the NATS endpoint", port: options.port, option: options.portOption ?? "--nats-port" };
  try {
    port = await listening(server, options.port, host);
  } catch (error) {
    throw explainListenError(error, use);
  }
  const ownPort = own && await listening(own, 0, "127.0.0.1");
  const servers = own === undefined ? [server] : [server, own];
  for (const one of servers) {
    one.on("error", (error) => log.error("the NATS endpoint failed", { reason: error.message }));
  }
  const reloads = [
    users === undefined ? undefined : await watchFiles([users], async () => {
      try {
        authenticator.replace(await readUsers(users));
        await checkAccess(users, log);
        for (const connection of [...endpoint.connections]) connection.revoke();
      } catch (error) {
        log.error("the NATS users are the earlier ones: the file cannot be used", { reason: reason(error) });
      }
    }),
    tls === undefined ? undefined : await watchFiles([tls.cert, tls.key, ...(tls.ca ? [tls.ca] : [])], async () => {
      try {
        secrets = await readTls(tls);
      } catch (error) {
        log.error("the NATS certificate is the earlier one: a file cannot be used", { reason: reason(error) });
      }
    }),
  ];
  const timer = setInterval(() => endpoint.tick(performance.now()), 1_000);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    clearInterval(timer);
    for (const end of reloads) end?.();
    endpoint.guests.stop();
    const closed = Promise.all(servers.map((one) => new Promise<void>((resolve) => one.close(() => resolve()))));
    endpoint.stopHandshakes();
    for (const connection of [...endpoint.connections]) connection.end();
    const cut = setTimeout(() => {
      for (const connection of [...endpoint.connections]) connection.destroy();
    }, 500);
    await closed;
    clearTimeout(cut);
  };
  const url = `${tls === undefined ? "nats" : "tls"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return {
    url,
    ownUrl: ownPort === undefined ? url : `nats://127.0.0.1:${ownPort}`,
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
