/** Blocks of every era in Ogmios' JSON, out of their bytes. */
import type { Json } from "#src/base/json.ts";
import { jsonInteger } from "#src/base/json.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { Walk } from "#src/cardano/walk.ts";
import { byronBlockMembers } from "#src/ogmios/byron.ts";
import { type TransactionForm, transactionJson } from "#src/ogmios/transaction.ts";
import { elementAt } from "#src/base/present.ts";

/** Names of the eras by their number in `[era, block]`; a boundary block is of Byron too. */
export const ERA_TEXTS = ["byron", "byron", "shelley", "allegra", "mary", "alonzo", "babbage", "conway"] as const;

const BYRON = 1;
/** First era whose headers have one proof of the slot leader instead of two. */
const BABBAGE = 6;

type Members = { [name: string]: Json };

/**
 * A block out of `[era, block]`.
 *
 * @throws CborError for bytes that are no block, UnknownEraError for eras after Conway
 */
export function blockJson(bytes: Uint8Array, form: TransactionForm): Members {
  const block = scanBlock(bytes);
  const { era, hash, height, previous } = block;
  const json: Members = {
    type: "praos",
    era: elementAt(ERA_TEXTS, era),
    id: hash,
    ancestor: previous ?? "genesis",
    height,
  };
  if (era <= BYRON) {
    const walk = new Walk(bytes);
    walk.array();
    walk.skip();
    Object.assign(json, byronBlockMembers(block, walk));
  } else addHeader(block, json);
  if (era !== 0) json.transactions = block.transactions.map((transaction) => transactionJson(transaction, form, era));
  return json;
}

function addHeader({ header, era }: ScannedBlock, json: Members): void {
  const walk = new Walk(header);
  walk.tuple("header", 2);
  walk.tuple("header body", 10, 15);
  walk.skip(); // height
  json.slot = jsonInteger(walk.int());
  walk.skip(); // previous block
  const verificationKey = walk.hex();
  const vrfVerificationKey = walk.hex();
  if (era < BABBAGE) json.nonce = walkVrf(walk);
  const leaderValue = walkVrf(walk);
  json.size = { bytes: walk.uint() };
  walk.skip(); // hash of the body
  if (era >= BABBAGE) walk.tuple("operational certificate", 4);
  const kesKey = walk.hex();
  const count = walk.uint();
  const period = walk.uint();
  const sigma = walk.hex();
  if (era >= BABBAGE) walk.tuple("protocol version", 2);
  json.protocol = { version: { major: walk.uint(), minor: walk.uint() } };
  json.issuer = {
    verificationKey,
    vrfVerificationKey,
    leaderValue,
    operationalCertificate: { count, sigma, kes: { period, verificationKey: kesKey } },
  };
}

function walkVrf(walk: Walk): Json {
  return walk.within("certified VRF", 2, 2, () => ({ output: walk.hex(), proof: walk.hex() }));
}
