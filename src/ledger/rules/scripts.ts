/** Scripts: all there, none too many, well-formed, the native ones in agreement (rule UTXOW). */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { agrees } from "#src/cardano/nativeScript.ts";
import type { Script } from "#src/cardano/conway/script.ts";
import type { Scripts } from "#src/ledger/scripts.ts";
import type { Transaction } from "#src/cardano/conway/transaction.ts";
import { signers } from "#src/ledger/keys.ts";
import { isWellFormed } from "#src/plutus/wellFormed.ts";

/** Checks the scripts of a transaction, save those of Plutus running. */
export function checkScripts({ body, witnesses }: Transaction, scripts: Scripts, major: number): LedgerFailure[] {
  const { needed, provided, references } = scripts;
  const failures: LedgerFailure[] = [];
  const refused = (name: ScriptFailure, hashes: readonly string[]) => {
    if (hashes.length > 0) failures.push({ name, scripts: hashes });
  };
  const keys = signers(witnesses);
  refused(
    "ScriptWitnessNotValidatingUTXOW",
    [...needed].filter((hash) => {
      const script = provided.get(hash);
      return script?.language === 0 && !agrees(script.native, keys, body);
    }),
  );
  refused("MissingScriptWitnessesUTXOW", [...needed].filter((hash) => !provided.has(hash)));
  refused(
    "ExtraneousScriptWitnessesUTXOW",
    [...witnesses.scripts.keys()].filter((hash) => !needed.has(hash) || references.has(hash)),
  );
  const malformed = (of: readonly (Script | undefined)[]) =>
    of.flatMap((script) =>
      script && script.language > 0 && "bytes" in script && !isWellFormed(script.bytes, script.language, major)
        ? [script.hash]
        : []
    );
  refused("MalformedScriptWitnesses", malformed([...witnesses.scripts.values()]));
  const created = body.collateralReturn ? [...body.outputs, body.collateralReturn] : body.outputs;
  refused("MalformedReferenceScripts", [...new Set(malformed(created.map(({ script }) => script)))]);
  return failures;
}

type ScriptFailure = Extract<LedgerFailure, { readonly scripts: readonly string[] }>["name"];
