/**
 * How many requests of one client a service takes: so many a second, and twice as many at once after a pause.
 *
 * A client is an address: of IPv6 its network of 64 bits, of which one client has all. Each process counts for itself. Behind proxies the
 * address is the one that the outermost trusted proxy saw: what a client writes into the header itself stands before that, and is not looked at.
 */
import type { Context, MiddlewareHandler } from "hono";
import { isIPv6 } from "node:net";
import { HttpFailure } from "#src/edge/errors.ts";

export interface RateLimit {
  /** Requests a second; 0: no limit. */
  readonly perSecond: number;
  /** Builds at a time; 0: no limit. */
  readonly builds: number;
  /** Proxies in front of the service that append to `X-Forwarded-For` whom they were asked by. */
  readonly proxies: number;
}

/** What the listener knows of who asks. */
export interface Peer {
  readonly address?: string | undefined;
}

/** Clients that are counted at a time: the one that asked longest ago is forgotten first. */
const MOST_CLIENTS = 100_000;

/** The middleware: 429 `rate_limited` with `Retry-After` where a client asks too much. `now` gives milliseconds. */
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
      if (clients.size > MOST_CLIENTS) clients.delete(clients.keys().next().value!);
      if (left < 1) {
        c.header("Retry-After", String(Math.ceil((1 - left) / perSecond)));
        throw new HttpFailure(
          429,
          "rate_limited",
          `This service takes ${perSecond} requests a second of one client.`,
          { perSecond },
        );
      }
    }
    await next();
  };
}

/**
 * Runs around builds: so many of one client at a time, so that whoever asks for hundreds does not stand before everybody
 * else; 429 `too_many_builds` beyond. A request takes its place once it is read: one that is not sent to its end takes none.
 */
export function buildLimit({ builds: most, proxies }: Omit<RateLimit, "perSecond">) {
  const underWay = new Map<string, number>();
  return async <T>(c: Context, make: () => Promise<T>): Promise<T> => {
    if (most === 0) return await make();
    const client = clientOf(c, proxies);
    const count = underWay.get(client) ?? 0;
    if (count >= most) {
      c.header("Retry-After", "1");
      throw new HttpFailure(429, "too_many_builds", `${most} builds of this client are under way already.`, { most });
    }
    underWay.set(client, count + 1);
    try {
      return await make();
    } finally {
      const left = underWay.get(client)! - 1;
      if (left === 0) underWay.delete(client);
      else underWay.set(client, left);
    }
  };
}

/** The name under which a client is counted. */
function clientOf(c: Context, proxies: number): string {
  const chain = (c.req.header("x-forwarded-for") ?? "").split(",").map((one) => one.trim()).filter(Boolean);
  const peer = (c.env as Peer | undefined)?.address ?? "";
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
