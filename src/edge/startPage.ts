/** The start page of a service without other pages. It describes the service and has links and examples to copy. */
import type { Hono } from "hono";
import { mustGet } from "#src/base/maps.ts";
import { PAGE_HEADERS, readPages, sending } from "#src/edge/pages.ts";

const folder = (name: string) => readPages(new URL(`../pages/${name}/`, import.meta.url));

/**
 * Serves `src/pages/start/<name>.html` at the paths, and its styles. The examples name the service as the request did:
 * `{origin}` in the page stands for it.
 */
export function startPage(
  app: Pick<Hono, "get">,
  name: "blockfrost" | "devnet" | "signer" | "wallets",
  paths: readonly string[],
): void {
  const pages = folder("start");
  const page = mustGet(pages, `${name}.html`);
  for (const path of paths) {
    app.get(path, (c) => {
      // A URL's origin has no character that means something in HTML.
      const body = page.body.replaceAll("{origin}", new URL(c.req.url).origin);
      return c.body(body, 200, { ...PAGE_HEADERS, "cache-control": "no-cache", "content-type": page.type });
    });
  }
  const styles = sending(pages, PAGE_HEADERS);
  const shared = sending(folder("operator"), PAGE_HEADERS);
  app.get("/page/start/style.css", (c) => styles(c, "style.css"));
  app.get("/page/operator/style.css", (c) => shared(c, "style.css"));
}
