/** The token service over HTTP: every answer from rows, every build and submission from an actor. */
import { VERSION } from "#src/base/version.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { mountDocs } from "#src/edge/docs.ts";
import { HttpFailure } from "#src/edge/failure.ts";
import { rateLimit } from "#src/edge/rateLimit.ts";
import { publicApp } from "#src/edge/service.ts";
import { buildRoutes } from "#src/edge/tokens/builds.ts";
import { configRoutes } from "#src/edge/tokens/config.ts";
import { clientRoutes } from "#src/edge/tokens/clientRoutes.ts";
import { createTokenService, type TokenService } from "#src/edge/tokens/service.ts";
import { explainRoutes } from "#src/edge/tokens/explain.ts";
import { factRoutes } from "#src/edge/tokens/factRoutes.ts";
import { historyRoutes } from "#src/edge/tokens/history.ts";
import type { TokenEdgeOptions } from "#src/edge/tokens/options.ts";
import { pageRoutes } from "#src/edge/tokens/pageRoutes.ts";
import { openRequestRoutes } from "#src/edge/tokens/openRequests.ts";
import { proofRoutes } from "#src/edge/tokens/proofs.ts";
import { rebuildRoutes } from "#src/edge/tokens/rebuild.ts";
import { streamRoutes } from "#src/edge/tokens/stream.ts";
import { tokenRoutes } from "#src/edge/tokens/tokens.ts";
import { transactionRoutes } from "#src/edge/tokens/transactions.ts";
import { waitRoutes } from "#src/edge/tokens/wait.ts";

/** The app; `/openapi.json` describes it, `/docs` shows that to people. */
export function tokenApp(options: TokenEdgeOptions): OpenAPIHono {
  const app = publicApp("tokens", options.log, options.sites);
  // health checks are not rate limited
  options.health(app);
  const { off } = options;
  if (off !== undefined) {
    app.use(() => {
      throw new HttpFailure(403, "tokens_off", off);
    });
  }
  if (options.rateLimit) app.use(rateLimit(options.rateLimit));
  tokenEndpoints(app, createTokenService(options));
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
  mountDocs(app, { document, examples: [new URL("./examples.json", import.meta.url)] });
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
