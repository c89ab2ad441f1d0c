/**
 * The devnet behind the HTTP API of Kupo (https://cardanosolutions.github.io/kupo), also under `/v1`.
 *
 * Assumptions: everything that is answered is public, so pages of every origin may read it. Patterns change what is
 * answered and nothing of the chain; a page of another origin cannot change them.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import type { Log } from "#src/base/log.ts";
import { readState } from "#src/devnet/index/kupo/points.ts";
import { WILDCARD } from "#src/devnet/index/kupo/pattern.ts";
import { genesisParts, json, type KupoParts, nameBlock } from "#src/devnet/serve/kupo/answers.ts";
import {
  answerCheckpoint,
  answerCheckpoints,
  answerDatum,
  answerMetadata,
  answerScript,
} from "#src/devnet/serve/kupo/chainRoutes.ts";
import { readings } from "#src/devnet/serve/kupo/connections.ts";
import { kupoRefusals, refused } from "#src/devnet/serve/kupo/failures.ts";
import { healthForm, healthMetrics, healthOf, healthStatus } from "#src/devnet/serve/kupo/health.ts";
import { answerMatches, deleteMatches } from "#src/devnet/serve/kupo/matchRoutes.ts";
import { answerPatterns, deletePattern, putPatterns } from "#src/devnet/serve/kupo/patternRoutes.ts";
import { serviceApp, singleSlashes } from "#src/http/service.ts";
import { guardHosts } from "#src/http/sites.ts";
import { isRetryable, type Store } from "#src/store/store.ts";

/** What the API works with. */
export interface KupoService {
  readonly devnet: KupoParts["devnet"];
  /** Its pool is used, and a separate one for large answers, which has no connection before the first of them. */
  readonly store: Pick<Store, "sql" | "beside">;
  readonly log: Log;
}

/** Prefixes of all paths. */
const PREFIXES = ["", "/v1"];

/** The app of a devnet; `hosts` are further names under which it is called. */
export function kupoApp({ devnet, store, log }: KupoService, hosts: readonly string[] = []): OpenAPIHono {
  const parts: KupoParts = { devnet, store, reading: readings(store), ...genesisParts(devnet) };
  const app = serviceApp("kupo", log, kupoRefusals, singleSlashes);
  app.use(allowPages);
  app.use(guardHosts(hosts));
  for (const prefix of PREFIXES) addRoutes(app, prefix, parts);
  return app;
}

/** Lets pages of every origin read; no answer allows a method that changes something. Refuses `HEAD`, as Kupo does. */
const allowPages: MiddlewareHandler = async (c, next) => {
  c.header("Access-Control-Allow-Origin", "*");
  c.header("Access-Control-Expose-Headers", "X-Most-Recent-Checkpoint, X-Block-Header-Hash, ETag");
  if (c.req.method === "OPTIONS") {
    c.header("Access-Control-Allow-Headers", "*");
    return c.body(null, 200);
  }
  // it would make a whole answer that is not read
  if (c.req.method === "HEAD") throw refused.head();
  await next();
};

/** The text that a path ends with; a pattern may have a slash. */
const rest = ({ req }: Context) =>
  [req.param("first"), req.param("second"), req.param("more")].filter((part) => part !== undefined).join("/");

function addRoutes(app: Pick<OpenAPIHono, "on">, prefix: string, parts: KupoParts): void {
  const patterned = (
    root: string,
  ) => [`/${root}/:first`, `/${root}/:first/:second`, `/${root}/:first/:second/:more{.+}`];
  const on = (method: string, paths: readonly string[], answer: (c: Context) => Promise<Response>) =>
    app.on(method, paths.map((path) => prefix + path), answer);
  on("GET", ["/matches"], (c) => answerMatches(c, parts, WILDCARD));
  on("GET", patterned("matches"), (c) => answerMatches(c, parts, rest(c)));
  on("DELETE", patterned("matches"), (c) => deleteMatches(c, parts, rest(c)));
  on("GET", ["/datums/:first"], (c) => answerDatum(c, parts, rest(c)));
  on("GET", ["/scripts/:first"], (c) => answerScript(c, parts, rest(c)));
  on("GET", ["/patterns"], (c) => answerPatterns(c, parts));
  on("GET", patterned("patterns"), (c) => answerPatterns(c, parts, rest(c)));
  on("PUT", ["/patterns"], (c) => putPatterns(c, parts));
  on("PUT", patterned("patterns"), (c) => putPatterns(c, parts, rest(c)));
  on("DELETE", patterned("patterns"), (c) => deletePattern(c, parts, rest(c)));
  on("GET", ["/checkpoints"], (c) => answerCheckpoints(c, parts));
  on("GET", ["/checkpoints/:first"], (c) => answerCheckpoint(c, parts, rest(c)));
  on("GET", ["/metadata/:first"], (c) => answerMetadata(c, parts, rest(c)));
  on("GET", ["/health"], (c) => answerHealth(c, parts, true));
  on("GET", ["/metrics"], (c) => answerHealth(c, parts, false));
}

/** Answers with the health: its status is that of the answer, or always 200 where not `judged`. @throws {HttpFailure} 400 */
async function answerHealth(c: Context, { devnet, store }: KupoParts, judged: boolean): Promise<Response> {
  const accept = c.req.header("accept");
  // metrics are for Prometheus unless the client says otherwise
  const form = judged ? healthForm(accept) : accept && healthForm(accept) || "prometheus";
  if (form === undefined) throw refused.contentType();
  const state = await readState(store.sql).catch((error) => {
    if (isRetryable(error)) return undefined;
    throw error;
  });
  nameBlock(c, { checkpoint: state?.checkpoint });
  const health = healthOf(devnet, state);
  const status = judged ? healthStatus(health) : 200;
  if (form === "json") return json(c, health, status);
  return c.body(healthMetrics(health), status, { "content-type": "text/plain;charset=utf-8" });
}
