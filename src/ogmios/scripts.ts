/** Scripts in Ogmios' JSON, of both versions and of version 5, which Blockfrost's clients still send. */
import { concat, fromHex, joined, toHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import { decodeAll, encode, Encoded, head } from "#src/cardano/cbor.ts";
import { type NativeScript, readNative } from "#src/cardano/nativeScript.ts";
import { Walk } from "#src/cardano/walk.ts";
import {
  amountOf,
  bytesOf,
  hexOf,
  integerOf,
  isGiven,
  type JsonObject,
  listOf,
  objectOf,
  OgmiosFormError,
} from "#src/ogmios/form.ts";

/** Names of the languages, by the number in `[language, script]`. */
const LANGUAGES = ["native", "plutus:v1", "plutus:v2", "plutus:v3"] as const;
type Language = 0 | 1 | 2 | 3;

/** Name of a language of Plutus. */
export function languageText(language: 1 | 2 | 3): string {
  return LANGUAGES[language];
}

/** The inverse of `languageText`. @throws OgmiosFormError */
function readLanguage(json: Json | undefined): 1 | 2 | 3 {
  const found = ([1, 2, 3] as const).find((language) => LANGUAGES[language] === json);
  if (found === undefined) throw new OgmiosFormError(`${String(json).slice(0, 40)} is no language of scripts`);
  return found;
}

/**
 * A script out of the CBOR of `[language, script]`. `withCbor` adds the CBOR of a native script, without which its hash is lost where its encoding is
 * unusual.
 */
export function scriptJson(script: Uint8Array, withCbor = true): JsonObject {
  const walk = new Walk(script);
  walk.tuple("script", 2);
  const language = walk.uint();
  return language === 0
    ? nativeScriptJson(walk.raw(), withCbor)
    : { language: LANGUAGES[language as Language], cbor: toHex(walk.bytes()) };
}

/** A native script out of its CBOR. */
export function nativeScriptJson(cbor: Uint8Array, withCbor = true): JsonObject {
  const json = nativeJson(readNative(decodeAll(cbor)));
  return withCbor ? { language: "native", json, cbor: toHex(cbor) } : { language: "native", json };
}

/** A script of Plutus out of the bytes that the byte string in a witness set holds. */
export function plutusScriptJson(language: 1 | 2 | 3, bytes: Uint8Array): JsonObject {
  return { language: LANGUAGES[language], cbor: toHex(bytes) };
}

/** The clauses of a native script, without recursion: the ledger bounds its depth by the transaction's size alone. */
function nativeJson(script: NativeScript): JsonObject {
  const made: { from?: JsonObject[] }[] = [];
  const rest: { readonly script: NativeScript; readonly into: JsonObject[] }[] = [{
    script,
    into: made as JsonObject[],
  }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { script: one, into } = next;
    if (!("scripts" in one)) {
      into.push(clause(one));
      continue;
    }
    const from: JsonObject[] = [];
    into.push(
      one.kind === "at least"
        ? { clause: "some", atLeast: jsonInteger(one.count), from: from as Json[] }
        : { clause: one.kind, from: from as Json[] },
    );
    // the last is taken first, so the parts of one list come in their order
    for (const part of one.scripts.toReversed()) rest.push({ script: part, into: from });
  }
  return made[0] as JsonObject;
}

function clause(script: Exclude<NativeScript, { scripts: unknown }>): JsonObject {
  if (script.kind === "key") return { clause: "signature", from: script.hash };
  return { clause: script.kind === "from" ? "after" : "before", slot: jsonInteger(script.slot) };
}

/**
 * CBOR of `[language, script]` out of a script's JSON: `{language, cbor}`, `{language: "native", json}`, or the `{"plutus:v2": hex}` of
 * version 5. The CBOR of a native script counts where it is given.
 *
 * @throws OgmiosFormError, or CborError for CBOR that is none
 */
export function readScript(json: Json | undefined): Uint8Array {
  const { language, cbor, json: clauses, ...rest } = objectOf(json, "the script");
  if (typeof language === "string") {
    if (language !== "native") return plutusOf(language, cbor);
    return nativeOf(isGiven(cbor) ? wellFormed(cbor) : encodeNativeJson(clauses));
  }
  const [[name, content] = []] = Object.entries(rest);
  if (name !== "native") return plutusOf(name, content);
  // 56 digits are the hash of a key
  const isCbor = typeof content === "string" && content.length !== 56;
  return nativeOf(isCbor ? wellFormed(content) : encodeNativeJson(content));
}

const plutusOf = (language: string | undefined, content: Json | undefined) =>
  encode([readLanguage(language), bytesOf(content, "script")]);
const nativeOf = (cbor: Uint8Array) => encode([0, new Encoded(cbor)]);

function wellFormed(json: Json): Uint8Array {
  const bytes = bytesOf(json, "script");
  decodeAll(bytes);
  return bytes;
}

/** The parts of a script in JSON, and the CBOR that comes before them. */
interface Clause {
  readonly start: Uint8Array;
  readonly parts: readonly Json[];
}

/**
 * CBOR of a native script: by `clause`, or as version 5 writes it: `"<key hash>"`, `{all: […]}`, `{any: […]}`, `{"2": […]}`, `{startsAt}`,
 * `{expiresAt}`. It does not recurse, as scripts of a chain are nested deeply.
 */
function encodeNativeJson(json: Json | undefined): Uint8Array {
  const written: Uint8Array[] = [];
  const rest: (Json | undefined)[] = [json];
  while (rest.length > 0) {
    const { start, parts } = readClause(rest.pop());
    written.push(start);
    for (const part of parts.toReversed()) rest.push(part);
  }
  return joined(written);
}

function readClause(json: Json | undefined): Clause {
  const key = (hash: Json | undefined) => whole(0, fromHex(hexOf(hash, "a key hash", 28)));
  const slot = (kind: 4 | 5, of: Json | undefined) => whole(kind, amountOf(of, "slot"));
  if (typeof json === "string") return key(json);
  const script = objectOf(json, "the script");
  switch (script.clause) {
    case "signature":
      return key(script.from);
    case "all":
      return opened([1], script.from);
    case "any":
      return opened([2], script.from);
    case "some":
      return opened([3, integerOf(script.atLeast, "atLeast")], script.from);
    case "after":
      return slot(4, script.slot);
    case "before":
      return slot(5, script.slot);
  }
  const [[name = "", content] = []] = Object.entries(script);
  switch (name) {
    case "all":
      return opened([1], content);
    case "any":
      return opened([2], content);
    case "startsAt":
      return slot(4, content);
    case "expiresAt":
      return slot(5, content);
    default:
      return opened([3, amountOf(name, "the count")], content);
  }
}

/** A clause without parts. */
function whole(kind: number, value: Uint8Array | bigint): Clause {
  return { start: encode([kind, value]), parts: [] };
}

/** A clause whose last element is the list of its parts. */
function opened(elements: readonly (number | bigint)[], json: Json | undefined): Clause {
  const parts = listOf(json, "scripts");
  return { start: concat(head(4, elements.length + 1), ...elements.map(encode), head(4, parts.length)), parts };
}
