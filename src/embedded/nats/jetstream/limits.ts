/** How much of JetStream's API clients may use. */
import type { ConfigBounds } from "#src/embedded/nats/jetstream/config.ts";

const MINUTE_NS = 60_000_000_000;

/** Bounds of the service. */
export interface JetStreamLimits {
  /** Consumers of clients with rights; of these, durable ones. */
  readonly consumers: number;
  readonly durables: number;
  /** Consumers of one guest, and of all guests. */
  readonly guestConsumers: number;
  readonly guestsConsumers: number;
  /** Requests of one guest that wait for their answer; later ones get none. */
  readonly guestRequests: number;
  /** Jobs in the database at a time, for clients with rights and for guests. */
  readonly jobs: number;
  readonly guestJobs: number;
  /** Subjects of a consumer with the policy `last_per_subject`. */
  readonly subjects: number;
}

export const DEFAULT_LIMITS: JetStreamLimits = {
  consumers: 1_024,
  durables: 256,
  guestConsumers: 8,
  guestsConsumers: 1_024,
  guestRequests: 64,
  jobs: 6,
  guestJobs: 2,
  subjects: 65_536,
};

/** Bounds for consumers of clients with rights, and for those of guests. */
export const BOUNDS: ConfigBounds = { maxWaiting: 4_096, maxAckPending: 100_000, inactiveThreshold: Infinity };
export const GUEST_BOUNDS: ConfigBounds = { maxWaiting: 32, maxAckPending: 1_000, inactiveThreshold: 60 * MINUTE_NS };
