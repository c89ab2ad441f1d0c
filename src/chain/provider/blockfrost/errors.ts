/** Why a Blockfrost service gave no answer that can be used. */
import type { Failure } from "#src/base/result.ts";

/**
 * `absent`: it knows no such thing (404). `lacking`: it has no such question (405, 501). `refused`: it does not take what was asked
 * (400). `unauthorized`: the project id is missing or wrong. `exhausted`: the plan's requests of the day are used up, or the
 * service has banned the caller. `unreachable`: no answer, or none but to come again, after all attempts. `unusable`: an answer that
 * is no such answer. `aborted`: the caller no longer wants it.
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

/** A failure on its way through code that returns something else. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(readonly failure: ApiFailure) {
    super(failure.message);
  }
}

export function apiError(code: ApiCode, message: string): ApiError {
  return new ApiError({ code, message });
}

/** The failure in a caught value; any other error is thrown on. */
export function asApiFailure(error: unknown): ApiFailure {
  if (error instanceof ApiError) return error.failure;
  throw error;
}

/** Whether another attempt, later, may serve. */
export function mayPassLater(code: ApiCode): boolean {
  return code === "unreachable" || code === "exhausted" || code === "unusable";
}
