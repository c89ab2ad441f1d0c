/** A server of a node's socket: listens, does the handshake, and serves each protocol with its handler. */
import { once } from "node:events";
import { lstat, unlink } from "node:fs/promises";
import net from "node:net";
import process from "node:process";
import { errorCode } from "#src/base/errorCode.ts";
import { ok, type Result } from "#src/base/result.ts";
import { dial, type NodeAddress, openFailure, tuneTcp } from "#src/node/transport/dial.ts";
import { asNodeError, type NodeError, nodeError, type NodeFailure, pathFailure } from "#src/node/errors.ts";
import { handshake, negotiate, VERSIONS } from "#src/node/protocols/handshake.ts";
import { Mux } from "#src/node/transport/mux.ts";
import { type Message, type Protocol, Speaker } from "#src/node/protocols/protocol.ts";
import { type NodeHandlers, serveProtocols } from "#src/node/server/handlers.ts";

/** Options of a server. */
export interface NodeServerOptions {
  /** Simultaneous connections at most; further ones are closed at once. 256 by default. */
  readonly connections?: number;
  /** Milliseconds for a client's handshake; 10,000 by default. */
  readonly handshakeTimeout?: number;
  /** Called with the reason when a connection ends: what the client did, or what a handler threw. */
  readonly onEnd?: (reason: NodeError) => void;
}

/** A listening server. */
export interface NodeServer {
  /** Its address, with the actual port if port 0 was given. */
  readonly address: NodeAddress;
  /** Open connections. */
  readonly connections: number;
  /** Closes the socket and all connections. */
  close(): Promise<void>;
}

/**
 * Serves node-to-client at an address. A socket file that no process listens on any more is replaced. An error of one
 * client only ends that client's connection.
 */
export async function serveNode(
  address: NodeAddress,
  handlers: NodeHandlers,
  options: NodeServerOptions = {},
): Promise<Result<NodeServer, NodeFailure>> {
  const tooLong = "path" in address ? pathFailure(address.path, process.platform) : undefined;
  if (tooLong) return { ok: false, error: tooLong };
  const most = options.connections ?? 256;
  const open = new Set<Mux>();
  const server = net.createServer((socket) => {
    if (open.size >= most) return void socket.destroy();
    if ("host" in address) tuneTcp(socket);
    const mux = serveConnection(socket, handlers, options);
    open.add(mux);
    mux.ended.addEventListener("abort", () => open.delete(mux));
  });
  let refusal = await listen(server, address);
  if ("path" in address && errorCode(refusal) === "EADDRINUSE" && await isAbandonedSocket(address)) {
    await unlink(address.path).catch(() => {});
    refusal = await listen(server, address);
  }
  if (refusal) return { ok: false, error: await openFailure(refusal, address) };
  const bound = server.address();
  return ok({
    address: "path" in address || bound === null || typeof bound === "string"
      ? address
      : { ...address, port: bound.port },
    get connections() {
      return open.size;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const mux of open) mux.fail(nodeError("closed", "The server stops."));
      await closed;
      if ("path" in address) await unlink(address.path).catch(() => {});
    },
  });
}

/** Serves one connection over an open stream. */
function serveConnection(socket: net.Socket, handlers: NodeHandlers, options: NodeServerOptions = {}): Mux {
  const mux = new Mux(socket, "server");
  mux.ended.addEventListener("abort", () => {
    if (mux.failure) options.onEnd?.(mux.failure);
  });
  acceptClient(mux, handlers, options).catch((error) => mux.fail(asNodeError(error, "A handler failed")));
  return mux;
}

async function acceptClient(mux: Mux, handlers: NodeHandlers, options: NodeServerOptions): Promise<void> {
  const open = <S extends string, M extends Message>(protocol: Protocol<S, M>) =>
    new Speaker(protocol, mux.channel(protocol.id, protocol.limits.server), "server", (reason) => mux.fail(reason));
  const speaker = open(handshake);
  const late = setTimeout(
    () => mux.fail(nodeError("not_a_node", "The client did not begin the handshake.")),
    options.handshakeTimeout ?? 10_000,
  );
  mux.ended.addEventListener("abort", () => clearTimeout(late));
  const proposal = await speaker.receive();
  clearTimeout(late);
  if (proposal.type !== "propose") return;
  const answer = negotiate(proposal.versions, handlers.versions ?? VERSIONS, handlers.magic);
  if (answer.type !== "accept") {
    speaker.send(answer);
    const asked = answer.type === "queryReply";
    return mux.end(
      nodeError(
        asked ? "closed" : "handshake_refused",
        asked ? "The client asked for versions." : "The handshake was refused.",
      ),
    );
  }
  const running = serveProtocols(handlers, answer.version, open, mux.ended);
  speaker.send(answer);
  for (const service of running) service.catch((error) => mux.fail(asNodeError(error, "A handler failed")));
}

/** Listens; gives the error, undefined on success. */
async function listen(server: net.Server, address: NodeAddress): Promise<unknown> {
  const listening = once(server, "listening");
  try {
    server.listen(address);
    await listening;
    server.on("error", () => {});
    return undefined;
  } catch (error) {
    return error ?? new Error("unknown");
  }
}

/** Whether a path is a socket that no process listens on. */
async function isAbandonedSocket(address: { readonly path: string }): Promise<boolean> {
  const file = await lstat(address.path).catch(() => undefined);
  if (!file?.isSocket()) return false;
  const dialled = await dial(address, 1_000);
  if (dialled.ok) dialled.value.destroy();
  return !dialled.ok && dialled.error.code === "socket_refused";
}
