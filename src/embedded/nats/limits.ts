/** Bounds that keep one client of the NATS endpoint from harming the others. */
import type { ParserLimits } from "#src/embedded/nats/parser.ts";

/** Bounds of an endpoint. A guest is a client without the token. */
export interface Limits extends ParserLimits {
  /** Clients altogether, and guests among them; the rest is for those who have the token. */
  readonly maxConnections: number;
  readonly maxGuests: number;
  /** Connections that have not said yet who they are; the oldest gives way to a new one. */
  readonly maxSilent: number;
  /** Subscriptions of one guest. */
  readonly guestSubscriptions: number;
  /** Subscriptions of one guest that one message may match. */
  readonly guestCopies: number;
  /** Bytes that may wait for one client with the token. */
  readonly pending: number;
  /** Bytes of events that wait for guests, each event counted once. */
  readonly guestBacklog: number;
  /** Bytes of events that a guest is sent before it answers a PING, and bytes of answers that wait for it. */
  readonly guestWindow: number;
  /** Bytes that are read from all guests in a second, the same share from each; more is left in their sockets. */
  readonly guestsInput: number;
  /** Milliseconds until a connection must have said something, and between signs of life. */
  readonly connectMs: number;
  readonly pingMs: number;
  /** Milliseconds that a client may take nothing while something waits for it. */
  readonly stallMs: number;
}

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;

/** The bounds unless an endpoint is told others. All guests together hold at most 128 MB: the backlog, and for each a window and its answers. */
export const USUAL_LIMITS: Limits = {
  maxControlLine: 4096,
  maxPayload: MEGABYTE,
  maxConnections: 1024,
  maxGuests: 768,
  maxSilent: 256,
  guestSubscriptions: 256,
  guestCopies: 4,
  pending: 64 * MEGABYTE,
  guestBacklog: 32 * MEGABYTE,
  guestWindow: 64 * KILOBYTE,
  guestsInput: 256 * KILOBYTE,
  connectMs: 5_000,
  pingMs: 60_000,
  stallMs: 10_000,
};
