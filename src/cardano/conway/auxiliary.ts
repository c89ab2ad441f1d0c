/** Auxiliary data: metadata and scripts that travel along. */
import { utf8 } from "#src/base/bytes.ts";
import { as, CborError, type Item, raw } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { readNative } from "#src/cardano/nativeScript.ts";
import { major, Walk } from "#src/cardano/walk.ts";
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

/** Whether a metadatum, however deeply it is nested, keeps to 64 bytes a piece. Throws when it is none. */
function isShort({ source, start }: Item): boolean {
  const walk = new Walk(source, start);
  // lists and maps that are open: parts that were read, those that there are (or -1 until a break), and how many make an element
  const open: { read: number; readonly count: number; readonly width: 1 | 2 }[] = [];
  let short = true;
  do {
    switch (walk.major) {
      case major.array:
        open.push({ read: 0, count: walk.array(), width: 1 });
        break;
      case major.map:
        open.push({ read: 0, count: walk.map(), width: 2 });
        break;
      default: {
        if (leafLength(walk) > 64) short = false;
        const inner = open.at(-1);
        if (inner) inner.read++;
      }
    }
    for (let inner = open.at(-1); inner; inner = open.at(-1)) {
      if (inner.read % inner.width !== 0 || walk.more(inner.read / inner.width, inner.count)) break;
      open.pop();
      const outer = open.at(-1);
      if (outer) outer.read++;
    }
  } while (open.length > 0);
  return short;
}

/** Bytes of a text or a byte string; none of an integer. */
function leafLength(walk: Walk): number {
  switch (walk.major) {
    case major.uint:
    case major.nint:
      walk.int();
      return 0;
    case major.bytes:
      return walk.bytes().length;
    case major.text:
      return utf8(walk.text()).length;
    default:
      throw new CborError("no metadatum");
  }
}
