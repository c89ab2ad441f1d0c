/** Auxiliary data: metadata and scripts that travel along. */
import { as, CborError, type Item, raw } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { readNative } from "#src/cardano/nativeScript.ts";
import { type PlutusScript, plutusScript } from "#src/cardano/conway/script.ts";
import { entries, fields, tuple, uint } from "#src/cardano/conway/strict.ts";

/** Auxiliary data, read. */
export interface Auxiliary {
  /** Hash of its bytes, in hexadecimal. */
  readonly hash: string;
  /** Whether every text and byte string in the metadata has at most 64 bytes. */
  readonly short: boolean;
  readonly plutus: readonly PlutusScript[];
}

/** Reads auxiliary data in any of its three forms (Shelley, Allegra, Alonzo). Throws `CborError`. */
export function readAuxiliary(item: Item): Auxiliary {
  const hash = hash256(raw(item));
  if (item.type === "map") return { hash, short: readMetadata(item), plutus: [] };
  if (item.type === "array") {
    const [metadata, scripts] = tuple(item, "auxiliary data", 2);
    as(scripts, "array").value.forEach(readNative);
    return { hash, short: readMetadata(metadata), plutus: [] };
  }
  const tagged = as(item, "tag");
  if (tagged.tag !== 259n) throw new CborError("no auxiliary data");
  const found = fields(tagged.value, "auxiliary data", [0, 1, 2, 3, 4]);
  const list = (field: number) => {
    const of = found.get(field);
    return of ? as(of, "array").value : [];
  };
  list(1).forEach(readNative);
  const plutus = ([[2, 1], [3, 2], [4, 3]] as const).flatMap(([field, language]) =>
    list(field).map((script) => plutusScript(language, as(script, "bytes").value))
  );
  return { hash, short: !found.has(0) || readMetadata(found.get(0)), plutus };
}

function readMetadata(item: Item | undefined): boolean {
  return entries(item, "metadata", (label) => uint(label, "label"), isShort).every(([, short]) => short);
}

/** Whether a metadatum keeps to 64 bytes a piece. Throws when it is none. */
function isShort(item: Item): boolean {
  switch (item.type) {
    case "int":
      return true;
    case "bytes":
      return item.value.length <= 64;
    case "text":
      return new TextEncoder().encode(item.value).length <= 64;
    case "array":
      return item.value.map(isShort).every(Boolean);
    case "map":
      return item.value.map(([key, value]) => [isShort(key), isShort(value)]).flat().every(Boolean);
    default:
      throw new CborError(`${item.type} is no metadatum`);
  }
}
