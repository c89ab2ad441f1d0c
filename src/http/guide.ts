/**
 * The documentation's site at `/docs/guide`: the files of a folder, read for each request, so that none stays in memory.
 * Names of assets carry their hash, so that browsers keep them for good, and revalidate documents alone.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Context, Hono } from "hono";
import { compress } from "hono/compress";
import { DENO_TASK } from "#src/base/deno.ts";
import { etagOf, holds } from "#src/http/etag.ts";
import { PAGE_HEADERS } from "#src/http/pages.ts";

/** The path that the site was built for. */
const BASE = "/docs/guide";
/** A file of the site: a short path, no part of which begins with a dot. */
const FILE = /^(?!.{200})[\w@-][\w@.-]*(\/[\w@-][\w@.-]*)*$/;
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".txt": "text/plain; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
};
/** Sources of examples, of which a page is not made: a browser shows them. */
const SOURCES = "examples/";
/** The policy of pages, and the colours of code, which are attributes of its words. */
const HEADERS = {
  ...PAGE_HEADERS,
  "content-security-policy": `${PAGE_HEADERS["content-security-policy"]}; style-src-attr 'unsafe-inline'`,
};

/** What is answered where the site was not built. */
const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Guide · Arbor</title>
<link rel="icon" href="data:,">
<h1>The guide was not built</h1>
<p><code>${DENO_TASK} docs:site</code> in the checkout builds it; it needs a network once, and no restart.</p>
</html>
`;

/** Adds the site in a folder to an app, which it returns; says how to build the site where that was not done. */
export function mountGuide<App extends Pick<Hono, "get">>(app: App, folder: URL): App {
  /** A file's bytes; undefined where there is none. */
  const read = async (name: string) => {
    if (!FILE.test(name)) return undefined;
    return await readFile(new URL(name, folder)).catch((error) => {
      if (["ENOENT", "ENOTDIR", "EISDIR"].includes(error.code)) return undefined;
      throw error;
    });
  };
  app.get(BASE, (c) => c.redirect(`${BASE}/`));
  app.get(`${BASE}/*`, compress(), async (c) => {
    const wanted = c.req.path.slice(BASE.length + 1);
    const name = wanted === "" || wanted.endsWith("/") ? `${wanted}index.html` : wanted;
    const bytes = await read(name);
    if (bytes !== undefined) return answer(c, name, bytes, 200);
    const missing = await read("404.html");
    if (missing !== undefined) return answer(c, "404.html", missing, 404);
    return c.body(NOT_BUILT, 404, { ...HEADERS, "cache-control": "no-store", "content-type": TYPES[".html"]! });
  });
  return app;
}

function answer(c: Context, name: string, bytes: Uint8Array<ArrayBuffer>, status: 200 | 404) {
  const type = name.startsWith(SOURCES) ? TYPES[".txt"]! : TYPES[path.extname(name)] ?? "application/octet-stream";
  if (name.startsWith("assets/")) {
    const headers = { ...HEADERS, "content-type": type, "cache-control": "public, max-age=31536000, immutable" };
    return c.body(bytes, status, headers);
  }
  const etag = etagOf(new TextDecoder().decode(bytes));
  const headers = { ...HEADERS, etag, "cache-control": "no-cache" };
  if (status === 200 && holds(c, etag)) return c.body(null, 304, headers);
  return c.body(bytes, status, { ...headers, "content-type": type });
}
