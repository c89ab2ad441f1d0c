/** Bounds that keep one client of the NATS endpoint from harming the others. */
import type { ParserLimits } from "#src/embedded/nats/parser.ts";

/** Bounds of an endpoint. */
export interface Limits extends ParserLimits {
  /** Connections altogether, and of those without the token. */
  readonly maxConnections: number;
  readonly maxGuests: number;
  /** Subscriptions of one connection without the token. */
  readonly guestSubscriptions: number;
  /** Bytes that may wait for one client: with the token, without, and for all without it together. */
  readonly pending: number;
  readonly guestPending: number;
  readonly allGuestsPending: number;
  /** Milliseconds until a connection must have said something, and between signs of life. */
  readonly connectMs: number;
  readonly pingMs: number;
  /** Milliseconds that a client may leave its socket full. */
  readonly stallMs: number;
}

const MEGABYTE = 1024 * 1024;

/** The bounds unless an endpoint is told others. */
export const USUAL_LIMITS: Limits = {
  maxControlLine: 4096,
  maxPayload: MEGABYTE,
  maxConnections: 1024,
  maxGuests: 768,
  guestSubscriptions: 256,
  pending: 64 * MEGABYTE,
  guestPending: 8 * MEGABYTE,
  allGuestsPending: 128 * MEGABYTE,
  connectMs: 5_000,
  pingMs: 60_000,
  stallMs: 10_000,
};
