/** The jobs of builder threads that run scripts. */
import type { Failure, Result } from "#src/base/result.ts";
import type { Evaluate, Evaluation, EvaluationInput, Measurement, MeasureRedeemers } from "#src/plutus/types.ts";

import type { Builders } from "#src/threads/builders.ts";

declare module "#src/threads/jobs.ts" {
  interface Jobs {
    evaluate(input: EvaluationInput): Result<Evaluation, never>;
    /** Units of each redeemer by itself. */
    measure(input: EvaluationInput): Result<Measurement, never>;
  }
}

/** Longest time for the evaluation of a transaction's scripts, in milliseconds. */
const EVALUATION_MS = 30_000;

/** Evaluates scripts in threads. Rejects if they cannot do it within 30 s, which says nothing about the scripts. */
export const evaluateIn = (builders: Pick<Builders, "run">): Evaluate => async (input) =>
  done(await builders.run("evaluate", input, { deadline: Date.now() + EVALUATION_MS }));

/** As `evaluateIn`, for each redeemer by itself. */
export const measureIn = (builders: Pick<Builders, "run">): MeasureRedeemers => async (input) =>
  done(await builders.run("measure", input, { deadline: Date.now() + EVALUATION_MS }));

function done<T>(result: Result<T, Failure>): T {
  if (result.ok) return result.value;
  throw new Error(`the evaluation failed: ${result.error.message}`);
}
