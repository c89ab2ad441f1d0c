/**
 * A cache of script evaluations (phase 2).
 *
 * Assumption: the result is a function of the whole transaction, the protocol version and the cost models, because an
 * output reference names the transaction that made the output by its hash. So one evaluation serves the mempool, every
 * later validation, and a return after a rollback. One with a bound past the horizon is not evaluated, and not cached: the
 * horizon moves.
 */
import { hash256 } from "#src/cardano/hash.ts";
import type { Evaluate, Evaluation } from "#src/plutus/types.ts";

/** Evaluations kept. */
const MAX_CACHED = 2_000;

/** An `Evaluate` that caches the results of another one; rejected promises are not cached. */
export function cacheEvaluations(evaluate: Evaluate): Evaluate {
  const byModels = new WeakMap<object, Map<string, Promise<Evaluation>>>();
  return (input) => {
    if (input.horizon !== undefined) return evaluate(input);
    const { costModels, protocolVersion: { major } } = input.parameters;
    const known = byModels.get(costModels) ?? new Map<string, Promise<Evaluation>>();
    byModels.set(costModels, known);
    const key = `${major} ${hash256(input.transaction)}`;
    const before = known.get(key);
    if (before) return before;
    const evaluation = evaluate(input);
    known.set(key, evaluation);
    evaluation.catch(() => known.delete(key));
    for (const oldest of known.keys()) {
      if (known.size <= MAX_CACHED) break;
      known.delete(oldest);
    }
    return evaluation;
  };
}
