/** Metadata of transactions, each value with its type. */
import { toHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { asInt, decodeAll, type Item, raw } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";

/** The JSON of a transaction's auxiliary data (CBOR): its hash, its bytes, and its metadata by label. */
export function metadataJson(auxiliaryData: Uint8Array): Json {
  const { metadata } = readAuxiliaryData(auxiliaryData);
  return {
    hash: hash256(auxiliaryData),
    raw: toHex(auxiliaryData),
    schema: Object.fromEntries([...metadata].map(([label, cbor]) => [String(label), schemaOf(decodeAll(cbor))])),
  };
}

/** A value with its type. Keys of maps may repeat; what is nested too deeply is given as its CBOR. */
function schemaOf(item: Item): Json {
  switch (item.type) {
    case "text":
      return { string: item.value };
    case "bytes":
      return { bytes: toHex(item.value) };
    case "array":
      return { list: item.value.map(schemaOf) };
    case "map":
      return { map: item.value.map(([k, v]) => ({ k: schemaOf(k), v: schemaOf(v) })) };
    case "deep":
      return { bytes: toHex(raw(item)) };
    default:
      return { int: jsonInteger(asInt(item)) };
  }
}
