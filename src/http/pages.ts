/**
 * Static pages of a folder: HTML, CSS and ES modules without a build; only comments and indentation, a quarter of their
 * size, are removed. They are read once and kept in memory. Browsers revalidate each time and get a 304 for unchanged
 * bytes, so that a new service never works with an old page.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Context } from "hono";
import { etagOf, holds } from "#src/http/etag.ts";

/** Headers of pages that load what their own service serves and nothing else. */
export const PAGE_HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

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
  /** Entity tag in quotes. */
  readonly etag: string;
}

/** The folders that were read, by URL. */
const folders = new Map<string, ReadonlyMap<string, Page>>();

/** The files of a folder, by name. It is read once per process. */
export function readPages(folder: URL): ReadonlyMap<string, Page> {
  let pages = folders.get(folder.href);
  if (pages === undefined) folders.set(folder.href, pages = readFolder(folder));
  return pages;
}

function readFolder(folder: URL): ReadonlyMap<string, Page> {
  const names = readdirSync(folder).filter((name) => extensionOf(name) in TYPES);
  return new Map(names.map((name) => [name, readPage(new URL(name, folder))]));
}

/** A file. */
export function readPage(file: URL): Page {
  const type = TYPES[extensionOf(file.pathname)] ?? "application/octet-stream";
  const body = lean(readFileSync(file, "utf8"));
  return { type, body, etag: etagOf(body) };
}

const extensionOf = (name: string) => name.slice(name.lastIndexOf(".") + 1);

/** Removes comments on lines of their own, and indentation; no string in the pages spans lines. */
export function lean(text: string): string {
  return text.replace(/^[ \t]*\/\*(?:(?!\*\/)[^])*\*\/[ \t]*\n/gm, "").replace(/^[ \t]*\/\/.*\n/gm, "").replace(
    /^[ \t]+|^\n/gm,
    "",
  );
}

/** A function that answers with a file by its name, with further headers. */
export function sending(pages: ReadonlyMap<string, Page>, more: Readonly<Record<string, string>> = {}) {
  return (c: Context, name: string) => {
    const page = pages.get(name);
    if (page === undefined) return c.notFound();
    const headers = { ...more, etag: page.etag, "cache-control": "no-cache" };
    if (holds(c, page.etag)) return c.body(null, 304, headers);
    return c.body(page.body, 200, { ...headers, "content-type": page.type });
  };
}
