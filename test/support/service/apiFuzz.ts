/** Random calls generated from a service's own OpenAPI document: some valid, most almost valid, some malformed. */
import fc from "fast-check";
import { seeded } from "../base/seededRandom.ts";

/** The members of a JSON schema that the generator reads. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema?: Schema;
    readonly required?: boolean;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** A call. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const NONSENSE = [
  "",
  " ",
  "0",
  "-1",
  "1.5",
  "1e309",
  "NaN",
  "null",
  "true",
  "[]",
  "{}",
  "\u0000",
  "\ud83d\ude00",
  "\u202e",
  "../../etc/passwd",
  "%",
  "%00",
  "%ff",
  "'; drop table fact; --",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "18446744073709551616",
  "9".repeat(400),
  "a".repeat(5_000),
  "f".repeat(64),
  "F".repeat(63),
];

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/**
 * An infinite sequence of calls, the same for the same seed. `known` holds values that exist in the service, by the
 * name of the parameter or property; for parameters named in `only`, no other values are generated.
 */
export function* callsOf(
  document: Document,
  { seed, known, only = {} }: {
    readonly seed: number;
    readonly known: Readonly<Record<string, readonly string[]>>;
    readonly only?: Readonly<Record<string, readonly unknown[]>>;
  },
): Generator<Call, never> {
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const chance = (share: number) => random() < share;
  const strange = fc.sample(fc.anything({ withNullPrototype: false, maxDepth: 3 }), { numRuns: 500, seed });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).filter(([, { parameters, requestBody }]) => parameters ?? requestBody ?? true)
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  );

  const resolve = (schema: Schema | undefined): Schema =>
    schema?.$ref === undefined ? schema ?? {} : resolve(document.components?.schemas?.[schema.$ref.split("/").at(-1)!]);
  /** A value that mostly fits the schema. */
  const good = (name: string, given: Schema | undefined, depth = 0): unknown => {
    if (only[name]) return pick(only[name]);
    if (known[name] && chance(0.8)) return pick(known[name]);
    const schema = resolve(given);
    const some = schema.anyOf ?? schema.oneOf;
    if (some) return good(name, pick(some), depth);
    if (schema.enum) return pick(schema.enum);
    if (schema.example !== undefined && chance(0.5)) return schema.example;
    switch (schema.type) {
      case "integer":
      case "number":
        return pick([0, 1, 2, 7, 20]);
      case "boolean":
        return chance(0.5);
      case "array":
        return Array.from({ length: pick([0, 1, 2]) }, () => good(name, schema.items, depth + 1));
      case "object":
        return object(schema, depth);
      default:
        return pick(["a", "key", "value", "0", "\u00e9\u00e8", "42"]);
    }
  };
  const object = (schema: Schema, depth: number): unknown => {
    const given: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (depth < 4 && (schema.required?.includes(name) ? chance(0.93) : chance(0.4))) {
        given[name] = value(name, property, depth + 1);
      }
    }
    if (chance(0.05)) given[pick(NONSENSE)] = pick(strange);
    return given;
  };
  /** A valid or an invalid value. */
  const value = (name: string, schema: Schema | undefined, depth = 0): unknown =>
    only[name] || chance(0.85) ? good(name, schema, depth) : chance(0.5) ? pick(NONSENSE) : pick(strange);
  const text = (given: unknown): string => typeof given === "string" ? given : JSON.stringify(given, exact) ?? "";
  const body = (schema: Schema | undefined): string => {
    const whole = JSON.stringify(value("", schema), exact) ?? "";
    if (chance(0.9)) return whole;
    return pick([
      whole.slice(0, Math.floor(random() * whole.length)),
      `${whole}${whole}`,
      "[".repeat(200) + "]".repeat(200),
      `{"key":${"9".repeat(2_000)}}`,
      '{"key":1.5e3}',
      "\ufeff" + whole,
      "",
    ]);
  };

  for (;;) {
    const { path, method, operation } = pick(operations);
    const query: [string, string][] = [];
    const headers: Record<string, string> = {};
    let at = path;
    for (const { name, in: where, schema, required } of operation.parameters ?? []) {
      if (where === "path") {
        const given = text(value(name, schema));
        at = at.replace(`{${name}}`, chance(0.98) ? encodeURIComponent(wellFormed(given)) : "%zz");
      } else if (where === "query" && (required ? chance(0.95) : chance(0.4))) {
        const given = value(name, schema);
        for (const one of Array.isArray(given) ? given : [given]) query.push([name, wellFormed(text(one))]);
        if (chance(0.03)) query.push([name, pick(NONSENSE.map(wellFormed))]);
      } else if (where === "header" && chance(0.3)) {
        headers[name] = text(value(name, schema)).replace(/[^\x21-\x7e]/g, "") || "x";
      }
    }
    if (chance(0.02)) query.push([pick(["limit", "after", "x", "__proto__"]), wellFormed(pick(NONSENSE))]);
    if (chance(0.05)) headers.accept = pick(["text/html", "*/*;q=0", "nonsense", "application/json"]);
    if (chance(0.03)) headers["x-request-id"] = pick(["a b", "x".repeat(500), "id-1"]);
    const content = operation.requestBody?.content["application/json"];
    const sentMethod = chance(0.97) ? method : pick(METHODS);
    const hasBody = sentMethod !== "GET" && sentMethod !== "HEAD" && (content !== undefined || chance(0.2));
    if (hasBody) {
      headers["content-type"] = chance(0.95) ? "application/json" : pick(["text/plain", "x", "application/cbor"]);
    }
    yield {
      method: sentMethod,
      path: at + (query.length === 0 ? "" : `?${new URLSearchParams(query)}`),
      headers,
      ...(hasBody ? { body: body(content?.schema) } : {}),
    };
  }
}

/** A text without lone surrogates, which no URL can hold. */
function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "?");
}

/** Encodes what JSON cannot represent (such as bigint) as something that it can. */
function exact(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
