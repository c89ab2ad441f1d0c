/**
 * What the chain says about an asset, by CIP-68 (the datum of its reference token) or CIP-25 (the metadata of its
 * minting), as Blockfrost reads both.
 */
import { concat, fromUtf8, toHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { asInt, CborError, decodeAll, type Item, raw } from "#src/cardano/cbor.ts";
import { constructorOf } from "#src/cardano/data.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import type { AssetMetadataSources } from "#src/devnet/index/reads/assets.ts";
import { cborOfMetadata } from "#src/devnet/serve/blockfrost/metadataValue.ts";
import { metadataJson } from "#src/cardano/metadata/json.ts";
import { decodeMetadata, type Metadatum, MetadatumMap } from "#src/cardano/metadata/metadatum.ts";

/** On-chain metadata of an asset. */
export interface OnchainMetadata {
  /** Null: there is none. */
  readonly metadata: Json;
  /** The standard that it satisfies, `CIP25v1` to `CIP68v3`; null: none. */
  readonly standard: string | null;
  /** CBOR of further data of CIP-68, in hexadecimal. */
  readonly extra: string | null;
  /** Decimals of a fungible token of CIP-68. */
  readonly decimals: number | null;
}

const NONE: OnchainMetadata = { metadata: null, standard: null, extra: null, decimals: null };

/** The metadata of an asset (policy and name in hexadecimal) in what the chain holds. */
export function onchainMetadata(unit: string, { minting, reference }: AssetMetadataSources): OnchainMetadata {
  const fields = FIELDS.get(nameOf(unit).slice(0, 8));
  const ofReference = fields && reference && readReference(new Uint8Array(reference), fields);
  if (ofReference) return ofReference;
  return minting ? readMinting(unit, new Uint8Array(minting)) : NONE;
}

/** Kinds of fields in the datum of a reference token. */
type FieldKind = "text" | "number" | "files";
type Fields = Readonly<Record<string, FieldKind>>;

const NFT: Fields = { name: "text", image: "text", mediaType: "text", description: "text", files: "files" };
/** Fields by the label of the asset's name (CIP-67): 222, 333 and 444. */
const FIELDS: ReadonlyMap<string, Fields> = new Map([
  ["000de140", NFT],
  [
    "0014df10",
    { name: "text", description: "text", ticker: "text", url: "text", logo: "text", decimals: "number" },
  ],
  ["001bc280", { ...NFT, decimals: "number" }],
]);
/** Fields of a file of an NFT. */
const FILE = ["name", "mediaType", "src"];
const NEWEST_VERSION = 3n;

/** Metadata in the datum of a reference token: a constructor with a map, a version, and further data. */
function readReference(datum: Uint8Array, fields: Fields): OnchainMetadata | undefined {
  const [, items] = constructorOf(decodeAll(datum)) ?? [];
  const [map, version, extra] = items?.type === "array" ? items.value : [];
  if (map?.type !== "map" || !version || !isInteger(version)) return undefined;
  const number = asInt(version);
  const metadata = Object.fromEntries(map.value.map(([key, value]) => {
    const name = textOf(key) ?? toHex(raw(key));
    const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
    // what the standard does not define stays CBOR
    return [name, (kind && fieldOf(kind, value)) ?? toHex(raw(value))];
  }));
  if (number < 1n || number > NEWEST_VERSION || !isReferenceMetadata(metadata, fields)) return undefined;
  return {
    metadata,
    standard: `CIP68v${number}`,
    extra: extra ? toHex(raw(extra)) : null,
    decimals: typeof metadata.decimals === "number" ? metadata.decimals : null,
  };
}

function fieldOf(kind: FieldKind, value: Item): Json | undefined {
  if (kind === "number") return isInteger(value) ? safeInteger(asInt(value)) : undefined;
  if (kind === "text") return textOf(value) ?? piecesOf(value);
  if (value.type !== "array") return undefined;
  const files = value.value.map(fileOf);
  return files.every((file) => file !== undefined) ? files : undefined;
}

function fileOf(item: Item): Json | undefined {
  if (item.type !== "map") return undefined;
  const members = item.value.map(([key, value]) => [textOf(key), textOf(value) ?? piecesOf(value)] as const);
  const file: { [key: string]: Json } = {};
  for (const [name, text] of members) {
    if (name === undefined || text === undefined || !FILE.includes(name)) return undefined;
    file[name] = text;
  }
  return file;
}

/** Bytes as the text that they encode, else in hexadecimal; an integer in decimal. */
function textOf(item: Item): string | undefined {
  if (item.type === "bytes") return fromUtf8(item.value) ?? toHex(item.value);
  return isInteger(item) ? String(asInt(item)) : undefined;
}

/** A text in several pieces, as long URIs are written from version 3 on. */
function piecesOf(item: Item): string | undefined {
  if (item.type !== "array" || item.value.length === 0) return undefined;
  const pieces = item.value.flatMap((piece) => piece.type === "bytes" ? [piece.value] : []);
  if (pieces.length !== item.value.length) return undefined;
  const bytes = concat(...pieces);
  return fromUtf8(bytes) ?? toHex(bytes);
}

const isInteger = (item: Item): boolean => {
  try {
    asInt(item);
    return true;
  } catch (error) {
    if (error instanceof CborError) return false;
    throw error;
  }
};

const safeInteger = (value: bigint): number | undefined =>
  Number.isSafeInteger(Number(value)) ? Number(value) : undefined;

function isReferenceMetadata(metadata: { readonly [name: string]: Json }, fields: Fields): boolean {
  const required = Object.hasOwn(fields, "image") ? ["name", "image"] : ["name", "description"];
  return required.every((name) => typeof metadata[name] === "string") &&
    isOptional(metadata.decimals, (value) => !Object.hasOwn(fields, "decimals") || typeof value === "number") &&
    isOptional(metadata.files, (value) => !Object.hasOwn(fields, "files") || isFiles(value));
}

/** Metadata of the newest minting: assets by policy and name, as texts in version 1 and as bytes in version 2. */
function readMinting(unit: string, cbor: Uint8Array): OnchainMetadata {
  const policies = decodeMetadata(cborOfMetadata({ label: "721", cbor })).get(721n);
  const [policy, name] = [policyOf(unit), nameOf(unit)];
  const version = Number(plain(find(policies, isText("version")) ?? 1n));
  const text = fromUtf8(Buffer.from(name, "hex"));
  const byText = () => {
    const assets = find(policies, isText(policy));
    return (text === undefined ? undefined : find(assets, isText(text))) ?? find(assets, isText(name));
  };
  const found = version === 1
    ? byText()
    : version === 2
    ? find(find(policies, isBytes(policy)), isBytes(name))
    : undefined;
  // texts under version 2 are shown, but they do not satisfy the standard
  const metadata = plain(found ?? (version === 2 ? byText() : undefined) ?? null);
  if (!isObject(metadata)) return NONE;
  return {
    ...NONE,
    metadata,
    standard: found !== undefined && isMintingMetadata(metadata) ? `CIP25v${version}` : null,
  };
}

const isText = (text: string) => (key: Metadatum) => key === text;
const isBytes = (hex: string) => (key: Metadatum) => key instanceof Uint8Array && toHex(key) === hex;

/** The value of the last key of a map that satisfies a condition. */
function find(map: Metadatum | undefined, isKey: (key: Metadatum) => boolean): Metadatum | undefined {
  return map instanceof MetadatumMap ? map.entries.findLast(([key]) => isKey(key))?.[1] : undefined;
}

const plain = (value: Metadatum | null): Json =>
  value === null ? null : metadataJson(new Map([[0n, value]]), "plain")["0"] ?? null;

function isMintingMetadata(metadata: { readonly [name: string]: Json }): boolean {
  return typeof metadata.name === "string" && isTexts(metadata.image) && isOptional(metadata.description, isTexts) &&
    isOptional(metadata.mediaType, (value) => typeof value === "string") && isOptional(metadata.files, isFiles);
}

const isOptional = (value: Json | undefined, is: (value: Json) => boolean): boolean => value === undefined || is(value);

const isTexts = (value: Json | undefined): boolean =>
  typeof value === "string" || (Array.isArray(value) && value.every((one) => typeof one === "string"));

const isFiles = (value: Json): boolean =>
  Array.isArray(value) &&
  value.every((file) =>
    isObject(file) && typeof file.mediaType === "string" && isTexts(file.src) &&
    isOptional(file.name, (name) => typeof name === "string")
  );
