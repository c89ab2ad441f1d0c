/** Outputs, and the items of a UTxO set, in Ogmios' JSON. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { CborError, decode, decodeAll, type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import { type Output, type OutRef, readOutput as decodeOutput, type Utxo } from "#src/cardano/output.ts";
import { encodeValue, type Value } from "#src/cardano/value.ts";
import {
  amountOf,
  bytesOf,
  countOf,
  hexOf,
  isGiven,
  type JsonObject,
  objectOf,
  OgmiosFormError,
} from "#src/ogmios/form.ts";
import { readScript, scriptJson } from "#src/ogmios/scripts.ts";
import { addressJson, readAddressJson, readValue, refJson, valueJson } from "#src/ogmios/values.ts";

/** Most outputs of a request. */
const MOST = 1_000;

/** An output of any era. `withCbor` adds the CBOR of a native script. */
export function outputJson(output: Output, withCbor = true): { [name: string]: Json } {
  const json: { [name: string]: Json } = { address: addressJson(output.address), value: valueJson(output.value) };
  if (output.datum) json.datum = toHex(output.datum);
  else if (output.datumHash !== undefined) json.datumHash = output.datumHash;
  if (output.script) json.script = scriptJson(output.script, withCbor);
  return json;
}

/** An item of a UTxO set. */
export function utxoJson({ ref, output }: Utxo): { [name: string]: Json } {
  return { ...refJson(ref), ...outputJson(output) };
}

/**
 * An output. Its bytes are encoded here: the JSON does not tell those that the chain has. Values and scripts may also have the forms of
 * version 5.
 *
 * @throws OgmiosFormError, or CborError for a script or datum that is no CBOR
 */
export function readOutput(json: Json | undefined): Output {
  const output = objectOf(json, "the output");
  if (typeof output.address !== "string") throw new OgmiosFormError("the output has no address");
  const address = fromHex(readAddressJson(output.address));
  const value = encodeValue(readAnyValue(output.value));
  const datumHash = output.datumHash ?? output.datum_hash;
  const hash = isGiven(datumHash) ? bytesOf(datumHash, "datumHash") : undefined;
  // the short form of older eras where it says all, as wallets write it
  if (!isGiven(output.datum) && !isGiven(output.script)) {
    return decodeOutput(decode(encode(hash ? [address, value, hash] : [address, value])));
  }
  const fields = new Map<Encodable, Encodable>([[0, address], [1, value]]);
  if (isGiven(output.datum)) {
    const datum = bytesOf(output.datum, "datum");
    decodeAll(datum);
    fields.set(2, [1, new Tagged(24, datum)]);
  } else if (hash) fields.set(2, [0, hash]);
  if (isGiven(output.script)) fields.set(3, new Tagged(24, readScript(output.script)));
  return decodeOutput(decode(encode(fields)));
}

/** `{ada: {lovelace}, policy: {name: quantity}}`, or `{coins, assets: {"policy.name": quantity}}` of version 5. */
function readAnyValue(json: Json | undefined): Value {
  if (!isObject(json)) throw new OgmiosFormError("the output has no value");
  if (isObject(json.ada)) return readValue(json);
  const { coins, assets: flat } = json;
  const assets = new Map<string, bigint>();
  if (isObject(flat)) {
    for (const [unit, quantity] of Object.entries(flat)) {
      const asset = unit.replace(".", "");
      if (asset.length < 56) throw new OgmiosFormError(`${unit.slice(0, 120)} is no asset`);
      assets.set(hexOf(asset, `${unit.slice(0, 120)}`), amountOf(quantity, "an amount"));
    }
  }
  return { lovelace: amountOf(coins, "an amount"), assets };
}

/** An item of a UTxO set. @throws as `readOutput` */
export function readUtxo(json: Json): Utxo {
  const item = objectOf(json, "the output");
  return { ref: readAnyRef(item), output: readOutput(item) };
}

/** `{transaction: {id}, index}`, or `{txId, index}` of version 5. */
function readAnyRef({ txId, transaction, index }: JsonObject): OutRef {
  const id = isObject(transaction) ? transaction.id : txId;
  return { txHash: hexOf(id, "the transaction's id", 32), index: countOf(index, "index") };
}

/** Reads the additional outputs of an evaluation: items of a UTxO set, or the `[[reference, output], …]` of version 5. */
export function readAdditionalUtxos(json: Json): Result<readonly Utxo[], Failure<"bad_utxos">> {
  if (!Array.isArray(json)) return fail("bad_utxos", "must be array");
  if (json.length > MOST) return fail("bad_utxos", `must NOT have more than ${MOST} items`);
  const utxos: Utxo[] = [];
  for (const [index, item] of json.entries()) {
    try {
      utxos.push(readPair(item));
    } catch (error) {
      if (!(error instanceof OgmiosFormError || error instanceof CborError)) throw error;
      return fail("bad_utxos", `${index}: ${error.message}`);
    }
  }
  return ok(utxos);
}

function readPair(item: Json): Utxo {
  if (!Array.isArray(item)) return readUtxo(item);
  const [reference, output] = item;
  if (item.length !== 2 || !isObject(reference)) throw new OgmiosFormError("expected a pair of TxIn and TxOut");
  return { ref: readAnyRef(reference), output: readOutput(output) };
}
