/**
 * Metadata in Ogmios' JSON: each label has plain JSON where the value has such a form, or its CBOR. Byte strings, empty maps, maps whose keys are
 * neither integers nor texts or come twice, and values that are nested too deeply have none.
 */
import { toHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import { type Encodable, encode, Encoded, Entries } from "#src/cardano/cbor.ts";
import { metadataJson } from "#src/cardano/metadata/json.ts";
import { decodeMetadata } from "#src/cardano/metadata/metadatum.ts";
import { major, Walk } from "#src/cardano/walk.ts";
import {
  bytesOf,
  integerOf,
  isGiven,
  type JsonObject,
  listOf,
  objectOf,
  OgmiosFormError,
  textOf,
} from "#src/ogmios/form.ts";

/** Depth to which a value gets a JSON form. */
const DEEPEST = 100;
/** Depth to which a value's JSON is read. */
const DEEPEST_READ = 1_000;

/** How metadata is written: with the CBOR of values that have a JSON form too; with values that state their type. */
interface LabelsForm {
  readonly cbor?: boolean | undefined;
  readonly detailedMetadata?: boolean | undefined;
}

/** The labels of metadata, each with the CBOR of its value. */
export function labelsJson(
  metadata: ReadonlyMap<bigint, Uint8Array>,
  { cbor: withCbor, detailedMetadata }: LabelsForm = {},
): JsonObject {
  const labels: { [label: string]: Json } = {};
  for (const [label, cbor] of metadata) {
    const json = detailedMetadata ? detailedJson(label, cbor) : metadatumJson(new Walk(cbor), 0);
    labels[`${label}`] = json === undefined ? { cbor: toHex(cbor) } : withCbor ? { cbor: toHex(cbor), json } : { json };
  }
  return labels;
}

function detailedJson(label: bigint, cbor: Uint8Array): Json | undefined {
  return metadataJson(decodeMetadata(encode(new Map([[label, new Encoded(cbor)]]))))[`${label}`];
}

/** The plain JSON of a value, which the walk may leave unread if it has none. */
function metadatumJson(walk: Walk, depth: number): Json | undefined {
  if (depth > DEEPEST) return undefined;
  switch (walk.major) {
    case major.bytes:
      return undefined;
    case major.text:
      return walk.text();
    case major.array: {
      const list: Json[] = [];
      const count = walk.array();
      for (let i = 0; walk.more(i, count); i++) {
        const one = metadatumJson(walk, depth + 1);
        if (one === undefined) return undefined;
        list.push(one);
      }
      return list;
    }
    case major.map: {
      const members = new Map<string, Json>();
      const count = walk.map();
      for (let i = 0; walk.more(i, count); i++) {
        const key = metadatumKey(walk);
        if (key === undefined || members.has(key)) return undefined;
        const one = metadatumJson(walk, depth + 1);
        if (one === undefined) return undefined;
        members.set(key, one);
      }
      if (members.size === 0) return undefined;
      // a key may be `__proto__`
      return Object.fromEntries(members);
    }
    default:
      return jsonInteger(walk.int());
  }
}

/** The key of a map as a text; undefined for one that is neither an integer nor a text. */
function metadatumKey(walk: Walk): string | undefined {
  switch (walk.major) {
    case major.text:
      return walk.text();
    case major.uint:
    case major.nint:
      return `${walk.int()}`;
    default:
      return undefined;
  }
}

/**
 * Metadata out of its labels, to be encoded as a map by label. Plain JSON does not tell a text of digits from an integer where it is the key of a
 * map: it is read as an integer. A label whose value is nested too deeply is left out: what a chain holds must not stop its reader.
 *
 * @throws OgmiosFormError
 */
export function readLabels(json: Json | undefined): ReadonlyMap<bigint, Encodable> {
  const labels = Object.entries(objectOf(json, "the labels")).map(([label, value]) => {
    if (!/^\d{1,20}$/.test(label)) throw new OgmiosFormError("a label is not a number");
    return [BigInt(label), objectOf(value, "a label")] as const;
  }).filter(([, { cbor, json }]) => isGiven(cbor) || depthOf(json) <= DEEPEST_READ);
  const values = labels.flatMap(([, { cbor, json }]) => isGiven(cbor) ? [] : [json]);
  const read = values.every(isTagged) ? taggedValue : plainValue;
  return new Map(
    labels.map(([label, { cbor, json }]) => [
      label,
      isGiven(cbor) ? new Encoded(bytesOf(cbor, "cbor")) : new Encoded(encode(read(json))),
    ]),
  );
}

/** Nesting of a value, found level by level. */
function depthOf(json: Json | undefined): number {
  let depth = 0;
  for (let level: Json[] = [json ?? null]; level.length > 0; depth++) {
    level = level.flatMap((one) => typeof one !== "object" || one === null ? [] : Object.values(one));
  }
  return depth;
}

/** Whether a value states its type, as a server writes it with `--metadata-detailed-schema`. */
function isTagged(json: Json | undefined): boolean {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return false;
  const [[tag, value] = [], more] = Object.entries(json);
  if (more !== undefined) return false;
  if (tag === "list" || tag === "map") return Array.isArray(value);
  if (tag === "string" || tag === "bytes") return typeof value === "string";
  return tag === "int" && (typeof value === "number" || typeof value === "bigint");
}

function taggedValue(json: Json | undefined): Encodable {
  const { int, string, bytes, list, map } = objectOf(json, "a value of metadata");
  if (int !== undefined) return integerOf(int, "int");
  if (string !== undefined) return textOf(string, "string");
  if (bytes !== undefined) return bytesOf(bytes, "bytes");
  if (list !== undefined) return listOf(list, "list").map((one) => taggedValue(one));
  return new Entries(
    listOf(map, "map").map((pair) => {
      const { k, v } = objectOf(pair, "a member of a map");
      return [taggedValue(k), taggedValue(v)];
    }),
  );
}

function plainValue(json: Json | undefined): Encodable {
  if (typeof json === "string") return json;
  if (Array.isArray(json)) return json.map((one) => plainValue(one));
  if (typeof json !== "object" || json === null) return integerOf(json, "a value of metadata");
  return new Map(
    Object.entries(json).map(([key, one]) => [
      /^(0|-?[1-9]\d{0,19})$/.test(key) ? BigInt(key) : key,
      plainValue(one),
    ]),
  );
}
