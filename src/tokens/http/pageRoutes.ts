/**
 * The token page at `/`: tokens, transactions on them, and signing with a browser wallet. Its files hold no chain data
 * and call only the endpoints beside them, which their content security policy enforces.
 */
import type { Context, Hono } from "hono";
import { mountPage } from "#src/http/pageBundle.ts";
import { originAt } from "#src/http/sites.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";

/**
 * Serves `/` and `/page/tokens/…`. With `devnetWallet`, the port of the deployment's own devnet, the page also loads that
 * devnet's development wallet, and links to its explorer, under the host name by which the page itself was requested.
 */
export function pageRoutes(
  app: Pick<Hono, "get">,
  { builders, log, pages, devnetWallet }: Pick<TokenEdgeOptions, "builders" | "log" | "pages" | "devnetWallet">,
): void {
  const settings = (c: Context) => {
    const devnet = devnetWallet === undefined ? undefined : originAt(c.req.header("host"), devnetWallet);
    return devnet === undefined ? {} : { values: { devnet }, scripts: [`${devnet}/wallet-sdk.js`] };
  };
  mountPage(app, { builders, log, pages, name: "tokens", title: "Tokens", at: ["/"], settings });
}
