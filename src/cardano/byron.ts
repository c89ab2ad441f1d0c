/** Addresses of the Byron era: base58 of CBOR with a CRC32, as bootstrap addresses still valid today. */
import { base58 } from "@scure/base";
import { as, asInt, CborError, decode, entry } from "#src/cardano/cbor.ts";
import { toHex } from "#src/base/bytes.ts";

/** What a Byron address says. */
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
  for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 255]!;
  return (crc ^ 0xffffffff) >>> 0;
}

/** Reads the bytes of a Byron address. Throws `CborError` when they are none, a wrong checksum included. */
export function readByron(bytes: Uint8Array): Byron {
  const [payload, crc, more] = as(decode(bytes), "array").value;
  const tagged = as(payload, "tag");
  if (tagged.tag !== 24n || more !== undefined) throw new CborError("no Byron address");
  const content = as(tagged.value, "bytes").value;
  if (asInt(crc) !== BigInt(crc32(content))) throw new CborError("checksum");
  const [root, attributes, kind] = as(decode(content), "array").value;
  const hash = as(root, "bytes").value;
  if (hash.length !== 28 || asInt(kind) < 0n) throw new CborError("no Byron address");
  const path = entry(attributes!, 1);
  const magic = entry(attributes!, 2);
  return {
    root: toHex(hash),
    ...(magic ? { magic: Number(asInt(decode(as(magic, "bytes").value))) } : {}),
    ...(path ? { derivationPath: toHex(as(path, "bytes").value) } : {}),
  };
}

/** Longest base58 text that is read: its decoding takes time with the square of the length. */
const MAX_LENGTH = 512;

/** Bytes of a base58 text, or `undefined` when it is none. */
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
