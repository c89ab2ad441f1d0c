/** Which scripts a transaction needs, and which it has. */
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import type { PlutusScript, Script } from "#src/cardano/conway/script.ts";
import { type Input, scriptOf } from "#src/ledger/inputs.ts";
import { allTargets, scriptHashOf } from "#src/plutus/purpose.ts";

/** A script that must agree, and to what. */
interface ScriptUse extends RedeemerPointer {
  readonly script: string;
}

/** Scripts of a transaction, by hash: those it needs, those it has, and of these those in outputs it refers to. */
export interface Scripts {
  readonly uses: readonly ScriptUse[];
  readonly needed: ReadonlySet<string>;
  readonly provided: ReadonlyMap<string, Script>;
  readonly references: ReadonlyMap<string, Script>;
}

/** Scripts of a transaction whose inputs and reference inputs were looked up. `inputs` are all inputs of the body that are there. */
export function scriptsOf(
  body: Body,
  witnessed: ReadonlyMap<string, Script>,
  inputs: readonly Input[],
  referenced: readonly Input[],
): Scripts {
  const uses = scriptsNeeded(body, inputs);
  const references = new Map<string, Script>();
  for (const { output } of [...inputs, ...referenced]) {
    const script = scriptOf(output);
    if (script) references.set(script.hash, script);
  }
  return {
    uses,
    needed: new Set(uses.map(({ script }) => script)),
    provided: new Map([...references, ...witnessed]),
    references,
  };
}

/** Everything that a script must agree to (ledger: `getConwayScriptsNeeded`). */
function scriptsNeeded(body: Body, inputs: readonly Input[]): readonly ScriptUse[] {
  const resolved = new Map(inputs.map(({ ref, output }) => [refKey(ref), output]));
  return allTargets(body).flatMap(([pointer, target]) => {
    const script = scriptHashOf(target, resolved);
    return script === undefined ? [] : [{ ...pointer, script }];
  });
}

/** Plutus scripts that run, each once. */
export function plutusScripts({ needed, provided }: Scripts): readonly PlutusScript[] {
  return [...needed].flatMap((hash) => {
    const script = provided.get(hash);
    return script && "bytes" in script ? [script] : [];
  });
}

/** What needs a redeemer: uses whose script is one of Plutus. */
export function plutusUses({ uses, provided }: Scripts): readonly ScriptUse[] {
  return uses.filter(({ script }) => (provided.get(script)?.language ?? 0) > 0);
}
