/** Actors over HTTP: a path for each command, state, lists and events, described by an OpenAPI document. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import type { Json } from "#src/base/json.ts";
import type { Log } from "#src/base/log.ts";
import { VERSION } from "#src/base/version.ts";
import { mountDocs } from "#src/http/docs.ts";
import { type Group, HEALTH_GROUP } from "#src/http/groups.ts";
import { builders } from "#src/packages/runtime/operators.ts";
import { PAGES } from "#src/app/pages.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { type Health, healthRoutes } from "#src/http/health.ts";
import { respond } from "#src/http/json.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";
import { endpoint } from "#src/http/route.ts";
import { publicApp } from "#src/http/service.ts";
import type { Sites } from "#src/http/sites.ts";
import { eventRoutes } from "#src/operators/http/events.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import { kebab } from "#src/runtime/events/transition.ts";
import { RUNTIME_CODES } from "#src/runtime/types.ts";
import type { Actor } from "#src/packages/runtime/actor.ts";
import type { Reads } from "#src/packages/runtime/reads.ts";
import type { ActorRoutes, HttpApp } from "#src/packages/runtime/surface.ts";

/** What the routes work with. */
export interface ActorService {
  readonly ask: Ask["ask"];
  readonly reads: Reads;
  readonly events: EventLog;
  readonly actors: readonly Actor[];
  readonly health: Health;
  readonly log: Log;
}

/** HTTP status of the runtime's own codes. */
const STATUSES = {
  invalid: 400,
  not_possible: 409,
  too_large: 413,
  unknown_kind: 422,
  failed: 422,
  newer_version: 503,
  overloaded: 503,
  paused: 503,
  unavailable: 503,
} as const satisfies Record<(typeof RUNTIME_CODES)[number], number>;

const idPlace = { id: z.string().min(1).max(200) };
const limit = z.coerce.number().int().min(1).max(1_000).default(100);
/** Parameters of a list that are no attributes. */
const listQuery = {
  state: z.string().optional(),
  prefix: z.string().max(200).optional(),
  after: z.string().max(1_000).optional(),
  limit,
};
/** The value of an attribute in a query. */
const attributeValues = {
  text: z.string().max(200),
  number: z.string().max(200).regex(/^-?\d+(\.\d+)?$/, "no number"),
  time: z.union([z.iso.datetime(), z.string().regex(/^\d{1,15}$/)], "no time: ISO 8601, or milliseconds since 1970")
    .transform((text) => /^\d+$/.test(text) ? text : String(Date.parse(text))),
};
const KEY = "idempotency-key";
const idempotencyKey = z.string().min(1).max(200);
const state = z.looseObject({
  kind: z.string(),
  id: z.string(),
  state: z.string(),
  context: z.unknown(),
  version: z.int(),
});
const anyJson = z.unknown();

/** The app; `/openapi.json` describes it, `/docs` shows that to people. */
export function actorApp(service: ActorService, { statuses, hosts = [], origins = [] }: ActorRoutes): HttpApp {
  const { actors, events, health, log } = service;
  const sites: Sites = { hosts, origins };
  const app = publicApp("actors", log, sites);
  healthRoutes({ health })(app);
  const refusal = refusalOf({ ...statuses, ...STATUSES });
  for (const actor of actors) {
    commandEndpoints(
      app,
      actor,
      service,
      answeredBy((failure) => {
        const isKnown = failure.code in STATUSES || failure.code in (statuses ?? {});
        return isKnown ? refusal(failure) : HttpFailure.of(409, failure);
      }),
    );
    readEndpoints(app, actor, service.reads);
  }
  eventRoutes({ events, kinds: actors })(app);
  mountDocs(app, {
    document: () => app.getOpenAPI31Document({ openapi: "3.1.0", info: { title: "Actors", version: VERSION } }),
    groups: [
      ...actors.map(({ kind }): Group => [kind, new RegExp(`^/${kind}/`), `Commands and reads of ${kind}.`]),
      ["Events", /^\/events/, "Every transition as it happens."],
      HEALTH_GROUP,
    ],
    page: { builders, log, pages: PAGES },
  });
  return app;
}

/** Adds `POST /<kind>/{id}/<command>` for each command. */
function commandEndpoints(
  app: OpenAPIHono,
  { kind, commandSchemas }: Actor,
  { ask }: ActorService,
  answered: ReturnType<typeof answeredBy>,
): void {
  const paths = new Set<string>();
  for (const [type, schema] of Object.entries(commandSchemas)) {
    const path = kebab(type);
    if (paths.has(path)) throw new TypeError(`two commands of "${kind}" have the path ${path}`);
    paths.add(path);
    const body = schema.safeParse({}).success ? schema.optional() : schema;
    endpoint(app, "post", `/${kind}/:id/${path}`, {
      summary: `Send ${type} to the ${kind}`,
      description:
        "The response is the reply of the machine. A request repeated with the same key gets the first reply.",
      params: idPlace,
      headers: { [KEY]: idempotencyKey.optional() },
      body,
      answer: anyJson,
      refusals: {
        400: "`bad_request`, `malformed_json`, `invalid`",
        409: "`not_possible`: not in this state; and codes of the machine",
        413: "`body_too_large`, `too_large`",
        422: "`failed`",
        503:
          "`unavailable`: it may still be applied, repeat it with the same key; `overloaded`, `paused`, `newer_version`",
      },
    }, async ({ params: { id }, body: members = {}, context }) => {
      const reply = await ask({ kind, id }, { ...members, type }, { ...commandOf(context.req.header(KEY)) });
      return respond(context, 200, answered<Json>(reply));
    });
  }
}

/** The options of a command with a client's key. @throws {HttpFailure} 400 for a key that is none */
function commandOf(key: string | undefined): { commandId?: string } {
  if (key === undefined) return {};
  if (idempotencyKey.safeParse(key).success) return { commandId: key };
  throw new HttpFailure(400, "bad_request", "The header Idempotency-Key has 1 to 200 characters.");
}

/** Adds `GET /<kind>`, `GET /<kind>/{id}` and `GET /<kind>/{id}/history`. */
function readEndpoints(app: OpenAPIHono, actor: Actor, reads: Reads): void {
  const { kind } = actor;
  const unknown = () => new HttpFailure(404, "actor_unknown", `There is no ${kind} of this id.`);
  const attributes = Object.entries(actor.attributes ?? {});
  const taken = attributes.find(([name]) => name in listQuery);
  if (taken !== undefined) throw new TypeError(`"${taken[0]}" of "${kind}" is a parameter of lists, not an attribute`);
  endpoint(app, "get", `/${kind}`, {
    summary: `List actors of the kind ${kind}, by id or by attributes`,
    query: {
      ...Object.fromEntries(attributes.map(([name, { type }]) => [name, attributeValues[type].optional()])),
      ...listQuery,
    },
    answer: z.object({
      actors: z.array(z.looseObject({ id: z.string(), state: z.string() })),
      next: z.string().nullable(),
    }),
  }, async ({ query }) => {
    const values: Readonly<Record<string, unknown>> = query;
    const where = attributes.flatMap(([attribute]) => {
      const equals = values[attribute];
      return typeof equals === "string" ? [{ attribute, equals }] : [];
    });
    try {
      const { state, prefix, after, limit } = query;
      const selected = { state, prefix, after, limit, ...(where.length === 0 ? {} : { where }) };
      const { actors, next = null } = await reads.list(actor, selected);
      return { actors, next };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new HttpFailure(400, "bad_request", `The query is invalid: ${error.message}.`);
    }
  });
  endpoint(app, "get", `/${kind}/:id`, {
    summary: `The state of the ${kind}`,
    params: idPlace,
    answer: state,
    refusals: { 404: "`actor_unknown`" },
  }, async ({ params: { id } }) => {
    const found = await reads.read(actor, id);
    if (found === undefined) throw unknown();
    const { paused, state, context, version, changed, done } = found;
    return { kind, id, state, context, version, changed, done, paused };
  });
  endpoint(app, "get", `/${kind}/:id/history`, {
    summary: `The retained events of the ${kind}, newest first`,
    params: idPlace,
    query: { before: z.coerce.number().int().positive().optional(), limit },
    answer: z.object({ events: z.array(z.looseObject({ version: z.int(), from: z.string(), to: z.string() })) }),
    refusals: { 404: "`actor_unknown`" },
  }, async ({ params: { id }, query: { before, limit } }) => {
    const found = await reads.history({ kind, id }, { limit, ...(before === undefined ? {} : { before }) });
    if (found.length === 0 && await reads.read(actor, id) === undefined) throw unknown();
    return { events: found.map(({ event, ...rest }) => ({ ...rest, type: typeOf(event) })) };
  });
}

const storedEvent = z.looseObject({ type: z.string() });

const typeOf = (event: Json): string => storedEvent.parse(event).type;
