/**
 * Access to the operator service.
 *
 * On loopback any program of the machine has it, and a page of another site has not: neither under a DNS name of its
 * own that points to this machine (Host) nor from its own origin (Origin and Sec-Fetch headers; there are no CORS
 * headers to permit it). Elsewhere, and wherever a token is set, everything but the pages' own files and the two health
 * answers needs the token.
 */
import type { Context, MiddlewareHandler } from "hono";
import type { Log } from "#src/base/log.ts";
import { bearerCheck } from "#src/http/bearer.ts";
import { HttpFailure } from "#src/http/failure.ts";

export interface GuardOptions {
  /** Whether the service listens on this machine's loopback address alone. */
  readonly loopback: boolean;
  /** The bearer token, of at least `TOKEN_LENGTH` characters; needed where `loopback` is false. */
  readonly token?: string;
  /** Proxies in front of the service that append the peer's address to `X-Forwarded-For`. */
  readonly proxies?: number;
}

/** Minimum length of a token, in characters. */
export const TOKEN_LENGTH = 16;

const LOOPBACK_HOST = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d{1,5})?$/i;
/** Paths without a token: what a browser loads before a person can enter one, and what monitoring polls. */
const OPEN = /^\/(|ui|ui\/.*|page\/.*|docs|docs\/.*|favicon\.ico|health|ready|\.well-known\/security\.txt)$/;
const CHANGES = new Set(["POST", "PUT", "DELETE", "PATCH"]);

/** The headers that keep browsers careful, on every answer that does not set them itself. */
const CAREFUL: readonly (readonly [name: string, value: string])[] = [
  ["content-security-policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"],
  ["cross-origin-resource-policy", "same-origin"],
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cache-control", "no-store"],
];

/** Adds the headers that keep browsers careful. */
export const careful: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of CAREFUL) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
};

/**
 * Refuses requests without the token, and those of pages of other sites. Throws a `TypeError` where other machines
 * reach the service and it has no token.
 */
export function guard({ loopback, token, proxies = 0 }: GuardOptions, log: Log): MiddlewareHandler {
  if (!loopback && token === undefined) {
    throw new TypeError("a service that is reachable from other machines requires a token");
  }
  const hasToken = token === undefined ? () => true : bearerCheck(token, { log, proxies });
  return async (c, next) => {
    const host = c.req.header("host") ?? "";
    if (loopback && !LOOPBACK_HOST.test(host)) {
      throw new HttpFailure(403, "bad_host", "This service accepts only localhost and loopback addresses as Host.");
    }
    const origin = c.req.header("origin");
    if ((origin !== undefined && !own(origin, host, loopback)) || isForeign(c)) {
      throw new HttpFailure(403, "bad_origin", "Only the service's own pages may call it.");
    }
    if (!isOpen(c.req.method, c.req.path) && !hasToken(c)) {
      c.header("www-authenticate", 'Bearer realm="arbor operator"');
      const given = c.req.header("authorization") !== undefined;
      throw new HttpFailure(
        401,
        "unauthorized",
        `The operator token is ${given ? "another one" : "required"}: Authorization: Bearer <token>.`,
      );
    }
    if (CHANGES.has(c.req.method) && !c.req.header("arbor-operator")) {
      throw new HttpFailure(
        403,
        "header_missing",
        "Requests that change something require the header Arbor-Operator: 1.",
      );
    }
    await next();
  };
}

function isOpen(method: string, path: string): boolean {
  return (method === "GET" || method === "HEAD") && OPEN.test(path);
}

/**
 * Whether a page of another site sends the request: browsers state that also for what a page loads and may not read.
 */
function isForeign({ req }: Context): boolean {
  const site = req.header("sec-fetch-site");
  if (site !== "cross-site" && site !== "same-site") return false;
  return req.header("sec-fetch-mode") !== "navigate" || !isOpen(req.method, req.path);
}

/** Whether an origin is the service's own; behind a proxy the scheme may be https. */
function own(origin: string, host: string, loopback: boolean): boolean {
  const given = origin.toLowerCase();
  const mine = host.toLowerCase();
  return given === `http://${mine}` || (!loopback && given === `https://${mine}`);
}
