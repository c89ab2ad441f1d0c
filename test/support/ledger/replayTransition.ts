/** Replays transitions recorded from the Haskell ledger, transaction by transaction. */
import { applyDelta } from "#src/ledger/delta.ts";
import { applyEpoch, passEpoch } from "#src/ledger/epoch/pass.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import type { EvaluationInput } from "#src/plutus/types.ts";
import type { Transition } from "./conformance.ts";
import { slots } from "./draft.ts";

/** Passes the input of each script run of a recorded transition to a function. */
export async function follow(
  { slot, terms, before: { state }, events }: Transition,
  see: (input: EvaluationInput) => void,
) {
  let epochs = Math.floor(slot / terms.epochLength);
  let now = slot;
  for (const event of events) {
    if (event.kind !== "transaction") {
      if (event.kind === "ticks") now += event.count;
      else now = Math.max(now, (epochs += event.count) * terms.epochLength);
      while (state.epoch < Math.floor(now / terms.epochLength)) applyEpoch(state, passEpoch(state, terms));
      continue;
    }
    const verdict = await validate(state, event.cbor, event.slot, (input) => {
      const evaluation = evaluateScripts(input);
      if (evaluation.ok || evaluation.kind !== "not_collected") see(input);
      return Promise.resolve(evaluation);
    }, slots);
    if (verdict.ok !== event.accepted) return;
    if (verdict.ok) applyDelta(state, verdict.value);
  }
}
