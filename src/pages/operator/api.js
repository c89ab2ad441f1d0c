// @ts-check
/// <reference lib="dom" />
/**
 * Calls to the service. The token, where one is wanted, stays in this tab (sessionStorage) and goes nowhere but into
 * the header.
 */

const TOKEN = "arbor-operator-token";

/** A refusal, or a service that cannot be reached (status 0). */
export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }
}

/** @type {() => void} */
let unauthorized = () => {};
/** What is done when the service wants a token, or another one. @param {() => void} call */
export function onUnauthorized(call) {
  unauthorized = call;
}

/** @param {string} token empty to forget it */
export function keepToken(token) {
  if (token === "") sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, token);
}

/** Whether a token is kept. */
export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

/** @returns {Record<string, string>} */
function authorization() {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

/**
 * An integer too large for a double keeps its digits, as a bigint. @param {string} _key @param {unknown} value @param
 * {{ source?: string }} [context]
 */
function exact(_key, value, context) {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** The refusal of an answer. @param {Response} response */
async function refusal(response) {
  if (response.status === 401) unauthorized();
  const body = await response.json().catch(() => undefined);
  const said = typeof body?.error === "string" ? body.error : `The service responded with ${response.status}.`;
  return new ApiError(response.status, typeof body?.code === "string" ? body.code : "", said);
}

/**
 * Sends a request; throws an `ApiError`.
 * @template T
 * @param {string} path @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export async function get(path, signal) {
  return await ask("GET", path, undefined, signal);
}

/**
 * Changes something; throws an `ApiError`.
 * @template T
 * @param {"POST" | "DELETE"} method @param {string} path @param {unknown} [body]
 * @returns {Promise<T>}
 */
export async function change(method, path, body) {
  return await ask(method, path, body);
}

/** @param {string} method @param {string} path @param {unknown} [body] @param {AbortSignal} [signal] */
async function ask(method, path, body, signal) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        accept: "application/json",
        ...authorization(),
        ...(method === "GET" ? {} : { "arbor-operator": "1" }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The service cannot be reached.");
  }
  if (!response.ok) throw await refusal(response);
  return JSON.parse(await response.text(), exact);
}

/**
 * Opens a stream of events; throws an `ApiError`. @param {string} path @param {string | undefined} lastId @param
 * {AbortSignal} signal
 */
export async function openStream(path, lastId, signal) {
  const response = await fetch(path, {
    headers: { accept: "text/event-stream", ...authorization(), ...(lastId ? { "last-event-id": lastId } : {}) },
    cache: "no-store",
    signal,
  });
  if (!response.ok || !response.body) throw await refusal(response);
  return response.body;
}

/** A path out of parts from outside. @param {string[]} parts */
export const pathOf = (...parts) => parts.map((part) => `/${encodeURIComponent(part)}`).join("");

/** A query out of what is set. @param {Record<string, string | undefined>} values */
export function queryOf(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, value);
  const text = query.toString();
  return text && `?${text}`;
}
