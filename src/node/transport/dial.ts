/** Connecting to a node. */
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
  const where = showAddress(address);
  const tooLong = "path" in address ? pathFailure(address.path, process.platform) : undefined;
  if (tooLong) return fail(tooLong.code, tooLong.message, tooLong.details);
  if (signal?.aborted) return fail("aborted", "The request was cancelled.");
  const opened = await new Promise<Result<net.Socket, unknown>>((resolve) => {
    let socket: net.Socket;
    try {
      socket = net.connect("path" in address ? { path: address.path } : { host: address.host, port: address.port });
    } catch (error) {
      return resolve({ ok: false, error });
    }
    const late = setTimeout(() => failed(new Error(`no response within ${within / 1000} s`)), within);
    const stop = () => {
      clearTimeout(late);
      socket.off("connect", connected);
      socket.off("error", failed);
      signal?.removeEventListener("abort", abort);
    };
    const connected = () => {
      stop();
      if ("host" in address) tuneTcp(socket);
      resolve(ok(socket));
    };
    const failed = (error: unknown) => {
      stop();
      socket.on("error", () => {});
      socket.destroy();
      resolve({ ok: false, error });
    };
    const abort = () => failed(undefined);
    socket.on("connect", connected);
    socket.on("error", failed);
    signal?.addEventListener("abort", abort);
  });
  if (opened.ok) return opened;
  if (signal?.aborted) return fail("aborted", "The request was cancelled.");
  if ("path" in address && await isNotSocket(address.path)) {
    const { code, message } = noSocket(where);
    return fail(code, message);
  }
  const failure = connectFailure(opened.error, where);
  return fail(failure.code, failure.message);
}

/**
 * Whether there is something other than a socket at a path; the operating system reports that as "refused" or "in use"
 * too.
 */
export async function isNotSocket(path: string): Promise<boolean> {
  const file = await stat(path).catch(() => undefined);
  return file !== undefined && !file.isSocket();
}

/** For TCP: small messages must not wait for acknowledgements, and a peer that is gone must be noticed. */
export function tuneTcp(socket: net.Socket): void {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
}
