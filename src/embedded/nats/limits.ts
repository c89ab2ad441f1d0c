/** Limits that keep one client of the NATS endpoint from harming others. */
import type { ParserLimits } from "#src/embedded/nats/parser.ts";

/** Limits of an endpoint. A guest is a client without the token. */
export interface EndpointLimits extends ParserLimits {
  /** Clients in total, and guests among them; the rest is reserved for clients with the token. */
  readonly maxConnections: number;
  readonly maxGuests: number;
  /** Connections that have not authenticated yet; the oldest is closed for a new one. */
  readonly maxSilent: number;
  /** Subscriptions of one guest. */
  readonly guestSubscriptions: number;
  /** Subscriptions of one guest that match one message. */
  readonly guestCopies: number;
  /** Longest payload that a guest may send to a service of the endpoint, in bytes. */
  readonly guestPayload: number;
  /** Outgoing bytes buffered for one client with the token, beyond which a service of the endpoint waits. */
  readonly serviceWindow: number;
  /** Outgoing bytes buffered for one client with the token. */
  readonly pending: number;
  /** Bytes of events buffered for guests, each event counted once. */
  readonly guestBacklog: number;
  /** Bytes of events sent to a guest before it answers a PING, and bytes of answers buffered for it. */
  readonly guestWindow: number;
  /** Bytes per second read from all guests together, in equal shares; more stays in their sockets. */
  readonly guestsInput: number;
  /** Milliseconds until a connection must have sent something, and between signs of life. */
  readonly connectMs: number;
  readonly pingMs: number;
  /** Milliseconds that a client may read nothing while data waits for it. */
  readonly stallMs: number;
}

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;

/** The default limits. All guests together hold at most 128 MB: the backlog, and for each a window and its answers. */
export const DEFAULT_LIMITS: EndpointLimits = {
  maxControlLine: 4096,
  maxPayload: MEGABYTE,
  maxConnections: 1024,
  maxGuests: 768,
  maxSilent: 256,
  guestSubscriptions: 256,
  guestCopies: 4,
  guestPayload: 16 * KILOBYTE,
  serviceWindow: MEGABYTE,
  pending: 64 * MEGABYTE,
  guestBacklog: 32 * MEGABYTE,
  guestWindow: 64 * KILOBYTE,
  guestsInput: 256 * KILOBYTE,
  connectMs: 5_000,
  pingMs: 60_000,
  stallMs: 10_000,
};
