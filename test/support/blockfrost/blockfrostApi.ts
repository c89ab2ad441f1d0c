/** Calls of the devnet's Blockfrost API. Every answer is validated against Blockfrost's description, strictly. */
import { expect } from "vitest";
import { isObject, type Json, parseJson } from "#src/base/json.ts";
import { answerProblem, describedOperations } from "./blockfrostDescription.ts";

/** The part of an app that is called; also what fetches over HTTP. */
export interface Callable {
  request(path: string, init?: RequestInit): Response | Promise<Response>;
}

/** An answer whose form was validated. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
  readonly text: string;
}

const templates = describedOperations().map((one) => one.split(" ") as [method: string, template: string]);

/** The operation of a path without its prefix: the one with the fewest parameters. */
export function templateOf(method: string, path: string): string | undefined {
  const segments = path.split("/");
  return templates
    .filter(([of, template]) => {
      const names = template.split("/");
      return of === method && names.length === segments.length &&
        names.every((name, i) => name === segments[i] || (name.startsWith("{") && segments[i] !== ""));
    })
    .map(([, template]) => template)
    .sort((a, b) => a.split("{").length - b.split("{").length)[0];
}

/** Numbers instead of `bigint`, which the validator does not know. */
function plain(json: Json): unknown {
  if (typeof json === "bigint") return Number(json);
  if (Array.isArray(json)) return json.map(plain);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([name, one]) => [name, plain(one)]));
}

export class BlockfrostApi {
  /** Operations that have answered with 200, as `GET /blocks/latest`. */
  readonly called = new Set<string>();

  constructor(private readonly app: Callable, private readonly prefix = "/api/v0") {}

  /** Sends a request and validates the answer. */
  async send(method: string, path: string, init: RequestInit = {}): Promise<ApiAnswer> {
    const response = await this.app.request(this.prefix + path, { ...init, method });
    const text = await response.text();
    expect(response.headers.get("content-type"), `${path}: ${text}`).toMatch(/^application\/json/);
    const body = parseJson(text);
    const { status } = response;
    const template = templateOf(method, path.split("?")[0]!);
    if (status === 200) {
      expect(template, `${method} ${path} is not described`).toBeDefined();
      expect(answerProblem({ template: template! }, status, plain(body), true), text).toBeUndefined();
      this.called.add(`${method} ${template}`);
    } else {
      expect(body, path).toEqual({ status_code: status, error: expect.any(String), message: expect.any(String) });
    }
    return { status, headers: response.headers, body, text };
  }

  /** The body of a successful GET, as the caller states its type. */
  async get<T = Json>(path: string): Promise<T> {
    const { status, body, text } = await this.send("GET", path);
    expect(status, `${path}: ${text}`).toBe(200);
    return body as T;
  }

  /** Status and message of a refused GET. */
  async refused(path: string): Promise<[status: number, message: string]> {
    const { status, body } = await this.send("GET", path);
    expect(status, path).toBeGreaterThanOrEqual(400);
    return [status, isObject(body) ? String(body.message) : ""];
  }
}
