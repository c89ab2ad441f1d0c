/**
 * One HTTP endpoint: its schemas check what comes in and describe it in the OpenAPI document, so that the two never differ.
 */
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z, type ZodType } from "zod";
import { errorBody } from "#src/api/errors.ts";
import type { Json } from "#src/base/json.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { type BodyLimits, readBytes, readJson, respond } from "#src/edge/json.ts";

/** What every answer of 503 and 429 carries. */
export const RETRY_LATER = {
  "Retry-After": { description: "Seconds after which asking again may help.", schema: { type: "integer" as const } },
};

export type Shape = Record<string, ZodType>;
type Out<S extends Shape | undefined> = S extends Shape ? { [K in keyof S]: z.output<S[K]> } : Record<string, never>;

type Refusals = Readonly<Record<number, string | { readonly description: string; readonly schema: ZodType }>>;

/** What an endpoint takes and gives; `path` in Hono's form (`/token/:tokenId`). */
export interface Endpoint<P extends Shape | undefined, Q extends Shape | undefined, B extends ZodType | undefined> {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** What the body is: JSON unless said otherwise; bytes come to the schema as a `Uint8Array`. */
  readonly consumes?: "application/json" | "application/octet-stream";
  /** Status of a good answer, 200 unless said otherwise; one of 204 has no body. */
  readonly status?: 200 | 201 | 202 | 204;
  /** Schema of the good answer. */
  readonly answer?: ZodType;
  /** What the good answer is: JSON unless said otherwise, which the handler then gives as a `Response`. */
  readonly produces?: "application/octet-stream" | "text/event-stream" | "text/javascript" | "text/plain";
  readonly description?: string;
  /** The name under which programs know the endpoint. */
  readonly operation?: string;
  /** Refusals by status, each with the codes it may carry; or what else such an answer holds. */
  readonly refusals?: Refusals;
  /** Headers that the handler reads. */
  readonly headers?: Shape;
  /** Where answers are kept, if they are. */
  readonly keep?: Keep;
}

/** Gives an answer that was kept for such a request, or one that is made. */
export type Keep = (context: Context, make: () => Promise<Response>) => Promise<Response>;

/** A part of a request. */
export type Where = "path" | "query" | "body" | `header ${string}`;

/** How a service reads requests and says no; `PLAIN` unless it keeps another one's manners. */
export interface Manner {
  /** Before the path of every endpoint; the document has it as the address of the server. */
  readonly prefix: string;
  /** Schema of a refusal's body. */
  readonly error: ZodType;
  /** What every endpoint may answer with beside its own refusals. */
  readonly refusals: Refusals;
  readonly limits: BodyLimits;
  /** Looks at the headers of a request, and throws what is to be answered. */
  headers(context: Context, spec: { readonly consumes: string | undefined }): void;
  /** The JSON of a body. */
  json(request: Request, limits: BodyLimits): Promise<Json | undefined>;
  /** What is answered where a part of a request is not as its schema has it; `value` must not be told, it may be secret. */
  malformed(issues: readonly z.core.$ZodIssue[], where: Where, value: unknown): HttpFailure;
}

/** The manner of the token and devnet services. */
export const PLAIN: Manner = {
  prefix: "",
  error: errorBody,
  refusals: { 400: "`bad_request`, `malformed_json`", 503: "`unavailable`" },
  limits: {},
  headers: () => {},
  json: readJson,
  malformed: (issues, where) =>
    new HttpFailure(
      400,
      "bad_request",
      `The ${where} is not as it should be: ${issues.map(sentence).join("; ")}.`,
      issues.map((issue) => ({ where, at: issue.path.map(String).join("."), problem: issue.message })),
    ),
};

export interface Asked<P extends Shape | undefined, Q extends Shape | undefined, B extends ZodType | undefined> {
  readonly params: Out<P>;
  readonly query: Out<Q>;
  readonly body: B extends ZodType ? z.output<B> : undefined;
  readonly context: Context;
}

/** Adds an endpoint; the handler gives the body of the good answer (or a whole `Response`), or throws `HttpFailure`. */
export function endpoint<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends ZodType | undefined = undefined,
>(
  app: OpenAPIHono,
  spec: Endpoint<P, Q, B>,
  handler: (asked: Asked<P, Q, B>) => Promise<unknown>,
  manner: Manner = PLAIN,
): void {
  describe(app, spec, manner);
  // A schema compiles itself at its first use: once, and not for every request.
  const inPath = spec.params && z.object(spec.params);
  const inQuery = spec.query && z.object(spec.query);
  const names = new Map(Object.entries<ZodType>(spec.query ?? {}).map(([name, schema]) => [name, takesMany(schema)]));
  const limits = { ...manner.limits, optional: spec.body !== undefined && mayMiss(spec.body) };
  const part = <T>(schema: ZodType<T>, value: unknown, where: Where): T => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw manner.malformed(parsed.error.issues, where, value);
  };
  const read = ({ req }: Context): Promise<unknown> =>
    spec.consumes === "application/octet-stream"
      ? readBytes(req.raw, manner.limits.bytes ?? 65_536, manner.limits.time)
      : manner.json(req.raw, limits);
  const consumes = spec.body && (spec.consumes ?? "application/json");
  const status = spec.status ?? 200;
  app[spec.method](manner.prefix + spec.path, async (c) => {
    const given = queryOf(c, names, manner);
    const params = inPath ? part(inPath, c.req.param(), "path") : {};
    manner.headers(c, { consumes });
    const query = inQuery ? part(inQuery, given, "query") : {};
    const body = spec.body ? part(spec.body, await read(c), "body") : undefined;
    const make = async () => {
      const answer = await handler({ params, query, body, context: c } as Asked<P, Q, B>);
      if (answer instanceof Response) return answer;
      return status === 204 ? c.body(null, 204) : respond(c, status, answer);
    };
    return spec.keep ? await spec.keep(c, make) : await make();
  });
}

/** Most faulty names that one refusal lists, and most characters of each. */
const [LISTED, SHOWN] = [10, 60];

/**
 * Query values by name: an array where the endpoint takes several, else the only one. `names` are those of the endpoint and whether each takes
 * several values. A name it does not have is refused and never ignored: a misspelt filter would mean everything.
 * @throws HttpFailure 400 for an unknown name, and for a second value where one is taken.
 */
function queryOf(c: Context, names: ReadonlyMap<string, boolean>, manner: Manner): Record<string, unknown> {
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
    const known = names.size === 0 ? "it takes none" : `it takes ${[...names.keys()].join(", ")}`;
    const message = several === undefined
      ? `this endpoint has no parameter "${shown}": ${known}`
      : `the parameter "${shown}" is given ${all.length} times and takes one value`;
    issues.push({ code: "custom", path: [shown], message, input: undefined });
  }
  if (issues.length > 0) throw manner.malformed(issues.slice(0, LISTED), "query", undefined);
  return values;
}

function takesMany(schema: ZodType): boolean {
  return schema.safeParse([]).success || schema instanceof z.ZodArray;
}

/** Whether a body may be left out. */
function mayMiss(schema: ZodType): boolean {
  return schema.safeParse(undefined).success;
}

/**
 * A value as its schema has it; `where` names the part of the request. Throws `HttpFailure` 400 `bad_request` that says what is
 * wrong at which place, never the value, which may be secret.
 */
export function check<T>(schema: ZodType<T>, value: unknown, where: Where): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw PLAIN.malformed(parsed.error.issues, where, value);
}

function sentence(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? issue.message : `${issue.path.join(".")}: ${issue.message}`;
}

function describe(
  app: OpenAPIHono,
  spec: Endpoint<Shape | undefined, Shape | undefined, ZodType | undefined>,
  manner: Manner,
): void {
  const json = (schema: ZodType, description: string) => ({ description, content: { "application/json": { schema } } });
  const { status = 200, answer } = spec;
  app.openAPIRegistry.registerPath(createRoute({
    method: spec.method,
    path: spec.path.replace(/:(\w+)(\{[^}]*\})?/g, "{$1}"),
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
        ? { description: "Done." }
        : { description: "Done.", content: { [spec.produces ?? "application/json"]: { schema: answer } } },
      ...Object.fromEntries(
        Object.entries<Refusals[number]>({
          ...(spec.body ? { 408: "`body_too_slow`" } : {}),
          ...manner.refusals,
          ...spec.refusals,
        }).map(([code, description]) => [
          code,
          {
            ...(typeof description === "string"
              ? json(manner.error, description)
              : json(description.schema, description.description)),
            ...(code === "503" || code === "429" ? { headers: RETRY_LATER } : {}),
          },
        ]),
      ),
    },
  }));
}
