/**
 * The operator pages: HTML, style and ES modules as they lie in `pages/`, with no build in between but that comments and
 * indentation, which are a quarter of them, stay here. They are read once and kept in memory; a browser asks again each time and gets a 304 as long as it holds the same bytes, so that a new version of the
 * service never meets an old page.
 *
 * The pages hold nothing of the house: everything that they show comes from the service's JSON endpoints, with the token where one
 * is wanted. So they can be handed to anybody, and the login form with them.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Context, Hono } from "hono";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** A file of the pages. */
export interface Page {
  readonly type: string;
  readonly body: string;
  /** In quotes, as the header has it. */
  readonly etag: string;
}

/** The files of the pages by name. */
export function readPages(folder: URL = new URL("./pages/", import.meta.url)): ReadonlyMap<string, Page> {
  const pages = new Map<string, Page>();
  for (const name of readdirSync(folder)) {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const body = lean(readFileSync(new URL(name, folder), "utf8"));
    pages.set(name, { type, body, etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"` });
  }
  return pages;
}

/** A text without the comments that have lines of their own, and without indentation; no text in the pages spans lines. */
export function lean(text: string): string {
  return text.replace(/^[ \t]*\/\*(?:(?!\*\/)[^])*\*\/[ \t]*\n/gm, "").replace(/^[ \t]*\/\/.*\n/gm, "").replace(
    /^[ \t]+|^\n/gm,
    "",
  );
}

/** Answers with a file by its name, with some headers besides. */
export function sending(pages: ReadonlyMap<string, Page>, more: Readonly<Record<string, string>> = {}) {
  return (c: Context, name: string) => {
    const page = pages.get(name);
    if (page === undefined) return c.notFound();
    const headers = { ...more, etag: page.etag, "cache-control": "no-cache" };
    const held = c.req.header("if-none-match")?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
    if (held?.includes(page.etag)) return c.body(null, 304, headers);
    return c.body(page.body, 200, { ...headers, "content-type": page.type });
  };
}

/**
 * Serves `/` and `/ui/…`: files under `/ui/assets/`, and for every other address the one document, which reads the address itself
 * (so that a link to an actor can be opened, kept and sent).
 */
export function mountPages(app: Pick<Hono, "get">, pages: ReadonlyMap<string, Page> = readPages()): void {
  const send = sending(pages);
  app.get("/ui/assets/:name", (c) => send(c, c.req.param("name")));
  for (const path of ["/", "/ui", "/ui/*"]) app.get(path, (c) => send(c, "index.html"));
}
