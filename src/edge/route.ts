/**
 * One HTTP endpoint: its schemas check what comes in and describe it in the OpenAPI document, so that the two never differ.
 */
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z, type ZodType } from "zod";
import { errorBody } from "#src/api/errors.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { readJson, respond } from "#src/edge/json.ts";

/** What every answer of 503 carries. */
export const RETRY_LATER = {
  "Retry-After": { description: "Seconds after which asking again may help.", schema: { type: "integer" as const } },
};

type Shape = Record<string, ZodType>;
type Out<S extends Shape | undefined> = S extends Shape ? { [K in keyof S]: z.output<S[K]> } : Record<string, never>;

type Refusals = Readonly<Record<number, string | { readonly description: string; readonly schema: ZodType }>>;

/** What an endpoint takes and gives; `path` in Hono's form (`/token/:tokenId`). */
export interface Endpoint<P extends Shape | undefined, Q extends Shape | undefined, B extends ZodType | undefined> {
  readonly method: "get" | "post" | "put" | "delete";
  readonly path: string;
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Schema of the 200 answer. */
  readonly answer: ZodType;
  /** Refusals by status, each with the codes it may carry; or what else such an answer holds. */
  readonly refusals?: Refusals;
  /** Headers that the handler reads. */
  readonly headers?: Shape;
}

export interface Asked<P extends Shape | undefined, Q extends Shape | undefined, B extends ZodType | undefined> {
  readonly params: Out<P>;
  readonly query: Out<Q>;
  readonly body: B extends ZodType ? z.output<B> : undefined;
  readonly context: Context;
}

/** Adds an endpoint; the handler gives the body of the 200 answer (or a whole `Response`), or throws `HttpFailure`. */
export function endpoint<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends ZodType | undefined = undefined,
>(app: OpenAPIHono, spec: Endpoint<P, Q, B>, handler: (asked: Asked<P, Q, B>) => Promise<unknown>): void {
  describe(app, spec);
  // A schema compiles itself at its first use: once, and not for every request.
  const inPath = spec.params && z.object(spec.params);
  const inQuery = spec.query && z.object(spec.query);
  const several = new Set(
    Object.entries<ZodType>(spec.query ?? {}).flatMap(([name, schema]) => takesMany(schema) ? [name] : []),
  );
  const limits = { optional: spec.body !== undefined && mayMiss(spec.body) };
  app[spec.method](spec.path, async (c) => {
    const params = inPath ? check(inPath, c.req.param(), "path") : {};
    const query = inQuery ? check(inQuery, queryOf(c, spec.query, several), "query") : {};
    const body = spec.body ? check(spec.body, await readJson(c.req.raw, limits), "body") : undefined;
    const answer = await handler({ params, query, body, context: c } as Asked<P, Q, B>);
    return answer instanceof Response ? answer : respond(c, 200, answer);
  });
}

/** Query values: an array where the schema takes several, else the first. */
function queryOf(c: Context, shape: Shape | undefined, several: ReadonlySet<string>): Record<string, unknown> {
  if (shape === undefined) return {};
  const all = c.req.queries();
  return Object.fromEntries(
    Object.keys(shape).flatMap((name) => {
      const given = all[name];
      return given === undefined ? [] : [[name, several.has(name) ? given : given[0]]];
    }),
  );
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
export function check<T>(schema: ZodType<T>, value: unknown, where: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HttpFailure(
    400,
    "bad_request",
    `The ${where} is not as it should be: ${parsed.error.issues.map(sentence).join("; ")}.`,
    parsed.error.issues.map((issue) => ({ where, at: issue.path.map(String).join("."), problem: issue.message })),
  );
}

function sentence(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? issue.message : `${issue.path.join(".")}: ${issue.message}`;
}

function describe(app: OpenAPIHono, spec: Endpoint<Shape | undefined, Shape | undefined, ZodType | undefined>): void {
  const json = (schema: ZodType, description: string) => ({ description, content: { "application/json": { schema } } });
  app.openAPIRegistry.registerPath(createRoute({
    method: spec.method,
    path: spec.path.replace(/:(\w+)/g, "{$1}"),
    summary: spec.summary,
    request: {
      ...(spec.params ? { params: z.object(spec.params) } : {}),
      ...(spec.headers ? { headers: z.object(spec.headers) } : {}),
      ...(spec.query ? { query: z.object(spec.query) } : {}),
      ...(spec.body
        ? { body: { required: !mayMiss(spec.body), content: { "application/json": { schema: spec.body } } } }
        : {}),
    },
    responses: {
      200: json(spec.answer, "Done."),
      ...Object.fromEntries(
        Object.entries<Refusals[number]>({ 400: "`bad_request`, `malformed_json`", ...spec.refusals }).map((
          [status, description],
        ) => [
          status,
          {
            ...(typeof description === "string"
              ? json(errorBody, description)
              : json(description.schema, description.description)),
            ...(status === "503" ? { headers: RETRY_LATER } : {}),
          },
        ]),
      ),
    },
  }));
}
