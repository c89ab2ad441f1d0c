/** Connecting to a node. */
import { once } from "node:events";
import { stat } from "node:fs/promises";
import net from "node:net";
import process from "node:process";
import { fail, ok, type Result } from "#src/base/result.ts";
import { connectFailure, type NodeFailure, noSocket, pathFailure } from "#src/node/errors.ts";

/** A node's address: a UNIX socket, or a host and port that forward to one. */
export type NodeAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** An address, for messages. */
export function showAddress(address: NodeAddress): string {
  return "path" in address ? address.path : `${address.host}:${address.port}`;
}

/** Connects within `within` milliseconds. Fails with a code and a message; `aborted` with the signal. */
export async function dial(
  address: NodeAddress,
  within: number,
  signal?: AbortSignal,
): Promise<Result<net.Socket, NodeFailure>> {
  const tooLong = "path" in address ? pathFailure(address.path, process.platform) : undefined;
  if (tooLong) return { ok: false, error: tooLong };
  if (signal?.aborted) return fail("aborted", "The request was cancelled.");
  const late = AbortSignal.timeout(within);
  let socket: net.Socket | undefined;
  try {
    socket = net.connect(address);
    await once(socket, "connect", { signal: signal ? AbortSignal.any([signal, late]) : late });
    if ("host" in address) tuneTcp(socket);
    return ok(socket);
  } catch (error) {
    socket?.on("error", () => {});
    socket?.destroy();
    if (signal?.aborted) return fail("aborted", "The request was cancelled.");
    const cause = late.aborted ? new Error(`no response within ${within / 1000} s`) : error;
    return { ok: false, error: await openFailure(cause, address) };
  }
}

/**
 * The failure of connecting or listening at an address. The operating system reports something other than a socket at a
 * path as "refused" or "in use" too.
 */
export async function openFailure(error: unknown, address: NodeAddress): Promise<NodeFailure> {
  const file = "path" in address ? await stat(address.path).catch(() => undefined) : undefined;
  return file && !file.isSocket() ? noSocket(showAddress(address)) : connectFailure(error, showAddress(address));
}

/** For TCP: small messages must not wait for acknowledgements, and a peer that is gone must be noticed. */
export function tuneTcp(socket: net.Socket): void {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
}
