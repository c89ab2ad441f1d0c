/**
 * The OpenAPI document of a service with examples, and Swagger UI, which shows it and sends no request to another
 * origin.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Hono } from "hono";
import { compress } from "hono/compress";
import { toJson } from "#src/base/json.ts";
import { etagOf } from "#src/http/etag.ts";
import { type Document, readExamples, withExamples } from "#src/http/examples.ts";
import { type Page, PAGE_HEADERS, sending } from "#src/http/pages.ts";

const INDEX = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <script defer src="docs/swagger-ui-bundle.js"></script>
    <script defer src="docs/init.js"></script>
  </head>
  <body>
    <div id="api"></div>
    <noscript>This page reads openapi.json, for which it needs JavaScript.</noscript>
  </body>
</html>
`;

/** `headers`: JavaScript expression of further headers of every request. */
const init = (headers: string) =>
  `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "list",
  filter: true,
  // the validator is a service of others
  validatorUrl: null,
  requestInterceptor: (request) => {
    Object.assign(request.headers, ${headers});
    return request;
  },
});
`;

const pageOf = (type: string, body: string): Page => ({ type: `${type}; charset=utf-8`, body, etag: etagOf(body) });

let library: readonly (readonly [name: string, page: Page])[] | undefined;

/** The files of Swagger UI, read once for all services of a process. */
function swaggerUi() {
  const { resolve } = createRequire(import.meta.url);
  const file = (name: string, type: string) =>
    [name, pageOf(type, readFileSync(resolve(`#swagger-ui/${name}`), "utf8"))] as const;
  return library ??= [file("swagger-ui-bundle.js", "text/javascript"), file("swagger-ui.css", "text/css")];
}

/** The OpenAPI document of a service, and how it is shown. */
export interface ServiceDocument {
  /** Path prefix of `openapi.json` and `docs`. */
  readonly prefix?: string;
  /** Creates the document; called once, on the first request. */
  readonly document: () => Document;
  /** Files of the examples. */
  readonly examples?: readonly URL[];
  /** JavaScript expression of the headers that the page adds to its requests. */
  readonly headers?: string;
}

/** Serves `<prefix>/openapi.json`, and Swagger UI for it at `<prefix>/docs`. */
export function mountDocs(app: Pick<Hono, "get">, service: ServiceDocument): void {
  const { prefix = "", document, examples = [], headers = "{}" } = service;
  let text: string | undefined;
  app.get(`${prefix}/openapi.json`, (c) => {
    text ??= toJson(withExamples(document(), Object.assign({}, ...examples.map(readExamples))));
    return c.body(text, 200, { "content-type": "application/json" });
  });
  const files = new Map([
    ...swaggerUi(),
    ["init.js", pageOf("text/javascript", init(headers))] as const,
    ["index.html", pageOf("text/html", INDEX)] as const,
  ]);
  const send = sending(files, PAGE_HEADERS);
  app.get(`${prefix}/docs`, (c) => send(c, "index.html"));
  for (const name of files.keys()) app.get(`${prefix}/docs/${name}`, compress(), (c) => send(c, name));
}
