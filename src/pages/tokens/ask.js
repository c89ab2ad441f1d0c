// @ts-check
/// <reference lib="dom" />
/**
 * Requests to the service that serves this page, and its module that verifies and signs, which is loaded when it is
 * first needed.
 */
import { ApiError } from "../operator/api.js";

/** @typedef {typeof import("../../client/browser.ts")} Client */

/** A refusal, with its details. */
export class Refused extends ApiError {
  /**
   * @param {number} status @param {string} code @param {string} message @param {Record<string, unknown> | undefined}
   * details
   */
  constructor(status, code, message, details) {
    super(status, code, message);
    this.details = details;
  }
}

/** @type {Promise<Client> | undefined} */
let loading;

/** The service's own client. Throws an `ApiError` where this installation has none. @returns {Promise<Client>} */
export function client() {
  const path = "/client.js";
  loading ??= import(path).catch(() => {
    loading = undefined;
    throw new ApiError(503, "no_client", "The module for verification and signing (/client.js) could not be loaded.");
  });
  return loading;
}

/**
 * Sends a GET request; gives the answer, and the path of the next page where there is one. Throws an `ApiError`.
 * @template T
 * @param {string} path @param {AbortSignal} [signal]
 * @returns {Promise<{ answer: T, next: string | undefined }>}
 */
export async function ask(path, signal) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, { headers: { accept: "application/json" }, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The service cannot be reached.");
  }
  const body = await response.json().catch(() => undefined);
  if (!response.ok || body === undefined) {
    const said = typeof body?.error === "string" ? body.error : `The service responded with ${response.status}.`;
    throw new Refused(response.status, typeof body?.code === "string" ? body.code : "", said, body?.details);
  }
  const next = /<(\/[^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  return { answer: body, next };
}

/** Bytes, percent-encoded for a query, including those that are no UTF-8. @param {Uint8Array} bytes */
export const percent = (bytes) => Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

/** Any error as one with a message for the reader. @param {unknown} error */
export function readable(error) {
  if (error instanceof ApiError) return error;
  const { name, status, code, message } = /** @type {Partial<ApiError>} */ (error ?? {});
  // that of the client's own
  return name === "ApiError" && message !== undefined ? new ApiError(status ?? 0, code ?? "", message) : error;
}
