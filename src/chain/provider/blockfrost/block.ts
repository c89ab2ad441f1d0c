/**
 * A block as a Blockfrost service tells it: what its header says, and its transactions, whole, in CBOR.
 *
 * Neither the header nor the bytes between the transactions are to be had, so the block's hash, height and slot are the service's word.
 * The transactions are not: each hashes to its id.
 */
import { fromHex } from "#src/base/bytes.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { BodyTransaction } from "#src/cardano/scanBody.ts";
import {
  type BlockDocument,
  read,
  transactionDocument,
  transactionsDocument,
} from "#src/chain/provider/blockfrost/documents.ts";
import { ApiError, apiError } from "#src/chain/provider/blockfrost/errors.ts";
import type { Http } from "#src/chain/provider/blockfrost/http.ts";
import { eachOf } from "#src/chain/provider/blockfrost/pace.ts";
import { z } from "zod";

const BYRON = 1;
const SHELLEY = 2;
const PAGE = 100;
/** Transactions asked for at once where a service gives them only one by one. */
const AT_ONCE = 4;
const NO_HEADER = new Uint8Array(0);

interface Told {
  readonly tx_hash: string;
  readonly cbor: string;
}

/** The block with its transactions. Throws `ApiError`: `absent` where the service has lost it meanwhile, by a rollback. */
export async function readBlock(
  http: Http,
  block: BlockDocument,
  era: number,
  signal?: AbortSignal,
): Promise<ScannedBlock> {
  const told = block.tx_count === 0 ? [] : await transactionsOf(http, block, signal);
  if (told.length !== block.tx_count) {
    throw apiError("unusable", `Of block ${block.hash} ${told.length} transactions were told, not ${block.tx_count}.`);
  }
  if (told.length > 0 && era <= BYRON) {
    throw apiError(
      "lacking",
      `Block ${block.hash} is one of Byron, of which a Blockfrost service tells no transactions in CBOR.`,
    );
  }
  return {
    hash: block.hash,
    height: block.height,
    slot: block.slot,
    ...(block.previous_block ? { previous: block.previous_block } : {}),
    era,
    size: block.size,
    header: NO_HEADER,
    transactions: told.map((one, index) => transactionOf(one, index, era)),
  };
}

function transactionOf({ tx_hash, cbor }: Told, index: number, era: number): BodyTransaction {
  const { hash, valid, body, witnesses, auxiliaryData } = scanned(tx_hash, cbor);
  if (hash !== tx_hash) throw apiError("unusable", `What was told as transaction ${tx_hash} is another one.`);
  return new BodyTransaction({ index, valid, body, witnesses, auxiliaryData, lastSlotIncluded: era === SHELLEY });
}

/** The transaction in a text that is told as one; throws `ApiError` where it is none. */
export function scanned(hash: string, cbor: string): ReturnType<typeof scanTransaction> {
  try {
    return scanTransaction(fromHex(cbor));
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw apiError("unusable", `What was told as transaction ${hash} is none: ${error.message}.`);
  }
}

async function transactionsOf(http: Http, block: BlockDocument, signal?: AbortSignal): Promise<readonly Told[]> {
  const paged = async <T>(path: string, form: z.ZodType<T[]>): Promise<T[]> => {
    const found: T[] = [];
    for (let page = 1; found.length < block.tx_count; page++) {
      const path_ = `/blocks/${block.hash}/${path}?count=${PAGE}&page=${page}&order=asc`;
      const some = read(form, await http.get(path_, signal), "transactions");
      found.push(...some);
      if (some.length < PAGE) break;
    }
    return found;
  };
  try {
    return await paged("txs/cbor", transactionsDocument);
  } catch (error) {
    if (!(error instanceof ApiError) || !["absent", "lacking"].includes(error.failure.code)) throw error;
  }
  // a service that has the list alone, or none of the block any more
  const hashes = await paged("txs", hashesDocument);
  return await eachOf(hashes, AT_ONCE, async (tx_hash) => {
    const { cbor } = read(transactionDocument, await http.get(`/txs/${tx_hash}/cbor`, signal), "a transaction");
    return { tx_hash, cbor };
  });
}

const hashesDocument = z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(PAGE);
