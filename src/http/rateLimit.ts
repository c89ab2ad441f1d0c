/**
 * Limits of the requests of one client: a rate, and twice as many at once after a pause.
 *
 * A client is an address; of IPv6 its /64 network, which one client has as a whole. Each process counts by itself.
 * Behind proxies the address is the one that the outermost trusted proxy saw: entries that a client writes into the
 * header itself come before it and are ignored.
 */
import type { Context, MiddlewareHandler } from "hono";
import { isIPv6 } from "node:net";
import { HttpFailure } from "#src/http/failure.ts";

export interface RateLimit {
  /** Requests a second; 0: no limit. */
  readonly perSecond: number;
  /** Builds at a time; 0: no limit. */
  readonly builds: number;
  /** Proxies in front of the service that append the peer's address to `X-Forwarded-For`. */
  readonly proxies: number;
}

/** The peer of a request, as the listener knows it. */
export interface Peer {
  readonly address?: string | undefined;
}

/** Most clients that are counted; the least recently seen is dropped first. */
const MOST_CLIENTS = 100_000;

/** Middleware: 429 `rate_limited` with `Retry-After` over the limit. `now` gives milliseconds. */
export function rateLimit(
  { perSecond, proxies }: RateLimit,
  now: () => number = () => performance.now(),
): MiddlewareHandler {
  const burst = 2 * perSecond;
  const clients = new Map<string, { left: number; at: number }>();
  return async (c, next) => {
    if (perSecond > 0) {
      const client = clientOf(c, proxies);
      const at = now();
      const before = clients.get(client) ?? { left: burst, at };
      const left = Math.min(burst, before.left + (at - before.at) / 1_000 * perSecond);
      clients.delete(client);
      clients.set(client, { left: left < 1 ? left : left - 1, at });
      const [oldest = ""] = clients.keys();
      if (clients.size > MOST_CLIENTS) clients.delete(oldest);
      if (left < 1) {
        c.header("Retry-After", String(Math.ceil((1 - left) / perSecond)));
        throw new HttpFailure(
          429,
          "rate_limited",
          `This service accepts ${perSecond} requests per second from one client.`,
          { perSecond },
        );
      }
    }
    await next();
  };
}

/**
 * Limits the concurrent builds of one client, so that hundreds of one client do not delay all others; 429
 * `too_many_builds` beyond. A request counts once its body is read: one that is never sent to its end counts nothing.
 */
export function buildLimit({ builds: most, proxies }: Omit<RateLimit, "perSecond">) {
  const underWay = new Map<string, number>();
  return async <T>(c: Context, make: () => Promise<T>): Promise<T> => {
    if (most === 0) return await make();
    const client = clientOf(c, proxies);
    const count = underWay.get(client) ?? 0;
    if (count >= most) {
      c.header("Retry-After", "1");
      throw new HttpFailure(429, "too_many_builds", `This client already has ${most} builds in progress.`, { most });
    }
    underWay.set(client, count + 1);
    try {
      return await make();
    } finally {
      const left = (underWay.get(client) ?? 1) - 1;
      if (left === 0) underWay.delete(client);
      else underWay.set(client, left);
    }
  };
}

/** The key under which a client is counted. */
export function clientOf(c: Context<{ Bindings: Peer }>, proxies: number): string {
  const chain = (c.req.header("x-forwarded-for") ?? "").split(",").map((one) => one.trim()).filter(Boolean);
  // an app that is called without a listener has no environment
  const peer = c.env?.address ?? "";
  return networkOf(proxies === 0 ? peer : chain.at(-proxies) ?? peer);
}

function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array<string>(zeros).fill("0"), ...after].slice(0, 4).map((part) => parseInt(part, 16)).join(
    ":",
  );
}
