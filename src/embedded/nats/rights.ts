/** Rights of a connection: all with the token, only subscribing to events without it. */
import { createHash, timingSafeEqual } from "node:crypto";
import { isWithin } from "#src/embedded/nats/subjects.ts";

/** `all` with the token; `events` without it. */
export type Rights = "all" | "events";

/** The subjects that all clients may subscribe to. */
export const EVENTS = "arbor.event.>";

/** Whether a connection may subscribe to a subject; with wildcards only if everything it can match is allowed. */
export function maySubscribe(rights: Rights, subject: string): boolean {
  return rights === "all" || isWithin(subject, EVENTS);
}

/** An inbox: its first token after `_INBOX` cannot be guessed. */
const INBOX = /^_INBOX\.[A-Za-z0-9_-]{16,}(\.|$)/;

/** Whether a subject is an inbox of a client, or of some of its requests. */
export function isInbox(subject: string): boolean {
  return INBOX.test(subject);
}

/** A comparison with the token in constant time. */
export function tokenCheck(token: string): (candidate: string) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return (candidate) => timingSafeEqual(digest(candidate), expected);
}

/** The credentials in a CONNECT line. */
interface ClientCredentials {
  readonly token: string | undefined;
  /** Whether there are credentials of a kind that this endpoint does not support: a user, a key. */
  readonly foreign: boolean;
}

/** Reads the credentials from a CONNECT line's fields; empty ones count as none, as client libraries send them. */
export function credentialsOf(fields: Record<string, unknown>): ClientCredentials {
  const given = (name: string) => fields[name] !== undefined && fields[name] !== null && fields[name] !== "";
  return {
    token: given("auth_token") ? String(fields.auth_token) : undefined,
    foreign: ["user", "pass", "jwt", "nkey", "sig"].some(given),
  };
}
