/** Bearer tokens of services that spend or control: compared in constant time. */
import type { Context } from "hono";
import { createHash, timingSafeEqual } from "node:crypto";

/** A function that says whether a request carries the token in `Authorization: Bearer`. */
export function bearerCheck(token: string): (context: Context) => boolean {
  const wanted = digest(token);
  return (c) => {
    const given = /^Bearer +(\S+)\s*$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
    return timingSafeEqual(digest(given), wanted);
  };
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
