/**
 * Pages of TSX (`<name>/main.tsx`), bundled on the first request and kept in memory.
 *
 * The document is small: it names the styles and modules, whose names carry their hash, so that browsers keep them for
 * good, and revalidate the document alone. It holds no data; the page reads its own service's endpoints, and its content
 * security policy lets it load nothing else.
 *
 * The document has the page's header, and the browser draws it before it runs the page's modules: with a warm cache the
 * modules alone are a third of the time until the first paint. They are loaded meanwhile.
 */
import { present } from "#src/base/present.ts";
import { createHash } from "node:crypto";
import type { Context, Hono } from "hono";
import { compress } from "hono/compress";
import { html, raw } from "hono/html";
import type { Log } from "#src/base/log.ts";
import type { BundleFile } from "#src/threads/bundle.ts";
import type { Builders } from "#src/threads/builders.ts";
import { bundledFiles } from "#src/http/clientBundle.ts";
import { etagOf, holds } from "#src/http/etag.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { memo } from "#src/http/memo.ts";
import { type PageLinks, pageOrigins } from "#src/http/pageLinks.ts";
import { PAGE_HEADERS } from "#src/http/pages.ts";

/** After a failure, how long none is tried again, in milliseconds. */
const AGAIN_MS = 30_000;

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

/** What a document holds beside the page itself; it may depend on the request. */
export interface PageSettings {
  /** Values for the page, read there by `setting(name)`. */
  readonly values?: Readonly<Record<string, string | undefined>>;
  /** URLs of scripts of other origins, which the policy then allows. */
  readonly scripts?: readonly string[];
  /** Other origins that the page may send requests to. */
  readonly connect?: readonly string[];
}

export interface PageOptions {
  readonly builders: Pick<Builders, "run">;
  readonly log: Log;
  /** The folder with a folder for each page. */
  readonly pages: URL;
  /** The page's folder. */
  readonly name: string;
  /** What the page is called while it loads. */
  readonly title: string;
  /** Paths of the document: `/`, `/ui/*`. */
  readonly at: readonly string[];
  readonly settings?: (c: Context) => PageSettings;
  /** Pages that its header leads to. */
  readonly links?: PageLinks | undefined;
}

const ICON = "data:image/svg+xml," + encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g fill="#1f7a4c"><path d="M12 22v-7M12 15 6.5 9.5M12 15' +
    'l5.5-5.5M12 15V6" fill="none" stroke="#1f7a4c" stroke-width="2" stroke-linecap="round"/><circle cx="12" cy="4" r="2.5"/>' +
    '<circle cx="5" cy="8" r="2.5"/><circle cx="19" cy="8" r="2.5"/></g></svg>',
);

/** The mark in the header, as the frame of the kit draws it: the first paint needs no script. */
const MARK = '<svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">' +
  '<path d="M12 22v-7M12 15 6.5 9.5M12 15l5.5-5.5M12 15V6" fill="none" stroke="currentColor" stroke-width="2" ' +
  'stroke-linecap="round"/><g fill="currentColor"><circle cx="12" cy="4" r="2.5"/><circle cx="5" cy="8" r="2.5"/>' +
  '<circle cx="19" cy="8" r="2.5"/></g></svg>';

/** Milliseconds until the modules run where nothing was painted, as in a tab in the background. */
const UNPAINTED_MS = 200;
/** Runs the entry's module, the first one that the document preloads, behind the first paint; a second import does nothing. */
const START = "{const run=()=>import(document.querySelector('link[rel=modulepreload]').href);" +
  `new PerformanceObserver(run).observe({type:'paint',buffered:true});setTimeout(run,${UNPAINTED_MS})}`;
/** What the policy allows: this one script within a document. */
const START_HASH = `'sha256-${createHash("sha256").update(START).digest("base64")}'`;

/** Serves a page's document at its paths, and its files under `/page/<name>/`. */
export function mountPage(app: Pick<Hono, "get">, options: PageOptions): void {
  const { name, at, log, pages } = options;
  const bundled = memo(({ ok }) => ok ? Infinity : AGAIN_MS, async () => {
    const made = await bundledFiles(options.builders, { entry: new URL(`${name}/main.tsx`, pages).href, split: true });
    if (!made.ok) {
      log.error("a page cannot be bundled", { page: name, code: made.error.code, details: made.error.details });
    }
    return made;
  });
  const files = async () => {
    const made = await bundled();
    if (made.ok) return made.value;
    throw new HttpFailure(503, "bundle_unavailable", "The page cannot be bundled; see the log of the service.");
  };
  for (const path of at) {
    app.get(path, async (c) => {
      const given = options.settings?.(c) ?? {};
      const values = { ...pageOrigins(c.req.header("host"), options.links ?? {}), ...given.values };
      const settings = { ...given, values };
      const body = String(await documentOf(options, await files(), settings));
      const etag = etagOf(body);
      const headers = { ...headersWith(settings), "cache-control": "no-cache", etag };
      if (holds(c, etag)) return c.body(null, 304, headers);
      return c.body(body, 200, { ...headers, "content-type": "text/html; charset=utf-8" });
    });
  }
  app.get(`/page/${name}/:file`, compress(), async (c) => {
    const file = (await files()).find((one) => one.name === c.req.param("file"));
    if (file === undefined) throw new HttpFailure(404, "not_found", "This page has no such file; load it again.");
    return c.body(file.text, 200, {
      ...PAGE_HEADERS,
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": present(TYPES[file.name.slice(file.name.lastIndexOf(".") + 1)], `the type of ${file.name}`),
    });
  });
}

function headersWith({ scripts = [], connect = [] }: PageSettings): Record<string, string> {
  const origins = scripts.map((script) => new URL(script).origin);
  const allowing = (directive: string, more: readonly string[]) => (policy: string) =>
    more.length === 0
      ? policy
      : policy.replace(`${directive} 'self'`, `${directive} 'self' ${[...new Set(more)].join(" ")}`);
  const policy = [allowing("script-src", [START_HASH, ...origins]), allowing("connect-src", [...origins, ...connect])]
    .reduce((text, change) => change(text), PAGE_HEADERS["content-security-policy"]);
  return { ...PAGE_HEADERS, "content-security-policy": policy };
}

function documentOf({ name, title }: PageOptions, files: readonly BundleFile[], settings: PageSettings) {
  const initial = files.filter((file) => file.initial).map((file) => file.name);
  const urls = (type: string) => initial.filter((file) => file.endsWith(type)).map((file) => `/page/${name}/${file}`);
  const values = Object.entries(settings.values ?? {}).filter(([, value]) => value !== undefined);
  return html`
    <!doctype html>
    <html lang="en">
      <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    ${values.map(([key, value]) =>
      html`
        <meta name="arbor-${key}" content="${value}">
      `
    )}<title>${title} · Arbor</title>
    <link rel="icon" href="${raw(ICON)}">
    <script>${raw(START)}</script>
    ${urls(".css").map((url) =>
      html`
        <link rel="stylesheet" href="${url}">
      `
    )}${urls(".js").map((url) =>
      html`
        <link rel="modulepreload" href="${url}">
      `
    )}${(settings.scripts ?? []).map((url) =>
      html`
        <script async src="${url}" data-wallets="arbordevnet"></script>
      `
    )}</head>
      <body>
        <header
          class="bar"><span class="brand">${raw(
            MARK,
          )}<span>Arbor</span><span class="brand-service">${title}</span></span></header>
        <noscript>This page shows live data and needs JavaScript. The same data is in the JSON endpoints: <a href="/docs">API</a>.</noscript>
      </body>
    </html>
  `;
}
