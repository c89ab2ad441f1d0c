/**
 * The operator pages. They hold no data: everything that they show comes from the service's JSON endpoints, with the
 * token where one is required. They are therefore served without a token, and the login form with them.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { Hono } from "hono";
import { type Page, readPage, readPages, sending } from "#src/edge/pages.ts";

/** Their files by name: those of the folder, and the parser of server-sent events, which needs no build either. */
export function readOperatorPages(): ReadonlyMap<string, Page> {
  const library = pathToFileURL(createRequire(import.meta.url).resolve("eventsource-parser"));
  const file = (name: string) => readPage(new URL(name, library));
  return new Map([
    ...readPages(new URL("../../pages/operator/", import.meta.url)),
    ["sse.js", file("parse.js")],
    ["errors.js", file("errors.js")],
  ]);
}

/**
 * Serves `/` and `/ui/…`: files under `/ui/assets/`, and for every other address the one document, which reads the
 * address itself (so that a link to an actor can be opened, kept and sent).
 */
export function mountPages(app: Pick<Hono, "get">, pages: ReadonlyMap<string, Page> = readOperatorPages()): void {
  const send = sending(pages);
  app.get("/ui/assets/:name", (c) => send(c, c.req.param("name")));
  for (const path of ["/", "/ui", "/ui/*"]) app.get(path, (c) => send(c, "index.html"));
}
