/** Outputs and references to them. */
import type { Encodable } from "#src/cardano/cbor.ts";
import { type Constr, constr, type Data, decodeData } from "#src/cardano/data.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { referenceScriptHash } from "#src/cardano/conway/script.ts";
import { addressData } from "#src/plutus/context/address.ts";
import { Untranslatable } from "#src/plutus/context/error.ts";
import { bytes, maybe } from "#src/plutus/context/forms.ts";
import { valueData } from "#src/plutus/context/value.ts";

/** The place of an output: spent by an input, or made (ledger: `TxOutSource`). */
export type Source = { readonly input: OutRef } | { readonly output: number };

/** The place of an output in an error. */
function placeOf(source: Source): [about: string, detail: Encodable] {
  return "input" in source
    ? [`input ${refKey(source.input)}`, [0, refItem(source.input)]]
    : [`output ${source.output}`, [1, source.output]];
}

/** `TxIn`, as it is encoded in errors. */
export function refItem({ txHash, index }: OutRef): Encodable {
  return [bytes(txHash), index];
}

/** Translates an output for one Plutus version. */
export type ShowOutput = (output: Output, source: Source) => Constr;

/** `TxOut` of Plutus V1: only the hash of a datum, and no reference script. It cannot represent an inline datum. */
export const outputV1: ShowOutput = (output, source) => {
  if (output.datum) throw new Untranslatable("InlineDatumsNotSupported", ...placeOf(source));
  const hash = output.datumHash === undefined ? undefined : bytes(output.datumHash);
  return constr(0, shownAddress(output, source), valueData(output.value), maybe(hash));
};

/** `TxOut` of Plutus V2 and V3. */
export const outputV2: ShowOutput = (output, source) =>
  constr(
    0,
    shownAddress(output, source),
    valueData(output.value),
    datumData(output),
    maybe(output.script && bytes(referenceScriptHash(output.script))),
  );

function shownAddress({ address }: Output, source: Source): Constr {
  const data = addressData(address);
  if (!data) throw new Untranslatable("ByronTxOutInContext", ...placeOf(source));
  return data;
}

/** `OutputDatum`. */
function datumData({ datum, datumHash }: Output): Constr {
  if (datum) return constr(2, decodeData(datum));
  return datumHash === undefined ? constr(0) : constr(1, bytes(datumHash));
}

/** Translates a transaction id for one Plutus version. */
type ShowId = (txHash: string) => Data;

/** `TxId` of Plutus V1 and V2: a constructor around the bytes. */
export const wrappedId: ShowId = (txHash) => constr(0, bytes(txHash));

/** `TxId` of Plutus V3: the bytes. */
export const plainId: ShowId = bytes;

/** `TxOutRef`. */
export function refData({ txHash, index }: OutRef, id: ShowId): Constr {
  return constr(0, id(txHash), BigInt(index));
}

/** Outputs by `refKey` of their reference. */
export type Resolved = ReadonlyMap<string, Output>;

/** `[TxInInfo]`; `refs` must be in the ledger's order. */
export function inputsData(refs: readonly OutRef[], resolved: Resolved, id: ShowId, show: ShowOutput): Constr[] {
  return refs.map((ref) => {
    const output = resolved.get(refKey(ref));
    if (!output) throw new Untranslatable("TranslationLogicMissingInput", `input ${refKey(ref)}`, refItem(ref));
    return constr(0, refData(ref, id), show(output, { input: ref }));
  });
}
