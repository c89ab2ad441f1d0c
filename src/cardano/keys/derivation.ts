/**
 * Hierarchical keys: BIP32-Ed25519 (V2, the scheme of Icarus and Shelley wallets), from the entropy of a mnemonic (CIP-3 Icarus)
 * along the paths of CIP-1852.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { hmac } from "@noble/hashes/hmac.js";
import { pbkdf2 } from "@noble/hashes/pbkdf2.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { byteAt, concat } from "#src/base/bytes.ts";
import { littleEndian, littleEndianBytes, scalarToPublic, type SigningKey } from "#src/cardano/keys/signingKey.ts";

/** A secret key with children: extended key (64 bytes) and chain code (32). */
export interface SecretNode {
  readonly key: SigningKey;
  readonly chainCode: Uint8Array;
}

/** A public key with soft children: public key (32 bytes) and chain code (32). */
export interface PublicNode {
  readonly key: Uint8Array;
  readonly chainCode: Uint8Array;
}

/** Added to an index, makes it hard: its child cannot be derived from the public key. */
export const HARD = 0x80000000;

/** Roles under an account of CIP-1852, CIP-11 and CIP-105. */
export const ROLES = { external: 0, internal: 1, stake: 2, drep: 3, committeeCold: 4, committeeHot: 5 } as const;

const { Point } = ed25519;
const ROUNDS = { c: 4096, dkLen: 96 };

/** The root key from 96 stretched bytes (CIP-3, Icarus), for callers with a faster PBKDF2 than `rootKey`. */
export function rootOf(stretched: Uint8Array): SecretNode {
  const root = stretched.slice();
  root[0] = byteAt(root, 0) & 0b1111_1000;
  root[31] = (byteAt(root, 31) & 0b0001_1111) | 0b0100_0000;
  return { key: root.subarray(0, 64), chainCode: root.subarray(64) };
}

/** Root key of a mnemonic's entropy and a second factor (often empty): CIP-3, Icarus. Takes milliseconds: PBKDF2 with 4,096 rounds. */
export function rootKey(entropy: Uint8Array, secondFactor: Uint8Array = new Uint8Array()): SecretNode {
  return rootOf(pbkdf2(sha512, secondFactor, entropy, ROUNDS));
}

function checkIndex(index: number, limit: number): void {
  if (!Number.isInteger(index) || index < 0 || index >= limit) throw new TypeError(`no derivation index: ${index}`);
}

/** Cached public keys: each soft child of a parent needs the parent's. */
const publicKeys = new WeakMap<SecretNode, Uint8Array>();

function publicKeyOf(node: SecretNode): Uint8Array {
  const known = publicKeys.get(node) ?? scalarToPublic(node.key.subarray(0, 32));
  publicKeys.set(node, known);
  return known;
}

/** Two HMACs that make a child: the first one moves the key, the right half of the second is its chain code. */
function mix(chainCode: Uint8Array, tags: readonly [number, number], parent: Uint8Array, index: number) {
  const tail = concat(parent, littleEndianBytes(BigInt(index), 4));
  const move = hmac(sha512, chainCode, concat(Uint8Array.of(tags[0]), tail));
  return {
    /** 8 times the left 28 bytes: added to the scalar, it leaves the lowest three bits clear. */
    scalar: littleEndian(move.subarray(0, 28)) << 3n,
    prefix: littleEndian(move.subarray(32)),
    chainCode: hmac(sha512, chainCode, concat(Uint8Array.of(tags[1]), tail)).slice(32),
  };
}

/** Child of a secret key: soft below `HARD`, hard from there to 2^32 − 1. */
export function derive(node: SecretNode, index: number): SecretNode {
  checkIndex(index, 2 ** 32);
  const scalar = node.key.subarray(0, 32);
  const child = index >= HARD
    ? mix(node.chainCode, [0, 1], node.key, index)
    : mix(node.chainCode, [2, 3], publicKeyOf(node), index);
  const left = littleEndianBytes(littleEndian(scalar) + child.scalar, 32);
  const right = littleEndianBytes(littleEndian(node.key.subarray(32)) + child.prefix, 32);
  return { key: concat(left, right), chainCode: child.chainCode };
}

/** The descendant along a path of indices. */
export function derivePath(node: SecretNode, path: readonly number[]): SecretNode {
  return path.reduce(derive, node);
}

/** Soft child of a public key: the public key of the same soft child of its secret key. */
export function derivePublic(node: PublicNode, index: number): PublicNode {
  checkIndex(index, HARD);
  const child = mix(node.chainCode, [2, 3], node.key, index);
  const move = Point.BASE.multiply(child.scalar % Point.Fn.ORDER);
  return { key: Point.fromBytes(node.key).add(move).toBytes(), chainCode: child.chainCode };
}

/** The public side of a node. */
export function toPublic(node: SecretNode): PublicNode {
  return { key: publicKeyOf(node).slice(), chainCode: node.chainCode };
}

/** Account key of CIP-1852: m/1852'/1815'/account'. `account` counts from 0 and is hardened here. */
export function accountKey(root: SecretNode, account = 0): SecretNode {
  return derivePath(root, [HARD + 1852, HARD + 1815, HARD + account]);
}

/** Parses a path such as `1852H/1815H/0H/0/0` (`'` for `H`, a leading `m/` allowed); undefined if it is malformed. */
export function parsePath(text: string): readonly number[] | undefined {
  if (text === "m") return [];
  const segments = text.replace(/^m\//, "").split("/");
  const path: number[] = [];
  for (const segment of segments) {
    const match = /^(\d{1,10})([H']?)$/.exec(segment);
    const index = Number(match?.[1]);
    if (!match || index >= HARD) return undefined;
    path.push(index + (match[2] === "" ? 0 : HARD));
  }
  return path;
}
