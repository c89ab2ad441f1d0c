/** Building what a wish asks for. */
import type { Result } from "#src/base/result.ts";
import type { Constructed, ConstructFailure, ConstructInput, FeeEstimate } from "#src/wallet/build/types.ts";

/** A transaction that does what is wished, without signatures. A few milliseconds, some tens with 10,000 coins. */
export function construct(_input: ConstructInput): Result<Constructed, ConstructFailure> {
  throw new Error("not written");
}

/** What the transaction would cost. */
export function estimateFees(_input: ConstructInput): Result<FeeEstimate, ConstructFailure> {
  throw new Error("not written");
}
