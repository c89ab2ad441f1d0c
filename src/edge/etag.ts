/** Entity tags: what a client holds already is not sent to it again. */
import { createHash } from "node:crypto";
import type { Context } from "hono";

/** The strong tag, in quotes as the header has it, of what is determined by some texts. */
export function etagOf(...parts: readonly string[]): string {
  return `"${createHash("sha256").update(parts.join("\0")).digest("base64url").slice(0, 22)}"`;
}

/** Whether a client says that it holds the answer with this tag (RFC 9110, `If-None-Match`): then it gets a 304. */
export function holds(c: Context, etag: string): boolean {
  const held = c.req.header("if-none-match")?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return held !== undefined && (held.includes(etag) || held.includes("*"));
}
