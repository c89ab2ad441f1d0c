/** Datums: those of inputs are there, and no others save those of outputs (rule UTXOW, `missingRequiredDatums`). */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { type Input, paymentCredential } from "#src/ledger/inputs.ts";
import type { Scripts } from "#src/ledger/scripts.ts";

/** Checks the datums in the witness set (`given`, by their hashes). */
export function checkDatums(
  body: Body,
  given: ReadonlyMap<string, unknown>,
  inputs: readonly Input[],
  references: readonly Input[],
  { provided }: Scripts,
): LedgerFailure[] {
  const required = new Set<string>();
  const without: OutRef[] = [];
  for (const { ref, output, address } of inputs) {
    const credential = paymentCredential(address);
    const language = credential?.kind === "script" ? provided.get(credential.hash)?.language ?? 0 : 0;
    if (language === 0) continue;
    if (output.datumHash !== undefined) required.add(output.datumHash);
    else if (!output.datum && language < 3) without.push(ref);
  }
  const acceptable = new Set(
    [
      ...body.outputs.map(({ output }) => output),
      ...(body.collateralReturn ? [body.collateralReturn.output] : []),
      ...references.map(({ output }) => output),
    ].flatMap(({ datumHash }) => datumHash ?? []),
  );
  const failures: LedgerFailure[] = [];
  if (without.length > 0) failures.push({ name: "UnspendableUTxONoDatumHash", inputs: without });
  const missing = [...required].filter((hash) => !given.has(hash));
  if (missing.length > 0) failures.push({ name: "MissingRequiredDatums", missing, received: [...given.keys()] });
  const unallowed = [...given.keys()].filter((hash) => !required.has(hash) && !acceptable.has(hash));
  if (unallowed.length > 0) {
    failures.push({ name: "NotAllowedSupplementalDatums", unallowed, acceptable: [...acceptable] });
  }
  return failures;
}
