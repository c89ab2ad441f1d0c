/** Why an embedded service did not start: a stable code. */
type EmbeddedErrorCode =
  /** Another program listens on the port. */
  | "port_taken"
  /** This machine does not have the address, or the user no right to the port. */
  | "bad_address"
  /** Another Arbor process uses this folder. */
  | "in_use"
  /** No PostgreSQL binaries for this platform, or they do not run here. */
  | "no_binaries"
  /** The account that must run PostgreSQL cannot get at its files. */
  | "not_reachable"
  /** A file of the configuration cannot be used. */
  | "bad_file"
  /** The volume of the folder is too full. */
  | "no_space"
  /** Another major version of PostgreSQL made the data. */
  | "other_version"
  /** PostgreSQL ended before it was ready; its output is in the message. */
  | "start_failed";

/** Thrown by the starters of embedded services; `message` can be shown to a person. */
export class EmbeddedError extends Error {
  override readonly name = "EmbeddedError";
  constructor(readonly code: EmbeddedErrorCode, message: string, readonly details: Record<string, unknown> = {}) {
    super(message);
  }
}
