/** Failures of a Blockfrost service. */
import type { Failure } from "#src/base/result.ts";

/**
 * - `absent`: there is no such object (404).
 * - `lacking`: the service does not support the request (405, 501).
 * - `refused`: the service rejected the request's content (400).
 * - `unauthorized`: the project id is missing or wrong.
 * - `exhausted`: the plan's daily requests are used up, or the service has banned the caller.
 * - `unreachable`: no answer, or only answers to retry, after all attempts.
 * - `unusable`: an answer that is not in the expected form.
 * - `aborted`: the caller aborted the request.
 */
export type ApiCode =
  | "absent"
  | "lacking"
  | "refused"
  | "unauthorized"
  | "exhausted"
  | "unreachable"
  | "unusable"
  | "aborted";

export type ApiFailure = Failure<ApiCode>;

/** A failure as an exception. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(readonly failure: ApiFailure) {
    super(failure.message);
  }
}

export function apiError(code: ApiCode, message: string): ApiError {
  return new ApiError({ code, message });
}

/** Whether a later attempt may succeed. */
export function isTransient(code: ApiCode): boolean {
  return code === "unreachable" || code === "exhausted" || code === "unusable";
}
