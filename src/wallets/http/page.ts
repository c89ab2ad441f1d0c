/**
 * The page of the wallet service at `/`. It calls the API of its own origin; with a devnet in the same process also the
 * devnet's faucet, under the host name by which the page was requested.
 */
import type { Context, Hono } from "hono";
import { mountPage } from "#src/http/pageBundle.ts";
import { originAt } from "#src/http/sites.ts";
import type { WalletEdgeOptions } from "#src/wallets/http/options.ts";

/** Serves `/` and `/page/wallet/…`. */
export function walletPage(
  app: Pick<Hono, "get">,
  { devnet: port, ...page }: Pick<WalletEdgeOptions, "builders" | "log" | "pages" | "links" | "devnet">,
): void {
  const settings = (c: Context) => {
    const devnet = port === undefined ? undefined : originAt(c.req.header("host"), port);
    return devnet === undefined ? {} : { values: { devnet }, connect: [devnet] };
  };
  mountPage(app, { ...page, name: "wallet", title: "Wallets", at: ["/"], settings });
}
