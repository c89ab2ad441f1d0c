/** The least lovelace an output must hold, and the sizes that limits and fees count. */
import { as, CborError, decode, encode } from "#src/cardano/cbor.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { encodeOutput, type NewOutput } from "#src/cardano/transaction.ts";
import { encodeValue, type Value } from "#src/cardano/value.ts";
import { minUtxo } from "#src/transaction/minUtxo.ts";

/** The parameter that the least lovelace of an output depends on. */
export type OutputCost = Pick<Parameters, "utxoCostPerByte">;

/** CBOR widths of an unsigned integer, widest first, with the smallest amount that needs each width. */
const WIDTHS = [[9, 1n << 32n], [5, 1n << 16n], [3, 1n << 8n], [2, 24n]] as const;

function sizeWith(output: NewOutput, lovelace: bigint): number {
  return encodeOutput({ ...output, value: { ...output.value, lovelace } }).length;
}

/** Least lovelace of an output at its present size: its own amount counts with the bytes it takes. */
export function neededLovelace(parameters: OutputCost, output: NewOutput): bigint {
  return minUtxo(parameters, encodeOutput(output).length);
}

/**
 * Least lovelace that an output with this address, assets, datum and script can hold; every larger amount is allowed
 * too.
 */
export function leastLovelace(parameters: OutputCost, output: NewOutput): bigint {
  const narrowest = sizeWith(output, 0n);
  for (const [width, from] of WIDTHS) {
    const needed = minUtxo(parameters, narrowest - 1 + width);
    if (needed > from) return needed;
  }
  return minUtxo(parameters, narrowest);
}

/**
 * Least lovelace computed with the widest amount, so that it does not depend on the amount. cardano-wallet uses this
 * rule; it gives at most 8 bytes' worth more than `leastLovelace`.
 */
export function stableMinimum(parameters: OutputCost, output: NewOutput): bigint {
  return minUtxo(parameters, sizeWith(output, (1n << 64n) - 1n));
}

/** The output, raised to its least lovelace where it has less. */
export function atLeast(parameters: OutputCost, output: NewOutput): NewOutput {
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
  if (!content) throw new CborError("a script without content");
  return content.end - content.start;
}

/** Bytes of all reference scripts in outputs; a script in two outputs counts twice, as in the ledger. */
export function refScriptBytes(utxos: readonly Utxo[]): number {
  return utxos.reduce((bytes, { output: { script } }) => bytes + (script ? refScriptSize(script) : 0), 0);
}
