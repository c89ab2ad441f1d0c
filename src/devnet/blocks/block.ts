/**
 * Blocks of the devnet: Conway blocks in the form of the ledger's CDDL, without signatures.
 *
 * Height, slot, previous hash, body hash, body size, issuer and protocol version are real. The VRF output and proof,
 * the operational certificate and the KES signature have the right length and are zeros: a node that checks consensus
 * refuses such a block, while a follower that only reads it sees no difference. The VRF output ends with the number of
 * forks, so two blocks of the same slot differ after a rollback. A block is a pure function of its fields, so an empty
 * one need not be stored.
 */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { as, asInt, decode, encode, Encoded } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";

/** Era tag of Conway in `[era, block]`. */
const CONWAY = 7;
const zeros = (length: number) => new Uint8Array(length);
const VRF_PROOF = zeros(80);
const VRF_KEY = zeros(32);
const KES_KEY = zeros(32);
const CERTIFICATE_SIGNATURE = zeros(64);
const KES_SIGNATURE = zeros(448);

/** The fields from which a block is encoded. */
export interface BlockFields {
  readonly height: number;
  readonly slot: number;
  /** How often the chain had been rolled back when it was made. */
  readonly fork: number;
  /** Hash of the previous block, in hexadecimal; undefined for the first one. */
  readonly previous: string | undefined;
  /** The issuer's cold verification key, 32 bytes. */
  readonly issuer: Uint8Array;
  readonly protocolVersion: { readonly major: number; readonly minor: number };
  readonly transactions: readonly Pick<ScannedTransaction, "body" | "witnesses" | "auxiliaryData" | "valid">[];
}

/** A block: `bytes` is `[era, block]`, `size` the bytes of its body, `hash` (hexadecimal) that of its header. */
interface EncodedBlock {
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly hash: string;
}

/** The four parts of a block's body, and the hash of them that its header has. */
interface EncodedBody {
  readonly parts: readonly Uint8Array[];
  readonly size: number;
  readonly hash: Uint8Array;
}

/** Most blocks have no transaction; the hashes take more time than all else of them. */
const EMPTY_BODY = encodeBody([]);

/** Encodes a block. */
export function encodeBlock(fields: BlockFields): EncodedBlock {
  const { transactions } = fields;
  const body = transactions.length === 0 ? EMPTY_BODY : encodeBody(transactions);
  const header = encodeHeader(fields, body);
  return {
    size: body.size,
    bytes: encode([CONWAY, [new Encoded(header), ...body.parts.map((part) => new Encoded(part))]]),
    hash: toHex(blake2b256(header)),
  };
}

function encodeBody(transactions: BlockFields["transactions"]): EncodedBody {
  const parts = [
    encode(transactions.map(({ body }) => new Encoded(body))),
    encode(transactions.map(({ witnesses }) => new Encoded(witnesses))),
    encode(
      new Map(
        transactions.flatMap(({ auxiliaryData }, index) =>
          auxiliaryData ? [[index, new Encoded(auxiliaryData)] as const] : []
        ),
      ),
    ),
    encode(transactions.flatMap(({ valid }, index) => valid ? [] : [index])),
  ];
  // the hash of the concatenation of the parts' hashes (ledger: `hashAlonzoSegWits`)
  const hash = blake2b256(concat(...parts.map(blake2b256)));
  return { parts, size: parts.reduce((sum, part) => sum + part.length, 0), hash };
}

/** Bytes of a block's body, by its header. @throws {CborError} if it is not a header */
export function bodySize(header: Uint8Array): number {
  const [body] = as(decode(header), "array").value;
  return Number(asInt(as(body, "array").value[6]));
}

function encodeHeader(fields: BlockFields, { size, hash }: EncodedBody): Uint8Array {
  const { height, slot, fork, previous, issuer, protocolVersion } = fields;
  const vrfOutput = zeros(64);
  new DataView(vrfOutput.buffer).setBigUint64(56, BigInt(fork));
  const body = [
    height,
    slot,
    previous === undefined ? null : fromHex(previous),
    issuer,
    VRF_KEY,
    [vrfOutput, VRF_PROOF],
    size,
    hash,
    [KES_KEY, 0, 0, CERTIFICATE_SIGNATURE],
    [protocolVersion.major, protocolVersion.minor],
  ];
  return encode([body, KES_SIGNATURE]);
}
