/**
 * A listener for a Hono app: Node's HTTP server, also on Deno. Deno's own (`Deno.serve`) waits for ever for the rest of a request's head, and
 * shows its users no connection that they could end.
 *
 * The head of a request must arrive in time, counted from the connection's beginning or from the end of the answer before; whoever reads a
 * body sets its own deadline (`readBytes`). A body that nobody reads ends with the deadline of the whole request.
 */
import { type HttpBindings, serve as serveNode } from "@hono/node-server";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inTime } from "#src/base/clock.ts";
import { BODY_TIME } from "#src/edge/json.ts";
import type { Peer } from "#src/edge/rateLimit.ts";

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Takes no more requests, lets those under way end, for a few seconds at most, then ends their connections. */
  stop(): Promise<void>;
}

/** The app that is served, with the address of each request's peer. */
interface Served {
  fetch(request: Request, peer: Peer): Response | Promise<Response>;
}

export interface ServeOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** How long the head of a request may take, in milliseconds. */
  readonly headersMs?: number;
  /** How long a connection stays open without a request, in milliseconds; longer than the usual proxies keep theirs. */
  readonly idleMs?: number;
}

/** How long requests under way may take when the service ends, in milliseconds. */
const GRACE_MS = 3_000;
const HEADERS_MS = 10_000;
const IDLE_MS = 75_000;
/** A key of a fact may be as long as a transaction, and stands percent-encoded in an address. */
const HEADERS_BYTES = 131_072;

/** Serves an app. Rejects with code `EADDRINUSE` when the port is taken. */
export async function serve(
  app: Served,
  { host, port, headersMs = HEADERS_MS, idleMs = IDLE_MS }: ServeOptions,
): Promise<Listener> {
  return await new Promise((resolve, reject) => {
    const server = serveNode(
      {
        fetch: (request, env) => app.fetch(request, { address: (env as HttpBindings).incoming.socket?.remoteAddress }),
        hostname: host,
        port,
        serverOptions: {
          headersTimeout: headersMs,
          requestTimeout: headersMs + BODY_TIME.longestMs,
          connectionsCheckingInterval: Math.min(1_000, headersMs),
          keepAliveTimeout: idleMs,
          maxHeaderSize: HEADERS_BYTES,
        },
      },
      (info: AddressInfo) =>
        resolve({
          host,
          port: info.port,
          stop: async () => {
            await inTime(new Promise<void>((done) => void server.close(() => done())), GRACE_MS);
            (server as Server).closeAllConnections();
          },
        }),
    );
    server.on("error", reject);
  });
}
