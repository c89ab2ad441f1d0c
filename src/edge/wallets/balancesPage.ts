/** The page of the wallets' balances and addresses, at a port of its own. It offers no operation that changes anything. */
import { Hono } from "hono";
import type { Log } from "#src/base/log.ts";
import { handleErrors, HttpFailure } from "#src/edge/errors.ts";
import { PAGE_HEADERS, readPages, sending } from "#src/edge/pages.ts";
import type { Peer } from "#src/edge/rateLimit.ts";
import { guardSites } from "#src/edge/sites.ts";
import { PREFIX } from "#src/edge/wallets/route.ts";

/** What the page reads of the wallet service. */
const READ = /^\/v2\/(wallets|byron-wallets|shared-wallets)(\/[0-9a-f]{40}\/addresses)?$/;
const FOLDERS = ["balances", "start", "operator"];

/** The app of the page; reads go to `service`, the wallet service's own app. */
export function balancesPage(
  service: { fetch(request: Request, peer: Peer): Response | Promise<Response> },
  { hosts, log }: { readonly hosts: readonly string[]; readonly log: Log },
): Hono {
  const app = new Hono<{ Bindings: Peer }>();
  handleErrors(app, log);
  app.use(guardSites({ hosts, origins: [] }));
  const files = new Map(FOLDERS.map((name) => [
    name,
    sending(readPages(new URL(`../../pages/${name}/`, import.meta.url)), PAGE_HEADERS),
  ]));
  app.get("/", (c) => files.get("balances")!(c, "index.html"));
  app.get("/page/:folder/:name", (c) => {
    const send = files.get(c.req.param("folder"));
    if (send === undefined) throw new HttpFailure(404, "not_found", "There is no such page.");
    return send(c, c.req.param("name"));
  });
  app.get(`${PREFIX}/*`, (c) => {
    if (!READ.test(c.req.path)) throw new HttpFailure(404, "not_found", "This port has balances and addresses only.");
    return service.fetch(c.req.raw, c.env);
  });
  return app as unknown as Hono;
}
