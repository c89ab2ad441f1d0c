/** The subscriptions of one client. */
import type { EndpointLimits } from "#src/embedded/nats/limits.ts";
import { overlap } from "#src/embedded/nats/subjects.ts";

/** A subscription, as it is counted. */
export interface CountedSubscription {
  readonly sid: string;
  /** The tokens of its subject. */
  readonly tokens: readonly string[];
  /** How many other subscriptions of the same guest may match the same message. */
  overlaps: number;
}

/** Subscriptions by their id; those of a guest also with how many of them may match the same message. */
export class SubscriptionSet<S extends CountedSubscription> {
  private readonly byId = new Map<string, S>();

  /** `isGuest`: whether the client is one now. */
  constructor(private readonly limits: EndpointLimits, private readonly isGuest: () => boolean) {}

  get(sid: string): S | undefined {
    return this.byId.get(sid);
  }

  /** All subscriptions; they may be removed meanwhile. */
  all(): readonly S[] {
    return [...this.byId.values()];
  }

  /** The subscriptions that may match the same message as one with these tokens; none are counted for other clients. */
  overlapping(tokens: readonly string[]): readonly S[] {
    return this.isGuest() ? this.all().filter((other) => overlap(other.tokens, tokens)) : [];
  }

  /**
   * Whether a guest may add a subscription, which overlaps some of those it has: there must not be too many, and not
   * too many that match one message. Subscriptions that match one message overlap each other: more than `guestCopies`
   * of them would each overlap as many others.
   */
  mayAdd(overlapping: readonly S[]): boolean {
    const { guestSubscriptions, guestCopies } = this.limits;
    if (this.byId.size >= guestSubscriptions) return false;
    return overlapping.filter(({ overlaps }) => overlaps + 1 >= guestCopies).length < guestCopies;
  }

  /** Adds a subscription that overlaps others. */
  add(subscription: S, overlapping: readonly S[]): void {
    for (const other of overlapping) other.overlaps++;
    this.byId.set(subscription.sid, subscription);
  }

  remove(subscription: S): void {
    this.byId.delete(subscription.sid);
    for (const other of this.overlapping(subscription.tokens)) other.overlaps--;
  }

  clear(): void {
    this.byId.clear();
  }
}
