/**
 * Every request of a service gets an id, a log line, metrics and a span. The id is the client's `X-Request-Id` where
 * that is a plain token; the answer carries it, and so do calls to actors and their log lines.
 *
 * No line and no span has a body, a header or a query string: they may hold secrets.
 */
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Log } from "#src/base/log.ts";
import { asRequestId, forRequest } from "#src/base/request.ts";
import { endSpan, parseTraceparent, type Span, startSpan, tracing, within } from "#src/base/trace.ts";
import { requests, requestSeconds, underWay } from "#src/http/metrics.ts";

/** Paths that monitoring polls: logged at debug level only. */
const QUIET = new Set(["/health", "/ready", "/metrics"]);
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The first middleware of an app; `service` is its name in metrics and log lines. */
export function observe(service: string, log: Log): MiddlewareHandler {
  let count = 0;
  underWay.of(service).from(() => count);
  return async (c, next) => {
    const begun = performance.now();
    const id = asRequestId(c.req.header("x-request-id"));
    const method = METHODS.has(c.req.method) ? c.req.method : "OTHER";
    const span = tracing() ? serverSpan(c, method) : undefined;
    count++;
    // Before the answer: setting a header afterwards copies the response.
    c.header("X-Request-Id", id);
    try {
      await forRequest(id, () => within(span, next));
    } finally {
      count--;
      const { status } = c.res;
      const route = routeOf(c);
      requests.of(service, method, route, String(status)).inc();
      requestSeconds.of(service, method, route).since(begun);
      if (!c.res.headers.has("X-Request-Id")) c.header("X-Request-Id", id);
      if (span !== undefined) describe(span, { service, method, route, status, id });
      endSpan(span, status >= 500 ? String(status) : undefined);
      const quiet = QUIET.has(c.req.path);
      if (log.on(quiet ? "debug" : "info")) {
        const ms = Math.round((performance.now() - begun) * 10) / 10;
        log[quiet ? "debug" : "info"]("request completed", {
          service,
          request: id,
          method,
          path: c.req.path.slice(0, 300),
          route,
          status,
          ms,
        });
      }
    }
  };
}

function serverSpan(c: Context, method: string): Span | undefined {
  return startSpan(method, "server", parseTraceparent(c.req.header("traceparent")), {});
}

function describe(
  span: Span,
  { service, method, route, status, id }: {
    service: string;
    method: string;
    route: string;
    status: number;
    id: string;
  },
): void {
  span.updateName(`${method} ${route}`);
  span.setAttributes({
    "http.request.method": method,
    "http.route": route,
    "http.response.status_code": status,
    "arbor.service": service,
    "arbor.request": id,
  });
}

/** The declared route with its parameters' names: never text of a client. */
function routeOf(c: Context): string {
  return matchedRoutes(c).findLast(({ method }) => method !== "ALL")?.path ?? "unmatched";
}
