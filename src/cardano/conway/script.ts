/** Scripts with their language and hash. */
import { concat } from "#src/base/bytes.ts";
import { as, decodeAll, type Item, raw } from "#src/cardano/cbor.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { nativeHash, type NativeScript, readNative } from "#src/cardano/nativeScript.ts";
import { Walk } from "#src/cardano/walk.ts";
import { choice, tuple } from "#src/cardano/conway/strict.ts";

/** A script with its hash. */
export type Script =
  & { readonly hash: string }
  & (
    | { readonly language: 0; readonly native: NativeScript; readonly size: number }
    | { readonly language: 1 | 2 | 3; readonly bytes: Uint8Array; readonly size: number }
  );

const LANGUAGES = [0, 1, 2, 3] as const;

/** A script of Plutus. */
export type PlutusScript = Extract<Script, { bytes: Uint8Array }>;

/** A native script out of an item, with its hash (over the bytes as they came). */
export function nativeScript(item: Item): Script {
  const bytes = raw(item);
  return {
    language: 0,
    native: readNative(item),
    hash: nativeHash(bytes),
    size: bytes.length,
  };
}

/** A Plutus script with its hash. `bytes` is what the byte string in the witness set holds. */
export function plutusScript(language: 1 | 2 | 3, bytes: Uint8Array): PlutusScript {
  return { language, bytes, hash: scriptHash(language, bytes), size: bytes.length };
}

/** Reads `script` as outputs refer to it: `[language, script]`. */
export function readScript(bytes: Uint8Array): Script {
  const [tag, content] = tuple(decodeAll(bytes), "script", 2);
  const language = choice(tag, "language", LANGUAGES);
  return language === 0 ? nativeScript(content) : plutusScript(language, as(content, "bytes").value);
}

const hashes = new WeakMap<Uint8Array, string>();

/** Hash of a script as outputs refer to it, in hexadecimal. What is inside is not judged. */
export function referenceScriptHash(bytes: Uint8Array): string {
  let hash = hashes.get(bytes);
  if (hash === undefined) {
    const walk = new Walk(bytes);
    walk.tuple("script", 2);
    const language = walk.uint();
    hash = scriptHash(language, language === 0 ? walk.raw() : walk.bytes());
    hashes.set(bytes, hash);
  }
  return hash;
}

/** Hash of a script of a language (0 native, 1 to 3 Plutus), in hexadecimal: `bytes` is CBOR of a native script, else what the byte string holds. */
export function scriptHash(language: number, bytes: Uint8Array): string {
  return hash224(concat(Uint8Array.of(language), bytes));
}
