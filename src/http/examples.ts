/**
 * Examples in an OpenAPI document, from a file beside each service, by method and path. Most were recorded from a
 * service on a devnet; a test validates each against its schema.
 */
import { readFileSync } from "node:fs";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { isObject, type Json, parseWritten } from "#src/base/json.ts";

/** An OpenAPI 3.1 document. */
export type Document = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/** An example of one operation. */
export interface Example {
  /** Values of parameters in the path and in the query, by name. */
  readonly parameters?: Readonly<Record<string, Json>> | undefined;
  readonly body?: Json | undefined;
  /** The body of the good answer. */
  readonly answer?: Json | undefined;
}

/**
 * By operation: `GET /token/{tokenId}`. One with a query, `GET /token/{tokenId}?proof=true`, is another answer of the
 * operation, beside that without a query.
 */
export type Examples = Readonly<Record<string, Example>>;

/** Methods of operations, as members of a path. */
export const METHODS = ["get", "post", "put", "patch", "delete"] as const;

type Operation = NonNullable<NonNullable<Document["paths"]>[string]["get"]>;
type Content = Readonly<Record<string, object>>;

/**
 * Reads a file of examples.
 *
 * @throws TypeError where it does not hold examples by operation.
 */
export function readExamples(file: URL): Examples {
  const examples = parseWritten(readFileSync(file, "utf8"));
  if (!isObject(examples)) throw new TypeError(`${file.pathname} holds no examples`);
  return Object.fromEntries(Object.entries(examples).map(([operation, example]) => [operation, exampleOf(example)]));
}

function exampleOf(json: Json): Example {
  if (!isObject(json)) throw new TypeError("an example is no object");
  const { parameters, body, answer } = json;
  if (parameters !== undefined && !isObject(parameters)) {
    throw new TypeError("the parameters of an example are no object");
  }
  return { parameters, body, answer };
}

/** The document with the examples of its operations. */
export function withExamples(document: Document, examples: Examples): Document {
  const paths = Object.entries(document.paths ?? {}).map(([path, item]) => {
    const operations = METHODS.flatMap((method) => {
      const operation = item[method];
      const name = `${method.toUpperCase()} ${path}`;
      const example = examples[name];
      const others = Object.entries(examples).flatMap(([other, { answer }]) =>
        other.startsWith(`${name}?`) && answer !== undefined ? [[other.slice(name.length + 1), answer] as const] : []
      );
      return operation && example ? [[method, exemplified(operation, example, others)] as const] : [];
    });
    return [path, { ...item, ...Object.fromEntries(operations) }] as const;
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

function exemplified(
  operation: Operation,
  { parameters = {}, body, answer }: Example,
  others: readonly (readonly [query: string, answer: Json])[],
): Operation {
  const given = operation.parameters?.map((one) =>
    "name" in one && one.in !== "header" && one.name in parameters ? { ...one, example: parameters[one.name] } : one
  );
  const { requestBody } = operation;
  const responses = Object.entries(operation.responses ?? {}).map(([status, response]) =>
    [status, status.startsWith("2") ? ofContent(response, answer, others) : response] as const
  );
  return {
    ...operation,
    ...(given ? { parameters: given } : {}),
    ...(requestBody ? { requestBody: ofContent(requestBody, body) } : {}),
    responses: Object.fromEntries(responses),
  };
}

/** A body or a response whose every content has an example, or several where other queries have other answers. */
function ofContent<T extends { readonly content?: Content } | { readonly $ref: string }>(
  part: T,
  example: Json | undefined,
  others: readonly (readonly [query: string, answer: Json])[] = [],
): T {
  if (example === undefined || !("content" in part) || part.content === undefined) return part;
  const all = [["default", example] as const, ...others].map(([query, value]) => [query, { value }] as const);
  const given = others.length === 0 ? { example } : { examples: Object.fromEntries(all) };
  const content = Object.entries(part.content).map(([type, media]) => [type, { ...media, ...given }] as const);
  return { ...part, content: Object.fromEntries(content) };
}
