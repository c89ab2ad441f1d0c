/** How a network answers: at a point of its chain, or not. */
import { fail, type Failure } from "#src/base/result.ts";
import type { Point } from "#src/cardano/block.ts";

/** An answer and the point of the chain it holds at. */
export interface At<T> {
  readonly point: Point;
  readonly value: T;
}

/** Why the network gave no answer; trying again may serve. */
export type Unreachable = Failure<"network_unreachable">;

/** This provider has no answer to such a question; trying again does not serve. */
export type Unsupported = Failure<"query_unsupported">;

/** Why there is no answer. */
export type Unanswered = Unreachable | Unsupported;

/** `query_unsupported`. */
export function unsupported(message: string): ReturnType<typeof fail<"query_unsupported">> {
  return fail("query_unsupported", message);
}
