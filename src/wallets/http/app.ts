/**
 * The wallet service over HTTP: reads answer from rows, commands and builds go to actors, secrets stay in this process.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { VERSION } from "#src/base/version.ts";
import { consolidationRoutes } from "#src/wallets/http/consolidations.ts";
import { newWalletApp, PREFIX } from "#src/wallets/http/route.ts";
import { WALLET_GROUPS } from "#src/wallets/http/groups.ts";
import { mountDocs } from "#src/http/docs.ts";
import { startPage } from "#src/http/startPage.ts";
import { guardSites } from "#src/http/sites.ts";
import { addressRoutes } from "#src/wallets/http/addresses.ts";
import { delegationRoutes, stakeKeyRoutes } from "#src/wallets/http/delegation.ts";
import { byronAddressRoutes } from "#src/wallets/http/byronAddresses.ts";
import { selectionRoutes } from "#src/wallets/http/coinSelections.ts";
import { createWalletService } from "#src/wallets/http/service.ts";
import { historyRoutes } from "#src/wallets/http/historyRoutes.ts";
import { drepRoutes } from "#src/wallets/http/dreps.ts";
import { governanceRoutes } from "#src/wallets/http/governance.ts";
import { assetRoutes, holdingRoutes } from "#src/wallets/http/holdings.ts";
import { keyRoutes, policyRoutes } from "#src/wallets/http/keys.ts";
import { servedKinds } from "#src/wallets/http/kinds.ts";
import { migrationRoutes } from "#src/wallets/http/migrations.ts";
import { networkRoutes } from "#src/wallets/http/network.ts";
import type { WalletEdgeOptions } from "#src/wallets/http/options.ts";
import { poolRoutes } from "#src/wallets/http/pools.ts";
import { seenRoutes } from "#src/wallets/http/seen.ts";
import { servedShared, sharedWalletRoutes } from "#src/wallets/http/shared.ts";
import { sharedKeyRoutes, sharedSigningRoutes } from "#src/wallets/http/sharedKeys.ts";
import { spendingRoutes } from "#src/wallets/http/spending.ts";
import { buildRoutes, proxyRoutes, signRoutes, spendRoutes } from "#src/wallets/http/transactions.ts";
import { walletPage } from "#src/wallets/http/page.ts";
import { unusedAddressRoutes } from "#src/wallets/http/unusedAddresses.ts";
import { walletRoutes } from "#src/wallets/http/wallets.ts";

/** The app: the page at `/`, and the API; `/v2/openapi.json` describes it, `/v2/docs` shows that to people. */
export function walletApp(options: WalletEdgeOptions): OpenAPIHono {
  const app = newWalletApp(options.log);
  app.use(guardSites({ hosts: options.hosts ?? [], origins: [] }));
  networkRoutes(app, options);
  addressRoutes(app, options);
  const service = createWalletService(options);
  walletRoutes(app, service);
  keyRoutes(app, service);
  policyRoutes(app, service);
  byronAddressRoutes(app, service);
  poolRoutes(app, service);
  drepRoutes(app, service);
  governanceRoutes(app, service);
  delegationRoutes(app, service);
  stakeKeyRoutes(app, service);
  sharedWalletRoutes(app, service);
  sharedKeyRoutes(app, service);
  sharedSigningRoutes(app, service);
  const [shelley, byron] = servedKinds(service);
  const shared = servedShared(service);
  for (const kind of [shelley, byron, shared]) {
    holdingRoutes(app, service, kind);
    assetRoutes(app, service, kind);
    unusedAddressRoutes(app, service, kind);
    spendingRoutes(app, service, kind);
    historyRoutes(app, service, kind);
    seenRoutes(app, service, kind);
  }
  for (const kind of [shelley, shared]) buildRoutes(app, service, kind);
  signRoutes(app, service, shelley);
  for (const kind of [shelley, byron]) {
    spendRoutes(app, service, kind);
    selectionRoutes(app, service, kind);
    migrationRoutes(app, service, kind);
    consolidationRoutes(app, service, kind);
  }
  proxyRoutes(app, service);
  options.health(app);
  walletPage(app, options);
  startPage(app, options.pages, "wallets", [PREFIX]);
  const examples = [new URL("./examples.json", import.meta.url)];
  mountDocs(app, {
    prefix: PREFIX,
    document: () => documentOf(app),
    groups: WALLET_GROUPS,
    advice: "wallets",
    examples,
    page: options,
  });
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
