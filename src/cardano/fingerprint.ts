/** Fingerprints of assets (CIP-14): what people compare. */
import { blake2b } from "@noble/hashes/blake2.js";
import { fromHex } from "#src/base/bytes.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import type { AssetId } from "#src/cardano/value.ts";

/** The fingerprint of an asset, `asset1…`. */
export function fingerprint(asset: AssetId): string {
  return toBech32("asset", blake2b(fromHex(asset), { dkLen: 20 }));
}
