/**
 * The form of an output that the tree has the digest of: the ledger's own encoding in Conway, whatever bytes the
 * transaction had. An output of an earlier era is encoded as the ledger holds it now.
 */
import { compareBytes, fromHex, joined } from "#src/base/bytes.ts";
import { addTo, mustGet } from "#src/base/maps.ts";
import { type Encodable, encode, Encoded, head, Tagged } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import type { Output } from "#src/cardano/output.ts";
import { type AssetId, type Assets, nameOf, policyOf, type Value } from "#src/cardano/value.ts";
import { Walk } from "#src/cardano/walk.ts";

/** Entries of a map that the ledger's encoder writes with a definite length, at most. */
const MOST_DEFINITE = 23;

const MAP_BREAK = Uint8Array.of(0xff);
const MAP_INDEFINITE = Uint8Array.of(0xbf);

/** The output as the ledger encodes it. */
export function canonicalOutput({ address, value, datum, datumHash, script }: Omit<Output, "raw">): Uint8Array {
  const parts = [fromHex(address), encodeHeld(value)] as const;
  if (datum === undefined && script === undefined) {
    return encode(datumHash === undefined ? parts : [...parts, fromHex(datumHash)]);
  }
  const map = new Map<Encodable, Encodable>([[0, parts[0]], [1, parts[1]]]);
  if (datum !== undefined) map.set(2, [1, new Tagged(24, datum)]);
  else if (datumHash !== undefined) map.set(2, [0, fromHex(datumHash)]);
  if (script !== undefined) map.set(3, new Tagged(24, canonicalScript(script)));
  return encode(map);
}

/** The value of an output in the tree. */
export function outputValue(output: Omit<Output, "raw">): Uint8Array {
  return blake2b256(canonicalOutput(output));
}

/** `[language, script]`: a native script keeps its bytes, a script of Plutus is a byte string in the shortest form. */
function canonicalScript(script: Uint8Array): Uint8Array {
  const walk = new Walk(script);
  walk.tuple("script", 2);
  const language = walk.uint();
  return encode([language, language === 0 ? new Encoded(walk.raw()) : walk.bytes()]);
}

function encodeHeld({ lovelace, assets }: Value): Encodable {
  return assets.size === 0 ? lovelace : [lovelace, new Encoded(encodeHeldAssets(assets))];
}

/** Policies and names in the order of their bytes, other than in a transaction. */
function encodeHeldAssets(assets: Assets): Uint8Array {
  const byPolicy = new Map<string, AssetId[]>();
  for (const asset of assets.keys()) addTo(byPolicy, policyOf(asset), asset);
  return encodeMap([...byPolicy].map(([policy, ids]) => [
    fromHex(policy),
    encodeMap(ids.map((id) => [fromHex(nameOf(id)), encode(mustGet(assets, id))])),
  ]));
}

function encodeMap(entries: (readonly [key: Uint8Array, value: Uint8Array])[]): Uint8Array {
  const sorted = entries.sort(([a], [b]) => compareBytes(a, b)).flatMap(([key, value]) => [encode(key), value]);
  return entries.length <= MOST_DEFINITE
    ? joined([head(5, entries.length), ...sorted])
    : joined([MAP_INDEFINITE, ...sorted, MAP_BREAK]);
}
