/** Metadata of a transaction as Blockfrost shows it. */
import { concat, toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { encode, head } from "#src/cardano/cbor.ts";
import { metadataJson } from "#src/cardano/metadata/json.ts";
import { decodeMetadata } from "#src/cardano/metadata/metadatum.ts";

/** A value of metadata: its label in decimal, and its CBOR. */
export interface MetadataValue {
  readonly label: string;
  readonly cbor: Uint8Array;
}

/** The value as JSON: bytes as text that starts with 0x, keys of maps as text, integers with all digits. */
export function jsonOfMetadata(value: MetadataValue): Json {
  return metadataJson(decodeMetadata(cborOfMetadata(value)), "plain")[value.label] ?? null;
}

/** CBOR of a map with the label and the value. */
export function cborOfMetadata({ label, cbor }: MetadataValue): Uint8Array {
  return concat(head(5, 1), encode(BigInt(label)), new Uint8Array(cbor));
}

/** Members with that CBOR; `cbor_metadata`, in PostgreSQL's notation, is deprecated. */
export function cborMembers(value: MetadataValue): { cbor_metadata: string; metadata: string } {
  const hex = toHex(cborOfMetadata(value));
  return { cbor_metadata: `\\x${hex}`, metadata: hex };
}
