/**
 * Every request of a service gets an id, a line in the log, its numbers and a span. The id is the client's `X-Request-Id` when
 * that is a plain token; it comes back in the answer, goes with every question to an actor and into the lines that are written for it.
 *
 * No line and no span has a body, a header or a query string, which may hold what is secret.
 */
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Log } from "#src/base/log.ts";
import { asRequestId, forRequest } from "#src/base/request.ts";
import { endSpan, parseTraceparent, type Span, startSpan, tracing, within } from "#src/base/trace.ts";
import { requests, requestSeconds, underWay } from "#src/edge/metrics.ts";

/** Asked again and again by machines: not worth a line. */
const QUIET = new Set(["/health", "/ready", "/metrics"]);
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The middleware, to be the first of an app; `service` names the app in numbers and lines. */
export function observe(service: string, log: Log): MiddlewareHandler {
  let count = 0;
  underWay.of(service).from(() => count);
  return async (c, next) => {
    const begun = performance.now();
    const id = asRequestId(c.req.header("x-request-id"));
    const method = METHODS.has(c.req.method) ? c.req.method : "OTHER";
    const span = tracing() ? serverSpan(c, method) : undefined;
    count++;
    // Beforehand: an answer that gets a header afterwards is made twice.
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
        log[quiet ? "debug" : "info"]("a request was answered", {
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

/** The route as it is declared, with its parameters' names: never what a client made up. */
function routeOf(c: Context): string {
  return matchedRoutes(c).findLast(({ method }) => method !== "ALL")?.path ?? "unmatched";
}
