/**
 * The operator pages at `/` and `/ui/…`. They hold no data: everything that they show comes from the service's JSON
 * endpoints, with the token where one is required. They are therefore served without a token, and the login form with
 * them.
 */
import type { Hono } from "hono";
import { mountPage, type PageOptions } from "#src/http/pageBundle.ts";

/** Serves one document for all addresses; it reads the address itself, so that a link to an actor can be kept and sent. */
export function mountPages(
  app: Pick<Hono, "get">,
  options: Pick<PageOptions, "builders" | "log" | "pages" | "links">,
): void {
  mountPage(app, { ...options, name: "operator", title: "Operator", at: ["/", "/ui", "/ui/*"] });
}
