/**
 * Examples in an OpenAPI document, from a file beside each service, by method and path. Most were recorded from a
 * service on a devnet; a test validates each against its schema.
 */
import { readFileSync } from "node:fs";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { type Json, parseWritten } from "#src/base/json.ts";

/** An OpenAPI 3.1 document. */
export type Document = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/** An example of one operation. */
export interface Example {
  /** Values of parameters in the path and in the query, by name. */
  readonly parameters?: Readonly<Record<string, Json>>;
  readonly body?: Json;
  /** The body of the good answer. */
  readonly answer?: Json;
}

/** By operation: `GET /token/{tokenId}`. */
export type Examples = Readonly<Record<string, Example>>;

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

type Operation = NonNullable<NonNullable<Document["paths"]>[string]["get"]>;
type Content = Readonly<Record<string, object>>;

/** Reads a file of examples. */
export function readExamples(file: URL): Examples {
  return parseWritten(readFileSync(file, "utf8")) as unknown as Examples;
}

/** The document with the examples of its operations. */
export function withExamples(document: Document, examples: Examples): Document {
  const paths = Object.entries(document.paths ?? {}).map(([path, item]) => {
    const operations = METHODS.flatMap((method) => {
      const operation = item[method];
      const example = examples[`${method.toUpperCase()} ${path}`];
      return operation && example ? [[method, exemplified(operation, example)] as const] : [];
    });
    return [path, { ...item, ...Object.fromEntries(operations) }] as const;
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

function exemplified(operation: Operation, { parameters = {}, body, answer }: Example): Operation {
  const given = operation.parameters?.map((one) =>
    "name" in one && one.in !== "header" && one.name in parameters ? { ...one, example: parameters[one.name] } : one
  );
  const { requestBody } = operation;
  const responses = Object.entries(operation.responses ?? {}).map(([status, response]) =>
    [status, status.startsWith("2") ? ofContent(response, answer) : response] as const
  );
  return {
    ...operation,
    ...(given ? { parameters: given } : {}),
    ...(requestBody ? { requestBody: ofContent(requestBody, body) } : {}),
    responses: Object.fromEntries(responses),
  };
}

/** A body or a response whose every content has an example. */
function ofContent<T extends object>(part: T, example: Json | undefined): T {
  if (example === undefined || !("content" in part)) return part;
  const content = Object.entries(part.content as Content).map(([type, media]) =>
    [type, { ...media, example }] as const
  );
  return { ...part, content: Object.fromEntries(content) };
}
