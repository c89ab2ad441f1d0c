/**
 * Runs of the contract in a form for any machine: its script and a context for each script run of honest transactions.
 */
import { as, decode } from "#src/cardano/cbor.ts";
import type { Data } from "#src/cardano/data.ts";
import { validator } from "#src/contract/validator/validator.ts";
import { compiled, program } from "#src/contract/uplc/program.ts";
import { scenario } from "./contractScenarios.ts";
import { verdictBy } from "./contractPlan.ts";
import { dice } from "./proofFuzz.ts";

/** Flat bytes of the contract's script. */
export function contractFlat(): Uint8Array {
  return as(decode(compiled(program(validator))), "bytes").value;
}

/** Contexts of the script runs of `count` transactions; deterministic. */
export function contractContexts(count: number): Data[] {
  const contexts: Data[] = [];
  for (let seed = 0; seed < count; seed++) {
    verdictBy(scenario(dice(seed), false).plan, (context) => {
      contexts.push(context);
      return undefined;
    });
  }
  return contexts;
}
