/** Addresses of the Byron era: base58 of CBOR with a CRC32, as bootstrap addresses still valid today. */
import { base58 } from "@scure/base";
import { sha3_256 } from "@noble/hashes/sha3.js";
import {
  as,
  asInt,
  CborError,
  decode,
  type Encodable,
  encode,
  Encoded,
  entry,
  raw,
  Tagged,
} from "#src/cardano/cbor.ts";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { blake2b224 } from "#src/cardano/hash.ts";

/** What an address begins from: the public key of a wallet, or a key that redeems an initial balance. */
const PUBLIC_KEY = 0;
const REDEEM_KEY = 2;
type AddressKind = typeof PUBLIC_KEY | typeof REDEEM_KEY;

/** A decoded Byron address. */
export interface Byron {
  /** Hash of the key and the attributes, 56 hexadecimal digits. */
  readonly root: string;
  /** Protocol magic of a test network; left out on mainnet. */
  readonly magic?: number;
  /** The encrypted derivation path that random wallets put there, in hexadecimal. */
  readonly derivationPath?: string;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let i = 0; i < 8; i++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  // not checked, for speed: 8 bits are an index of the table
  for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 255]!;
  return (crc ^ 0xffffffff) >>> 0;
}

/**
 * Reads the bytes of a Byron address.
 *
 * @throws {CborError} if they are malformed or the checksum is wrong
 */
export function readByron(bytes: Uint8Array): Byron {
  const [payload, crc, more] = as(decode(bytes), "array").value;
  const tagged = as(payload, "tag");
  if (tagged.tag !== 24n || more !== undefined) throw new CborError("no Byron address");
  const content = as(tagged.value, "bytes").value;
  if (asInt(crc) !== BigInt(crc32(content))) throw new CborError("checksum");
  const [root, attributes, kind] = as(decode(content), "array").value;
  const hash = as(root, "bytes").value;
  if (hash.length !== 28 || asInt(kind) < 0n) throw new CborError("no Byron address");
  const path = entry(attributes, 1);
  const magic = entry(attributes, 2);
  return {
    root: toHex(hash),
    ...(magic ? { magic: Number(asInt(decode(as(magic, "bytes").value))) } : {}),
    ...(path ? { derivationPath: toHex(as(path, "bytes").value) } : {}),
  };
}

/** The parts of a Byron key address. */
export interface ByronParts {
  /** Public key and chain code, 64 bytes. */
  readonly key: Uint8Array;
  /** Protocol magic of a test network; left out on mainnet. */
  readonly magic?: number | undefined;
  /** The encrypted derivation path that random wallets put there. */
  readonly derivationPath?: Uint8Array | undefined;
}

/** Attributes of an address, CBOR. */
function writeAttributes({ magic, derivationPath }: Omit<ByronParts, "key">): Uint8Array {
  const attributes = new Map<Encodable, Encodable>();
  if (derivationPath) attributes.set(1, derivationPath);
  if (magic !== undefined) attributes.set(2, encode(magic));
  return encode(attributes);
}

/** Root of an address: `[kind, [kind, key], attributes]`, hashed twice; a public key is with its chain code. */
function rootOf(key: Uint8Array, attributes: Uint8Array, kind: AddressKind = PUBLIC_KEY): Uint8Array {
  return blake2b224(sha3_256(encode([kind, [kind, key], new Encoded(attributes)])));
}

/** Root of the address of a key (`ByronParts`), 28 bytes; `blake2b224` must be initialized. */
export function byronRootOf(parts: ByronParts): Uint8Array {
  return rootOf(parts.key, writeAttributes(parts));
}

/** Bytes of the address of a key, in hexadecimal. */
export function byronAddress(parts: ByronParts): string {
  return byronAddressOf(byronRootOf(parts), parts);
}

/** Bytes of the key address with a root and attributes, in hexadecimal. */
export function byronAddressOf(root: Uint8Array, parts: Omit<ByronParts, "key">): string {
  return addressOf(root, writeAttributes(parts), PUBLIC_KEY);
}

/** Bytes of the address that a key redeems (32 bytes), in hexadecimal; the magic is left out on mainnet. */
export function redeemAddress(key: Uint8Array, magic?: number): string {
  const attributes = writeAttributes({ magic });
  return addressOf(rootOf(key, attributes, REDEEM_KEY), attributes, REDEEM_KEY);
}

function addressOf(root: Uint8Array, attributes: Uint8Array, kind: AddressKind): string {
  const content = encode([root, new Encoded(attributes), kind]);
  return toHex(encode([new Tagged(24, content), crc32(content)]));
}

/** Whether an address (its bytes in hexadecimal) is one that a key redeems. */
export function isRedeemAddress(address: string): boolean {
  if (!address.startsWith(BYRON)) return false;
  const [payload] = as(decode(fromHex(address)), "array").value;
  const [, , kind] = as(decode(as(as(payload, "tag").value, "bytes").value), "array").value;
  return asInt(kind) === BigInt(REDEEM_KEY);
}

/** How the bytes of an address begin, in hexadecimal: a pair, whose first member has tag 24. */
const BYRON = "82d818";

/**
 * CBOR of the attributes of an address (its bytes in hexadecimal), which its bootstrap witness repeats.
 *
 * @throws {CborError} if the bytes are not a Byron address
 */
export function byronAttributes(address: string): Uint8Array {
  const [payload] = as(decode(fromHex(address)), "array").value;
  const content = as(as(payload, "tag").value, "bytes").value;
  const [, attributes] = as(decode(content), "array").value;
  if (!attributes) throw new CborError("no Byron address");
  return raw(attributes);
}

/** Whether an address (its bytes in hexadecimal) is that of a key with its chain code. */
export function isByronKey(address: string, key: Uint8Array, chainCode: Uint8Array): boolean {
  return toHex(rootOf(concat(key, chainCode), byronAttributes(address))) === readByron(fromHex(address)).root;
}

/** Maximum length of base58 text: decoding takes time quadratic in the length. */
const MAX_LENGTH = 512;

/** Bytes of a base58 text; undefined if it is not base58. */
export function fromBase58(text: string): Uint8Array | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  try {
    return base58.decode(text);
  } catch {
    return undefined;
  }
}

/** Base58 of some bytes. */
export function toBase58(bytes: Uint8Array): string {
  return base58.encode(bytes);
}
