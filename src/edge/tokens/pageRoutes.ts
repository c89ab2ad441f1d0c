/**
 * The token page at `/`: tokens, transactions on them, and signing with a browser wallet. Its files hold no chain data
 * and call only the endpoints beside them, which their content security policy enforces. Files that the operator pages
 * have too are served from there.
 */
import type { Hono } from "hono";
import { PAGE_HEADERS, readPages, sending } from "#src/edge/pages.ts";

/** Folders whose files are served, under the places that they have to each other, and which of the files. */
const FOLDERS: readonly (readonly [folder: string, only?: readonly string[]])[] = [
  ["tokens"],
  ["operator", ["api.js", "dom.js", "parts.js", "style.css"]],
];

/** Serves `/` and `/page/…`. */
export function pageRoutes(app: Pick<Hono, "get">): void {
  for (const [folder, only] of FOLDERS) {
    const files = readPages(new URL(`../../pages/${folder}/`, import.meta.url));
    const send = sending(files, PAGE_HEADERS);
    for (const name of only ?? files.keys()) app.get(`/page/${folder}/${name}`, (c) => send(c, name));
    if (files.has("index.html") && !only) app.get("/", (c) => send(c, "index.html"));
  }
}
