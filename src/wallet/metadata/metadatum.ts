/** Metadata of transactions: labels and values, as CBOR. */
import { utf8 } from "#src/base/bytes.ts";
import { as, asInt, CborError, decodeAll, encode, type Item, raw } from "#src/cardano/cbor.ts";

/** A value: integer, text, bytes, list, or map, whose keys are any values. */
export type Metadatum =
  | bigint
  | string
  | Uint8Array
  | readonly Metadatum[]
  | ReadonlyMap<Metadatum, Metadatum>;

/** Values by label, 0 to 2^64 − 1. */
export type Metadata = ReadonlyMap<bigint, Metadatum>;

/** Most that an integer is, up or down. */
export const MAX_INTEGER = (1n << 64n) - 1n;
/** Most bytes of a text or of bytes. */
export const MAX_BYTES = 64;

/** CBOR of metadata, labels in ascending order: auxiliary data as it stands. */
export function encodeMetadata(metadata: Metadata): Uint8Array {
  return encode(new Map([...metadata].sort(([a], [b]) => a < b ? -1 : 1)));
}

/**
 * Metadata out of CBOR of a map, as a transaction has it. What is nested deeper than anybody means it comes as the bytes of its CBOR: whoever
 * pays a wallet may put anything there. Throws `CborError` on anything else.
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
      return new Map(item.value.map(([key, value]) => [valueOf(key), valueOf(value)]));
    case "deep":
      return raw(item);
    default:
      return asInt(item);
  }
}

/** What is wrong with a text's length, or undefined. */
export function textFault(text: string): string | undefined {
  const { length } = utf8(text);
  return length <= MAX_BYTES ? undefined : `A text has ${length} bytes in UTF-8; at most ${MAX_BYTES} are allowed.`;
}
