/**
 * The signing service: the token service with a wallet of its own, which signs for everyone who may call it. It is for
 * development: a client of a production service signs by itself.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { VERSION } from "#src/base/version.ts";
import { bearerCheck } from "#src/http/bearer.ts";
import { SIGNER_GROUPS } from "#src/signer/http/groups.ts";
import { mountDocs } from "#src/http/docs.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { serviceApp } from "#src/http/service.ts";
import { guardSites } from "#src/http/sites.ts";
import type { SignerEdgeOptions } from "#src/signer/http/options.ts";
import { signerRoutes } from "#src/signer/http/routes.ts";
import { startPage } from "#src/http/startPage.ts";
import { tokenEndpoints } from "#src/tokens/http/app.ts";
import { createTokenService } from "#src/tokens/http/service.ts";

/** What every start, `/health` and the document say of the service. */
export const DEVELOPMENT = "for development and tests only: it holds a wallet and signs for every client";

/** Paths without a token: health checks, the start page, and the API page with its document. */
const OPEN = /^\/(|page\/.*|health|ready|docs|docs\/.*|openapi\.json|\.well-known\/security\.txt)$/;
/** Examples of the token service's operations, and of those that only this service has. */
const EXAMPLES = ["../../tokens/http/examples.json", "./examples.json"].map((file) => new URL(file, import.meta.url));

/** The app; `/openapi.json` describes it, `/docs` shows that to people. */
export function signerApp(options: SignerEdgeOptions): OpenAPIHono {
  const { token, hosts, log } = options;
  const app = serviceApp("signer", log);
  options.health(app);
  app.use(guardSites({ hosts, origins: [] }));
  if (token !== undefined) {
    const hasToken = bearerCheck(token, { log });
    app.use(async (c, next) => {
      if (!(c.req.method === "GET" && OPEN.test(c.req.path)) && !hasToken(c)) {
        c.header("www-authenticate", 'Bearer realm="arbor signer"');
        throw new HttpFailure(401, "unauthorized", "The signing token is required: Authorization: Bearer <token>.");
      }
      await next();
    });
  }
  const tokens = createTokenService({ ...options, changesAtTop: true });
  signerRoutes(app, options, tokens);
  tokenEndpoints(app, tokens);
  startPage(app, options.pages, "signer", ["/"]);
  const document = () =>
    app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "Arbor signing service (development only)",
        version: VERSION,
        description:
          `This service is ${DEVELOPMENT}. It has the endpoints of the token service, and those with which ` +
          "its wallet creates tokens, requests changes and applies them. Requests with an unknown host name get 403 " +
          "`bad_host`, requests from pages of other origins 403 `bad_origin`, requests without the token, where one " +
          "is set, 401 `unauthorized`.",
      },
    });
  mountDocs(app, { document, groups: SIGNER_GROUPS, advice: "signer", examples: EXAMPLES, page: options });
  return app;
}
