/**
 * Blocks of Byron: main blocks, and boundary blocks (EBB), which open an epoch and hold no transaction.
 *
 * A boundary block has the height of the block before it, and the slot of the main block that may follow it in the epoch's first slot.
 */
import { concat } from "#src/base/bytes.ts";
import type { ScannedBlock, ScannedTransaction } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { type Output, type OutRef, walkOutput } from "#src/cardano/output.ts";
import { noAssets } from "#src/cardano/value.ts";
import { Walk } from "#src/cardano/walk.ts";

/** Slots of an epoch: ten times the k of every network that had a Byron era, mainnet's and preprod's 2160. */
const EPOCH = 21_600;
/** A header is hashed as the element of a pair whose first element says which kind of block it is of. */
const BOUNDARY = Uint8Array.of(0x82, 0);
const MAIN = Uint8Array.of(0x82, 1);

/** Scans the boundary block at the position of a walk and moves past it. @throws {CborError} if it is malformed */
export function scanBoundary(walk: Walk): ScannedBlock {
  const start = walk.at;
  walk.tuple("boundary block", 3);
  const header = walk.raw();
  walk.skip(); // stakeholders
  walk.skip(); // attributes
  walk.close(start);
  const { previous, consensus } = readHeader(header);
  consensus.tuple("consensus data", 2);
  const slot = consensus.uint() * EPOCH;
  const hash = hash256(concat(BOUNDARY, header));
  return {
    slot,
    hash,
    height: difficulty(consensus),
    previous,
    era: 0,
    size: walk.at - start,
    header,
    transactions: [],
  };
}

/** Scans the main block at the position of a walk and moves past it. @throws {CborError} if it is malformed */
export function scanByron(walk: Walk): ScannedBlock {
  const start = walk.at;
  walk.tuple("block", 3);
  const header = walk.raw();
  const transactions = readBody(walk);
  walk.skip(); // attributes
  walk.close(start);
  const { previous, consensus } = readHeader(header);
  consensus.tuple("consensus data", 4);
  const slotStart = consensus.at;
  consensus.tuple("slot", 2);
  const slot = consensus.uint() * EPOCH + consensus.uint();
  consensus.close(slotStart);
  const issuer = consensus.hex();
  const hash = hash256(concat(MAIN, header));
  const height = difficulty(consensus);
  return { slot, hash, height, previous, era: 1, size: walk.at - start, issuer, header, transactions };
}

/** Hash of the previous block, and a walk at the consensus data. */
function readHeader(header: Uint8Array): { readonly previous: string; readonly consensus: Walk } {
  const walk = new Walk(header);
  walk.tuple("header", 5);
  walk.skip(); // protocol magic
  const previous = walk.hex();
  walk.skip(); // proof of the body
  return { previous, consensus: walk };
}

function difficulty(walk: Walk): number {
  walk.tuple("difficulty", 1);
  return walk.uint();
}

function readBody(walk: Walk): ScannedTransaction[] {
  const start = walk.at;
  walk.tuple("block body", 4);
  const transactions: ScannedTransaction[] = [];
  const count = walk.array();
  for (let index = 0; walk.more(index, count); index++) {
    const pair = walk.at;
    walk.tuple("transaction", 2);
    transactions.push(new ByronTransaction(index, walk.raw(), walk.raw()));
    walk.close(pair);
  }
  walk.skip(); // shared seed computation
  walk.skip(); // delegation of blocks
  walk.skip(); // updates
  walk.close(start);
  return transactions;
}

/** A transaction of Byron: inputs and outputs, read at their first use, and nothing else. */
export class ByronTransaction implements ScannedTransaction {
  readonly valid = true;
  readonly collateral = [];
  readonly references = [];
  readonly mint = noAssets;
  readonly certificates = [];
  readonly withdrawals: ReadonlyMap<string, bigint> = new Map();
  readonly requiredSigners = [];
  #hash: string | undefined;
  #inputs: readonly OutRef[] | undefined;
  #outputs: readonly Output[] | undefined;

  /** `hash`: where it is known, which need not be that of a body whose bytes were encoded again. */
  constructor(readonly index: number, readonly body: Uint8Array, readonly witnesses: Uint8Array, hash?: string) {
    this.#hash = hash;
  }

  get hash(): string {
    return this.#hash ??= hash256(this.body);
  }

  get inputs(): readonly OutRef[] {
    return this.#inputs ??= this.#list(0, readInput);
  }

  get outputs(): readonly Output[] {
    return this.#outputs ??= this.#list(1, walkOutput);
  }

  /** The elements of the inputs (0) or the outputs (1). */
  #list<T>(place: 0 | 1, one: (walk: Walk) => T): T[] {
    const walk = new Walk(this.body);
    walk.tuple("transaction", 3);
    if (place === 1) walk.skip();
    return walk.each(walk.array(), one);
  }
}

/** `[0, 24(bytes)]`, the bytes being CBOR of hash and index. */
function readInput(walk: Walk): OutRef {
  return walk.within("input", 2, 2, () => {
    const kind = walk.uint();
    if (kind !== 0) throw new CborError(`no input of kind ${kind}`);
    const inner = new Walk(walk.embedded());
    inner.tuple("input", 2);
    return { txHash: inner.hex(), index: inner.uint() };
  });
}
