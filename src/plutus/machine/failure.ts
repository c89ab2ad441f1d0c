/** Failures of scripts. */

/**
 * - `decoding`: the bytes are no program of this language and protocol version;
 * - `version`: the program's Plutus Core version is not available;
 * - `open-term`: a variable is not bound;
 * - `budget`: the limit is used up;
 * - `error`: the script reached its error term;
 * - `type`: a value of another kind than the operation needs;
 * - `builtin`: a built-in function refused its arguments;
 * - `branch`: `case` has no branch for a value.
 */
export type FailureKind = "decoding" | "version" | "open-term" | "budget" | "error" | "type" | "builtin" | "branch";

/** Thrown to end an evaluation. */
export class Failure extends Error {
  override readonly name = "Failure";
  constructor(readonly kind: FailureKind, message: string) {
    super(message);
  }
}

/** A built-in function refuses its arguments. */
export function refuse(message: string): never {
  throw new Failure("builtin", message);
}
