/** Identifiers in paths of the Blockfrost API. */
import { isHex, toHex } from "#src/base/bytes.ts";
import { type NetworkId, parseAddress } from "#src/cardano/address.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { malformed } from "#src/devnet/serve/blockfrost/failures.ts";
import { credentialKey } from "#src/ledger/state.ts";

/** Bytes of a pool id and of other hashes of keys and scripts. */
const HASH_BYTES = 28;
/** Epochs, heights and slots in paths are at most this. */
const MOST = 2 ** 31 - 1;

/** The id of a pool in hexadecimal, from hexadecimal or bech32. @throws {HttpFailure} 400 for anything else */
export function readPoolId(text: string): string {
  if (isHex(text, HASH_BYTES)) return text.toLowerCase();
  const read = fromBech32(text);
  if (read?.prefix !== "pool" || read.bytes.length !== HASH_BYTES) throw malformed.pool();
  return toHex(read.bytes);
}

/** The account of a stake address of a network, by its credential's key. @throws {HttpFailure} 400 for anything else */
export function readStakeAddress(text: string, network: NetworkId): string {
  const read = parseAddress(text, network);
  if (!read.ok || read.value.kind !== "reward" || text.toLowerCase() === read.value.hex) throw malformed.stakeAddress();
  return credentialKey(read.value.stake);
}

/** The number of an epoch. @throws {HttpFailure} 400 where it is out of range */
export function readEpochNumber(number: number): number {
  if (number < 0 || number > MOST) throw malformed.epoch();
  return number;
}
