/** Entity tags (RFC 9110): a client that holds the current answer gets a 304. */
import { createHash } from "node:crypto";
import type { Context } from "hono";

/** The strong tag, in quotes, of an answer that some texts determine. */
export function etagOf(...parts: readonly string[]): string {
  return `"${createHash("sha256").update(parts.join("\0")).digest("base64url").slice(0, 22)}"`;
}

/** Whether a request's `If-None-Match` names this tag: it is then answered with 304. */
export function holds(c: Context, etag: string): boolean {
  const held = c.req.header("if-none-match")?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return held !== undefined && (held.includes(etag) || held.includes("*"));
}
