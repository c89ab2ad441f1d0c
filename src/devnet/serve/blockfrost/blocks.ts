/** Operations of the group Blocks. */
import { isHex, toHex } from "#src/base/bytes.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { hash224 } from "#src/cardano/hash.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import * as reads from "#src/devnet/index/reads/blocks.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import { genesisBlock, secondsOf, textOfAddress, textOfPool } from "#src/devnet/serve/blockfrost/documents.ts";
import { malformed, notFound } from "#src/devnet/serve/blockfrost/failures.ts";
import { get, list, type ListQuery, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import type { Queries } from "#src/store/store.ts";

/** Largest number of a block or a slot. */
const MOST = 2 ** 31 - 1;

const isGenesis = (genesis: Genesis, id: reads.BlockId) =>
  id !== "newest" && "hash" in id && id.hash === genesisBlock(genesis);

/** Reads something about a block at the state of the database in which the block is found. */
function aboutBlock<T>(
  { devnet: { genesis }, store }: BlockfrostService,
  id: reads.BlockId,
  read: (sql: Queries, height: bigint) => Promise<T>,
): Promise<T> {
  return atOneState(store, async (sql) => {
    if (isGenesis(genesis, id)) return await read(sql, -1n);
    const block = await reads.readIndexedBlock(sql, id);
    if (!block) throw notFound();
    return await read(sql, block.height);
  });
}

/** Addresses of a block with their transactions, in the order of the texts: they are few enough to order them here. */
async function addressesIn(sql: Queries, height: bigint) {
  const found = await reads.readBlockAddresses(sql, height);
  return found.map(({ address, transactions }) => ({
    address: textOfAddress(address),
    transactions: transactions.map((tx_hash) => ({ tx_hash })),
  })).sort((a, b) => a.address < b.address ? -1 : 1);
}

/** The operations. */
export function blockOperations(service: BlockfrostService): Operation[] {
  const { devnet: { genesis }, store } = service;
  const { epochLength } = genesis.terms;
  const document = async (id: reads.BlockId) => {
    if (isGenesis(genesis, id)) return genesisDocument(genesis, await reads.readGenesisBlock(store.sql));
    const block = await reads.readIndexedBlock(store.sql, id);
    return block && blockDocument(genesis, block);
  };
  const hashes = (id: reads.BlockId, page: ListQuery) =>
    aboutBlock(service, id, (sql, height) => reads.readBlockHashes(sql, height, page));
  const transactions = (id: reads.BlockId, page: ListQuery) =>
    aboutBlock(
      service,
      id,
      async (sql, height) =>
        (await reads.readBlockTransactions(sql, height, page)).map(({ hash, cbor }) => ({
          tx_hash: hash,
          cbor: toHex(new Uint8Array(cbor)),
        })),
    );
  return [
    get("/blocks/latest", () => document("newest")),
    list("/blocks/latest/txs", "ordered", (_, { page }) => hashes("newest", page)),
    list("/blocks/latest/txs/cbor", "ordered", (_, { page }) => transactions("newest", page)),
    get("/blocks/{hash_or_number}", ({ hash_or_number }) => document(readBlockId(hash_or_number))),
    list(
      "/blocks/{hash_or_number}/next",
      "paged",
      ({ hash_or_number }, { page }) =>
        aboutBlock(
          service,
          readBlockId(hash_or_number),
          async (sql, height) =>
            (await reads.readBlocksAfter(sql, height, page)).map((block) => blockDocument(genesis, block)),
        ),
    ),
    list(
      "/blocks/{hash_or_number}/previous",
      "paged",
      ({ hash_or_number }, { page }) =>
        aboutBlock(
          service,
          readBlockId(hash_or_number),
          async (sql, height) =>
            (await reads.readBlocksBefore(sql, height, page)).map((block) => blockDocument(genesis, block)),
        ),
    ),
    get("/blocks/slot/{slot_number}", ({ slot_number: slot }) => document({ slot: readSlot(slot) })),
    get("/blocks/epoch/{epoch_number}/slot/{slot_number}", async ({ epoch_number: epoch, slot_number }) => {
      if (epoch < 0 || epoch > MOST) throw malformed.epoch();
      const slot = readSlot(slot_number);
      return slot < epochLength ? await document({ slot: epoch * epochLength + slot }) : undefined;
    }),
    list(
      "/blocks/{hash_or_number}/txs",
      "ordered",
      ({ hash_or_number }, { page }) => hashes(readBlockId(hash_or_number), page),
    ),
    list(
      "/blocks/{hash_or_number}/txs/cbor",
      "ordered",
      ({ hash_or_number }, { page }) => transactions(readBlockId(hash_or_number), page),
    ),
    list(
      "/blocks/{hash_or_number}/addresses",
      "paged",
      ({ hash_or_number }, { page: { offset, limit } }) =>
        aboutBlock(
          service,
          readBlockId(hash_or_number),
          async (sql, height) => (await addressesIn(sql, height)).slice(offset, offset + limit),
        ),
    ),
  ];
}

/** The block that a text names. @throws {HttpFailure} 400 */
function readBlockId(text: string): reads.BlockId {
  if (isHex(text, 32)) return { hash: text.toLowerCase() };
  const number = Number(text);
  if (text === "" || Number.isNaN(number)) throw malformed.blockHash();
  if (number < 0 || number > MOST) throw malformed.blockNumber();
  // Blockfrost takes other notations of a number for a hash that no block has
  if (!/^\d+$/.test(text)) throw notFound();
  return { height: number };
}

function readSlot(slot: number): number {
  if (slot < 0 || slot > MOST) throw malformed.slot();
  return slot;
}

/** The header's VRF key, KES key and counter of a block, which are constants of the devnet. */
const VRF_KEY = toBech32("vrf_vk", new Uint8Array(32));
const OPERATIONAL_CERTIFICATE = "00".repeat(32);

/** The genesis as a block: without a height, a slot or an issuer. */
function genesisDocument(genesis: Genesis, { transactions, output, next, blocks }: reads.GenesisBlock) {
  return {
    time: secondsOf(genesis, 0),
    height: null,
    hash: genesisBlock(genesis),
    slot: null,
    epoch: null,
    epoch_slot: null,
    slot_leader: "Genesis slot leader",
    size: 0,
    tx_count: Number(transactions),
    output,
    fees: "0",
    block_vrf: null,
    op_cert: null,
    op_cert_counter: null,
    previous_block: null,
    next_block: next,
    confirmations: Math.max(0, Number(blocks) - 1),
  };
}

/** Text of a block's producer. */
export function producerText({ pool, issuer }: Pick<reads.IndexedBlock, "pool" | "issuer">): string {
  // the name that db-sync gives to issuers that are not pools
  return pool === null ? `ShelleyGenesis-${hash224(new Uint8Array(issuer)).slice(0, 16)}` : textOfPool(pool);
}

/** `/blocks/{hash_or_number}` */
function blockDocument(genesis: Genesis, block: reads.IndexedBlock) {
  const slot = Number(block.slot);
  return {
    time: secondsOf(genesis, slot),
    height: Number(block.height),
    hash: block.hash,
    slot,
    epoch: block.epoch,
    epoch_slot: slot - block.epoch * genesis.terms.epochLength,
    slot_leader: producerText(block),
    size: block.size,
    tx_count: block.transactions,
    output: block.output,
    fees: block.fees === null ? null : String(block.fees),
    block_vrf: VRF_KEY,
    op_cert: OPERATIONAL_CERTIFICATE,
    op_cert_counter: "0",
    previous_block: block.previous ?? genesisBlock(genesis),
    next_block: block.next,
    confirmations: Number(block.confirmations),
  };
}
