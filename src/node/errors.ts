/** Why a node's socket gave no answer: one closed union of codes with a sentence for a person. */
import type { Failure } from "#src/base/result.ts";

/** What can be wrong between us and a node. */
export type NodeCode =
  /** No file where the socket should be. */
  | "socket_missing"
  /** The operating system does not let us open the socket. */
  | "socket_forbidden"
  /** The path is longer than the operating system can connect to. */
  | "socket_path_too_long"
  /** Nobody listens there now. */
  | "socket_refused"
  /** Another process listens there already (servers). */
  | "socket_in_use"
  /** The node is on another network. */
  | "wrong_magic"
  /** No common version of the protocol. */
  | "version_mismatch"
  /** The node refused the handshake for another reason. */
  | "handshake_refused"
  /** Whoever listens there does not speak node-to-client. */
  | "not_a_node"
  /** The peer sent what the protocol does not allow. */
  | "protocol_violation"
  /** The peer sent more than we hold. */
  | "too_large"
  /** The node is in an era that this program does not know. */
  | "era_unknown"
  /** The agreed version has no such message. */
  | "unsupported_version"
  /** The point is on the chain, but the node no longer has its state. */
  | "point_too_old"
  /** The point is not on the node's chain. */
  | "point_not_on_chain"
  /** The session was released, or given up in the middle of a question. */
  | "session_ended"
  /** The connection broke. */
  | "connection_lost"
  /** We closed the connection. */
  | "closed"
  /** The caller's signal aborted. */
  | "aborted";

/** A failure at the room's door. */
export type NodeFailure = Failure<NodeCode>;

/** A `NodeFailure` on its way through code that throws: streams, and the inside of this room. */
export class NodeError extends Error {
  override readonly name = "NodeError";
  readonly code: NodeCode;
  constructor(readonly failure: NodeFailure) {
    super(failure.message);
    this.code = failure.code;
  }
}

/** A `NodeError` out of a code and a sentence. */
export function nodeError(code: NodeCode, message: string, details?: unknown): NodeError {
  return new NodeError(details === undefined ? { code, message } : { code, message, details });
}

/** What was thrown, as a failure; what is no `NodeError` (a `CborError` from bytes of the peer) violates the protocol. */
export function asNodeError(error: unknown, during: string): NodeError {
  if (error instanceof NodeError) return error;
  const said = error instanceof Error ? error.message : String(error);
  return nodeError("protocol_violation", `${during}: ${said}.`);
}

/** Failures that another attempt may mend; the others need a person. */
export function mayPass(code: NodeCode): boolean {
  return code === "socket_missing" || code === "socket_refused" || code === "connection_lost" ||
    code === "protocol_violation" || code === "too_large";
}

/** Bytes of a socket's path that the operating system takes: `sun_path` less its closing zero. */
export function longestPath(platform: string): number {
  return platform === "darwin" || platform === "freebsd" ? 103 : 107;
}

/** A path that is too long to be a socket's, as a failure. */
export function pathFailure(path: string, platform: string): NodeFailure | undefined {
  const limit = longestPath(platform);
  const length = new TextEncoder().encode(path).length;
  if (length <= limit) return undefined;
  return {
    code: "socket_path_too_long",
    message:
      `The socket's path has ${length} bytes; the operating system takes ${limit}. Use a shorter path or a link to it.`,
    details: { path, length, limit },
  };
}

/** A place where something else stands than a socket. */
export function noSocket(where: string): NodeFailure {
  return { code: "not_a_node", message: `What stands at ${where} is no socket.` };
}

/** What connecting (or listening) failed with, by the operating system's code. */
export function connectFailure(error: unknown, where: string): NodeFailure {
  const code = String((error as { code?: unknown } | null)?.code ?? "");
  const said = error instanceof Error ? error.message : String(error);
  switch (code) {
    case "ENOENT":
      return { code: "socket_missing", message: `There is no socket at ${where}. Is the node running?` };
    case "EACCES":
    case "EPERM":
      return { code: "socket_forbidden", message: `This user may not open the socket at ${where}.` };
    case "ECONNREFUSED":
      return { code: "socket_refused", message: `Nobody listens at ${where}; the node has stopped or is starting.` };
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
