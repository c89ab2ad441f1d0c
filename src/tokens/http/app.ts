/** The token service over HTTP: every answer from rows, every build and submission from an actor. */
import { VERSION } from "#src/base/version.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { ROOT_PATHS } from "#src/chain/utxoRoot/routes.ts";
import { TOKEN_GROUPS } from "#src/tokens/http/groups.ts";
import { UTXO_ROOT_EXAMPLES, utxoRootRoutes } from "#src/chain/utxoRoot/routes.ts";
import { mountDocs } from "#src/http/docs.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { rateLimit } from "#src/http/rateLimit.ts";
import { publicApp } from "#src/http/service.ts";
import { chainRoutes } from "#src/tokens/http/chain.ts";
import { buildRoutes } from "#src/tokens/http/builds.ts";
import { configRoutes } from "#src/tokens/http/config.ts";
import { clientRoutes } from "#src/tokens/http/clientRoutes.ts";
import { createTokenService, type TokenService } from "#src/tokens/http/service.ts";
import { explainRoutes } from "#src/tokens/http/explain.ts";
import { factRoutes } from "#src/tokens/http/factRoutes.ts";
import { historyRoutes } from "#src/tokens/http/history.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";
import { pageRoutes } from "#src/tokens/http/pageRoutes.ts";
import { logRoutes } from "#src/tokens/http/log.ts";
import { openRequestRoutes } from "#src/tokens/http/openRequests.ts";
import { proofRoutes } from "#src/tokens/http/proofs.ts";
import { rebuildRoutes } from "#src/tokens/http/rebuild.ts";
import { streamRoutes } from "#src/tokens/http/stream.ts";
import { tokenRoutes } from "#src/tokens/http/tokens.ts";
import { transactionRoutes } from "#src/tokens/http/transactions.ts";
import { witnessRoutes } from "#src/tokens/http/witness.ts";
import { waitRoutes } from "#src/tokens/http/wait.ts";

/** The app; `/openapi.json` describes it, `/docs` shows that to people. */
export function tokenApp(options: TokenEdgeOptions): OpenAPIHono {
  const app = publicApp("tokens", options.log, options.sites && { ...options.sites, readable: ROOT_PATHS });
  // health checks are not rate limited
  options.health(app);
  const { off } = options;
  if (off !== undefined) {
    app.use(() => {
      throw new HttpFailure(403, "tokens_off", off);
    });
  }
  if (options.rateLimit) app.use(rateLimit(options.rateLimit));
  const service = createTokenService(options);
  tokenEndpoints(app, service);
  chainRoutes(app, service);
  logRoutes(app, service);
  witnessRoutes(app, service);
  if (options.utxoRoot) utxoRootRoutes(app, { reads: options.utxoRoot, network: options.networkId });
  pageRoutes(app, options);
  const document = () =>
    app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "Arbor token service",
        version: VERSION,
        description:
          "Authenticated facts on Cardano: builds unsigned transactions, submits signed ones, reads tokens and facts. " +
          "Requests above the rate limit get 429 `rate_limited` with `Retry-After`, concurrent builds above the limit 429 `too_many_builds`. " +
          "Requests with an unknown host name get 403 `bad_host`, requests from pages of other origins 403 `bad_origin`.",
      },
    });
  const examples = [new URL("./examples.json", import.meta.url), UTXO_ROOT_EXAMPLES];
  mountDocs(app, { document, groups: TOKEN_GROUPS, advice: "tokens", examples, page: options });
  return app;
}

/** Adds the endpoints of the token service, without its page: what the signing service has too. */
export function tokenEndpoints(app: OpenAPIHono, service: TokenService): void {
  transactionRoutes(app, service);
  explainRoutes(app, service);
  tokenRoutes(app, service);
  factRoutes(app, service);
  openRequestRoutes(app, service);
  historyRoutes(app, service);
  configRoutes(app, service);
  proofRoutes(app, service);
  buildRoutes(app, service);
  rebuildRoutes(app, service);
  streamRoutes(app, service);
  waitRoutes(app, service);
  clientRoutes(app, service);
}
