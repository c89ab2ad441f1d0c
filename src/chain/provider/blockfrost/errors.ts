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
export type BlockfrostFailureCode =
  | "absent"
  | "lacking"
  | "refused"
  | "unauthorized"
  | "exhausted"
  | "unreachable"
  | "unusable"
  | "aborted";

export type BlockfrostFailure = Failure<BlockfrostFailureCode>;

/** A failure as an exception. */
export class BlockfrostError extends Error {
  override readonly name = "BlockfrostError";
  constructor(readonly failure: BlockfrostFailure) {
    super(failure.message);
  }
}

export function blockfrostError(code: BlockfrostFailureCode, message: string): BlockfrostError {
  return new BlockfrostError({ code, message });
}

/** Whether an error is a failure with one of these codes. */
export function hasFailed(error: unknown, ...codes: readonly BlockfrostFailureCode[]): error is BlockfrostError {
  return error instanceof BlockfrostError && codes.includes(error.failure.code);
}

/** The result of some work; undefined if it fails with one of these codes. */
export async function unless<T>(work: Promise<T>, ...codes: readonly BlockfrostFailureCode[]): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasFailed(error, ...codes)) return undefined;
    throw error;
  }
}

/** Whether a later attempt may succeed. */
export function isTransient(code: BlockfrostFailureCode): boolean {
  return code === "unreachable" || code === "exhausted" || code === "unusable";
}
