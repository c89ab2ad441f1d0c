/** JSON over HTTP with exact integers; refusals come as `ApiError`. */
import { type Json, parseJson, toJson } from "#src/base/json.ts";

/** A refusal of a service, or the lack of a complete response (`status` 0, code `unreachable`). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(readonly status: number, readonly code: string, message: string, readonly details?: Json) {
    super(message);
  }
}

/**
 * Sends a request and gives the JSON of the good answer.
 *
 * @throws {ApiError}
 */
export async function call(
  base: string,
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Json> {
  return (await answer(base, method, path, body, signal, headers)).json;
}

/**
 * As `call`, with the answer's headers. A body of bytes is sent as it is; an empty answer is `null`.
 *
 * @throws {ApiError}
 */
export async function answer(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly json: Json; readonly headers: Headers }> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(base.replace(/\/$/, "") + path, {
      method,
      ...(body === undefined
        ? { headers }
        : body instanceof Uint8Array
        ? { body: new Uint8Array(body), headers: { "content-type": "application/octet-stream", ...headers } }
        : { body: toJson(body), headers: { "content-type": "application/json", ...headers } }),
      ...(signal ? { signal } : {}),
    });
    // a connection may break within the body as well
    text = await response.text();
  } catch (error) {
    throw unreachable(base, error);
  }
  if (response.status === 204) return { json: null, headers: response.headers };
  let json: Json;
  try {
    json = parseJson(text);
  } catch {
    throw new ApiError(response.status, "malformed_answer", `The response of ${base}${path} is not JSON.`);
  }
  if (response.ok) return { json, headers: response.headers };
  throw refusal(response.status, json, text);
}

/** The error for a URL from which no complete response came. */
export function unreachable(at: string, error: unknown): ApiError {
  return new ApiError(
    0,
    "unreachable",
    `No complete response from ${at}: ${error instanceof Error ? error.message : error}.`,
  );
}

/** The error of a refused request, from its JSON or else its text. */
export function refusal(status: number, json: Json, text: string): ApiError {
  const said = (json ?? {}) as { code?: string; error?: string; message?: string; details?: Json; info?: Json };
  return new ApiError(status, said.code ?? "unknown", said.error ?? said.message ?? text, said.details ?? said.info);
}

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** A query with its question mark; empty without parameters. */
export function queryText(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)]]);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
