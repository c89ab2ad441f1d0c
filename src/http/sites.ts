/**
 * The host names under which a service answers, and the origins of pages that may call it.
 *
 * A page of another site reaches a service that only this machine or its network can reach in two ways: from its own
 * origin, which the browser states (Origin, Sec-Fetch-Site), or under a DNS name of its own that points here (DNS
 * rebinding), which is then in Host. An address as Host proves that no name was used, and `localhost` always is this
 * machine. Programs other than browsers state no origin.
 */
import type { Context, MiddlewareHandler } from "hono";
import { HttpFailure } from "#src/http/failure.ts";

/** Names and origins that are accepted beside the machine's own. */
export interface Sites {
  /** Names under which the service is called; `*` is any. */
  readonly hosts: readonly string[];
  /** Origins of pages that may call it; `*` is all. */
  readonly origins: readonly string[];
  /** Paths that pages of all origins may read: public data, which no credential changes. */
  readonly readable?: RegExp;
}

/** Health checks of load balancers use other names; their answers hold no data. */
const OPEN = /^\/(health|ready)$/;

/** The problem with an item of a list of names; undefined for a good one. */
export function hostProblem(name: string): string | undefined {
  return name === "*" || /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(name) ? undefined : `${name} is not a host name`;
}

/** The problem with the URL of another instance; undefined for a good one. */
export function instanceProblem(url: string): string | undefined {
  return /^https?:\/\/[^\s?#@]+$/.test(url) && URL.canParse(url)
    ? undefined
    : `${url} is not the URL of an instance like https://arbor.example`;
}

/** Whether a service answers under the name in a Host header. */
export function hostCheck(hosts: Sites["hosts"]): (host: string) => boolean {
  const names = new Set(hosts.map((name) => name.toLowerCase()));
  const answersTo = (name: string) => names.has("*") || names.has(name) || isOfMachine(name) || isAddress(name);
  return (host) => {
    const name = hostnameOf(`http://${host.toLowerCase()}`);
    return !/[/@?#\\\s]/.test(host) && name !== undefined && answersTo(name);
  };
}

/** Refuses requests under other names: 403 `bad_host`. */
export function guardHosts(hosts: Sites["hosts"]): MiddlewareHandler {
  const accepts = hostCheck(hosts);
  return async (c, next) => {
    if (OPEN.test(c.req.path)) return await next();
    if (!accepts(hostOf(c))) {
      throw new HttpFailure(
        403,
        "bad_host",
        "This service accepts localhost, IP addresses and the names in --hosts as Host.",
      );
    }
    await next();
  };
}

/** The host and port that a request names. */
const hostOf = ({ req }: Context) => (req.header("host") ?? new URL(req.url).host).toLowerCase();

/**
 * Refuses requests under other names (403 `bad_host`) and from pages of other origins (403 `bad_origin`). With `local`,
 * pages that this machine serves are accepted on any port: those under development.
 */
export function guardSites(
  { hosts, origins, readable, local = false }: Sites & { readonly local?: boolean },
): MiddlewareHandler {
  const guardHost = guardHosts(hosts);
  const pages = new Set(origins.map((origin) => origin.toLowerCase()));
  const guardOrigin: MiddlewareHandler = async (c, next) => {
    if (OPEN.test(c.req.path) || (isRead(c) && readable?.test(c.req.path))) return await next();
    const host = hostOf(c);
    const origin = c.req.header("origin")?.toLowerCase();
    const isOwn = origin === `http://${host}` || origin === `https://${host}`;
    const isLocal = () => local && origin !== undefined && isOfMachine(hostnameOf(origin) ?? "");
    const allowed = pages.has("*") || (origin === undefined ? !isForeign(c) : isOwn || pages.has(origin) || isLocal());
    if (!allowed) throw new HttpFailure(403, "bad_origin", "Pages of other origins may not call this service.");
    await next();
  };
  return (c, next) => guardHost(c, async () => void await guardOrigin(c, next));
}

const isRead = ({ req }: Context): boolean => req.method === "GET" || req.method === "HEAD";

/** The host name in a URL; undefined where the text is no URL. */
export function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** The origin at a port of the host that a request names; undefined for a host that is not a plain name or address. */
export function originAt(host: string | undefined, port: number): string | undefined {
  const name = hostnameOf(`http://${host}`);
  return name !== undefined && /^([\w.-]+|\[[\da-f:.]+\])$/i.test(name) ? `http://${name}:${port}` : undefined;
}

/** Whether a host is an IP address: a name proves nothing about a machine, since a DNS name of any owner may point to it. */
export const isAddress = (name: string): boolean => name.startsWith("[") || /^\d+(\.\d+){3}$/.test(name);

/** Whether a host to listen on is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(127(\.\d{1,3}){3}|localhost|\[?::1\]?)$/i.test(host);
}

/** Whether a host's name is one of this machine. */
export const isOfMachine = (name: string): boolean => isLoopback(name) || name.endsWith(".localhost");

/**
 * Whether a page of another site sends the request without an Origin header: browsers do that for what a page loads and
 * may not read (an image, a script, a `fetch` without CORS). Following a link is allowed.
 */
function isForeign(c: Context): boolean {
  const { req } = c;
  const site = req.header("sec-fetch-site");
  if (site !== "cross-site" && site !== "same-site") return false;
  return req.header("sec-fetch-mode") !== "navigate" || !isRead(c);
}
