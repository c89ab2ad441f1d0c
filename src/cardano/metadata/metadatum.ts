/** Metadata of transactions: labels and values, as CBOR. */
import { utf8 } from "#src/base/bytes.ts";
import { as, asInt, CborError, decodeAll, type Encodable, encode, Entries, type Item, raw } from "#src/cardano/cbor.ts";

/** A value: integer, text, bytes, list, or map with any values as keys. */
export type Metadatum =
  | bigint
  | string
  | Uint8Array
  | readonly Metadatum[]
  | MetadatumMap;

/** A map in its order. The ledger keeps every entry, also several of one key. */
export class MetadatumMap {
  constructor(readonly entries: readonly (readonly [Metadatum, Metadatum])[]) {}
}

/** Whether a value is a list; `Array.isArray` does not narrow a type with read-only lists. */
export function isList(value: Metadatum | undefined): value is readonly Metadatum[] {
  return Array.isArray(value);
}

/** Values by label, 0 to 2^64 − 1. */
export type Metadata = ReadonlyMap<bigint, Metadatum>;

/** Largest absolute value of an integer. */
export const MAX_INTEGER = (1n << 64n) - 1n;
/** Most bytes of a text or a byte string. */
export const MAX_BYTES = 64;

/** CBOR of metadata, labels ascending: this is valid auxiliary data. */
export function encodeMetadata(metadata: Metadata): Uint8Array {
  const labels = [...metadata].sort(([a], [b]) => a < b ? -1 : 1);
  return encode(new Map(labels.map(([label, value]) => [label, encodableOf(value)])));
}

function encodableOf(value: Metadatum): Encodable {
  if (isList(value)) return value.map(encodableOf);
  if (!(value instanceof MetadatumMap)) return value;
  return new Entries(value.entries.map(([key, one]) => [encodableOf(key), encodableOf(one)]));
}

/**
 * Metadata from the CBOR map of a transaction. A value that is nested too deeply becomes its CBOR bytes: foreign
 * transactions may contain anything.
 *
 * @throws CborError where it is not a map of labels.
 */
export function decodeMetadata(bytes: Uint8Array): Metadata {
  return new Map(
    as(decodeAll(bytes), "map").value.map(([label, value]) => {
      const number = asInt(label);
      if (number < 0n || number > MAX_INTEGER) throw new CborError("a label out of range");
      return [number, valueOf(value)];
    }),
  );
}

function valueOf(item: Item): Metadatum {
  switch (item.type) {
    case "text":
    case "bytes":
      return item.value;
    case "array":
      return item.value.map(valueOf);
    case "map":
      return new MetadatumMap(item.value.map(([key, value]) => [valueOf(key), valueOf(value)]));
    case "deep":
      return raw(item);
    default:
      return asInt(item);
  }
}

/** Why a text is too long, or undefined. */
export function textFault(text: string): string | undefined {
  const { length } = utf8(text);
  return length <= MAX_BYTES
    ? undefined
    : `Text string metadata value must consist of at most ${MAX_BYTES} UTF8 bytes, but it consists of ${length} bytes.`;
}
