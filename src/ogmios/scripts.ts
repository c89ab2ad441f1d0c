/** Scripts in Ogmios' JSON, of both versions and of version 5, which Blockfrost's clients still send. */
import { toHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import { decodeAll, encode, Encoded } from "#src/cardano/cbor.ts";
import { encodeNative, type NativeScript, readNative } from "#src/cardano/nativeScript.ts";
import { Walk } from "#src/cardano/walk.ts";
import { amountOf, bytesOf, hexOf, integerOf, type JsonObject, objectOf, OgmiosFormError } from "#src/ogmios/form.ts";

/** Nesting of a native script in JSON that is read. */
const DEEPEST = 100;

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
 * A script out of the CBOR of `[language, script]`. `withCbor` adds the CBOR of a native script, which otherwise cannot be told
 * from its JSON where its encoding is unusual.
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
export function nativeJson(script: NativeScript): JsonObject {
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
  const script = objectOf(json, "the script");
  const [language, content] = typeof script.language === "string"
    ? [script.language, script.cbor ?? script.json]
    : Object.entries(script)[0] ?? [];
  if (language !== "native") return encode([readLanguage(language), bytesOf(content, "script")]);
  // 56 digits are the hash of a key: a script of version 5
  if (typeof content === "string" && content.length !== 56) {
    const bytes = bytesOf(content, "script");
    decodeAll(bytes);
    return encode([0, new Encoded(bytes)]);
  }
  return encode([0, new Encoded(encodeNative(readNativeJson(content, 0)))]);
}

/**
 * A native script: by `clause`, or as version 5 writes it: `"<key hash>"`, `{all: […]}`, `{any: […]}`, `{"2": […]}`, `{startsAt}`,
 * `{expiresAt}`.
 *
 * @throws OgmiosFormError
 */
function readNativeJson(json: Json | undefined, depth: number): NativeScript {
  if (depth > DEEPEST) throw new OgmiosFormError("the script is nested too deeply");
  const key = (hash: Json | undefined): NativeScript => ({ kind: "key", hash: hexOf(hash, "a key hash", 28) });
  const all = (scripts: Json | undefined): readonly NativeScript[] => {
    if (!Array.isArray(scripts)) throw new OgmiosFormError("scripts are not a list");
    return scripts.map((script) => readNativeJson(script, depth + 1));
  };
  if (typeof json === "string") return key(json);
  const script = objectOf(json, "the script");
  switch (script.clause) {
    case "signature":
      return key(script.from);
    case "all":
    case "any":
      return { kind: script.clause, scripts: all(script.from) };
    case "some":
      return { kind: "at least", count: integerOf(script.atLeast, "atLeast"), scripts: all(script.from) };
    case "after":
      return { kind: "from", slot: amountOf(script.slot, "slot") };
    case "before":
      return { kind: "before", slot: amountOf(script.slot, "slot") };
  }
  const [[name = "", content] = []] = Object.entries(script);
  if (name === "all" || name === "any") return { kind: name, scripts: all(content) };
  if (name === "startsAt") return { kind: "from", slot: amountOf(content, "slot") };
  if (name === "expiresAt") return { kind: "before", slot: amountOf(content, "slot") };
  return { kind: "at least", count: amountOf(name, "the count"), scripts: all(content) };
}
