/** What an output must hold, and how large it is. */
import { as, decode, encode } from "#src/cardano/cbor.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { encodeOutput, type NewOutput } from "#src/cardano/transaction.ts";
import { encodeValue, type Value } from "#src/cardano/value.ts";
import { minUtxo } from "#src/transaction/minUtxo.ts";

/** Least lovelace of an output as it stands, its own lovelace counted with the bytes it takes. */
export function neededLovelace(parameters: Pick<Parameters, "utxoCostPerByte">, output: NewOutput): bigint {
  return minUtxo(parameters, encodeOutput(output).length);
}

/** Least lovelace that an output with this address, assets, datum and script can hold. */
export function leastLovelace(parameters: Pick<Parameters, "utxoCostPerByte">, output: NewOutput): bigint {
  let lovelace = 0n;
  for (;;) {
    const needed = neededLovelace(parameters, { ...output, value: { ...output.value, lovelace } });
    if (needed <= lovelace) return lovelace;
    lovelace = needed;
  }
}

/** The output with more lovelace, where it has less than it must hold. */
export function atLeast(parameters: Pick<Parameters, "utxoCostPerByte">, output: NewOutput): NewOutput {
  if (output.value.lovelace >= neededLovelace(parameters, output)) return output;
  return { ...output, value: { ...output.value, lovelace: leastLovelace(parameters, output) } };
}

/** Bytes of a value, of which the ledger allows `maxValueSize` in an output. */
export function valueSize(value: Value): number {
  return encode(encodeValue(value)).length;
}

/** Bytes that a reference script counts in the fee (ledger: `originalBytesSize`); `script` is that of an output. */
export function refScriptSize(script: Uint8Array): number {
  const [language, content] = as(decode(script), "array").value;
  if (language?.type === "int" && language.value > 0n) return as(content, "bytes").value.length;
  return content!.end - content!.start;
}
