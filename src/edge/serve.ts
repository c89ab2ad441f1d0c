/** A listener for a Hono app: the runtime's own on Deno, Node's HTTP server elsewhere. */
import { type Http2Bindings, type HttpBindings, serve as serveNode } from "@hono/node-server";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inTime } from "#src/base/clock.ts";
import type { Peer } from "#src/edge/rateLimit.ts";

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Takes no more requests, lets those under way end, for a few seconds at most: what goes on for longer ends with the process. */
  stop(): Promise<void>;
}

/** What is served: it is told of each request who asks. */
interface Served {
  fetch(request: Request, peer: Peer): Response | Promise<Response>;
}

/** How long requests under way may take when the service ends, in milliseconds. */
const GRACE_MS = 3_000;

/** Serves an app. Rejects with code `EADDRINUSE` when the port is taken; port 0 takes a free one. */
export async function serve(
  app: Served,
  options: { host: string; port: number },
): Promise<Listener> {
  if ("Deno" in globalThis) return serveDeno(app, options);
  return await new Promise((resolve, reject) => {
    const server = serveNode(
      {
        fetch: (request, env) => app.fetch(request, { address: addressOf(env) }),
        hostname: options.host,
        port: options.port,
      },
      (info) =>
        resolve({
          host: options.host,
          port: (info as AddressInfo).port,
          stop: async () => {
            await inTime(new Promise<void>((done) => void server.close(() => done())), GRACE_MS);
            (server as Server).closeAllConnections?.();
          },
        }),
    );
    server.on("error", reject);
  });
}

function addressOf(env: HttpBindings | Http2Bindings): string | undefined {
  return env.incoming.socket?.remoteAddress;
}

function serveDeno(
  app: Served,
  options: { host: string; port: number },
): Listener {
  try {
    const server = Deno.serve(
      { hostname: options.host, port: options.port, onListen: () => {} },
      (request, { remoteAddr }) => app.fetch(request, { address: remoteAddr.hostname }),
    );
    return {
      host: options.host,
      port: server.addr.port,
      stop: () => inTime(server.shutdown(), GRACE_MS),
    };
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    throw Object.assign(new Error(`port ${options.port} is taken`), { code: "EADDRINUSE" });
  }
}
