/** Blocks from an Ogmios server: the fields of the header, and the transactions. */
import type { Json } from "#src/base/json.ts";
import type { Point, ScannedBlock } from "#src/cardano/block.ts";
import { ERAS } from "#src/cardano/eras.ts";
import { ogmiosError } from "#src/chain/provider/ogmios/errors.ts";
import { readTransaction } from "#src/chain/provider/ogmios/transaction.ts";
import { countOf, hexOf, isGiven, listOf, objectOf, OgmiosFormError, textOf } from "#src/ogmios/form.ts";
import { readSize } from "#src/ogmios/values.ts";

const NO_HEADER = new Uint8Array(0);
/** Newest era tag that is read here. */
const CONWAY = 7;
/** Transactions of a block at most. Blocks of existing networks hold less than a tenth. */
const MAX_TRANSACTIONS = 10_000;

/**
 * The block that follows a point. `byronEpoch` is the length of Byron's epochs: an epoch boundary block does not state
 * its slot, which is the first of the next epoch.
 *
 * @throws OgmiosFormError or CborError, and an OgmiosError `era_unknown` for an era after Conway.
 */
export function readBlock(json: Json, after: Point, byronEpoch: number): ScannedBlock {
  const block = objectOf(json, "the block");
  const era = eraOf(textOf(block.era, "the block's era"), block.type);
  const { ancestor, issuer } = block;
  const header = {
    hash: hexOf(block.id, "the block's id", 32),
    height: countOf(block.height, "the height"),
    ...(ancestor === "genesis" ? {} : { previous: hexOf(ancestor, "the ancestor", 32) }),
    era,
    header: NO_HEADER,
  };
  if (era === 0) {
    const epoch = Math.floor(after.slot / byronEpoch) + 1;
    return { ...header, slot: epoch * byronEpoch, size: 0, transactions: [] };
  }
  const transactions = isGiven(block.transactions) ? listOf(block.transactions, "the transactions") : [];
  if (transactions.length > MAX_TRANSACTIONS) throw new OgmiosFormError("more transactions than fit into a block");
  return {
    ...header,
    slot: countOf(block.slot, "the slot"),
    size: readSize(block.size),
    ...(era > 1 ? { issuer: hexOf(objectOf(issuer, "the issuer").verificationKey, "the issuer's key", 32) } : {}),
    transactions: transactions.map((one, index) => readTransaction(one, index, era)),
  };
}

function eraOf(name: string, type: Json | undefined): number {
  if (type === "ebb") return 0;
  // a block's era tag is one more than the era's index
  const tag = ERAS.findIndex((one) => one.toLowerCase() === name) + 1;
  if (tag > 0 && tag <= CONWAY) return tag;
  throw ogmiosError("era_unknown", `blocks of the era ${name.slice(0, 40)} are not known to this release`);
}
