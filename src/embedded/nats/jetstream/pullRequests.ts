/** Requests of clients for the next messages of a pull consumer, served in turn. */
import { Buffer } from "node:buffer";
import { isObject, type Json, readJson } from "#src/base/json.ts";
import type { ConsumerConfig } from "#src/embedded/nats/jetstream/config.ts";
import type { Outlet } from "#src/embedded/nats/jetstream/outlet.ts";

/** A request that waits for messages. */
export interface PullRequest {
  readonly reply: string;
  /** Messages and bytes that may still be sent; 0 bytes for any number. */
  left: number;
  bytes: number;
  readonly hasBytes: boolean;
  delivered: number;
  readonly noWait: boolean;
  /** By `performance.now()`; `undefined` for never. */
  readonly expires: number | undefined;
  readonly heartbeatMs: number | undefined;
  heartbeatAt: number | undefined;
}

const NANOSECONDS = 1e-6;
/** Shortest interval of heartbeats in milliseconds, that of push consumers: shorter ones cost a request nothing. */
const MIN_HEARTBEAT_MS = 100;

function numberOf(json: Json | undefined): number {
  return typeof json === "number" || typeof json === "bigint" ? Number(json) : 0;
}

/** Parses a request's body; gives the reason when it is malformed. */
export function parseRequest(reply: string, body: Buffer, now: number): PullRequest | string {
  const text = body.toString("latin1").trim();
  let fields: { readonly [name: string]: Json } = {};
  if (text.startsWith("{")) {
    const json = readJson(body);
    if (!isObject(json)) return "invalid character in request";
    fields = json;
  } else if (/^\d{1,9}$/.test(text)) fields = { batch: Number(text) };
  const expires = numberOf(fields.expires) * NANOSECONDS;
  const heartbeat = numberOf(fields.idle_heartbeat) * NANOSECONDS;
  if (heartbeat > 0 && heartbeat * 2 > expires) return "heartbeat value too large";
  const heartbeatMs = heartbeat > 0 ? Math.max(heartbeat, MIN_HEARTBEAT_MS) : undefined;
  const bytes = Math.max(0, numberOf(fields.max_bytes));
  return {
    reply,
    left: Math.max(1, Math.floor(numberOf(fields.batch))),
    bytes,
    hasBytes: bytes > 0,
    delivered: 0,
    noWait: fields.no_wait === true,
    expires: expires > 0 ? now + expires : undefined,
    heartbeatMs,
    heartbeatAt: heartbeatMs === undefined ? undefined : now + heartbeatMs,
  };
}

/** The status of a request that a consumer's limits do not allow. */
export function requestRefusal(request: PullRequest, config: ConsumerConfig, now: number): string | undefined {
  const { max_batch: batch, max_expires: longest, max_bytes: bytes } = config;
  if (batch !== undefined && request.left > batch) return `409 Exceeded MaxRequestBatch of ${batch}`;
  if (longest !== undefined && request.expires !== undefined && request.expires - now > longest * NANOSECONDS) {
    return `409 Exceeded MaxRequestExpires of ${goDuration(longest)}`;
  }
  if (bytes !== undefined && request.bytes > bytes) return `409 Exceeded MaxRequestMaxBytes of ${bytes}`;
  return undefined;
}

/** A duration in nanoseconds as Go writes it: `1m30s`, `250ms`. */
export function goDuration(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${nanoseconds / 1e3}µs`;
  if (nanoseconds < 1e9) return `${nanoseconds / 1e6}ms`;
  const seconds = nanoseconds / 1e9;
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${Number((seconds % 60).toFixed(9))}s`;
  return hours > 0 ? `${hours}h${minutes}m${rest}` : minutes > 0 ? `${minutes}m${rest}` : rest;
}

/** The waiting requests of a consumer. */
export class PullRequests {
  private list: PullRequest[] = [];

  constructor(private readonly outlet: Outlet, private readonly most: () => number) {}

  get size(): number {
    return this.list.length;
  }

  /** Adds a request; false when there are too many. */
  add(request: PullRequest): boolean {
    if (this.list.length >= this.most()) return false;
    this.list.push(request);
    return true;
  }

  /** Messages wanted by all requests. */
  wanted(): number {
    return this.list.reduce((sum, { left }) => sum + left, 0);
  }

  /**
   * The request that gets the next message, of a size in bytes; `undefined` when none does. Requests that have expired,
   * have no room for it or have no subscriber any more are removed.
   */
  next(size: number, now: number): PullRequest | undefined {
    for (let first = this.list[0]; first !== undefined; first = this.list[0]) {
      if (first.expires !== undefined && now >= first.expires) this.timedOut(first);
      else if (first.hasBytes && size > first.bytes) this.status(first, "409 Message Size Exceeds MaxBytes");
      else if (this.outlet.hasInterest(first.reply)) return first;
      this.list.shift();
    }
    return undefined;
  }

  /** Counts a message for the first request; the next one is then first. */
  sent(size: number, now: number): void {
    const request = this.list.shift();
    if (request === undefined) return;
    request.left--;
    request.delivered++;
    if (request.hasBytes) request.bytes -= size;
    if (request.heartbeatMs !== undefined) request.heartbeatAt = now + request.heartbeatMs;
    if (request.left === 0 || (request.hasBytes && request.bytes <= 0)) return;
    this.list.push(request);
  }

  /** Drops the first request: nothing listens to its answers. */
  drop(): void {
    this.list.shift();
  }

  /**
   * Ends requests that have expired or have no subscriber, and sends heartbeats. With `all` delivered that there is,
   * requests that do not wait end too. Gives when it must be called again.
   */
  check(all: boolean, now: number, heartbeat: (reply: string) => void): number {
    let due = Infinity;
    this.list = this.list.filter((request) => {
      const { expires, noWait, delivered, reply } = request;
      if ((all && noWait && delivered > 0) || (expires !== undefined && now >= expires)) {
        this.timedOut(request);
        return false;
      }
      if (!this.outlet.hasInterest(reply)) return false;
      if (request.heartbeatMs !== undefined && request.heartbeatAt !== undefined) {
        if (now >= request.heartbeatAt) {
          heartbeat(reply);
          request.heartbeatAt = now + request.heartbeatMs;
        }
        due = Math.min(due, request.heartbeatAt);
      }
      if (expires !== undefined) due = Math.min(due, expires);
      return true;
    });
    return due;
  }

  /** Ends all requests with a status. */
  end(status: string): void {
    for (const { reply } of this.list.splice(0)) this.outlet.status(reply, status);
  }

  private timedOut(request: PullRequest): void {
    this.status(request, "408 Request Timeout");
  }

  private status({ reply, left, bytes }: PullRequest, status: string): void {
    this.outlet.status(reply, status, { "Nats-Pending-Messages": left, "Nats-Pending-Bytes": bytes });
  }
}
