/**
 * The block scanner: turns raw blocks of every era, and raw transactions, into the form that projections read.
 *
 * Assumptions:
 * - A block on the chain is valid. Nothing is checked again, and unusual values that the ledger accepted (a 56-byte pool hash
 *   in a certificate) pass.
 * - Hashes are over the original bytes.
 * - Most of a block is not needed. A scan passes over the block once and decodes a transaction's members on first use.
 */
import type { ScannedBlock, ScannedTransaction } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { BodyTransaction, readWhole } from "#src/cardano/scanBody.ts";
import { scanBoundary, scanByron } from "#src/cardano/scanByron.ts";
import { scanShelley } from "#src/cardano/scanShelley.ts";
import { major, Walk } from "#src/cardano/walk.ts";

/** Newest era tag of `[era, block]` that is read here. */
const CONWAY = 7;

/** A block of an era that came after those that are read here. */
export class UnknownEraError extends CborError {
  readonly code = "era_unknown";
  constructor(readonly era: number) {
    super(`blocks of era ${era} are not known to this release`);
  }
}

/**
 * Scans `[era, block]`. Throws `CborError` on bytes that are no such block, `UnknownEraError` on eras after Conway. Before much of
 * this, `initHash` (hash.ts) makes it some times faster.
 */
export function scanBlock(bytes: Uint8Array): ScannedBlock {
  const walk = new Walk(bytes);
  walk.tuple("block with its era", 2);
  const era = walk.uint();
  if (era > CONWAY) throw new UnknownEraError(era);
  const block = era === 0 ? scanBoundary(walk) : era === 1 ? scanByron(walk) : scanShelley(walk, era);
  walk.close(0);
  walk.end();
  return block;
}

/**
 * Scans a whole transaction in the form submitted since Shelley. `index` is its place among others, where it has one; its
 * `validTo` is read as in the eras after Shelley.
 *
 * @throws {CborError} if a member other than witnesses and auxiliary data, which are not read, is malformed
 */
export function scanTransaction(bytes: Uint8Array, index = 0): ScannedTransaction & { readonly fee: bigint } {
  const walk = new Walk(bytes);
  const length = walk.tuple("transaction", 3, 4);
  const body = walk.raw();
  if (walk.major !== major.map) throw new CborError("not a transaction");
  const witnesses = walk.raw();
  const valid = length === 3 || walk.bool();
  const auxiliaryData = walk.nil() ? undefined : walk.raw();
  walk.close(0);
  walk.end();
  return readWhole(
    new BodyTransaction({ index, valid, body, witnesses, auxiliaryData, lastSlotIncluded: false }),
  );
}
