/** Plutus data in the detailed JSON of `cardano-cli`, which Blockfrost uses. */
import { toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { Constr, type Data, DataMap } from "#src/cardano/data.ts";

/** The JSON of data: `{int}`, `{bytes}`, `{list}`, `{map: [{k, v}]}` or `{constructor, fields}`. */
export function dataJson(data: Data): Json {
  if (typeof data === "bigint") return { int: data };
  if (data instanceof Uint8Array) return { bytes: toHex(data) };
  if (data instanceof Constr) return { constructor: data.tag, fields: data.fields.map(dataJson) };
  if (data instanceof DataMap) return { map: data.entries.map(([k, v]) => ({ k: dataJson(k), v: dataJson(v) })) };
  return { list: data.map(dataJson) };
}
