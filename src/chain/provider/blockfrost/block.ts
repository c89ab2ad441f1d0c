/**
 * Blocks from a Blockfrost service: the fields of the header, and the transactions as CBOR.
 *
 * The service gives neither the header nor the bytes between the transactions, so a block's hash, height and slot have
 * to be trusted. The transactions need not: each must hash to its id.
 */
import { fromHex } from "#src/base/bytes.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { BodyTransaction } from "#src/cardano/scanBody.ts";
import {
  type BlockDocument,
  parse,
  transactionDocument,
  transactionsDocument,
} from "#src/chain/provider/blockfrost/documents.ts";
import { blockfrostError, unless } from "#src/chain/provider/blockfrost/errors.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { mapParallel } from "#src/base/parallel.ts";
import { z } from "zod";

const BYRON = 1;
const SHELLEY = 2;
const PAGE = 100;
/** Parallel requests where a service only gives single transactions. */
const PARALLEL = 4;
const NO_HEADER = new Uint8Array(0);

type TransactionDocument = z.infer<typeof transactionsDocument>[number];

/**
 * The block with its transactions.
 *
 * @throws BlockfrostError `absent` if the service no longer has the block, after a rollback.
 */
export async function readBlock(
  http: BlockfrostHttp,
  block: BlockDocument,
  era: number,
  signal?: AbortSignal,
): Promise<ScannedBlock> {
  const documents = block.tx_count === 0 ? [] : await transactionsOf(http, block, signal);
  if (documents.length !== block.tx_count) {
    throw blockfrostError(
      "unusable",
      `The service returned ${documents.length} transactions of block ${block.hash}, expected ${block.tx_count}.`,
    );
  }
  if (documents.length > 0 && era <= BYRON) {
    throw blockfrostError(
      "lacking",
      `Block ${block.hash} is a Byron block; Blockfrost services do not return the CBOR of its transactions.`,
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
    transactions: documents.map((one, index) => transactionOf(one, index, era)),
  };
}

function transactionOf({ tx_hash, cbor }: TransactionDocument, index: number, era: number): BodyTransaction {
  const { hash, valid, body, witnesses, auxiliaryData } = scanDocument(tx_hash, cbor);
  if (hash !== tx_hash) throw blockfrostError("unusable", `The service returned another transaction than ${tx_hash}.`);
  return new BodyTransaction({ index, valid, body, witnesses, auxiliaryData, lastSlotIncluded: era === SHELLEY });
}

/**
 * Scans the transaction that a service gave.
 *
 * @throws BlockfrostError if the text is not a transaction.
 */
export function scanDocument(hash: string, cbor: string): ReturnType<typeof scanTransaction> {
  try {
    return scanTransaction(fromHex(cbor));
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw blockfrostError("unusable", `The service returned an invalid transaction for ${hash}: ${error.message}.`);
  }
}

async function transactionsOf(
  http: BlockfrostHttp,
  block: BlockDocument,
  signal?: AbortSignal,
): Promise<readonly TransactionDocument[]> {
  const paged = async <T>(path: string, form: z.ZodType<T[]>): Promise<T[]> => {
    const found: T[] = [];
    for (let page = 1; found.length < block.tx_count; page++) {
      const path_ = `/blocks/${block.hash}/${path}?count=${PAGE}&page=${page}&order=asc`;
      const some = parse(form, await http.get(path_, signal), "transactions");
      found.push(...some);
      if (some.length < PAGE) break;
    }
    return found;
  };
  const whole = await unless(paged("txs/cbor", transactionsDocument), "absent", "lacking");
  if (whole) return whole;
  // the service supports only the list of hashes, or the block was rolled back
  const hashes = await paged("txs", hashesDocument);
  return await mapParallel(hashes, PARALLEL, async (tx_hash) => {
    const { cbor } = parse(transactionDocument, await http.get(`/txs/${tx_hash}/cbor`, signal), "a transaction");
    return { tx_hash, cbor };
  });
}

const hashesDocument = z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(PAGE);
