/**
 * The message bus: requests, messages and subscriptions with JSON bodies over core NATS. A message may be lost or
 * delivered twice; nothing in the runtime depends on its delivery.
 */
import { setImmediate } from "node:timers";
import { connect, type ConnectionOptions, createInbox, type MsgHdrs, type NatsConnection } from "nats";
import { inTime } from "#src/base/clock.ts";
import { type Json, parseWritten, toJson } from "#src/base/json.ts";
import { memberOf } from "#src/base/member.ts";
import { type Log, reason, silentLog } from "#src/base/log.ts";
import { disconnects, reconnects } from "#src/runtime/metrics.ts";

/** Why a request got no reply, or a message was not sent. */
export class BusError extends Error {
  constructor(readonly code: "no_responders" | "timeout" | "unreachable" | "too_large" | "closed", message: string) {
    super(message);
  }
}

/** What a message may hold: everything that `toJson` writes. */
export type Body = Json | object;

/** Replies to a request. @throws BusError when the reply is too large. */
export type Respond = (body: Body) => void;
type Handle = (body: Json, respond: Respond | undefined, subject: string) => void;

export interface Bus {
  /**
   * Sends a request and waits for the reply. Rejects with a `BusError`: `unreachable` without waiting for the timeout
   * when the server is away or does not answer. While the connection is lost nothing is sent.
   */
  request(subject: string, body: Body, timeoutMs: number, headers?: Record<string, string>): Promise<Json>;
  /** Sends a message without confirmation; `flush` confirms that the server has it. */
  publish(subject: string, body: Body, headers?: Record<string, string>): void;
  /** Handles every message until the returned function is called. A body that is not JSON is dropped with a warning. */
  subscribe(subject: string, handle: Handle): () => void;
  /** Like `subscribe`, for a subject without wildcards. Requests from this process are delivered without the server. */
  serve(subject: string, handle: Handle): () => void;
  /**
   * Resolves when the server has everything sent so far; rejects after `timeoutMs` (5,000 by default) or when
   * disconnected.
   */
  flush(timeoutMs?: number): Promise<void>;
  /** Whether the server lets this client subscribe to a subject; true if it does not answer. */
  permits(subject: string): Promise<boolean>;
  /** Largest body that the server accepts, in bytes. */
  maxPayload(): number;
  /** Whether the server is part of a cluster. */
  clustered(): boolean;
  /** Whether the server says that it has JetStream. */
  hasJetStream(): boolean;
  /** Calls `listener` after each reconnection, until the returned function is called. */
  onReconnect(listener: () => void): () => void;
  /** Resolves with a sentence when the connection has ended permanently without `close`. */
  readonly lost: Promise<string>;
  close(): Promise<void>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** JSON of bytes, with exact integers. */
const decode = (bytes: Uint8Array): Json => parseWritten(decoder.decode(bytes));

/**
 * Headers of an outgoing message. The client's own class also reads and changes headers, and takes ten times as long.
 */
class OutgoingHeaders {
  constructor(private readonly fields: Readonly<Record<string, string>>) {}

  /** Called by the client when it sends the message. */
  encode(): Uint8Array {
    let text = "NATS/1.0\r\n";
    for (const [name, value] of Object.entries(this.fields)) text += `${name}: ${value.replace(/[\r\n]+/g, " ")}\r\n`;
    return encoder.encode(text + "\r\n");
  }
}

/** Publish options with headers. The client calls nothing of its class but `encode`, hence the cast. */
function withHeaders(members: Record<string, string> | undefined): { headers: MsgHdrs } | undefined {
  return members === undefined ? undefined : { headers: new OutgoingHeaders(members) as unknown as MsgHdrs };
}

function credentials({ token, user }: BusOptions) {
  if (user !== undefined) return { user, pass: token ?? "" };
  return token === undefined ? {} : { token };
}

/** Certificates of a connection with TLS, in PEM. */
export interface BusTls {
  /** Certificates that sign those of the servers; the system's by default. */
  readonly ca?: string;
  /** Certificate of this client and its key, for servers that require one. */
  readonly cert?: string;
  readonly key?: string;
}

export interface BusOptions {
  /**
   * URLs of the servers, separated by commas; any of them is used. If one is `tls://…`, or with `tls`, nothing is sent
   * to a server without TLS.
   */
  readonly url: string;
  /** The server's token, or with `user` its password. */
  readonly token?: string | undefined;
  readonly user?: string | undefined;
  readonly tls?: BusTls | undefined;
  readonly name?: string;
  readonly log?: Log;
}

/**
 * Connects, waiting for the server without a limit, and reconnects without a limit.
 * @throws when the credentials are wrong.
 *
 * It is long because it is the list of the members of `Bus` on one connection.
 *
 * @example
 * ```ts
 * const bus = await connectBus({ url: "nats://127.0.0.1:4222", name: "worker-1" });
 * const end = bus.subscribe("arbor.event.door.>", (body) => console.log(body));
 * await bus.flush();
 * end();
 * await bus.close();
 * ```
 */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const log = options.log ?? silentLog;
  const servers = options.url.split(",").map((url) => url.trim());
  const tls = options.tls ?? (servers.some((url) => url.startsWith("tls://")) ? {} : undefined);
  const connection = {
    servers,
    ...(tls === undefined ? {} : { tls }),
    ...credentials(options),
    name: options.name ?? "arbor",
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 50,
    waitOnFirstConnect: true,
    // A server that answers nothing is left within 10 s, for another one where there are several; the same one may be
    // tried first.
    pingInterval: 2_000,
    maxPingOut: 2,
    timeout: 3_000,
  };
  if (tls !== undefined) await warnOfRefusal(connection, log);
  // A first connection reports wrong credentials at once. The second one ignores refusals after that: credentials that
  // worked may work again later, and the client would close the connection permanently at the second refusal.
  await (await connect(connection)).close();
  const nats: NatsConnection = await connect({ ...connection, ignoreAuthErrorAbort: true });
  let closing = false;
  const lost = new Promise<string>((resolve) => {
    void nats.closed().then((error) => {
      if (closing) return;
      const sentence = `The connection to NATS has ended${error ? `: ${reason(error)}` : ""}.`;
      log.error("bus lost", { reason: sentence });
      resolve(sentence);
    });
  });
  const listeners = new Set<() => void>();
  const link: Link = { lostAt: undefined, pingedAt: undefined };
  (async () => {
    for await (const status of nats.status()) {
      if (status.type === "disconnect") {
        disconnects.of().inc();
        link.lostAt ??= performance.now();
      } else if (status.type === "reconnect") {
        link.lostAt = link.pingedAt = undefined;
        reconnects.of().inc();
        for (const listener of listeners) listener();
      }
      log.debug("bus", { status: status.type, data: String(status.data) });
    }
  })().catch(() => {});
  const maxPayload = () => nats.info?.max_payload ?? 1_048_576;
  const bytesOf = (body: Body) => {
    const bytes = encoder.encode(toJson(body));
    if (bytes.length > maxPayload()) {
      throw new BusError(
        "too_large",
        `The message has ${bytes.length} bytes; the server accepts at most ${maxPayload()}.`,
      );
    }
    return bytes;
  };
  const served = new Map<string, Handle>();
  const request = requests(nats, served, bytesOf, link, (listener) => void listeners.add(listener), log);
  const bus: Bus = {
    request: async (subject, body, timeoutMs, more) =>
      await request(subject, bytesOf(body), timeoutMs, withHeaders(more)),
    publish: (subject, body, more) => nats.publish(subject, bytesOf(body), withHeaders(more)),
    subscribe: (subject, handle) => {
      const subscription = nats.subscribe(subject, {
        callback: (error, message) => {
          if (error) return log.warn("subscription refused", { subject, reason: error.message });
          let body: Json;
          try {
            body = decode(message.data);
          } catch {
            return log.warn("message is not JSON", { subject: message.subject });
          }
          const respond = message.reply ? (answer: Body) => void message.respond(bytesOf(answer)) : undefined;
          handOver(handle, body, respond, message.subject, log);
        },
      });
      return () => subscription.unsubscribe();
    },
    serve: (subject, handle) => {
      const end = bus.subscribe(subject, handle);
      served.set(subject, handle);
      return () => {
        if (served.get(subject) === handle) served.delete(subject);
        end();
      };
    },
    flush: async (timeoutMs = 5_000) => {
      const confirmed = await inTime(nats.flush().then(() => true), timeoutMs);
      if (confirmed === undefined) throw new BusError("timeout", "the server did not confirm in time");
    },
    permits: async (subject) => {
      let refused = false;
      const subscription = nats.subscribe(subject, { callback: (error) => void (refused ||= error !== null) });
      await bus.flush().catch(() => {}); // the server refuses before it confirms
      subscription.unsubscribe();
      return !refused;
    },
    maxPayload,
    clustered: () => memberOf(nats.info, "cluster") !== undefined,
    hasJetStream: () => nats.info?.jetstream === true,
    onReconnect: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    lost,
    close: async () => {
      closing = true;
      if (nats.isClosed()) return;
      await nats.close();
    },
  };
  return bus;
}

/**
 * Tries once to connect, and logs why that fails: a certificate that is not valid is not distinguished from a server
 * that is away, for which the client waits without a limit.
 */
async function warnOfRefusal(connection: ConnectionOptions, log: Log): Promise<void> {
  try {
    await (await connect({ ...connection, waitOnFirstConnect: false })).close();
  } catch (error) {
    log.warn("no connection with TLS to the NATS server yet", { reason: reason(error) });
  }
}

function handOver(handle: Handle, body: Json, respond: Respond | undefined, subject: string, log: Log): void {
  try {
    handle(body, respond, subject);
  } catch (failure) {
    log.error("message handler threw", { subject, reason: reason(failure) });
  }
}

/** What is known of the connection to the server; times by `performance.now()`. */
interface Link {
  /** When it was lost. */
  lostAt: number | undefined;
  /** When the ping was sent that the server has not answered. */
  pingedAt: number | undefined;
}

/** How long the connection may be lost, and a ping unanswered, until requests are rejected, in milliseconds. */
const LOST_MS = 800;
const SILENT_MS = 5_000;

/** A request that waits for its reply. */
interface OpenRequest {
  readonly subject: string;
  readonly since: number;
  /** Whether it has to pass through the server. */
  remote: boolean;
  /** When it times out, by `performance.now()`. */
  readonly until: number;
  readonly resolve: (body: Json) => void;
  readonly reject: (error: BusError) => void;
}

/** How late a timeout may be, in milliseconds. */
const LATE_MS = 20;

/**
 * Requests over one inbox. The client's own `request` creates an `Error` with a stack trace for each request in
 * advance, which took a tenth of a caller's time. Requests of one moment go out in one write, the most expensive part
 * of a request, and share one timer. A subject that is `served` in this process gets its requests directly, as the same
 * bytes.
 */
function requests(
  nats: NatsConnection,
  served: ReadonlyMap<string, Handle>,
  bytesOf: (body: Body) => Uint8Array,
  link: Link,
  onReconnect: (listener: () => void) => void,
  log: Log,
) {
  const inbox = createInbox();
  const waiting = new Map<string, OpenRequest>();
  let number = 0;
  let outgoing: (() => void)[] = [];
  let timer: ReturnType<typeof setInterval> | undefined;
  let expiredAt = 0;
  /** Requests that were not sent because the connection was lost. */
  const unsent = new Map<string, () => void>();
  const expire = () => {
    const now = performance.now();
    // While this process did nothing, it read no answer either.
    if (link.pingedAt !== undefined) link.pingedAt += Math.max(0, now - expiredAt - 2 * LATE_MS);
    expiredAt = now;
    const { lostAt, pingedAt } = link;
    const isSilent = pingedAt !== undefined && now - pingedAt >= SILENT_MS;
    let remote = false;
    for (const [reply, { until, subject, since, remote: isRemote, reject }] of waiting) {
      const isLost = lostAt !== undefined && now - Math.max(lostAt, since) >= LOST_MS;
      remote ||= isRemote;
      if (isRemote && (isLost || isSilent)) {
        reject(new BusError("unreachable", "the NATS server does not answer"));
      } else if (until <= now) reject(new BusError("timeout", `no reply on ${subject} in time`));
      else continue;
      waiting.delete(reply);
      unsent.delete(reply);
    }
    if (remote && lostAt === undefined) probe();
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const probe = () => {
    if (link.pingedAt !== undefined) return;
    link.pingedAt = performance.now();
    nats.flush().then(() => link.pingedAt = undefined, () => link.pingedAt = undefined);
  };
  onReconnect(() => {
    const held = [...unsent.values()];
    unsent.clear();
    for (const publish of held) publish();
  });
  const send = () => {
    const now = outgoing;
    outgoing = [];
    for (const publish of now) publish();
  };
  const onReply = (reply: string, data: Uint8Array, noResponders: boolean) => {
    const open = waiting.get(reply);
    if (open === undefined) return;
    waiting.delete(reply);
    if (noResponders) return open.reject(new BusError("no_responders", `no subscribers on ${open.subject}`));
    try {
      open.resolve(decode(data));
    } catch (failure) {
      open.reject(new BusError("closed", reason(failure)));
    }
  };
  nats.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (error) return log.warn("subscription refused", { subject: `${inbox}.*`, reason: error.message });
      const { subject, data, headers } = message;
      onReply(subject, data, data.length === 0 && headers?.code === 503);
    },
  });
  return (subject: string, bytes: Uint8Array, timeoutMs: number, options?: { headers: MsgHdrs }): Promise<Json> =>
    new Promise<Json>((resolve, reject) => {
      const reply = `${inbox}.${++number}`;
      const since = performance.now();
      const open: OpenRequest = {
        subject,
        since,
        remote: false,
        until: since + Math.max(1, timeoutMs),
        resolve,
        reject,
      };
      waiting.set(reply, open);
      if (timer === undefined) {
        expiredAt = since;
        timer = setInterval(expire, LATE_MS);
      }
      if (outgoing.length === 0) setImmediate(send);
      const publish = () => {
        try {
          nats.publish(subject, bytes, { reply, ...options });
        } catch (error) {
          waiting.delete(reply);
          reject(new BusError("closed", reason(error)));
        }
      };
      outgoing.push(() => {
        const handle = served.get(subject);
        if (handle !== undefined) {
          return handOver(handle, decode(bytes), (body) => onReply(reply, bytesOf(body), false), subject, log);
        }
        open.remote = true;
        if (link.lostAt === undefined) publish();
        else unsent.set(reply, publish);
      });
    });
}
