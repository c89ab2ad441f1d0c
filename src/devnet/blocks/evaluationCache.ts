/**
 * Phase 2 remembered.
 *
 * Hypothesis: what scripts say is a function of the whole transaction, of the protocol version and of the cost models, because a reference to an output names
 * the transaction that made it by its hash. So one evaluation serves the mempool, every judgement anew, and a return after a rollback.
 */
import { hash256 } from "#src/cardano/hash.ts";
import type { Evaluate, Evaluation } from "#src/plutus/types.ts";

/** Evaluations remembered. */
const KEPT = 2_000;

/** An `Evaluate` that asks another one once for each transaction; a rejection is not remembered. */
export function remembering(evaluate: Evaluate): Evaluate {
  const byModels = new WeakMap<object, Map<string, Promise<Evaluation>>>();
  return (input) => {
    const { costModels, protocolVersion: { major } } = input.parameters;
    const known = byModels.get(costModels) ?? new Map<string, Promise<Evaluation>>();
    byModels.set(costModels, known);
    const key = `${major} ${hash256(input.transaction)}`;
    const before = known.get(key);
    if (before) return before;
    const asked = evaluate(input);
    known.set(key, asked);
    asked.catch(() => known.delete(key));
    for (const oldest of known.keys()) {
      if (known.size <= KEPT) break;
      known.delete(oldest);
    }
    return asked;
  };
}
