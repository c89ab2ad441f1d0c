/** Auxiliary data: metadata and scripts that travel with a transaction, in the form of any era. */
import { CborError } from "#src/cardano/cbor.ts";
import { major, Walk } from "#src/cardano/walk.ts";

/** Auxiliary data, taken apart as far as its pieces, each with its own CBOR. */
interface AuxiliaryData {
  /** Metadata by label: CBOR of each `metadatum`. */
  readonly metadata: ReadonlyMap<bigint, Uint8Array>;
  /** CBOR of native scripts. */
  readonly native: readonly Uint8Array[];
  /** Plutus scripts: the bytes that the byte strings hold. */
  readonly plutus: readonly { readonly language: 1 | 2 | 3; readonly bytes: Uint8Array }[];
}

/** Language of Plutus by the field of its scripts. */
const LANGUAGES = { 2: 1, 3: 2, 4: 3 } as const;

/**
 * Reads auxiliary data: a map of metadata (Shelley), an array of metadata and native scripts (Allegra, Mary), or a map under tag 259
 * (since Alonzo). Eras accept the older forms. Throws `CborError`.
 */
export function readAuxiliaryData(bytes: Uint8Array): AuxiliaryData {
  const walk = new Walk(bytes);
  const data = walkAuxiliary(walk);
  walk.end();
  return data;
}

function walkAuxiliary(walk: Walk): AuxiliaryData {
  if (walk.major === major.map) return { metadata: walkMetadata(walk), native: [], plutus: [] };
  if (walk.major === major.array) {
    return walk.within("auxiliary data", 2, 2, () => ({
      metadata: walkMetadata(walk),
      native: walk.each(walk.array(), () => walk.raw()),
      plutus: [],
    }));
  }
  if (walk.tag() !== 259) throw new CborError("no auxiliary data");
  let metadata: ReadonlyMap<bigint, Uint8Array> = new Map();
  let native: Uint8Array[] = [];
  const plutus: AuxiliaryData["plutus"][number][] = [];
  const count = walk.map();
  for (let i = 0; walk.more(i, count); i++) {
    const field = walk.uint();
    if (field === 0) metadata = walkMetadata(walk);
    else if (field === 1) native = walk.each(walk.array(), () => walk.raw());
    else if (field === 2 || field === 3 || field === 4) {
      const language = LANGUAGES[field];
      for (const bytes of walk.each(walk.array(), () => walk.bytes())) plutus.push({ language, bytes });
    } else throw new CborError(`auxiliary data has no field ${field}`);
  }
  return { metadata, native, plutus };
}

function walkMetadata(walk: Walk): Map<bigint, Uint8Array> {
  return new Map(walk.each(walk.map(), () => [walk.int(), walk.raw()] as const));
}
