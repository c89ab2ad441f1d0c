/**
 * HTTP endpoints: the same schemas validate requests and describe them in the OpenAPI document, so the two never
 * differ.
 */
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z, type ZodType } from "zod";
import { errorBody } from "#src/http/errorBody.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { type BodyLimits, type JsonRefusal, malformedJson, readBytes, readJson, respond } from "#src/http/json.ts";

/** Header of every answer of 503 and 429. */
const RETRY_LATER = {
  "Retry-After": { description: "Seconds to wait before retrying.", schema: { type: "integer" as const } },
};

type Shape = Record<string, ZodType>;
type NoShape = Record<never, never>;
/** The values that some schemas give. */
export type SchemaOutputs<S extends Shape> = { readonly [K in keyof S]: z.output<S[K]> };

type Refusals = Readonly<Record<number, string | { readonly description: string; readonly schema: ZodType }>>;

/** An endpoint. */
interface Endpoint<P extends Shape, Q extends Shape, B extends ZodType | undefined> {
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Content type of the body, JSON by default; bytes reach the schema as a `Uint8Array`. */
  readonly consumes?: "application/json" | "application/octet-stream";
  /** Status of the good answer, 200 by default; 204 has no body. */
  readonly status?: 200 | 201 | 202 | 204;
  /** Schema of the good answer. */
  readonly answer?: ZodType;
  /** Content type of the good answer, JSON by default; for another one the handler gives a `Response`. */
  readonly produces?: "application/octet-stream" | "text/event-stream" | "text/javascript" | "text/plain";
  readonly description?: string;
  /** The operation id. */
  readonly operation?: string;
  /** Refusals by status: the codes that each may carry, or a body of its own. */
  readonly refusals?: Refusals;
  /** Headers that the handler reads. */
  readonly headers?: Shape;
  /** Caches the good answers. */
  readonly cache?: ResponseCache;
}

/** Gives the cached answer of such a request, or makes one. */
export type ResponseCache = (context: Context, make: () => Promise<Response>) => Promise<Response>;

/** A part of a request. */
export type RequestPart = "path" | "query" | "body" | `header ${string}`;

/** How a service reads requests and refuses them. */
export interface Conventions {
  /** Prefix of all paths; the document names it as the server's URL. */
  readonly prefix: string;
  /** Schema of a refusal's body. */
  readonly error: ZodType;
  /** Refusals of every endpoint, beside its own. */
  readonly refusals: Refusals;
  readonly limits: BodyLimits;
  /** Checks the headers of a request; throws the refusal. */
  headers(context: Context, spec: { readonly consumes: string | undefined; readonly status: number }): void;
  /** The refusal of a body that is no JSON. */
  readonly malformedJson: JsonRefusal;
  /** The refusal of a part of a request that its schema rejects; it must not contain `value`, which may be a secret. */
  malformed(issues: readonly z.core.$ZodIssue[], where: RequestPart, value: unknown): HttpFailure;
}

/** The conventions of the token, devnet and operator services. */
export const PLAIN: Conventions = {
  prefix: "",
  error: errorBody,
  refusals: { 400: "`bad_request`, `malformed_json`", 503: "`unavailable`" },
  limits: {},
  headers: () => {},
  malformedJson,
  malformed: (issues, where) =>
    new HttpFailure(
      400,
      "bad_request",
      `The ${where} is invalid: ${issues.map(sentence).join("; ")}.`,
      issues.map((issue) => ({ where, at: issue.path.map(String).join("."), problem: issue.message })),
    ),
};

interface EndpointRequest<P extends Shape, Q extends Shape, B extends ZodType | undefined> {
  readonly params: SchemaOutputs<P>;
  readonly query: SchemaOutputs<Q>;
  readonly body: B extends ZodType ? z.output<B> : undefined;
  readonly context: Context;
}

type Method = "get" | "post" | "put" | "patch" | "delete";

/** Adds an endpoint; `path` in Hono's form (`/token/:tokenId`). The handler gives the body of the good answer, or a whole `Response`, or throws `HttpFailure`. */
export type AddEndpoint = <
  P extends Shape = NoShape,
  Q extends Shape = NoShape,
  B extends ZodType | undefined = undefined,
>(
  app: OpenAPIHono,
  method: Method,
  path: string,
  spec: Endpoint<P, Q, B>,
  handler: (request: EndpointRequest<P, Q, B>) => Promise<unknown>,
) => void;

/** Adds endpoints of the token, devnet and operator services. */
export const endpoint: AddEndpoint = (app, method, path, spec, handler) =>
  addEndpoint(PLAIN, app, method, path, spec, handler);

/** As `AddEndpoint`, by the conventions of a service. */
export function addEndpoint<P extends Shape, Q extends Shape, B extends ZodType | undefined>(
  conventions: Conventions,
  app: OpenAPIHono,
  method: Method,
  path: string,
  spec: Endpoint<P, Q, B>,
  handler: (request: EndpointRequest<P, Q, B>) => Promise<unknown>,
): void {
  describe(app, method, path, spec, conventions);
  // Schemas compile at their first use: once for all requests.
  const inPath = z.object(spec.params);
  const inQuery = z.object(spec.query);
  const names = new Map(Object.entries<ZodType>(spec.query ?? {}).map(([name, schema]) => [name, takesMany(schema)]));
  const limits = { ...conventions.limits, optional: spec.body !== undefined && mayMiss(spec.body) };
  const part = <T>(schema: ZodType<T>, value: unknown, where: RequestPart): T => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw conventions.malformed(parsed.error.issues, where, value);
  };
  const read = ({ req }: Context): Promise<unknown> =>
    spec.consumes === "application/octet-stream"
      ? readBytes(req.raw, conventions.limits.bytes ?? 65_536, conventions.limits.time)
      : readJson(req.raw, limits, conventions.malformedJson);
  const consumes = spec.body && (spec.consumes ?? "application/json");
  const status = spec.status ?? 200;
  app[method](conventions.prefix + path, async (c) => {
    const given = queryOf(c, names, conventions);
    const params = part(inPath, c.req.param(), "path");
    conventions.headers(c, { consumes, status });
    const query = part(inQuery, given, "query");
    const body = spec.body ? part(spec.body, await read(c), "body") : undefined;
    const make = async () => {
      const answer = await handler({ params, query, body, context: c } as EndpointRequest<P, Q, B>);
      if (answer instanceof Response) return answer;
      return status === 204 ? c.body(null, 204) : respond(c, status, answer);
    };
    return spec.cache ? await spec.cache(c, make) : await make();
  });
}

/** Most wrong names in one refusal, and most characters of each. */
const [LISTED, SHOWN] = [10, 60];

/**
 * Query values by name: an array where the endpoint takes several, otherwise one. `names`: those of the endpoint, and
 * whether each takes several values. An unknown name is refused and not ignored: a misspelt filter would select
 * everything.
 *
 * @throws {HttpFailure} 400 for an unknown name, and for a second value where one is taken.
 */
function queryOf(c: Context, names: ReadonlyMap<string, boolean>, conventions: Conventions): Record<string, unknown> {
  const start = c.req.url.indexOf("?");
  const search = new URLSearchParams(start < 0 ? "" : c.req.url.slice(start));
  const values: Record<string, unknown> = {};
  const issues: z.core.$ZodIssue[] = [];
  for (const name of new Set(search.keys())) {
    const several = names.get(name);
    const all = search.getAll(name);
    if (several !== undefined && (several || all.length === 1)) {
      values[name] = several ? all : all[0];
      continue;
    }
    const shown = name.slice(0, SHOWN);
    const known = names.size === 0 ? "it has no parameters" : `its parameters are ${[...names.keys()].join(", ")}`;
    const message = several === undefined
      ? `this endpoint has no parameter "${shown}": ${known}`
      : `the parameter "${shown}" occurs ${all.length} times but takes one value`;
    issues.push({ code: "custom", path: [shown], message, input: undefined });
  }
  if (issues.length > 0) throw conventions.malformed(issues.slice(0, LISTED), "query", undefined);
  return values;
}

function takesMany(schema: ZodType): boolean {
  return schema.safeParse([]).success || schema instanceof z.ZodArray;
}

/** Whether the body is optional. */
function mayMiss(schema: ZodType): boolean {
  return schema.safeParse(undefined).success;
}

/**
 * A value as its schema gives it; `where` names the part of the request.
 *
 * @throws {HttpFailure} 400 `bad_request` with each place and problem, never with the value, which may be a secret.
 */
export function check<T>(schema: ZodType<T>, value: unknown, where: RequestPart): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw PLAIN.malformed(parsed.error.issues, where, value);
}

function sentence(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? issue.message : `${issue.path.join(".")}: ${issue.message}`;
}

function describe(
  app: OpenAPIHono,
  method: Method,
  path: string,
  spec: Endpoint<Shape, Shape, ZodType | undefined>,
  conventions: Conventions,
): void {
  const json = (schema: ZodType, description: string) => ({ description, content: { "application/json": { schema } } });
  const { status = 200, answer } = spec;
  app.openAPIRegistry.registerPath(createRoute({
    method,
    path: path.replace(/:(\w+)(\{[^}]*\})?/g, "{$1}"),
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    ...(spec.operation === undefined ? {} : { operationId: spec.operation }),
    request: {
      ...(spec.params ? { params: z.object(spec.params) } : {}),
      ...(spec.headers ? { headers: z.object(spec.headers) } : {}),
      ...(spec.query ? { query: z.object(spec.query) } : {}),
      ...(spec.body
        ? {
          body: {
            required: !mayMiss(spec.body),
            content: { [spec.consumes ?? "application/json"]: { schema: spec.body } },
          },
        }
        : {}),
    },
    responses: {
      [status]: answer === undefined
        ? { description: "Success." }
        : { description: "Success.", content: { [spec.produces ?? "application/json"]: { schema: answer } } },
      ...Object.fromEntries(
        Object.entries<Refusals[number]>({
          ...(spec.body ? { 408: "`body_too_slow`" } : {}),
          ...conventions.refusals,
          ...spec.refusals,
        }).map(([code, description]) => [
          code,
          {
            ...(typeof description === "string"
              ? json(conventions.error, description)
              : json(description.schema, description.description)),
            ...(code === "503" || code === "429" ? { headers: RETRY_LATER } : {}),
          },
        ]),
      ),
    },
  }));
}
