/** Failures of the connection to a node: a closed union of codes, each with a message for people. */
import { errorCode } from "#src/base/errorCode.ts";
import type { Failure } from "#src/base/result.ts";

/** Failure codes. */
type NodeFailureCode =
  /** No file where the socket should be. */
  | "socket_missing"
  /** The operating system does not permit opening the socket. */
  | "socket_forbidden"
  /** The path is longer than the operating system supports for sockets. */
  | "socket_path_too_long"
  /** No process listens there now. */
  | "socket_refused"
  /** Another process listens there already (servers). */
  | "socket_in_use"
  /** The node is on another network. */
  | "wrong_magic"
  /** No common version of the protocol. */
  | "version_mismatch"
  /** The node refused the handshake for another reason. */
  | "handshake_refused"
  /** The peer does not speak node-to-client. */
  | "not_a_node"
  /** The peer violated the protocol. */
  | "protocol_violation"
  /** The peer sent more than the limit. */
  | "too_large"
  /** The node is in an era that this program does not know. */
  | "era_unknown"
  /** The node is still in the Byron era, which has no queries of the ledger. */
  | "byron_era"
  /** The negotiated version has no such message. */
  | "unsupported_version"
  /** The point is on the chain, but the node has no longer its state. */
  | "point_too_old"
  /** The point is not on the node's chain. */
  | "point_not_on_chain"
  /** The session was released, or aborted during a request. */
  | "session_ended"
  /** The connection broke. */
  | "connection_lost"
  /** This side closed the connection. */
  | "closed"
  /** The caller's signal aborted. */
  | "aborted";

/** A failure, as a value. */
export type NodeFailure = Failure<NodeFailureCode>;

/** A `NodeFailure` as an exception, for streams and for code of this module. */
export class NodeError extends Error {
  override readonly name = "NodeError";
  readonly code: NodeFailureCode;
  constructor(readonly failure: NodeFailure) {
    super(failure.message);
    this.code = failure.code;
  }
}

/** A `NodeError` of a code and a message. */
export function nodeError(code: NodeFailureCode, message: string, details?: unknown): NodeError {
  return new NodeError(details === undefined ? { code, message } : { code, message, details });
}

/** A thrown value as a `NodeError`; other errors (a `CborError` for bytes of the peer) become a protocol violation. */
export function asNodeError(error: unknown, during: string): NodeError {
  if (error instanceof NodeError) return error;
  const said = error instanceof Error ? error.message : String(error);
  return nodeError("protocol_violation", `${during}: ${said}.`);
}

/** Whether another attempt may succeed; other failures need a person. */
export function isTransient(code: NodeFailureCode): boolean {
  return code === "socket_missing" || code === "socket_refused" || code === "connection_lost" ||
    code === "protocol_violation" || code === "too_large" || code === "byron_era";
}

/** The failure of a path that is too long for a socket; undefined if it is not. */
export function pathFailure(path: string, platform: string): NodeFailure | undefined {
  // `sun_path` without its final zero
  const limit = platform === "darwin" || platform === "freebsd" ? 103 : 107;
  const length = new TextEncoder().encode(path).length;
  if (length <= limit) return undefined;
  return {
    code: "socket_path_too_long",
    message:
      `The socket's path has ${length} bytes; the operating system takes ${limit}. Use a shorter path or a link to it.`,
    details: { path, length, limit },
  };
}

/** The failure that there is something other than a socket at a path. */
export function noSocket(where: string): NodeFailure {
  return { code: "not_a_node", message: `${where} is not a socket.` };
}

/** The failure of connecting or listening, by the operating system's code. */
export function connectFailure(error: unknown, where: string): NodeFailure {
  const said = error instanceof Error ? error.message : String(error);
  switch (errorCode(error)) {
    case "ENOENT":
      return { code: "socket_missing", message: `There is no socket at ${where}. Is the node running?` };
    case "EACCES":
    case "EPERM":
      return { code: "socket_forbidden", message: `This user may not open the socket at ${where}.` };
    case "ECONNREFUSED":
      return {
        code: "socket_refused",
        message: `No process listens at ${where}; the node has stopped or is starting.`,
      };
    case "EADDRINUSE":
      return { code: "socket_in_use", message: `Another process listens at ${where}.` };
    case "ENOTSOCK":
    case "ENOTDIR":
    case "EPROTOTYPE":
      return noSocket(where);
    case "ENAMETOOLONG":
    case "EINVAL":
      return { code: "socket_path_too_long", message: `The operating system does not take ${where} as an address.` };
    default:
      return { code: "connection_lost", message: `The connection to ${where} failed: ${said}.` };
  }
}
