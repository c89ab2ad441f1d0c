/** Blocks out of Ogmios' JSON, in the form in which a provider hands them on whose server gives no bytes of blocks. */
import type { Json } from "#src/base/json.ts";
import type { Point, ScannedBlock } from "#src/cardano/block.ts";
import { ERA_TEXTS } from "#src/ogmios/block.ts";
import { countOf, hexOf, listOf, objectOf, OgmiosFormError } from "#src/ogmios/form.ts";
import { readTransaction } from "#src/ogmios/readTransaction.ts";
import { readSize } from "#src/ogmios/values.ts";

const NO_HEADER = new Uint8Array(0);
/** Slots of an epoch of Byron. */
const EPOCH = 21_600;

/**
 * Reads a block. The header is not given, and `size` is that of the body since Shelley; transactions are as exact as `readTransaction` says. A
 * boundary block of Byron has no slot in the JSON: it opens the epoch after that of `before`, the point of the block before it.
 *
 * @throws OgmiosFormError
 */
export function readBlock(json: Json | undefined, before?: Point): ScannedBlock {
  const block = objectOf(json, "the block");
  const isBoundary = block.type === "ebb";
  const era = isBoundary ? 0 : ERA_TEXTS.lastIndexOf(block.era as (typeof ERA_TEXTS)[number]);
  if (era < 0) throw new OgmiosFormError(`${String(block.era).slice(0, 40)} is no era`);
  const slot = isBoundary ? (Math.floor((before?.slot ?? -1) / EPOCH) + 1) * EPOCH : countOf(block.slot, "slot");
  const issuer = isBoundary ? undefined : hexOf(objectOf(block.issuer, "issuer").verificationKey, "the issuer's key");
  const transactions = isBoundary ? [] : listOf(block.transactions ?? [], "transactions");
  return {
    hash: hexOf(block.id, "id", 32),
    height: countOf(block.height, "height"),
    slot,
    ...(block.ancestor === "genesis" ? {} : { previous: hexOf(block.ancestor, "ancestor", 32) }),
    era,
    size: isBoundary ? 0 : readSize(block.size),
    ...(issuer === undefined ? {} : { issuer }),
    header: NO_HEADER,
    transactions: transactions.map((transaction, index) => readTransaction(transaction, index, era)),
  };
}
