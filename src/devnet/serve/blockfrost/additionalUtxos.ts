/** Outputs of an evaluation request: pairs of reference and output, in the forms of Ogmios 5 and 6. */
import { fromHex, isHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { CborError, decode, decodeAll, type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { encodeNative, type NativeScript } from "#src/cardano/nativeScript.ts";
import { type OutRef, readOutput, type Utxo } from "#src/cardano/output.ts";
import { encodeValue } from "#src/cardano/value.ts";

type JsonObject = { readonly [name: string]: Json };
type BadUtxos = Failure<"bad_utxos">;

/** Most outputs of a request. */
const MOST = 1_000;
/** Nesting of a native script in JSON. */
const DEEPEST = 100;

/** What is wrong with an output; becomes the message of the failure. */
class BadOutput extends Error {}

/** Reads `[[reference, output], …]`. */
export function readAdditionalUtxos(json: Json): Result<readonly Utxo[], BadUtxos> {
  if (!Array.isArray(json)) return fail("bad_utxos", "body/additionalUtxoSet must be array");
  if (json.length > MOST) return fail("bad_utxos", `body/additionalUtxoSet must NOT have more than ${MOST} items`);
  const utxos: Utxo[] = [];
  for (const [index, pair] of json.entries()) {
    try {
      utxos.push(readPair(pair));
    } catch (error) {
      if (!(error instanceof BadOutput || error instanceof CborError)) throw error;
      return fail("bad_utxos", `body/additionalUtxoSet/${index}: ${error.message}`);
    }
  }
  return ok(utxos);
}

function readPair(pair: Json): Utxo {
  // version 6: one object with the members of both
  const [reference, output] = Array.isArray(pair) && pair.length === 2 ? pair : [pair, pair];
  if (!isObject(reference) || !isObject(output)) throw new BadOutput("expected a pair of TxIn and TxOut");
  return { ref: readReference(reference), output: readOutput(decode(encodeJsonOutput(output))) };
}

function readReference({ txId, transaction, index }: JsonObject): OutRef {
  const txHash = isObject(transaction) ? transaction.id : txId;
  if (typeof txHash !== "string" || !isHex(txHash, 32)) throw new BadOutput("txId is not 64 hexadecimal digits");
  const place = Number(index);
  if (!Number.isSafeInteger(place) || place < 0) throw new BadOutput("index is not a whole number");
  return { txHash, index: place };
}

/** CBOR of an output that is given as JSON. */
function encodeJsonOutput(output: JsonObject): Uint8Array {
  if (typeof output.address !== "string") throw new BadOutput("the output has no address");
  const address = parseAddress(output.address);
  if (!address.ok) throw new BadOutput(address.error.message);
  const fields = new Map<Encodable, Encodable>([
    [0, fromHex(address.value.hex)],
    [1, readValue(output.value)],
  ]);
  const datumHash = output.datumHash ?? output.datum_hash;
  if (isGiven(output.datum)) {
    const datum = hexMember(output.datum, "datum");
    decodeAll(datum);
    fields.set(2, [1, new Tagged(24, datum)]);
  } else if (isGiven(datumHash)) {
    fields.set(2, [0, hexMember(datumHash, "datumHash")]);
  }
  if (isGiven(output.script)) fields.set(3, new Tagged(24, readScript(output.script)));
  return encode(fields);
}

const isGiven = (json: Json | undefined): json is Json => json !== undefined && json !== null;

function hexMember(json: Json, name: string): Uint8Array {
  if (typeof json === "string" && isHex(json)) return fromHex(json);
  throw new BadOutput(`${name} is not hexadecimal`);
}

/** `{coins, assets: {"policy.name": quantity}}`, or `{ada: {lovelace}, policy: {name: quantity}}`. */
function readValue(json: Json | undefined): Encodable {
  if (!isObject(json)) throw new BadOutput("the output has no value");
  const { coins, assets: flat, ada, ...policies } = json;
  const assets = new Map<string, bigint>();
  const add = (unit: string, quantity: Json) => {
    if (!isHex(unit) || unit.length < 56) throw new BadOutput(`${unit.slice(0, 120)} is no asset`);
    assets.set(unit, readAmount(quantity));
  };
  if (isObject(flat)) { for (const [unit, quantity] of Object.entries(flat)) add(unit.replace(".", ""), quantity); }
  for (const [policy, names] of Object.entries(policies)) {
    if (isObject(names)) { for (const [name, quantity] of Object.entries(names)) add(policy + name, quantity); }
  }
  return encodeValue({ lovelace: readAmount(isObject(ada) ? ada.lovelace : coins), assets });
}

/** An amount as a number, or as text, since some clients have no other form for large numbers. */
function readAmount(json: Json | undefined): bigint {
  if (typeof json === "bigint") return json;
  if (typeof json === "number" && Number.isSafeInteger(json) && json >= 0) return BigInt(json);
  if (typeof json === "string" && /^\d{1,19}$/.test(json)) return BigInt(json);
  throw new BadOutput("an amount is not a whole number");
}

const LANGUAGES: Readonly<Record<string, number>> = { "plutus:v1": 1, "plutus:v2": 2, "plutus:v3": 3 };

/** CBOR of `script`: `{"plutus:v2": hex}`, `{"native": …}`, or `{language, cbor}`. */
function readScript(json: Json): Uint8Array {
  if (!isObject(json)) throw new BadOutput("the script is not an object");
  const named = typeof json.language === "string" ? [json.language, json.cbor ?? json.json] : Object.entries(json)[0];
  const [language, content] = [String(named?.[0]), named?.[1] ?? null];
  const number = LANGUAGES[language];
  if (number !== undefined) return encode([number, hexMember(content, "script")]);
  if (language !== "native") throw new BadOutput(`${language.slice(0, 40)} is no language of scripts`);
  if (typeof content === "string" && content.length !== 56) {
    const bytes = hexMember(content, "script");
    decodeAll(bytes);
    return encode([0, new Encoded(bytes)]);
  }
  return encode([0, new Encoded(encodeNative(readNativeJson(content, 0)))]);
}

/** A native script: Ogmios 5 `"<key hash>"`, `{all: […]}`, `{any: […]}`, `{"2": […]}`, `{startsAt}`, `{expiresAt}`; 6 by `clause`. */
function readNativeJson(json: Json, depth: number): NativeScript {
  if (depth > DEEPEST) throw new BadOutput("the script is nested too deeply");
  const key = (hash: Json | undefined): NativeScript => {
    if (typeof hash !== "string" || !isHex(hash, 28)) throw new BadOutput("a key hash is not 56 hexadecimal digits");
    return { kind: "key", hash };
  };
  const all = (scripts: Json | undefined): readonly NativeScript[] => {
    if (!Array.isArray(scripts)) throw new BadOutput("scripts are not a list");
    return scripts.map((script) => readNativeJson(script, depth + 1));
  };
  if (typeof json === "string") return key(json);
  if (!isObject(json)) throw new BadOutput("the script is not an object");
  switch (json.clause) {
    case "signature":
      return key(json.from);
    case "all":
    case "any":
      return { kind: json.clause, scripts: all(json.from) };
    case "some":
      return { kind: "at least", count: readAmount(json.atLeast), scripts: all(json.from) };
    case "after":
      return { kind: "from", slot: readAmount(json.slot) };
    case "before":
      return { kind: "before", slot: readAmount(json.slot) };
  }
  const [[name = "", content] = []] = Object.entries(json);
  if (name === "all" || name === "any") return { kind: name, scripts: all(content) };
  if (name === "startsAt") return { kind: "from", slot: readAmount(content) };
  if (name === "expiresAt") return { kind: "before", slot: readAmount(content) };
  return { kind: "at least", count: readAmount(name), scripts: all(content) };
}
