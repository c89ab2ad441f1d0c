/**
 * The token page at `/`: tokens, transactions on them, and signing with a browser wallet. Its files hold no chain data
 * and call only the endpoints beside them, which their content security policy enforces. Files that the operator pages
 * have too are served from there.
 */
import type { Hono } from "hono";
import { etagOf } from "#src/edge/etag.ts";
import { type Page, PAGE_HEADERS, readPages, sending } from "#src/edge/pages.ts";
import { hostnameOf } from "#src/edge/sites.ts";

/** Folders whose files are served, under the places that they have to each other, and which of the files. */
const FOLDERS: readonly (readonly [folder: string, only?: readonly string[]])[] = [
  ["tokens"],
  ["operator", ["api.js", "dom.js", "parts.js", "style.css"]],
];

/**
 * Serves `/` and `/page/…`. With `devnetWallet`, the port of the deployment's own devnet, the page also loads that
 * devnet's development wallet, under the host name by which the page itself was requested.
 */
export function pageRoutes(app: Pick<Hono, "get">, devnetWallet?: number): void {
  for (const [folder, only] of FOLDERS) {
    const files = readPages(new URL(`../../pages/${folder}/`, import.meta.url));
    const send = sending(files, PAGE_HEADERS);
    for (const name of only ?? files.keys()) app.get(`/page/${folder}/${name}`, (c) => send(c, name));
    const index = files.get("index.html");
    if (!index || only) continue;
    app.get("/", (c) => {
      const devnet = devnetWallet === undefined ? undefined : originAt(c.req.header("host"), devnetWallet);
      return devnet === undefined ? send(c, "index.html") : withWallet(index, devnet)(c, "index.html");
    });
  }
}

/** The origin at a port of the host that a request names; undefined for a host that is not a plain name or address. */
function originAt(host: string | undefined, port: number): string | undefined {
  const name = hostnameOf(`http://${host}`);
  return name !== undefined && /^([\w.-]+|\[[\da-f:.]+\])$/i.test(name) ? `http://${name}:${port}` : undefined;
}

/** The page with the wallet of the devnet at an origin, which its policy then allows. */
function withWallet(page: Page, devnet: string) {
  const script = `<script async src="${devnet}/wallet-sdk.js" data-wallets="arbordevnet"></script>`;
  const body = page.body.replace("<script ", `${script}\n<script `);
  const policy = PAGE_HEADERS["content-security-policy"].replace(/(script|connect)-src 'self'/g, `$& ${devnet}`);
  return sending(new Map([["index.html", { ...page, body, etag: etagOf(body) }]]), {
    ...PAGE_HEADERS,
    "content-security-policy": policy,
  });
}
