/**
 * The page for people at `/`: tokens, what can be done with them, and a browser wallet's signature. Its files hold nothing of the chain: they ask
 * the endpoints beside them and nobody else, which the policy sent with them makes sure of. What the operator pages have as well is served from theirs.
 */
import type { Hono } from "hono";
import { readPages, sending } from "#src/edge/pages.ts";
import { PAGE_POLICY } from "#src/edge/pagePolicy.ts";

/** Folders whose files are served, under the places that they have to each other, and which of the files. */
const FOLDERS: readonly (readonly [folder: string, only?: readonly string[]])[] = [
  ["tokens"],
  ["operator", ["api.js", "dom.js", "parts.js", "style.css"]],
];

const HEADERS = {
  "content-security-policy": PAGE_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Serves `/` and `/page/…`. */
export function pageRoutes(app: Pick<Hono, "get">): void {
  for (const [folder, only] of FOLDERS) {
    const files = readPages(new URL(`../../pages/${folder}/`, import.meta.url));
    const send = sending(files, HEADERS);
    for (const name of only ?? files.keys()) app.get(`/page/${folder}/${name}`, (c) => send(c, name));
    if (files.has("index.html") && !only) app.get("/", (c) => send(c, "index.html"));
  }
}
