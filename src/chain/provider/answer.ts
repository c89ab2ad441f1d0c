/** Answers of a network: each holds at a point of its chain. */
import { fail, type Failure } from "#src/base/result.ts";
import type { Point } from "#src/cardano/block.ts";

/** An answer, and the point of the chain at which it holds. */
export interface At<T> {
  readonly point: Point;
  readonly value: T;
}

/** The network gave no answer; a later attempt may succeed. */
export type Unreachable = Failure<"network_unreachable">;

/** The provider does not support the query; a later attempt will not succeed. */
export type Unsupported = Failure<"query_unsupported">;

/** Why there is no answer. */
export type Unanswered = Unreachable | Unsupported;

/** The failure `query_unsupported`. */
export function unsupported(message: string): ReturnType<typeof fail<"query_unsupported">> {
  return fail("query_unsupported", message);
}
