/**
 * Transactions from an Ogmios server: by their CBOR where the server sends it (`--include-cbor`), otherwise by their
 * JSON.
 *
 * CBOR must hash to the transaction's id. JSON does not tell the bytes, so its id has to be trusted, and the members of a
 * transaction that are bytes (its body, its witnesses, its outputs) are encoded here.
 */
import { fromHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { BodyTransaction } from "#src/cardano/scanBody.ts";
import { hexOf, isGiven, type JsonObject, objectOf, OgmiosFormError } from "#src/ogmios/form.ts";

/** Tags of eras, as in `[era, block]`. */
const BYRON = 1;
const SHELLEY = 2;

/** A transaction of a block of an era. Throws `OgmiosFormError` or `CborError`. */
export function readTransaction(json: Json, index: number, era: number): ScannedTransaction {
  const transaction = objectOf(json, "the transaction");
  const id = hexOf(transaction.id, "the transaction's id", 32);
  if (era > BYRON && isGiven(transaction.cbor)) return ofCbor(transaction, id, index, era);
  throw new OgmiosFormError("a transaction has no CBOR: the server has to be started with --include-cbor");
}

function ofCbor({ cbor, spends }: JsonObject, id: string, index: number, era: number): ScannedTransaction {
  const { hash, valid, body, witnesses, auxiliaryData } = scanTransaction(fromHex(hexOf(cbor, "cbor")));
  if (hash !== id) throw new OgmiosFormError(`the CBOR of the transaction ${id} is that of another one`);
  if (valid !== (spends !== "collaterals")) {
    throw new OgmiosFormError(`the CBOR of the transaction ${id} says otherwise whether its scripts succeed`);
  }
  return new BodyTransaction({ index, valid, body, witnesses, auxiliaryData, lastSlotIncluded: era === SHELLEY });
}
