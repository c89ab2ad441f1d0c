/** Byron addresses and their signatures, and blocks of Byron without transactions, for tests. */
import { sha3_256 } from "@noble/hashes/sha3.js";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { blake2b256, hash224 } from "#src/cardano/hash.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import type { ChainBlock } from "./nodeChain.ts";

/**
 * Parts of an address: its root, or the key and chain code that it is derived from; attributes other than the network
 * magic, by number.
 */
export interface ByronParts {
  readonly root?: Uint8Array;
  readonly key?: SigningKey;
  readonly chainCode?: Uint8Array;
  readonly attributes?: Readonly<Record<number, Uint8Array>>;
}

function attributesOf({ attributes = {} }: ByronParts): Uint8Array {
  const own = Object.entries(attributes).map(([key, value]) => [Number(key), value] as const);
  return encode(new Map<Encodable, Encodable>([...own, [2, encode(42)]]));
}

function rootOf(parts: ByronParts): Uint8Array {
  if (parts.root) return parts.root;
  const key = concat(publicKey(parts.key!), parts.chainCode!);
  return fromHex(hash224(sha3_256(encode([0, [0, key], new Encoded(attributesOf(parts))]))));
}

/** Bytes of an address, in hexadecimal. */
export function byronAddress(parts: ByronParts): string {
  const content = encode([rootOf(parts), new Encoded(attributesOf(parts)), 0]);
  return toHex(encode([new Tagged(24, content), crc32(content)]));
}

/** The witness that spends from an address with a known key: a signature of the hash of a body. */
export function bootstrapWitness(parts: ByronParts, body: Uint8Array): Encodable {
  const key = parts.key!;
  return [publicKey(key), sign(key, blake2b256(body)), parts.chainCode!, attributesOf(parts)];
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

/**
 * Linked Byron blocks: a number of epochs, each with this many main blocks in its first slots. Every epoch begins with
 * a boundary block, which has the slot of the first main block and the height of the block before it.
 */
export function byronChain(epochs: number, blocks: number): ChainBlock[] {
  const chain: ChainBlock[] = [];
  const add = (era: 0 | 1, consensus: Encodable, body: Encodable) => {
    const previous = chain.at(-1)?.tip.hash ?? "5f".repeat(32);
    const header = [42, fromHex(previous), new Uint8Array(32), consensus, [new Map()]];
    const bytes = encode([era, [header, body, [new Map()]]]);
    const { slot, hash, height } = scanBlock(bytes);
    chain.push({ bytes, tip: { slot, hash, height } });
  };
  for (let epoch = 0, height = 0; epoch < epochs; epoch++) {
    add(0, [epoch, [height]], []);
    for (let slot = 0; slot < blocks; slot++) {
      add(1, [[epoch, slot], new Uint8Array(64), [++height], []], [[], [], [], []]);
    }
  }
  return chain;
}
