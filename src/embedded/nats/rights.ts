/**
 * Rights of a connection, as data: the subjects that it may subscribe to and publish to. They mean what permissions of
 * a nats-server mean, with one difference: there, the token `>` of a subscription is also within the `*` of a pattern.
 */
import { isWithin, overlap } from "#src/embedded/nats/subjects.ts";

/** Subjects within a pattern of `allow`, except those within a pattern of `deny`. */
export interface SubjectSet {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** What a connection may do. */
export interface Rights {
  readonly subscribe: SubjectSet;
  readonly publish: SubjectSet;
  /** Whether the client is not trusted: `GuestDelivery` and the limits of guests apply to it. */
  readonly guest: boolean;
}

const EVERYTHING: SubjectSet = { allow: [">"], deny: [] };
const NOTHING: SubjectSet = { allow: [], deny: [] };

/** Rights of a client with the token: this service's processes. */
export const ALL: Rights = { subscribe: EVERYTHING, publish: EVERYTHING, guest: false };

/** Rights of a client without credentials. */
export const GUEST: Rights = {
  subscribe: { allow: ["arbor.event.>"], deny: [] },
  publish: NOTHING,
  guest: true,
};

function contains({ allow, deny }: SubjectSet, subject: string): boolean {
  // the common case, for every message of this service's processes
  if (allow[0] === ">" && deny.length === 0) return true;
  return allow.some((pattern) => isWithin(subject, pattern)) && !deny.some((pattern) => isWithin(subject, pattern));
}

/**
 * Whether a connection may subscribe to a subject: with wildcards only if one pattern allows everything that it can
 * match. If it is wider than what is denied, it is allowed, and `deniedPart` is not delivered.
 */
export function maySubscribe(rights: Rights, subject: string): boolean {
  return contains(rights.subscribe, subject);
}

/** Whether a connection may publish to a subject. */
export function mayPublish(rights: Rights, subject: string): boolean {
  return contains(rights.publish, subject);
}

/** The patterns of messages that a permitted subscription matches and its connection must not get. */
export function deniedPart({ subscribe }: Rights, tokens: readonly string[]): readonly string[] {
  return subscribe.deny.filter((pattern) => overlap(pattern.split("."), tokens));
}

/** An inbox: its first token after `_INBOX` cannot be guessed. */
const INBOX = /^_INBOX\.[A-Za-z0-9_-]{16,}(\.|$)/;

/** Whether a subject is an inbox of a client, or of some of its requests. */
export function isInbox(subject: string): boolean {
  return INBOX.test(subject);
}
