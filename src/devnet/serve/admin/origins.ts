/**
 * Which pages may change a devnet.
 *
 * Assumptions: a devnet has no secret, so any page may read it. A page that a developer only visits must not roll back
 * blocks or empty the faucet; a browser names the page's origin with every POST, and other programs send none. Pages
 * under development are served by the developer's own machine, or by the machine of the devnet. A name proves nothing
 * about a machine, since a DNS name of any owner may point to it; an address does.
 */
import type { MiddlewareHandler } from "hono";
import { HttpFailure } from "#src/http/failure.ts";
import { hostnameOf, isAddress, isOfMachine } from "#src/http/sites.ts";

/** Accepted origins beside those of this machine; `*` is all. */
export type Origins = readonly string[];

/** The refusal of `guardOrigins`, for the description of an endpoint. */
export const BAD_ORIGIN = "`bad_origin`: the request is from a page whose origin is not in `--devnet-origins`";

/** What is wrong with an item of a list of origins; undefined where nothing is. */
export function originProblem(origin: string): string | undefined {
  if (origin === "*" || origin === "null") return undefined;
  const read = URL.canParse(origin) ? new URL(origin).origin : undefined;
  return read === origin.toLowerCase() ? undefined : `${origin} is not an origin like https://app.example`;
}

/** Refuses changes requested by pages of other sites. */
export function guardOrigins(origins: Origins): MiddlewareHandler {
  const allowed = new Set(origins.map((origin) => origin.toLowerCase()));
  return async (c, next) => {
    const origin = c.req.header("origin")?.toLowerCase();
    const reads = c.req.method === "GET" || c.req.method === "HEAD" || c.req.method === "OPTIONS";
    if (
      reads || origin === undefined || allowed.has("*") || allowed.has(origin) || isNear(origin, c.req.header("host"))
    ) {
      return await next();
    }
    throw new HttpFailure(
      403,
      "bad_origin",
      `Pages of ${origin} may not change this devnet. To allow them, start it with --devnet-origins ${origin}.`,
      { origin },
    );
  };
}

/** Whether a page is of this machine: of localhost, or of the address that the request was sent to. */
function isNear(origin: string, host: string | undefined): boolean {
  const page = hostnameOf(origin);
  if (page === undefined) return false;
  return isOfMachine(page) || (page === hostnameOf(`http://${host}`) && isAddress(page));
}
