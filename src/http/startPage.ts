/** The start page of a service without other pages. It describes the service and has links and examples to copy. */
import { readFileSync } from "node:fs";
import type { Hono } from "hono";
import { PAGE_HEADERS, readPages, sending } from "#src/http/pages.ts";

const TITLES = {
  blockfrost: "Blockfrost API",
  ogmios: "Ogmios server",
  signer: "Signing service",
  wallets: "Wallet service",
} as const;

/** The document around a page's content. */
const documentOf = (title: string, content: string) =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Arbor</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page/kit/theme.css">
<link rel="stylesheet" href="/page/start/style.css">
</head>
<body>
<main>
${content}</main>
</body>
</html>
`;

/**
 * Serves `start/<name>.html` of the folder `pages` at the paths, and its styles. The examples name the service as the request did:
 * `{origin}` in the page stands for it.
 */
export function startPage(
  app: Pick<Hono, "get">,
  pages: URL,
  name: keyof typeof TITLES,
  paths: readonly string[],
): void {
  const folder = (name: string) => new URL(`${name}/`, pages);
  const page = documentOf(TITLES[name], readFileSync(new URL(`${name}.html`, folder("start")), "utf8"));
  for (const path of paths) {
    app.get(path, (c) => {
      // A URL's origin has no character that means something in HTML.
      const body = page.replaceAll("{origin}", new URL(c.req.url).origin);
      const headers = { "cache-control": "no-cache", "content-type": "text/html; charset=utf-8" };
      return c.body(body, 200, { ...PAGE_HEADERS, ...headers });
    });
  }
  const styles = sending(readPages(folder("start")), PAGE_HEADERS);
  const kit = sending(readPages(folder("kit")), PAGE_HEADERS);
  app.get("/page/start/style.css", (c) => styles(c, "style.css"));
  app.get("/page/kit/theme.css", (c) => kit(c, "theme.css"));
}
