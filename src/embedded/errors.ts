/** Why an embedded part did not start, as a stable code and a sentence for the person who started it. */
export type EmbeddedCode =
  /** Another program listens on the port. */
  | "port_taken"
  /** Another process of ours has this folder open. */
  | "in_use"
  /** No PostgreSQL binaries for this platform, or they do not run here. */
  | "no_binaries"
  /** The account that must run PostgreSQL cannot get at its files. */
  | "not_reachable"
  /** The volume of the folder is too full. */
  | "no_space"
  /** Another major version of PostgreSQL made the data. */
  | "other_version"
  /** PostgreSQL ended before it was ready; its own words are in the message. */
  | "start_failed";

/** Thrown by the starters of this room; `message` can be shown as it is. */
export class EmbeddedError extends Error {
  override readonly name = "EmbeddedError";
  constructor(readonly code: EmbeddedCode, message: string, readonly details: Record<string, unknown> = {}) {
    super(message);
  }
}
