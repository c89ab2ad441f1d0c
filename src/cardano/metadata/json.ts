/**
 * Metadata in JSON, in two forms. Tagged: each value states its type (`{"int": 1}`, `{"string": "…"}`, `{"bytes":
 * "hex"}`, `{"list": […]}`, `{"map": [{"k": …, "v": …}]}`). Plain: ordinary JSON, bytes as a text that starts with 0x,
 * map keys as texts. Runs in a browser.
 */
import { fromHex, isHex, isWellFormed, toHex } from "#src/base/bytes.ts";
import { isObject, type Json, toJson } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import {
  isList,
  MAX_BYTES,
  MAX_INTEGER,
  type Metadata,
  type Metadatum,
  MetadatumMap,
  textFault,
} from "#src/cardano/metadata/metadatum.ts";

/** JSON that is not metadata; the message says where and why. */
type BadMetadata = Failure<"bad_request">;

/** The two forms. */
export type MetadataForm = "tagged" | "plain";

class InvalidMetadata extends Error {}

/** Deepest nesting of values: a deeper one could not be read back from a transaction. */
const MAX_DEPTH = 100;

const TAGS = ["int", "string", "bytes", "list", "map"];

/**
 * Reads metadata in either form: tagged where every value has a tag, else plain. Invalid tagged values are refused and
 * not read as plain ones, because what is on the ledger cannot be corrected. `json` comes from `parseJson`, so that
 * integers are exact.
 */
export function readMetadata(json: Json): Result<Metadata, BadMetadata> {
  if (!isObject(json)) {
    return fail("bad_request", "Error in $.metadata: The JSON metadata top level must be a map (JSON object)");
  }
  const isTagged = Object.values(json).every((value) =>
    isObject(value) && Object.keys(value).length === 1 && Object.keys(value).every((tag) => TAGS.includes(tag))
  );
  if (depthOf(json) > 2 * MAX_DEPTH) {
    return fail("bad_request", `Error in $.metadata: Values are nested more than ${MAX_DEPTH} deep.`);
  }
  return attempt(json, isTagged ? taggedValue : plainValue);
}

/** Nesting depth, found level by level: hostile input must not exhaust the stack. */
function depthOf(json: Json): number {
  let depth = 0;
  for (let level: Json[] = [json]; level.length > 0; depth++) {
    level = level.flatMap((one) => Array.isArray(one) ? one : isObject(one) ? Object.values(one) : []);
  }
  return depth;
}

function attempt(json: { [key: string]: Json }, read: (json: Json) => Metadatum): Result<Metadata, BadMetadata> {
  try {
    return ok(new Map(Object.entries(json).map(([label, value]) => [labelOf(label), read(value)])));
  } catch (error) {
    if (error instanceof InvalidMetadata) return fail("bad_request", `Error in $.metadata: ${error.message}`);
    throw error;
  }
}

function labelOf(text: string): bigint {
  const label = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
  if (label < 0n || label > MAX_INTEGER) {
    throw new InvalidMetadata(
      `The JSON metadata top level must be a map with unsigned integer keys. Invalid key: ${
        JSON.stringify(text.slice(0, 80))
      }`,
    );
  }
  return label;
}

function integer(json: Json): bigint {
  const isWhole = typeof json === "bigint" || (typeof json === "number" && Number.isInteger(json));
  if (!isWhole) throw new InvalidMetadata("A number is no whole number.");
  const value = BigInt(json);
  if (value > MAX_INTEGER || value < -MAX_INTEGER) {
    throw new InvalidMetadata(`Numeric metadata value ${value} is outside the range -(2^64-1) .. 2^64-1.`);
  }
  return value;
}

function text(json: Json): string {
  if (typeof json !== "string" || !isWellFormed(json)) throw new InvalidMetadata("A string is no text.");
  const fault = textFault(json);
  if (fault !== undefined) throw new InvalidMetadata(fault);
  return json;
}

function bytes(hex: Json): Uint8Array {
  if (typeof hex !== "string" || !isHex(hex)) throw new InvalidMetadata("Bytes are not hexadecimal.");
  if (hex.length > 2 * MAX_BYTES) {
    throw new InvalidMetadata(
      `Byte string metadata value must consist of at most ${MAX_BYTES} bytes, but it consists of ${
        hex.length / 2
      } bytes.`,
    );
  }
  return fromHex(hex);
}

function list(json: Json | undefined): readonly Json[] {
  if (!Array.isArray(json)) throw new InvalidMetadata("A list is no array.");
  return json;
}

function taggedValue(json: Json): Metadatum {
  const [entry, more] = isObject(json) ? Object.entries(json) : [];
  if (!entry || more) {
    throw new InvalidMetadata("A value must be an object with one of: int, string, bytes, list, map.");
  }
  const [tag, value] = entry;
  switch (tag) {
    case "int":
      return integer(value);
    case "string":
      return text(value);
    case "bytes":
      return bytes(value);
    case "list":
      return list(value).map(taggedValue);
    case "map":
      return new MetadatumMap(
        list(value).map((pair) => {
          if (!isObject(pair) || pair["k"] === undefined || pair["v"] === undefined || Object.keys(pair).length !== 2) {
            throw new InvalidMetadata('An element of a map must be an object of "k" and "v".');
          }
          return [taggedValue(pair["k"]), taggedValue(pair["v"])];
        }),
      );
    default:
      throw new InvalidMetadata(`There is no type ${JSON.stringify(tag.slice(0, 80))}.`);
  }
}

function plainText(json: string): Metadatum {
  return /^0x([0-9a-f]{2})*$/.test(json) ? bytes(json.slice(2)) : text(json);
}

function plainKey(key: string): Metadatum {
  return /^-?\d{1,20}$/.test(key) && `${BigInt(key)}` === key && key.length <= 21
    ? integer(BigInt(key))
    : plainText(key);
}

function plainValue(json: Json): Metadatum {
  if (typeof json === "number" || typeof json === "bigint") return integer(json);
  if (typeof json === "string") return plainText(json);
  if (Array.isArray(json)) return json.map(plainValue);
  if (isObject(json)) {
    return new MetadatumMap(Object.entries(json).map(([key, value]) => [plainKey(key), plainValue(value)]));
  }
  throw new InvalidMetadata(`${json} is no metadata.`);
}

/** Metadata as JSON; integers beyond 2^53 are `bigint`, which `toJson` writes exactly. */
export function metadataJson(metadata: Metadata, form: MetadataForm = "tagged"): { [label: string]: Json } {
  const write = form === "tagged" ? taggedJson : plainJson;
  return Object.fromEntries([...metadata].map(([label, value]) => [`${label}`, write(value)]));
}

function number(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

function taggedJson(value: Metadatum): Json {
  if (typeof value === "bigint") return { int: number(value) };
  if (typeof value === "string") return { string: value };
  if (value instanceof Uint8Array) return { bytes: toHex(value) };
  if (isList(value)) return { list: value.map(taggedJson) };
  return { map: value.entries.map(([k, v]) => ({ k: taggedJson(k), v: taggedJson(v) })) };
}

function plainJson(value: Metadatum): Json {
  if (typeof value === "bigint") return number(value);
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return `0x${toHex(value)}`;
  if (isList(value)) return value.map(plainJson);
  return Object.fromEntries(value.entries.map(([key, entry]) => [keyText(key), plainJson(entry)]));
}

/** A map key as a text; a list or a map becomes its JSON. */
function keyText(key: Metadatum): string {
  const json = plainJson(key);
  return typeof json === "string" ? json : toJson(json);
}
