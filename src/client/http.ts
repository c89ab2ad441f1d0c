/** JSON over HTTP with exact integers; refusals come as `ApiError`. */
import { type Json, parseJson, toJson } from "#src/base/json.ts";

/** A service said no, or could not be reached (`status` 0, code `unreachable`). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(readonly status: number, readonly code: string, message: string, readonly details?: Json) {
    super(message);
  }
}

/** Asks a service; gives the JSON of a good answer. Throws `ApiError`. */
export async function call(
  base: string,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Json> {
  let response: Response;
  try {
    response = await fetch(base.replace(/\/$/, "") + path, {
      method,
      ...(body === undefined ? {} : { body: toJson(body), headers: { "content-type": "application/json" } }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    throw new ApiError(
      0,
      "unreachable",
      `Nobody answers at ${base}: ${error instanceof Error ? error.message : error}.`,
    );
  }
  const text = await response.text();
  let answer: Json;
  try {
    answer = parseJson(text);
  } catch {
    throw new ApiError(response.status, "malformed_answer", `The answer of ${base}${path} is no JSON.`);
  }
  if (response.ok) return answer;
  const refused = (answer ?? {}) as { code?: string; error?: string; message?: string; details?: Json };
  throw new ApiError(
    response.status,
    refused.code ?? "unknown",
    refused.error ?? refused.message ?? text,
    refused.details,
  );
}
