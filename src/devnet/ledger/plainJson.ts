/**
 * JSON encoding of plain data that decodes to the same values: `bigint` as `{int}`, bytes as `{hex}`, a `Map` as
 * `{map}`. Undefined members are left out.
 */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { type Json, toJson } from "#src/base/json.ts";

/** Encodes a value. */
export function toPlain(value: unknown): Json {
  if (typeof value === "bigint") return { int: value.toString() };
  if (value instanceof Uint8Array) return { hex: toHex(value) };
  if (value instanceof Map) return { map: [...value].map(([key, entry]) => [toPlain(key), toPlain(entry)]) };
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (value === undefined || value === null) return null;
  if (typeof value !== "object") throw new TypeError(`a ${typeof value} is not plain data`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, toPlain(member)]));
}

/** The JSON text of `toPlain`, in parts: for a map, one for each entry. */
export function* plainTexts(value: unknown): Iterable<string> {
  if (!holdsMaps(value)) yield toJson(toPlain(value));
  else if (value instanceof Map) yield* textsOf('{"map":[', value, "[", (key) => `${toJson(toPlain(key))},`, "]", "]}");
  else {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    yield* textsOf("{", members, "", (name) => `${toJson(name)}:`, "", "}");
  }
}

/** Opens, gives the texts of entries, each between two marks and with its key as text, and closes. */
function* textsOf<K>(
  open: string,
  entries: Iterable<readonly [K, unknown]>,
  before: string,
  keyText: (key: K) => string,
  after: string,
  close: string,
): Iterable<string> {
  let start = open + before;
  for (const [key, value] of entries) {
    const head = start + keyText(key);
    if (holdsMaps(value)) {
      yield head;
      yield* plainTexts(value);
      yield after;
    } else yield head + toJson(toPlain(value)) + after;
    start = `,${before}`;
  }
  yield start.startsWith(",") ? close : open + close;
}

/** Whether a value is a map, or an object with such a member at any depth; in lists there is none with many entries. */
export function holdsMaps(value: unknown): value is object {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array || Array.isArray(value)) return false;
  return value instanceof Map || Object.values(value).some(holdsMaps);
}

/** Decodes the JSON of `toPlain`. */
export function fromPlain(json: Json): unknown {
  if (Array.isArray(json)) return json.map(fromPlain);
  if (typeof json !== "object" || json === null) return json;
  if (typeof json.int === "string") return BigInt(json.int);
  if (typeof json.hex === "string") return fromHex(json.hex);
  if (Array.isArray(json.map)) return new Map(json.map.map(entryFromPlain));
  return Object.fromEntries(Object.entries(json).map(([name, member]) => [name, fromPlain(member)]));
}

function entryFromPlain(entry: Json): [unknown, unknown] {
  const [key, value] = Array.isArray(entry) ? entry : [];
  if (key === undefined || value === undefined) throw new TypeError("an entry of a map has no key or no value");
  return [fromPlain(key), fromPlain(value)];
}
