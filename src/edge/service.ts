/** What the services' apps have in common. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import type { Log } from "#src/base/log.ts";
import { handleErrors, type RefusalFormat } from "#src/edge/errors.ts";
import { observe } from "#src/edge/observe.ts";
import { guardSites, type Sites } from "#src/edge/sites.ts";

/** An app that answers every error and is observed under the name of its service. */
export function serviceApp(service: string, log: Log, refusing?: RefusalFormat): OpenAPIHono {
  const app = new OpenAPIHono();
  handleErrors(app, log, refusing);
  app.use(observe(service, log));
  return app;
}

/** A service's app that pages may call: those of any site, or those that `sites` and this machine allow. */
export function publicApp(service: string, log: Log, sites?: Sites): OpenAPIHono {
  const app = serviceApp(service, log);
  const forAll = sites === undefined || sites.origins.includes("*");
  if (sites) app.use(guardSites({ ...sites, local: true }));
  app.use(cors({
    // what the guard lets through is allowed
    origin: forAll ? "*" : (origin) => origin,
    allowMethods: ["GET", "POST", "OPTIONS"],
    exposeHeaders: ["Retry-After", "X-Request-Id", "Link", "ETag"],
    maxAge: 86_400,
  }));
  return app;
}
