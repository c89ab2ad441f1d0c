/** The operator service over HTTP: what every actor is doing, and what an operator may do about it. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { VERSION } from "#src/base/version.ts";
import type { Log } from "#src/base/log.ts";
import { OPERATOR_GROUPS } from "#src/operators/http/groups.ts";
import { mountDocs, type ServiceDocument } from "#src/http/docs.ts";
import { careful, guard, type GuardOptions } from "#src/operators/http/guard.ts";
import { serviceApp } from "#src/http/service.ts";

/** Adds endpoints to the service, behind its guard: through `endpoint()`, so that the OpenAPI document has them. */
export type OperatorPart = (app: OpenAPIHono) => void;

export interface OperatorOptions {
  readonly guard: GuardOptions;
  /** What the service is made of, in the order in which its paths are looked through. */
  readonly parts: readonly OperatorPart[];
  readonly log: Log;
  /** Files of examples for the document; by default those of Arbor's actors. */
  readonly examples?: readonly URL[];
  /** What bundles the API page. */
  readonly page?: ServiceDocument["page"];
}

const EXAMPLES = [new URL("./examples.json", import.meta.url)];

/** Under which the operator pages keep the token in a tab: the API page uses it too. */
const TOKEN_NAME = "arbor-operator-token";

/** The app; `/openapi.json` describes it, `/docs` shows that to people. */
export function operatorApp({ guard: guarding, parts, log, examples = EXAMPLES, page }: OperatorOptions): OpenAPIHono {
  const app = serviceApp("operator", log);
  app.use(careful, guard(guarding, log));
  for (const part of parts) part(app);
  mountDocs(app, {
    document: () => describe(app, guarding.token !== undefined),
    groups: OPERATOR_GROUPS,
    advice: "operator",
    examples,
    page,
    tokenName: TOKEN_NAME,
  });
  return app;
}

const CHANGES = ["post", "put", "delete"] as const;

/** The OpenAPI document, with what the guard wants of every call. */
function describe(app: OpenAPIHono, withToken: boolean) {
  if (withToken) {
    app.openAPIRegistry.registerComponent("securitySchemes", "operator", { type: "http", scheme: "bearer" });
  }
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Arbor operator service",
      version: VERSION,
      description: "Inspect actors, follow their transitions, and control actors, workers and partitions.",
    },
    ...(withToken ? { security: [{ operator: [] }] } : {}),
  });
  for (const path of Object.values(document.paths ?? {})) {
    for (const method of CHANGES) {
      const operation = path[method];
      if (operation === undefined) continue;
      operation.parameters = [...operation.parameters ?? [], {
        name: "Arbor-Operator",
        in: "header",
        required: true,
        description: "Any non-empty value. Pages of other origins cannot send this header.",
        schema: { type: "string" },
        example: "1",
      }];
    }
  }
  return document;
}
