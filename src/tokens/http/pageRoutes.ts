/**
 * The token page at `/`: tokens, transactions on them, and signing with a browser wallet. Its files hold no chain data
 * and call only the endpoints beside them, which their content security policy enforces.
 */
import type { Context, Hono } from "hono";
import { mountPage, type PageSettings } from "#src/http/pageBundle.ts";
import { originAt } from "#src/http/sites.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";

/**
 * Serves `/` and `/page/tokens/…`. With `devnetWallet`, the port of the deployment's own devnet, the page also loads that
 * devnet's development wallet, under the host name by which the page itself was requested. With `pageConnect` it may read
 * the roots of those instances, to verify what this one says.
 */
export function pageRoutes(
  app: Pick<Hono, "get">,
  { devnetWallet, pageConnect = [], ...page }: Pick<
    TokenEdgeOptions,
    "builders" | "log" | "pages" | "links" | "devnetWallet" | "pageConnect"
  >,
): void {
  const connect = pageConnect.map((url) => new URL(url).origin);
  const instances = pageConnect.length === 0 ? undefined : pageConnect.join(" ");
  const settings = (c: Context): PageSettings => {
    const devnet = devnetWallet === undefined ? undefined : originAt(c.req.header("host"), devnetWallet);
    return {
      values: { devnet, instances },
      scripts: devnet === undefined ? [] : [`${devnet}/wallet-sdk.js`],
      connect,
    };
  };
  mountPage(app, { ...page, name: "tokens", title: "Tokens", at: ["/"], settings });
}
