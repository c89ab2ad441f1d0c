/**
 * The block scanner: raw blocks of every era, and raw transactions, to what projections read, without judging them.
 *
 * Hypotheses: a block on the chain is valid, so nothing is checked here that the ledger checked, and odd things that it let through
 * (a 56-byte pool hash in a certificate) pass; hashes are over the bytes as they came; most of a block interests nobody, so a scan
 * walks over the whole block once and reads a transaction's members when they are asked for.
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
 * Scans a whole transaction, as it is submitted since Shelley. Throws `CborError` on anything else, and on what is wrong in any member
 * but witnesses and auxiliary data, which stay unread. Its `index` is 0, its `validTo` as of the eras after Shelley.
 */
export function scanTransaction(bytes: Uint8Array): ScannedTransaction & { readonly fee: bigint } {
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
    new BodyTransaction({ index: 0, valid, body, witnesses, auxiliaryData, lastSlotIncluded: false }),
  );
}
