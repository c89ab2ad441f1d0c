/** Failures as HTTP answers: `{ code, error, details }`, never a stack trace. */
import type { Context, ErrorHandler, Hono, NotFoundHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Failure, Result } from "#src/base/result.ts";
import { type Log, reason } from "#src/base/log.ts";
import { requestId } from "#src/base/request.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { respond } from "#src/http/json.ts";
import { isRetryable } from "#src/store/store.ts";

/**
 * A function from failures to thrown errors, by the status that a service has for each code. A code without a status is
 * internal: clients get a plain 500, and the log has the failure.
 */
export function refusalOf(statuses: Readonly<Record<string, ContentfulStatusCode>>): (failure: Failure) => Error {
  return (failure) => {
    const status = Object.hasOwn(statuses, failure.code) ? statuses[failure.code] : undefined;
    if (status !== undefined) return HttpFailure.of(status, failure);
    return new Error(`unexpected failure: ${failure.code}: ${failure.message}`);
  };
}

/** Unwraps a result: returns the value, or throws the HTTP failure that `refusal` makes of the error. */
export const answeredBy = (refusal: (failure: Failure) => Error) => <T>(result: Result<T, Failure>): T => {
  if (result.ok) return result.value;
  throw refusal(result.error);
};

/** The body of a refusal; without `details` where there are none. */
export function errorBody(failure: Pick<HttpFailure, "code" | "message" | "details">): {
  code: string;
  error: string;
  details?: unknown;
} {
  const { code, message: error, details } = failure;
  return details === undefined ? { code, error } : { code, error, details };
}

/**
 * Any error as an answer: an `HttpFailure` itself, 503 `unavailable` where the database is away or busy, otherwise a
 * 500 without internals.
 */
function toHttpFailure(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  if (isRetryable(error)) {
    return new HttpFailure(503, "unavailable", "The database is temporarily unavailable; try again.");
  }
  if (error instanceof HTTPException) {
    return new HttpFailure(error.status, "bad_request", error.message);
  }
  return new HttpFailure(500, "internal_error", "Internal error; see the log of the service.");
}

/**
 * Seconds after which a retry may help, by code; `RETRY_AFTER` for all others, about as long as a restart or a handover
 * takes.
 */
const RETRY_AFTER_BY_CODE: Readonly<Record<string, number>> = {
  // As long as the longest build takes.
  deadline: 5,
  // A block makes room.
  mempool_full: 5,
  too_many_readers: 5,
  // An operator has to install something.
  bundle_unavailable: 30,
  newer_version: 30,
  // The faucet needs ada returned to it.
  faucet_empty: 60,
};
const RETRY_AFTER = 1;

/** The value of `Retry-After` for an answer of 503. */
export function retryAfter(code?: string): string {
  return String((code === undefined ? undefined : RETRY_AFTER_BY_CODE[code]) ?? RETRY_AFTER);
}

/** The seconds that a failure names as `retry_after` in its details. */
function namedRetry(details: unknown): string | undefined {
  if (typeof details !== "object" || details === null || !("retry_after" in details)) return undefined;
  return typeof details.retry_after === "number" ? String(details.retry_after) : undefined;
}

/** The form of a service's refusals. */
export interface RefusalFormat {
  /** The body of a refusal. */
  body(failure: HttpFailure): unknown;
  /** The refusal of a path that has no endpoint (`allowed` is empty), or none for the request's method. */
  missing(c: Context, allowed: readonly string[]): HttpFailure;
}

const PLAIN: RefusalFormat = {
  body: (failure) => ({ ...errorBody(failure), ...failure.members }),
  missing: ({ req }, allowed) =>
    allowed.length === 0
      ? new HttpFailure(404, "not_found", `${req.method} ${req.path} does not exist.`)
      : new HttpFailure(405, "method_not_allowed", `${req.path} allows ${allowed.join(", ")}, not ${req.method}.`),
};

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The methods of a path's endpoints, as the header `Allow` lists them; none for an unknown path. */
function methodsOf({ router }: Pick<Hono, "router">, path: string): string[] {
  // the router lists middleware under the method ALL
  return METHODS.filter((method) => router.match(method, path)[0].some(([[, route]]) => route.method === method))
    .flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]);
}

/** Answers every error thrown by a handler, unknown paths, and methods without an endpoint. */
export function handleErrors(
  app: {
    onError(handler: ErrorHandler): unknown;
    notFound(handler: NotFoundHandler): unknown;
    readonly router: Hono["router"];
  },
  log: Log,
  { body, missing }: RefusalFormat = PLAIN,
): void {
  const onError: ErrorHandler = (error, c) => {
    const failure = toHttpFailure(error);
    if (failure.status >= 500 && !(error instanceof HttpFailure)) {
      const { method, path } = c.req;
      // Each request fails while the database is away, which the leases report: one line a request would flood the log.
      log[failure.status === 503 ? "debug" : "error"]("a request failed", {
        request: requestId(),
        method,
        path,
        reason: reason(error),
      });
    }
    const later = namedRetry(failure.details) ?? (failure.status === 503 ? retryAfter(failure.code) : undefined);
    if (later !== undefined) c.header("retry-after", later);
    // the connection still holds the rest of the body
    if (failure.status === 408) c.header("connection", "close");
    return respond(c, failure.status, body(failure));
  };
  const notFound: NotFoundHandler = (c) => {
    const allowed = methodsOf(app, c.req.path);
    if (allowed.length > 0) c.header("allow", allowed.join(", "));
    const failure = missing(c, allowed);
    return respond(c, failure.status, body(failure));
  };
  app.onError(onError);
  app.notFound(notFound);
}
