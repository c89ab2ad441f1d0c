/** Plutus data in the detailed JSON of `cardano-cli`, which Blockfrost uses. */
import { toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { Constr, type Data, DataMap } from "#src/cardano/data.ts";

/** Depth to which data has a JSON form: JSON is written and read by recursion. */
const DEEPEST = 300;

/**
 * The JSON of data: `{int}`, `{bytes}`, `{list}`, `{map: [{k, v}]}` or `{constructor, fields}`; undefined for data that is
 * nested too deeply.
 */
export function dataJson(data: Data): Json | undefined {
  return isDeep(data) ? undefined : jsonOf(data);
}

function jsonOf(data: Data): Json {
  if (typeof data === "bigint") return { int: data };
  if (data instanceof Uint8Array) return { bytes: toHex(data) };
  if (data instanceof Constr) return { constructor: data.tag, fields: data.fields.map(jsonOf) };
  if (data instanceof DataMap) return { map: data.entries.map(([k, v]) => ({ k: jsonOf(k), v: jsonOf(v) })) };
  return { list: data.map(jsonOf) };
}

function isDeep(data: Data): boolean {
  const rest: (readonly [value: Data, depth: number])[] = [[data, 0]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [one, depth] = next;
    if (typeof one === "bigint" || one instanceof Uint8Array) continue;
    if (depth >= DEEPEST) return true;
    const inner = one instanceof Constr ? one.fields : one instanceof DataMap ? one.entries.flat() : one;
    for (const each of inner) rest.push([each, depth + 1]);
  }
  return false;
}
