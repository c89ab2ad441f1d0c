/**
 * What a connection may do: everything with the token, and without it nothing but listen to events.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { isWithin } from "#src/embedded/nats/subjects.ts";

/** `all` for whoever has the token; `events` for everybody else. */
export type Rights = "all" | "events";

/** What everybody may subscribe to, and any subject below it. */
export const EVENTS = "arbor.event.>";

/** Whether a connection may subscribe to a subject; one with wildcards only if all it can match is allowed. */
export function maySubscribe(rights: Rights, subject: string): boolean {
  return rights === "all" || isWithin(subject, EVENTS);
}

/** A comparison with the token that takes the same time whatever the candidate. */
export function tokenCheck(token: string): (candidate: string) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return (candidate) => timingSafeEqual(digest(candidate), expected);
}

/** What a CONNECT line says about its sender. */
export interface Credentials {
  readonly token: string | undefined;
  /** Credentials of a kind that this endpoint does not know: a user, a key. */
  readonly foreign: boolean;
}

/** The credentials among a CONNECT line's fields; empty ones are none, as client libraries send them. */
export function credentialsOf(fields: Record<string, unknown>): Credentials {
  const given = (name: string) => fields[name] !== undefined && fields[name] !== null && fields[name] !== "";
  return {
    token: given("auth_token") ? String(fields.auth_token) : undefined,
    foreign: ["user", "pass", "jwt", "nkey", "sig"].some(given),
  };
}
