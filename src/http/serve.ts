/**
 * A listener for a Hono app on Node's HTTP server, on Deno as well: `Deno.serve` waits without limit for the rest of a
 * request's head, and gives no access to connections.
 *
 * The head of a request must arrive in time, counted from the start of the connection or from the end of the answer
 * before. A handler that reads a body sets its deadline (`readBytes`); a body that is never read ends with the deadline
 * of the whole request.
 */
import { serve as serveNode } from "@hono/node-server";
import { createServer as createTlsServer } from "node:https";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { inTime } from "#src/base/clock.ts";
import { retryAfter } from "#src/http/errors.ts";
import { BODY_TIME } from "#src/http/json.ts";
import type { Peer } from "#src/http/rateLimit.ts";

export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly scheme: "http" | "https";
  /**
   * Takes no more requests and lets those under way end. Those without an answer after a few seconds, such as waits, are
   * answered with 503; then their connections end.
   */
  stop(): Promise<void>;
}

/** The app that is served, with the address of each request's peer. */
interface ServedApp {
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
  /** Takes connections that ask for another protocol (WebSocket), from after the request's head on; without it they are answered as any request. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Where given, only TLS is spoken: a connection without it ends before any byte of HTTP. */
  readonly tls?: TlsOptions | undefined;
}

/** How long requests under way may take when the service ends, in milliseconds. */
const GRACE_MS = 3_000;
/** How long the last answers may take to leave, in milliseconds. */
const LEAVE_MS = 500;
const HEADERS_MS = 10_000;
const IDLE_MS = 75_000;
/** The key of a fact may be as long as a transaction, and is percent-encoded in a URL. */
const HEADERS_BYTES = 131_072;

/** Serves an app. Rejects with code `EADDRINUSE` when the port is taken. */
export async function serve(
  app: ServedApp,
  { host, port, headersMs = HEADERS_MS, idleMs = IDLE_MS, upgrade, tls }: ServeOptions,
): Promise<Listener> {
  /** Called for each request without an answer when the service stops. */
  const underWay = new Set<() => void>();
  const answer = (request: Request, peer: Peer) =>
    new Promise<Response>((resolve, reject) => {
      const cut = () => resolve(stoppingAnswer());
      underWay.add(cut);
      Promise.resolve(app.fetch(request, peer)).then(resolve, reject).finally(() => underWay.delete(cut));
    });
  return await new Promise((resolve, reject) => {
    const server = serveNode(
      {
        fetch: (request, env) => answer(request, { address: env.incoming.socket?.remoteAddress }),
        hostname: host,
        port,
        ...(tls ? { createServer: createTlsServer } : {}),
        serverOptions: {
          ...tls,
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
          scheme: tls ? "https" : "http",
          stop: async () => {
            const closed = new Promise<true>((done) => void server.close(() => done(true)));
            if (await inTime(closed, GRACE_MS) === undefined) {
              for (const cut of underWay) cut();
              await inTime(closed, LEAVE_MS);
            }
            if ("closeAllConnections" in server) server.closeAllConnections();
          },
        }),
    );
    server.on("error", reject);
    if (upgrade) server.on("upgrade", upgrade);
  });
}

/** The answer to a request that this process will not complete. */
function stoppingAnswer(): Response {
  const body = { code: "unavailable", error: "This process is stopping; try again." };
  return Response.json(body, { status: 503, headers: { "retry-after": retryAfter(), connection: "close" } });
}
