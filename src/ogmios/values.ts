/** Points, amounts, references and credentials in Ogmios' JSON. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { isObject, type Json, jsonInteger } from "#src/base/json.ts";
import { addressText, type Credential, hexAddressText, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import type { Anchor } from "#src/cardano/certificates.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { Ratio, Units } from "#src/cardano/parameters.ts";
import { poolId } from "#src/cardano/poolId.ts";
import { type Assets, type Value } from "#src/cardano/value.ts";
import {
  amountOf,
  countOf,
  hexOf,
  integerOf,
  isGiven,
  type JsonObject,
  objectOf,
  OgmiosFormError,
  textOf,
} from "#src/ogmios/form.ts";

const isOrigin = ({ hash }: Point) => hash === "";

/** A block's place, or `"origin"`. */
export function pointJson(point: Point): Json {
  return isOrigin(point) ? "origin" : { slot: point.slot, id: point.hash };
}

/** The inverse of `pointJson`. @throws OgmiosFormError */
export function readPoint(json: Json | undefined): Point {
  if (json === "origin") return origin;
  const { slot, id } = objectOf(json, "the point");
  return { slot: countOf(slot, "slot"), hash: hexOf(id, "id", 32) };
}

/** The newest block, or `"origin"`. */
export function tipJson(tip: Tip): Json {
  return isOrigin(tip) ? "origin" : { slot: tip.slot, id: tip.hash, height: tip.height };
}

/** The inverse of `tipJson`; the height before the first block is -1. @throws OgmiosFormError */
export function readTip(json: Json | undefined): Tip {
  if (json === "origin") return { ...origin, height: -1 };
  return { ...readPoint(json), height: countOf(objectOf(json, "the tip").height, "height") };
}

/** Lovelace alone. */
export function adaJson(lovelace: bigint): { ada: { lovelace: number | bigint } } {
  return { ada: { lovelace: jsonInteger(lovelace) } };
}

/** The inverse of `adaJson`; negative amounts occur in moves of rewards. @throws OgmiosFormError */
export function readAda(json: Json | undefined): bigint {
  return integerOf(objectOf(objectOf(json, "the amount").ada, "ada").lovelace, "lovelace");
}

/** Quantities by policy and name. */
export function assetsJson(assets: Assets): { [policy: string]: Json } {
  const json: { [policy: string]: Json } = {};
  addAssets(json, assets);
  return json;
}

function addAssets(json: { [policy: string]: Json }, assets: Assets): void {
  let policy = "";
  let names: { [name: string]: Json } = {};
  for (const [asset, quantity] of assets) {
    // most often all of a policy come one after the other
    if (!asset.startsWith(policy) || policy === "") {
      policy = asset.slice(0, 56);
      const known = json[policy];
      names = isObject(known) ? known : {};
      json[policy] = names;
    }
    names[asset.slice(56)] = jsonInteger(quantity);
  }
}

/** The inverse of `assetsJson`. @throws OgmiosFormError */
export function readAssets(json: JsonObject, quantityOf = integerOf): Assets {
  const assets = new Map<string, bigint>();
  for (const [policy, names] of Object.entries(json)) {
    const id = hexOf(policy, "a policy", 28);
    for (const [name, quantity] of Object.entries(objectOf(names, "the assets of a policy"))) {
      const sum = (assets.get(id + name) ?? 0n) + quantityOf(quantity, "a quantity");
      if (sum !== 0n) assets.set(id + hexOf(name, "an asset's name"), sum);
    }
  }
  return assets;
}

/** Lovelace and assets. */
export function valueJson({ lovelace, assets }: Value): { [policy: string]: Json } {
  const json: { [policy: string]: Json } = adaJson(lovelace);
  if (assets.size > 0) addAssets(json, assets);
  return json;
}

/** The inverse of `valueJson`. @throws OgmiosFormError */
export function readValue(json: Json | undefined): Value {
  const { ada, ...assets } = objectOf(json, "the value");
  return { lovelace: amountOf(objectOf(ada, "ada").lovelace, "lovelace"), assets: readAssets(assets, amountOf) };
}

/** A size in bytes; a node's failures may have a negative one, which the schema has not. */
export function sizeJson(bytes: number): { bytes: number } {
  return { bytes: Math.max(0, bytes) };
}

/** The inverse of `sizeJson`. @throws OgmiosFormError */
export function readSize(json: Json | undefined): number {
  return countOf(objectOf(json, "the size").bytes, "bytes");
}

/** A fraction in its lowest terms, `1/2`. */
export function ratioText({ numerator, denominator }: Ratio): string {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? `${numerator}/${denominator}` : `${numerator / a}/${denominator / a}`;
}

/** The inverse of `ratioText`. @throws OgmiosFormError */
export function readRatio(json: Json | undefined): Ratio {
  const [, numerator, denominator] = /^(-?\d{1,40})\/(\d{1,40})$/.exec(textOf(json, "the fraction")) ?? [];
  if (numerator === undefined || denominator === undefined) throw new OgmiosFormError("not a fraction");
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) };
}

/** Execution units. */
export function unitsJson({ memory, steps }: Units): { memory: number | bigint; cpu: number | bigint } {
  return { memory: jsonInteger(memory), cpu: jsonInteger(steps) };
}

/** The inverse of `unitsJson`. @throws OgmiosFormError */
export function readUnits(json: Json | undefined): Units {
  const { memory, cpu } = objectOf(json, "the units");
  return { memory: amountOf(memory, "memory"), steps: amountOf(cpu, "cpu") };
}

/** The kind of a credential. */
export function originOf({ kind }: Pick<Credential, "kind">): "verificationKey" | "script" {
  return kind === "key" ? "verificationKey" : "script";
}

/** The inverse of `originOf`. @throws OgmiosFormError */
function readOrigin(json: Json | undefined): Credential["kind"] {
  if (json === "verificationKey") return "key";
  if (json === "script") return "script";
  throw new OgmiosFormError("from is neither verificationKey nor script");
}

/** A stake credential. */
export function credentialJson(credential: Credential): { from: string; credential: string } {
  return { from: originOf(credential), credential: credential.hash };
}

/** The inverse of `credentialJson`. @throws OgmiosFormError */
export function readCredential({ from, credential }: JsonObject): Credential {
  return { kind: readOrigin(from), hash: hexOf(credential, "credential") };
}

/** A credential of a representative or of a member of the committee. */
export function idJson(credential: Credential): { from: string; id: string } {
  return { from: originOf(credential), id: credential.hash };
}

/** The inverse of `idJson`. @throws OgmiosFormError */
export function readId({ from, id }: JsonObject): Credential {
  return { kind: readOrigin(from), hash: hexOf(id, "id") };
}

/** A reference to an output or to a governance action. */
export function refJson({ txHash, index }: OutRef): { transaction: { id: string }; index: number } {
  return { transaction: { id: txHash }, index };
}

/** The inverse of `refJson`. @throws OgmiosFormError */
export function readRef(json: Json | undefined): OutRef {
  const { transaction, index } = objectOf(json, "the reference");
  return {
    txHash: hexOf(objectOf(transaction, "transaction").id, "id", 32),
    index: countOf(index, "index"),
  };
}

/** A document. */
export function anchorJson({ url, hash }: Anchor): { url: string; hash: string } {
  return { url, hash };
}

/** The inverse of `anchorJson`; undefined where there is none. @throws OgmiosFormError */
export function readAnchor(json: Json | undefined): Anchor | undefined {
  if (!isGiven(json)) return undefined;
  const { url, hash } = objectOf(json, "the metadata");
  return { url: textOf(url, "url"), hash: hexOf(hash, "hash") };
}

/** A pool by its id in hexadecimal. */
export function poolJson(pool: string): { id: string } {
  return { id: poolId(pool) };
}

/** The inverse of `poolJson`: the pool's id in hexadecimal. @throws OgmiosFormError */
export function readPool(json: Json | undefined): string {
  return readPoolId(objectOf(json, "the stake pool").id);
}

/** A pool's id, `pool1…`, in hexadecimal. @throws OgmiosFormError */
export function readPoolId(json: Json | undefined): string {
  const read = fromBech32(textOf(json, "the pool's id"));
  if (read?.prefix !== "pool") throw new OgmiosFormError("the pool's id is not pool1…");
  return toHex(read.bytes);
}

/** Addresses that are kept with their other form. Most outputs of a chain are at addresses that were seen shortly before. */
const KEPT = 4_096;

/** A function of a text that keeps its results, at most `KEPT` of them. */
function kept(compute: (text: string) => string): (text: string) => string {
  const results = new Map<string, string>();
  return (text) => {
    let result = results.get(text);
    if (result === undefined) {
      result = compute(text);
      if (results.size >= KEPT) results.clear();
      results.set(text, result);
    }
    return result;
  };
}

/** Text of an address (its bytes in hexadecimal). Chains hold some that no reader takes apart; they have a text too. */
export const addressJson: (hex: string) => string = kept((hex) => {
  const common = hexAddressText(hex);
  if (common !== undefined) return common;
  const read = readAddressHex(hex);
  if (read.ok) return addressText(read.value);
  const bytes = fromHex(hex);
  const header = bytes[0] ?? 0;
  return toBech32((header >> 4 >= 14 ? "stake" : "addr") + (header & 1 ? "" : "_test"), bytes);
});

/** The inverse of `addressJson`. @throws OgmiosFormError */
export function readAddressJson(json: Json | undefined): string {
  return addressBytes(textOf(json, "the address"));
}

const addressBytes = kept((text) => {
  const read = parseAddress(text);
  if (read.ok) return read.value.hex;
  const odd = fromBech32(text);
  if (odd && /^(addr|stake)(_test)?$/.test(odd.prefix) && odd.bytes.length > 0) return toHex(odd.bytes);
  throw new OgmiosFormError(read.error.message);
});
