/**
 * Messages of what is nested: Plutus data, native scripts and metadata.
 *
 * Assumptions: decoders of protobuf accept about a hundred levels of messages, and the chain thousands. What is nested more
 * deeply than `DEEPEST` is left out; its CBOR is in the message that contains it, or in the transaction's bytes.
 */
import type { cardano } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { Constr, type Data, DataMap, decodeData } from "#src/cardano/data.ts";
import { isList, type Metadatum } from "#src/cardano/metadata/metadatum.ts";
import type { NativeScript } from "#src/cardano/nativeScript.ts";
import { bigInteger } from "#src/devnet/serve/utxorpc/messages/form.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";

/** Levels of nesting that are written; each has two or three messages. */
const DEEPEST = 24;
const MAX_WORD64 = 2n ** 64n - 1n;

/** Plutus data; undefined where it is nested too deeply. */
export function dataMessage(data: Data, depth = 0): Draft<cardano.PlutusData> | undefined {
  if (depth > DEEPEST) return undefined;
  if (typeof data === "bigint") return { plutusData: { case: "bigInt", value: bigInteger(data) } };
  if (data instanceof Uint8Array) return { plutusData: { case: "boundedBytes", value: data } };
  if (data instanceof DataMap) {
    const pairs = data.entries.map(([key, value]) => ({
      key: dataMessage(key, depth + 1),
      value: dataMessage(value, depth + 1),
    }));
    const whole = pairs.flatMap(({ key, value }) => key && value ? [{ key, value }] : []);
    return whole.length < pairs.length ? undefined : { plutusData: { case: "map", value: { pairs: whole } } };
  }
  const items = allOf(data instanceof Constr ? data.fields : data, (one) => dataMessage(one, depth + 1));
  if (!items) return undefined;
  if (!(data instanceof Constr)) return { plutusData: { case: "array", value: { items } } };
  const constructor = constructorOf(BigInt(data.tag));
  return constructor && { plutusData: { case: "constr", value: { ...constructor, fields: items } } };
}

/** The message of CBOR of Plutus data; undefined where it is nested too deeply, or is no Plutus data. */
export function dataMessageOf(cbor: Uint8Array): Draft<cardano.PlutusData> | undefined {
  try {
    return dataMessage(decodeData(cbor));
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}

/** A constructor by its tag in CBOR; 102 is that of all which have none of their own. */
function constructorOf(number: bigint): { tag: number; anyConstructor?: bigint } | undefined {
  if (number < 7n) return { tag: 121 + Number(number) };
  if (number < 128n) return { tag: 1280 + Number(number) - 7 };
  return number > MAX_WORD64 ? undefined : { tag: 102, anyConstructor: number };
}

/** A native script; undefined where it is nested too deeply. */
export function nativeMessage(script: NativeScript, depth = 0): Draft<cardano.NativeScript> | undefined {
  if (depth > DEEPEST) return undefined;
  switch (script.kind) {
    case "key":
      return { nativeScript: { case: "scriptPubkey", value: fromHex(script.hash) } };
    case "from":
      return { nativeScript: { case: "invalidBefore", value: script.slot } };
    case "before":
      return { nativeScript: { case: "invalidHereafter", value: script.slot } };
  }
  const items = allOf(script.scripts, (one) => nativeMessage(one, depth + 1));
  if (!items) return undefined;
  switch (script.kind) {
    case "all":
      return { nativeScript: { case: "scriptAll", value: { items } } };
    case "any":
      return { nativeScript: { case: "scriptAny", value: { items } } };
    case "at least": {
      // a negative count, which always agrees, has no place in the message; 0 says the same
      const k = script.count < 0n ? 0 : Number(script.count);
      return k > 0xffff_ffff ? undefined : { nativeScript: { case: "scriptNOfK", value: { k, scripts: items } } };
    }
  }
}

/** A value of metadata; undefined where it is nested too deeply, or an integer has more than 64 bits. */
export function metadatumMessage(value: Metadatum, depth = 0): Draft<cardano.Metadatum> | undefined {
  if (depth > DEEPEST) return undefined;
  if (typeof value === "string") return { metadatum: { case: "text", value } };
  if (value instanceof Uint8Array) return { metadatum: { case: "bytes", value } };
  if (typeof value === "bigint") {
    return BigInt.asIntN(64, value) === value ? { metadatum: { case: "int", value } } : undefined;
  }
  if (isList(value)) {
    const items = allOf(value, (one) => metadatumMessage(one, depth + 1));
    return items && { metadatum: { case: "array", value: { items } } };
  }
  const pairs = allOf(value.entries, ([key, of]) => {
    const [first, second] = [metadatumMessage(key, depth + 1), metadatumMessage(of, depth + 1)];
    return first && second && { key: first, value: second };
  });
  return pairs && { metadatum: { case: "map", value: { pairs } } };
}

/** The results of all elements; undefined where one has none. */
function allOf<T, R>(elements: readonly T[], use: (element: T) => R | undefined): R[] | undefined {
  const results: R[] = [];
  for (const element of elements) {
    const result = use(element);
    if (result === undefined) return undefined;
    results.push(result);
  }
  return results;
}
