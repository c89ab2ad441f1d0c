/**
 * Bearer tokens of services that spend or control: compared in constant time. A client that sends wrong ones is refused
 * for the rest of a minute, unless it sends the right one: behind a proxy or a NAT others have the same address.
 */
import type { Context } from "hono";
import { createHash, timingSafeEqual } from "node:crypto";
import type { Log } from "#src/base/log.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { clientOf } from "#src/http/rateLimit.ts";

/** Wrong tokens of one client within `MINUTE_MS` after which it is refused. */
const MOST_WRONG = 10;
const MINUTE_MS = 60_000;
/** Most clients that are counted; the first one is forgotten first. */
const MOST_CLIENTS = 10_000;

/**
 * A function that says whether a request carries the token in `Authorization: Bearer`. It throws 429 `wrong_tokens` for a
 * wrong one of a client that has sent too many, and logs wrong ones with one line a minute.
 */
export function bearerCheck(
  token: string,
  { log, proxies = 0, now = () => performance.now() }: { log: Log; proxies?: number; now?: () => number },
): (context: Context) => boolean {
  const wanted = digest(token);
  const wrong = new Map<string, { count: number; readonly since: number }>();
  let loggedAt = -Infinity;
  let unlogged = 0;
  return (c) => {
    const given = /^Bearer +(\S+)\s*$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
    const isRight = timingSafeEqual(digest(given), wanted);
    // Without a token nothing is guessed.
    if (isRight || given === "") return isRight;
    const client = clientOf(c, proxies);
    const at = now();
    let entry = wrong.get(client);
    if (entry !== undefined && at - entry.since >= MINUTE_MS) {
      wrong.delete(client);
      entry = undefined;
    }
    if (entry !== undefined && entry.count >= MOST_WRONG) {
      c.header("Retry-After", String(Math.ceil((entry.since + MINUTE_MS - at) / 1_000)));
      throw new HttpFailure(429, "wrong_tokens", "This client has sent too many wrong tokens; try again later.");
    }
    if (entry === undefined) {
      const [first = ""] = wrong.keys();
      if (wrong.size >= MOST_CLIENTS) wrong.delete(first);
      wrong.set(client, entry = { count: 0, since: at });
    }
    entry.count++;
    unlogged++;
    if (at - loggedAt >= MINUTE_MS) {
      log.warn("requests with a wrong token were refused", { client, count: unlogged });
      loggedAt = at;
      unlogged = 0;
    }
    return false;
  };
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
