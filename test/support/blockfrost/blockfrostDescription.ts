/**
 * Validates against Blockfrost's own description of its API: requests by its paths and parameters, responses by its
 * schemas.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Ajv, type ValidateFunction } from "ajv";

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: object;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** An endpoint of the description. */
export interface Matched {
  /** Its path in the description: `/blocks/{hash_or_number}`. */
  readonly template: string;
  readonly method: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

const own = createRequire(import.meta.url);
const folder = path.dirname(own.resolve("@blockfrost/openapi/package.json"));
const theirs = createRequire(path.join(folder, "package.json"));
const { parse } = theirs("yaml") as { parse(text: string): unknown };
const document = parse(readFileSync(path.join(folder, "openapi.yaml"), "utf8")) as {
  paths: Record<string, Record<string, Operation>>;
};
const schemas = JSON.parse(readFileSync(path.join(folder, "json-schema.json"), "utf8")) as Record<
  string,
  { response: Record<string, object> }
>;

const requests = new Ajv({ strict: false, coerceTypes: true, formats: {}, validateFormats: false });
const answers = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const compiled = new Map<string, ValidateFunction>();
/** Of the schemas of parameters. */
const parameters = new WeakMap<object, ValidateFunction>();

/** The endpoint of a request, or the violation in the description's words. */
export function matchRequest(method: string, url: URL, headers: Headers): Matched | string {
  const segments = url.pathname.split("/");
  let found: Matched | undefined;
  for (const [template, operations] of Object.entries(document.paths)) {
    const operation = operations[method.toLowerCase()];
    const names = template.split("/");
    if (!operation || names.length !== segments.length) continue;
    const fits = names.every((name, i) => name === segments[i] || (name.startsWith("{") && segments[i] !== ""));
    if (!fits) continue;
    const values = Object.fromEntries(
      names.flatMap((name, i) => name.startsWith("{") ? [[name.slice(1, -1), segments[i]!]] : []),
    );
    // a literal path takes precedence over one with a parameter
    if (found && Object.keys(found.path).length <= Object.keys(values).length) continue;
    found = { template, method, path: values, query: Object.fromEntries(url.searchParams) };
  }
  if (!found) return `there is no ${method} ${url.pathname}`;
  const operation = document.paths[found.template]![method.toLowerCase()]!;
  const known = operation.parameters ?? [];
  for (const name of Object.keys(found.query)) {
    if (!known.some((one) => one.in === "query" && one.name === name)) {
      return `${found.template} has no parameter ${name}`;
    }
  }
  for (const { in: place, name, required, schema } of known) {
    const given = place === "path" ? found.path[name] : place === "query" ? found.query[name] : headers.get(name);
    if (given === undefined || given === null) {
      if (required) return `${found.template} needs ${name}`;
      continue;
    }
    const holder = { given };
    const valid = parameters.get(schema) ?? requests.compile({ type: "object", properties: { given: schema } });
    parameters.set(schema, valid);
    if (!valid(holder)) return `${found.template}: ${name} ${requests.errorsText(valid.errors)}`;
  }
  const media = Object.keys(operation.requestBody?.content ?? {});
  const type = headers.get("content-type");
  if (media.length > 0 && !media.includes(type ?? "")) {
    return `${found.template} takes ${media.join(", ")}, not ${type}`;
  }
  return found;
}

/** The violation in a response, if there is one. `strict`: members beside those of the description are violations too. */
export function answerProblem(
  { template }: Pick<Matched, "template">,
  status: number,
  body: unknown,
  strict = false,
): string | undefined {
  const schema = schemas[template]?.response[String(status)];
  if (!schema) return `${template} has no answer with status ${status}`;
  const key = `${template} ${status}`;
  let validate = compiled.get(key + strict);
  if (!validate) compiled.set(key + strict, validate = answers.compile(strict ? closed(schema) as object : schema));
  return validate(body) ? undefined : `${key}: ${answers.errorsText(validate.errors)}`;
}

/** A schema whose objects have exactly the members that it names, except those of `OPTIONAL`. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, one]) => [name, name === "example" || name === "enum" ? one : closed(one)]),
  );
  // anything may be null where no type is named; Ajv has no such schema
  if (!("type" in members)) delete members.nullable;
  const { nullable, enum: values, properties, additionalProperties } = members as {
    readonly nullable?: boolean;
    readonly enum?: readonly unknown[];
    readonly properties?: object;
    readonly additionalProperties?: unknown;
  };
  // the description leaves null out of the values of a text that may be null
  if (nullable && values) return { ...members, enum: [...values, null] };
  if (properties === undefined || additionalProperties !== undefined) return members;
  const required = Object.keys(properties).filter((name) => !OPTIONAL.has(name));
  return { ...members, required, additionalProperties: false };
}

/** Members that answers have only sometimes. */
const OPTIONAL = new Set(["error"]);

/** Templates of the description with their methods, as `GET /blocks/latest`. */
export function describedOperations(): string[] {
  return Object.entries(document.paths).flatMap(([template, operations]) =>
    Object.keys(operations).filter((method) => ["get", "post"].includes(method)).map((method) =>
      `${method.toUpperCase()} ${template}`
    )
  );
}

/** Parameters of an operation's query, by name. */
export function describedQuery(template: string): string[] {
  const { parameters = [] } = document.paths[template]?.get ?? {};
  return parameters.filter((one) => one.in === "query").map(({ name }) => name);
}
