/** JSON over HTTP with exact integers; refusals come as `ApiError`. */
import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";

/**
 * A refusal of a service, or the lack of a complete response (`status` 0, code `unreachable`).
 *
 * @example
 * ```ts
 * import { ApiError } from "./src/client/http.ts";
 * import { TokenClient } from "./src/client/tokens.ts";
 *
 * try {
 *   await new TokenClient("http://127.0.0.1:3000").token("00".repeat(32));
 * } catch (error) {
 *   if (!(error instanceof ApiError)) throw error;
 *   console.log(error.status, error.code, error.message);
 * }
 * ```
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(readonly status: number, readonly code: string, message: string, readonly details?: Json) {
    super(message);
  }
}

/**
 * Sends a request and gives the JSON of the successful answer; `T` is the form that the service's schema says, which is not
 * checked here.
 *
 * @throws {ApiError} where the service refuses, or gives no complete JSON.
 *
 * @example
 * ```ts
 * import { call } from "./src/client/http.ts";
 *
 * // hash of the contract that a token service makes new tokens with
 * export async function policyOf(service: string): Promise<string> {
 *   return (await call<{ policyId: string }>(service, "GET", "/config")).policyId;
 * }
 * ```
 */
export async function call<T = Json>(
  base: string,
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  return (await answer<T>(base, method, path, body, signal, headers)).json;
}

/**
 * As `call`, with the answer's headers. A body of bytes is sent as it is; an empty answer (204) is `null`.
 *
 * @throws {ApiError} where the service refuses, or gives no complete JSON.
 *
 * @example
 * ```ts
 * import { answer } from "./src/client/http.ts";
 *
 * // the header that names the next page of a list; null on the last one
 * export async function linkOf(service: string, path: string): Promise<string | null> {
 *   return (await answer(service, "GET", path)).headers.get("link");
 * }
 * ```
 */
export async function answer<T = Json>(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly json: T; readonly headers: Headers }> {
  let response: Response;
  let text: string;
  try {
    response = await fetchFrom(base.replace(/\/$/, "") + path, {
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
  let json: Json;
  try {
    json = response.status === 204 ? null : parseJson(text);
  } catch {
    throw new ApiError(response.status, "malformed_answer", `The response of ${withoutUser(base)}${path} is not JSON.`);
  }
  // the one place where the services are trusted to give what their schemas say
  if (response.ok) return { json: json as T, headers: response.headers };
  throw refusal(response.status, json, text);
}

/**
 * Reads a text.
 *
 * @throws {ApiError} where the service refuses, or gives no complete answer.
 */
export async function readText(base: string, path: string): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetchFrom(base.replace(/\/$/, "") + path);
    text = await response.text();
  } catch (error) {
    throw unreachable(base, error);
  }
  if (response.ok) return text;
  throw refusal(response.status, jsonOf(text), text);
}

function jsonOf(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** What a URL has before its host: a scheme, and a user with a password. */
const USER = /^([a-z][a-z\d+.-]*:\/\/)?([^/?#]*)@/i;

/** A URL without the user and the password in it, which no message shows. */
const withoutUser = (url: string) => url.replace(USER, "$1");

/** Fetches from a URL. A user and a password in it become basic authentication (RFC 7617), because `fetch` refuses them. */
export function fetchFrom(url: string, init: RequestInit = {}): Promise<Response> {
  const user = USER.exec(url)?.[2];
  const headers = new Headers(init.headers);
  if (user !== undefined && !headers.has("authorization")) {
    const bytes = new TextEncoder().encode(decodeURIComponent(user));
    headers.set("authorization", `Basic ${btoa(String.fromCharCode(...bytes))}`);
  }
  return fetch(withoutUser(url), { ...init, headers });
}

/** The error for a URL from which no complete response came; `bad_service_url` where it is none of HTTP. */
export function unreachable(url: string, error: unknown): ApiError {
  const at = withoutUser(url);
  if (!/^https?:\/\//i.test(at)) {
    return new ApiError(
      0,
      "bad_service_url",
      `${at} is not the URL of a service: it has to begin with http:// or https://.`,
    );
  }
  return new ApiError(
    0,
    "unreachable",
    `No complete response from ${at}: ${causeOf(error)}.`,
  );
}

/** What kept a request from its response: of the errors behind "fetch failed" the one that says it. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const { code } = cause instanceof Error && "code" in cause ? cause : { code: undefined };
  const text = cause instanceof Error && cause.message !== "" ? causeOf(cause) : error.message;
  if (code === "ECONNREFUSED" || /connection refused/i.test(text)) return "nothing listens there";
  return text;
}

/** The error of a refused request, from its JSON or else its text. */
export function refusal(status: number, json: Json, text: string): ApiError {
  const members = isObject(json) ? json : {};
  const [code, error, message] = [members.code, members.error, members.message]
    .map((value) => typeof value === "string" ? value : undefined);
  return new ApiError(status, code ?? "unknown", error ?? message ?? text, members.details ?? members.info);
}

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * A query with its question mark; empty without parameters.
 *
 * @example
 * ```ts
 * import { queryText } from "./src/client/http.ts";
 *
 * console.log(queryText({ limit: 10, after: undefined })); // ?limit=10
 * ```
 */
export function queryText(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)]]);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
