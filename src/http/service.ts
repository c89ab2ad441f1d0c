/** What the services' apps have in common. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { getPath } from "hono/utils/url";
import type { Log } from "#src/base/log.ts";
import { handleErrors, type RefusalFormat } from "#src/http/errors.ts";
import { observe } from "#src/http/observe.ts";
import type { PageLinks } from "#src/http/pageLinks.ts";
import { guardHosts, guardSites, type Sites } from "#src/http/sites.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import type { Store } from "#src/store/store.ts";

/** What the token and the wallet service depend on. */
export interface ServiceOptions {
  readonly store: Store;
  /** Sends a command to an actor. */
  readonly ask: Ask["ask"];
  /** Requests a build from an actor. */
  readonly build: Ask["build"];
  /** Transitions as they happen, for streams. */
  readonly events: EventLog;
  /** The folder with a folder for each page. */
  readonly pages: URL;
  /** Pages that the header leads to. */
  readonly links?: PageLinks | undefined;
  /** Adds the health endpoints. */
  readonly health: (app: OpenAPIHono) => void;
  readonly log: Log;
}

/** The path of a request, as routes see it. */
export type PathOf = (request: Request) => string;

/** The path with one slash for several: some clients join a base and a path that both have one. */
export const singleSlashes: PathOf = (request) => getPath(request).replace(/\/{2,}/g, "/");

/** An app that answers every error and is observed under the name of its service. */
export function serviceApp(service: string, log: Log, refusing?: RefusalFormat, getPath?: PathOf): OpenAPIHono {
  const app = new OpenAPIHono(getPath ? { getPath } : {});
  handleErrors(app, log, refusing);
  app.use(observe(service, log));
  return app;
}

/** An app without a token, for programs that watch the process: no page reads it under a name of its own. */
export function watchedApp(log: Log, hosts: Sites["hosts"]): OpenAPIHono {
  const app = new OpenAPIHono();
  handleErrors(app, log);
  app.use(guardHosts(hosts));
  return app;
}

/** A service's app that pages may call: those of any site, or those that `sites` and this machine allow. */
export function publicApp(
  service: string,
  log: Log,
  sites?: Sites,
  refusing?: RefusalFormat,
  getPath?: PathOf,
): OpenAPIHono {
  const app = serviceApp(service, log, refusing, getPath);
  const forAll = sites === undefined || sites.origins.includes("*");
  if (sites) app.use(guardSites({ ...sites, local: true }));
  app.use(cors({
    // what the guard lets through is allowed
    origin: forAll ? "*" : (origin, c) => sites.readable?.test(c.req.path) ? "*" : origin,
    allowMethods: ["GET", "POST", "PUT", "OPTIONS"],
    exposeHeaders: ["Retry-After", "X-Request-Id", "Link", "ETag"],
    maxAge: 86_400,
  }));
  return app;
}
