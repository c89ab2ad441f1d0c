/**
 * Derives many public keys of one role of an account at once.
 *
 * A soft child's public key is its parent's plus 8 n times the base point, with n below 2^224, and nothing of it is
 * secret. So tables of the multiples for each value of each of the 28 bytes of n give a child by 28 additions without
 * doubling, and all children of a group share one inversion. This was measured to be more than three times as fast as
 * deriving one key after the other.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { normalizeZ } from "@noble/curves/abstract/curve.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concat } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";
import { ok, type Result } from "#src/base/result.ts";
import { derivePublic, HARD } from "#src/cardano/derivation.ts";
import { byronRootOf } from "#src/cardano/byron.ts";
import { blake2b224, initHash } from "#src/cardano/hash.ts";
import { nodeOf } from "#src/wallet/keys/account.ts";
import type { DerivedHashes, DeriveInput } from "#src/wallet/keys/types.ts";

const { Point } = ed25519;
type EdwardsPoint = typeof Point.BASE;

/** Bytes of n. */
const PLACES = 28;
/** Children that share an inversion; a larger group is not faster and needs more memory. */
const GROUP = 512;

let tables: readonly (readonly EdwardsPoint[])[] | undefined;

/** For each place and each byte from 1: 8 · byte · 256^place times the base point. Computed once, in 50 ms. */
function multiples(): readonly (readonly EdwardsPoint[])[] {
  if (tables) return tables;
  const made: EdwardsPoint[][] = [];
  let unit = Point.BASE.multiplyUnsafe(8n);
  for (let place = 0; place < PLACES; place++) {
    const row = [unit];
    let last = unit;
    for (let byte = 2; byte < 256; byte++) row.push(last = last.add(unit));
    unit = last.add(unit);
    made.push(normalizeZ(Point, row));
  }
  return tables = made;
}

/**
 * Hashes of the keys at the indices `from` … `from + count − 1` of a role, or the roots of their Byron addresses.
 *
 * @throws TypeError where `account` is not an xpub, or an index is hardened.
 */
export async function deriveCredentials(input: DeriveInput): Promise<Result<DerivedHashes, never>> {
  const { account, role, from, count, byron } = input;
  const top = nodeOf(account);
  if (!Number.isInteger(from) || !Number.isInteger(count) || from < 0 || count < 0 || from + count > HARD) {
    throw new TypeError(`no soft indices: ${count} from ${from}`);
  }
  await initHash();
  const { key, chainCode } = derivePublic(top, role);
  const parent = Point.fromBytes(key);
  const hashes = new Uint8Array(28 * count);
  const message = new Uint8Array(37);
  message.set(key, 1);
  const index = new DataView(message.buffer, 33);
  const keyed = hmac.create(sha512, chainCode);
  /** The right side of a child (`derivePublic`): tag 2 gives what its key adds, tag 3 its chain code. */
  const mixed = (tag: 2 | 3, i: number) => {
    message[0] = tag;
    index.setUint32(0, from + i, true);
    return keyed.clone().update(message).digest();
  };
  const hashOf = (child: Uint8Array, i: number) =>
    byron ? byronRootOf({ key: concat(child, mixed(3, i).subarray(32)), ...byron }) : blake2b224(child);
  for (let begin = 0; begin < count; begin += GROUP) {
    const children: EdwardsPoint[] = [];
    for (let i = begin; i < Math.min(begin + GROUP, count); i++) children.push(addMultiple(parent, mixed(2, i)));
    normalizeZ(Point, children).forEach((child, i) => hashes.set(hashOf(child.toBytes(), begin + i), 28 * (begin + i)));
  }
  return ok({ hashes });
}

/** The parent plus 8 times the first 28 bytes of a number (little endian). */
function addMultiple(parent: EdwardsPoint, number: Uint8Array): EdwardsPoint {
  let point = parent;
  multiples().forEach((row, place) => {
    const byte = elementAt(number, place);
    if (byte !== 0) point = point.add(elementAt(row, byte - 1));
  });
  return point;
}
