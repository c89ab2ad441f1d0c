/** A page for people beside a service's `openapi.json`: everything on it is served from here, and nothing but that document is asked. */
import type { Hono } from "hono";
import { readPages, sending } from "#src/edge/pages.ts";

/** Serves `<prefix>/docs`, which reads `<prefix>/openapi.json`. */
export function mountDocs(app: Pick<Hono, "get">, prefix = ""): void {
  const files = readPages(new URL("./docs/", import.meta.url));
  const send = sending(files, {
    "content-security-policy":
      "default-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  });
  app.get(`${prefix}/docs`, (c) => send(c, "index.html"));
  for (const name of files.keys()) app.get(`${prefix}/docs/${name}`, (c) => send(c, name));
}
