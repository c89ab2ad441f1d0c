/** The OpenAPI document of the Blockfrost API: paths and parameters; the answers are described by Blockfrost itself. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { VERSION } from "#src/base/version.ts";
import type { ListKind, Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import { INTEGERS } from "#src/devnet/serve/blockfrost/operation.ts";
import type { Document } from "#src/http/examples.ts";

type Paths = NonNullable<Document["paths"]>;
type Described = NonNullable<Paths[string]["get"]>;
type Schema = NonNullable<Extract<NonNullable<Described["parameters"]>[number], { in: string }>["schema"]>;
type Parameter = NonNullable<Described["parameters"]>[number];

const query = (name: string, schema: Schema): Parameter => ({ name, in: "query", required: false, schema });
const PAGED = [
  query("count", { type: "integer", minimum: 1, maximum: 100, default: 100 }),
  query("page", { type: "integer", minimum: 1, maximum: 21_474_836, default: 1 }),
];
const ORDERED = [...PAGED, query("order", { type: "string", enum: ["asc", "desc"], default: "asc" })];
const PLACE: Schema = { type: "string", pattern: String.raw`^\d+(:\d+)?$` };
const QUERY: Readonly<Record<ListKind, readonly Parameter[]>> = {
  paged: PAGED,
  ordered: ORDERED,
  ranged: [...ORDERED, query("from", PLACE), query("to", PLACE)],
  store: [
    query("count", { type: "integer", minimum: 1, maximum: 100, default: 10 }),
    query("page", { type: "integer", minimum: 0, maximum: 21_474_836, default: 0 }),
  ],
};

/** The document of an app with some operations under `/api/v1`; the app's other endpoints are in it too. */
export function blockfrostDocument(app: OpenAPIHono, operations: readonly Operation[]): Document {
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Blockfrost API of the devnet",
      version: VERSION,
      description:
        "The devnet behind the API of Blockfrost, under `/api/v0` and `/api/v1`. Blockfrost describes the answers.",
    },
    externalDocs: { url: "https://docs.blockfrost.io" },
  });
  const paths: Paths = { ...document.paths };
  for (const operation of operations) {
    const path = `/api/v1${operation.path}`;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described(operation) };
  }
  return { ...document, paths };
}

function described({ path, list, method, filters = {} }: Operation): Described {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]): Parameter => ({
    name,
    in: "path",
    required: true,
    schema: { type: INTEGERS.some((one) => one === name) ? "integer" : "string" },
  }));
  return {
    parameters: [
      ...inPath,
      ...(list === undefined ? [] : QUERY[list]),
      ...Object.entries(filters).map(([name, values]) => query(name, { type: "string", enum: [...values] })),
    ],
    ...(method === "POST" ? { requestBody: { required: true, content: { [bodyType(path)]: {} } } } : {}),
    responses: { 200: { description: "As Blockfrost describes it.", content: { "application/json": {} } } },
  };
}

const bodyType = (path: string) => path.endsWith("/utxos") ? "application/json" : "application/cbor";
