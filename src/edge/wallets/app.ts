/**
 * The wallet service over HTTP: reads answer from rows, commands and builds go to actors, secrets stay in this process.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { VERSION } from "#src/base/version.ts";
import { consolidationRoutes } from "#src/edge/wallets/consolidations.ts";
import { newWalletApp, PREFIX } from "#src/edge/wallets/route.ts";
import { mountDocs } from "#src/edge/docs.ts";
import { startPage } from "#src/edge/startPage.ts";
import { guardSites } from "#src/edge/sites.ts";
import { addressRoutes } from "#src/edge/wallets/addresses.ts";
import { delegationRoutes } from "#src/edge/wallets/delegation.ts";
import { byronAddressRoutes } from "#src/edge/wallets/byronAddresses.ts";
import { selectionRoutes } from "#src/edge/wallets/coinSelections.ts";
import { createWalletService } from "#src/edge/wallets/service.ts";
import { historyRoutes } from "#src/edge/wallets/historyRoutes.ts";
import { drepRoutes } from "#src/edge/wallets/dreps.ts";
import { holdingRoutes } from "#src/edge/wallets/holdings.ts";
import { keyRoutes } from "#src/edge/wallets/keys.ts";
import { servedKinds } from "#src/edge/wallets/kinds.ts";
import { migrationRoutes } from "#src/edge/wallets/migrations.ts";
import { networkRoutes } from "#src/edge/wallets/network.ts";
import type { WalletEdgeOptions } from "#src/edge/wallets/options.ts";
import { poolRoutes } from "#src/edge/wallets/pools.ts";
import { seenRoutes } from "#src/edge/wallets/seen.ts";
import { servedShared, sharedWalletRoutes } from "#src/edge/wallets/shared.ts";
import { sharedKeyRoutes } from "#src/edge/wallets/sharedKeys.ts";
import { spendingRoutes } from "#src/edge/wallets/spending.ts";
import { buildRoutes, proxyRoutes, spendRoutes } from "#src/edge/wallets/transactions.ts";
import { walletPage } from "#src/edge/wallets/page.ts";
import { unusedAddressRoutes } from "#src/edge/wallets/unusedAddresses.ts";
import { walletRoutes } from "#src/edge/wallets/wallets.ts";

/** The app: the page at `/`, and the API; `/v2/openapi.json` describes it, `/v2/docs` shows that to people. */
export function walletApp(options: WalletEdgeOptions): OpenAPIHono {
  const app = newWalletApp(options.log);
  app.use(guardSites({ hosts: options.hosts ?? [], origins: [] }));
  networkRoutes(app, options);
  addressRoutes(app, options);
  const service = createWalletService(options);
  walletRoutes(app, service);
  keyRoutes(app, service);
  byronAddressRoutes(app, service);
  poolRoutes(app, service);
  drepRoutes(app, service);
  delegationRoutes(app, service);
  sharedWalletRoutes(app, service);
  sharedKeyRoutes(app, service);
  const [shelley, byron] = servedKinds(service);
  const shared = servedShared(service);
  for (const kind of [shelley, byron, shared]) {
    holdingRoutes(app, service, kind);
    unusedAddressRoutes(app, service, kind);
    spendingRoutes(app, service, kind);
    historyRoutes(app, service, kind);
    seenRoutes(app, service, kind);
  }
  for (const kind of [shelley, shared]) buildRoutes(app, service, kind);
  for (const kind of [shelley, byron]) {
    spendRoutes(app, service, kind);
    selectionRoutes(app, service, kind);
    migrationRoutes(app, service, kind);
    consolidationRoutes(app, service, kind);
  }
  proxyRoutes(app, service);
  options.health(app);
  walletPage(app, options);
  startPage(app, "wallets", [PREFIX]);
  const examples = [new URL("./examples.json", import.meta.url)];
  mountDocs(app, { prefix: PREFIX, document: () => documentOf(app), examples });
  return app;
}

/** The OpenAPI document; paths outside of the prefix name their own server. */
function documentOf(app: OpenAPIHono) {
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    servers: [{ url: PREFIX }],
    info: {
      title: "Arbor wallet service",
      version: VERSION,
      description: "Wallets on Cardano: addresses, balances, and building, signing and submitting transactions. " +
        "Requests with an unknown host name get 403 `bad_host`, requests from pages of other origins 403 `bad_origin`.",
    },
  });
  const routed = new Set(app.routes.map(({ path }) => path.replace(/:(\w+)/g, "{$1}")));
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    if (!routed.has(PREFIX + path)) item.servers = [{ url: "/" }];
  }
  return document;
}
