/**
 * The operator pages. They hold no data: everything that they show comes from the service's JSON endpoints, with the
 * token where one is required. They are therefore served without a token, and the login form with them.
 */
import type { Hono } from "hono";
import { type Page, readPages, sending } from "#src/edge/pages.ts";

/** Their files by name. */
export function readOperatorPages(): ReadonlyMap<string, Page> {
  return readPages(new URL("../../pages/operator/", import.meta.url));
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
