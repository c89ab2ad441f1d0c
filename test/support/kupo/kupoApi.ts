/** Calls of the devnet's Kupo API. Every answer is validated against Kupo's description (test/vectors/NOTICE), strictly. */
import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import { expect } from "vitest";
import { isObject, type Json, parseJson } from "#src/base/json.ts";
import type { Callable } from "../blockfrost/blockfrostApi.ts";

type Schema = Record<string, unknown>;
/** Schemas by path, method, status and content type. */
type Responses = Record<string, Record<string, Record<string, Record<string, Schema>>>>;

const { schemas, responses } = JSON.parse(
  readFileSync(new URL("../../vectors/kupo-schemas.json", import.meta.url), "utf8"),
) as { schemas: Record<string, Schema>; responses: Responses };

const ajv = new Ajv({ strict: false, validateSchema: false, validateFormats: false });
ajv.addSchema({ $id: "kupo", components: { schemas: compilable() } });
const compiled = new Map<string, ValidateFunction>();

/**
 * The schemas without what no validator accepts: patterns with a quantifier of nothing, keys that are integers, and
 * addresses that are one of two texts without a difference.
 */
function compilable(): Record<string, Schema> {
  const { AssetIdPattern, OutputReferencePattern, Metadata, Address, ...rest } = schemas;
  const quoted = (schema: Schema = {}) => ({ ...schema, pattern: String(schema.pattern).replace("(*", "(\\*") });
  const metadata = structuredClone(Metadata) as { properties: { schema: Schema } };
  delete metadata.properties.schema.propertyNames;
  return {
    ...rest,
    AssetIdPattern: quoted(AssetIdPattern),
    OutputReferencePattern: quoted(OutputReferencePattern),
    Metadata: metadata,
    Address: JSON.parse(JSON.stringify(Address).replaceAll("oneOf", "anyOf")) as Schema,
    AddressPattern: JSON.parse(JSON.stringify(rest.AddressPattern).replaceAll("oneOf", "anyOf")) as Schema,
  };
}

/** References to schemas, from another document. */
function located(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(located);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, one]) => [key, key === "$ref" ? `kupo${String(one)}` : located(one)]),
  );
}

/** The path in the description. */
function templateOf(path: string): string {
  const [root = "", ...parts] = path.split("?")[0]!.split("/").slice(1);
  if (parts.length === 0) return `/${root}`;
  return Object.keys(responses).find((one) => one.startsWith(`/${root}/{`)) ?? path;
}

/** Numbers instead of `bigint`, which the validator does not know. */
function plain(json: Json): unknown {
  if (typeof json === "bigint") return Number(json);
  if (Array.isArray(json)) return json.map(plain);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([name, one]) => [name, plain(one)]));
}

/** The violation of the description; undefined: none. */
export function answerProblem(
  method: string,
  path: string,
  status: number,
  type: string,
  body: Json,
): string | undefined {
  const template = templateOf(path);
  const schema = responses[template]?.[method.toLowerCase()]?.[String(status)]?.[type];
  if (!schema) return `${method} ${template} has no answer ${status} of the type ${type}`;
  const key = `${method} ${template} ${status} ${type}`;
  let validate = compiled.get(key);
  if (!validate) compiled.set(key, validate = ajv.compile(located(schema) as Schema));
  return validate(plain(body)) ? undefined : ajv.errorsText(validate.errors);
}

/** An answer whose form was validated. */
export interface KupoAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
  readonly text: string;
}

export class KupoApi {
  constructor(private readonly app: Callable, private readonly prefix = "") {}

  /** Sends a request and validates the answer. */
  async send(method: string, path: string, init: RequestInit = {}): Promise<KupoAnswer> {
    const response = await this.app.request(this.prefix + path, { ...init, method });
    const { status, headers } = response;
    const text = await response.text();
    const type = headers.get("content-type") ?? "";
    expect(headers.get("access-control-allow-origin"), path).toBe("*");
    if (status === 304) return { status, headers, body: null, text };
    const body = type.startsWith("application/json") ? parseJson(text) : text;
    if (status === 200 || status === 202 || status === 503 && path === "/health") {
      expect(answerProblem(method, path, status, type, body), `${method} ${path}: ${text.slice(0, 500)}`)
        .toBeUndefined();
      expect(headers.get("x-most-recent-checkpoint"), path).toMatch(/^\d+$/);
    } else {
      expect(body, path).toMatchObject({ hint: expect.stringMatching(/^[A-Z].{20,}\.$/s) });
      expect(Object.keys(isObject(body) ? body : {}).filter((name) => !["hint", "details"].includes(name))).toEqual([]);
    }
    return { status, headers, body, text };
  }

  /** The body of a successful GET, as the caller states its type. */
  async get<T = Json>(path: string, headers: Record<string, string> = {}): Promise<T> {
    const { status, body, text } = await this.send("GET", path, { headers });
    expect(status, `${path}: ${text}`).toBe(200);
    return body as T;
  }

  /** The body of a successful request with JSON, as the caller states its type. */
  async change<T = Json>(method: "PUT" | "DELETE", path: string, body?: unknown): Promise<T> {
    const answer = await this.send(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
    return answer.body as T;
  }

  /** Status and hint of a refused request. */
  async refused(method: string, path: string, body?: string): Promise<[status: number, hint: string]> {
    const answer = await this.send(method, path, body === undefined ? {} : { body });
    expect(answer.status, `${method} ${path}: ${answer.text.slice(0, 200)}`).toBeGreaterThanOrEqual(400);
    return [answer.status, isObject(answer.body) ? String(answer.body.hint) : ""];
  }
}
