/**
 * Who may speak to the operator service.
 *
 * On loopback any program of the machine may, and a page of another site may not: neither with its own name resolved to
 * this machine (the Host header) nor from its own origin (the Origin and Sec-Fetch headers; there are no CORS headers to permit it). Elsewhere,
 * and wherever a token is set, everything but the pages' own files and the two health answers needs the token.
 */
import type { Context, MiddlewareHandler } from "hono";
import { createHash, timingSafeEqual } from "node:crypto";
import { HttpFailure } from "#src/edge/errors.ts";

export interface GuardOptions {
  /** Whether the service listens on this machine's loopback address alone. */
  readonly loopback: boolean;
  /** The bearer token, of at least `TOKEN_LENGTH` characters; needed where `loopback` is false. */
  readonly token?: string;
}

/** Least length of a token. */
export const TOKEN_LENGTH = 16;

const LOOPBACK_HOST = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d{1,5})?$/i;
/** What a browser loads before anybody could give it a token, and what watches over processes. */
const OPEN = /^\/(|ui|ui\/.*|docs|docs\/.*|favicon\.ico|health|ready)$/;
const CHANGES = new Set(["POST", "PUT", "DELETE", "PATCH"]);

/** Whether a host to listen on is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(127(\.\d{1,3}){3}|localhost|\[?::1\]?)$/i.test(host);
}

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

/** Refuses what may not be. Throws a `TypeError` where others reach the service and it has no token. */
export function guard({ loopback, token }: GuardOptions): MiddlewareHandler {
  if (!loopback && token === undefined) throw new TypeError("a service that others reach needs a token");
  const wanted = token === undefined ? undefined : digest(token);
  return async (c, next) => {
    const host = c.req.header("host") ?? "";
    if (loopback && !LOOPBACK_HOST.test(host)) {
      throw new HttpFailure(403, "bad_host", "This service answers to localhost and the loopback addresses alone.");
    }
    const origin = c.req.header("origin");
    if ((origin !== undefined && !own(origin, host, loopback)) || isForeign(c)) {
      throw new HttpFailure(403, "bad_origin", "This service answers to its own pages alone.");
    }
    if (wanted !== undefined && !isOpen(c.req.method, c.req.path)) {
      const given = /^Bearer +(\S+)\s*$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
      if (!timingSafeEqual(digest(given), wanted)) {
        c.header("www-authenticate", 'Bearer realm="arbor operator"');
        throw new HttpFailure(401, "unauthorized", "This needs the operator's token: Authorization: Bearer <token>.");
      }
    }
    if (CHANGES.has(c.req.method) && !c.req.header("arbor-operator")) {
      throw new HttpFailure(403, "header_missing", "A call that changes something needs the header Arbor-Operator: 1.");
    }
    await next();
  };
}

function isOpen(method: string, path: string): boolean {
  return (method === "GET" || method === "HEAD") && OPEN.test(path);
}

/**
 * Whether a browser says that a page of another site asks: for what it only loads and may not read (an image, a script, a `fetch`
 * without CORS) it sends no origin. A link to a page may be followed.
 */
function isForeign({ req }: Context): boolean {
  const site = req.header("sec-fetch-site");
  if (site !== "cross-site" && site !== "same-site") return false;
  return req.header("sec-fetch-mode") !== "navigate" || !isOpen(req.method, req.path);
}

/** Whether an origin is this service's own; one that others reach may stand behind a proxy that speaks TLS. */
function own(origin: string, host: string, loopback: boolean): boolean {
  const given = origin.toLowerCase();
  const mine = host.toLowerCase();
  return given === `http://${mine}` || (!loopback && given === `https://${mine}`);
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
