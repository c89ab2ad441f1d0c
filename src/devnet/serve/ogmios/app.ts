/** The HTTP side of the Ogmios server: single requests, health, metrics, and a page. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Log } from "#src/base/log.ts";
import { fromUtf8 } from "#src/base/bytes.ts";
import { LOST_REASON } from "#src/devnet/serve/ogmios/envelope.ts";
import type { ServerCounts, ServerHealth } from "#src/devnet/serve/ogmios/health.ts";
import type { Session, Transport } from "#src/devnet/serve/ogmios/session.ts";
import type { RefusalFormat } from "#src/http/errors.ts";
import { JSON_TYPE, readBytes } from "#src/http/json.ts";
import { serviceApp } from "#src/http/service.ts";
import { guardHosts } from "#src/http/sites.ts";
import { startPage } from "#src/http/startPage.ts";
import { invalidRequest, ogmiosError } from "#src/ogmios/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";

/** Bytes of a request: of a transaction with a thousand additional outputs, some with scripts. */
export const MAX_REQUEST = 8_388_608;

/** What the app answers with. */
interface OgmiosAppSettings {
  readonly health: ServerHealth;
  readonly counts: ServerCounts;
  /** A session of its own for each request. */
  readonly open: (transport: Transport) => Session;
  /** The folder with a folder for each page; without it there is no page. */
  readonly pages?: URL | undefined;
  /** Further names under which the server is called. */
  readonly hosts: readonly string[];
  readonly log: Log;
}

/** Methods of the paths. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  "/": ["GET", "HEAD", "POST"],
  "/health": ["GET", "HEAD"],
  "/metrics": ["GET", "HEAD"],
};

/** Refusals before a request is read have the form of an answer. */
const refusals: RefusalFormat = {
  body: ({ status, message }) => ({
    jsonrpc: "2.0",
    error: status < 500 ? invalidRequest(message) : ogmiosError(-32603, message),
    id: null,
  }),
  missing: () => new HttpFailure(404, "not_found", "There is no such path."),
};

/** The app. Pages of every origin may call it: everything is public, and what changes the chain needs signatures. */
export function ogmiosApp({ health, counts, open, pages, hosts, log }: OgmiosAppSettings): OpenAPIHono {
  const app = serviceApp("ogmios", log, refusals);
  app.use(guardHosts(hosts));
  app.use(async (c, next) => {
    c.header("access-control-allow-origin", "*");
    if (c.req.method !== "OPTIONS") return await next();
    c.header("access-control-allow-methods", "GET, POST, OPTIONS");
    c.header("access-control-allow-headers", "*");
    return c.body(null, 200);
  });
  app.get("/health", (c) => c.body(health.document(), health.connected ? 200 : 500, { "content-type": JSON_TYPE }));
  app.get("/metrics", (c) => c.body(health.metricsText(), 200, { "content-type": "text/plain; charset=utf-8" }));
  app.post("/", async (c) => {
    const text = fromUtf8(await readBytes(c.req.raw, MAX_REQUEST)) ?? "";
    const ended = counts.begin();
    try {
      return await answer(c, text, open);
    } finally {
      ended();
    }
  });
  if (pages) startPage(app, pages, "ogmios", ["/"]);
  app.notFound((c) => c.body(null, Object.hasOwn(PATHS, c.req.path) ? 406 : 404));
  return app;
}

/** The first answer of a session to a request; the session ends with it. */
async function answer(c: Context, text: string, open: (transport: Transport) => Session): Promise<Response> {
  let session: Session | undefined;
  const said = await new Promise<{ readonly text: string; readonly failed: boolean } | undefined>((resolve) => {
    const end = () => resolve(undefined);
    session = open({
      send: (text, failed) => resolve({ text, failed }),
      room: () => undefined,
      answered: () => {},
      end,
    });
    c.req.raw.signal.addEventListener("abort", end, { once: true });
    session.receive(text);
  });
  session?.close();
  if (!said) return c.body(LOST_REASON, 500, { "content-type": JSON_TYPE });
  return c.body(said.text, said.failed ? 400 : 200, { "content-type": JSON_TYPE });
}
