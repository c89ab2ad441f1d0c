/**
 * Yaci Store's own API (under `/api/v1`), as a dialect of Blockfrost's. Facts from its source code:
 *
 * - There is no request for the blocks after another, the genesis, the eras or the mempool. Blocks are requested by
 *   their height; the genesis is that of a public network, or the admin host of Yaci DevKit gives it.
 * - The transactions of a block have no order and no bytes there. The store gives the bytes of a whole block, as a node
 *   sends it, if it runs with `store.blocks.save-cbor`; a transaction is read from those.
 * - An output does not say whether it is spent; an address lists the unspent ones. An unused address has an empty list.
 * - An accepted transaction is answered with 202, a refused one with 400 and the node's rejection, in hexadecimal.
 * - Rewards and the pool of an account are those of the store's node, none if it is connected to none.
 */
import { fromHex, isHex } from "#src/base/bytes.ts";
import { addressText, type Credential, type NetworkId, parseAddress, rewardAddress } from "#src/cardano/address.ts";
import type { ScannedBlock, Tip } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { epochOfSlot, epochTimes, timeAt } from "#src/cardano/eras.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanBlock, UnknownEraError } from "#src/cardano/scan.ts";
import { mapParallel } from "#src/base/parallel.ts";
import type { Dialect, KnownBlock } from "#src/chain/provider/blockfrost/dialect.ts";
import { type BlockDocument, blockDocument, parse } from "#src/chain/provider/blockfrost/documents.ts";
import { blockfrostError, hasFailed } from "#src/chain/provider/blockfrost/errors.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { poolOf } from "#src/chain/provider/blockfrost/ledger.ts";
import type { KnownNetwork } from "#src/chain/provider/blockfrost/network.ts";
import { parametersOf } from "#src/chain/provider/blockfrost/parameters.ts";
import { decodeRefusal } from "#src/chain/provider/blockfrost/refusal.ts";
import { publicGenesis } from "#src/chain/provider/genesisHash.ts";
import type { StakeAccount } from "#src/chain/provider/ledgerPort.ts";
import type { Guarantee } from "#src/chain/provider/port.ts";
import { outputsByKey, stakeAccount, transactionDetails, yaciParameters } from "#src/chain/provider/yaci/documents.ts";
import { erasAt, type KnownGenesis, publicNetworkGenesis, readAdminGenesis } from "#src/chain/provider/yaci/genesis.ts";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { decodeRejection } from "#src/node/rejections/rejections.ts";

/** Parallel requests. */
const PARALLEL = 4;
/** Blocks of which the headers are read ahead: a request each. */
const MOST_BLOCKS = 32;
/** Outputs of one request. */
const MOST_OUTPUTS = 100;

const GUARANTEES: readonly Guarantee[] = [
  { query: "tip", holds: "at a point" },
  { query: "inMempool", holds: "at the tip", note: "what the store took from here and has not indexed yet" },
  { query: "utxosByAddress", holds: "at the tip" },
  { query: "utxosByRef", holds: "at the tip" },
  { query: "parameters", holds: "at the tip", note: "fractions as the store's decimals" },
  {
    query: "accounts",
    holds: "at the tip",
    note: "rewards and pool if the store queries a node; without deposits and DReps; registered if it has either",
  },
  { query: "epoch", holds: "at the tip" },
  { query: "eras", holds: "at the tip", note: "from the genesis" },
  { query: "genesis", holds: "at the tip", note: "from the admin host, or that of a public network" },
  { query: "mempool", holds: "not at all" },
  { query: "pools", holds: "not at all" },
  { query: "poolRanking", holds: "not at all" },
  { query: "dreps", holds: "not at all" },
  { query: "drepStatus", holds: "not at all" },
  { query: "actions", holds: "not at all" },
];

/** The dialect of a store. `admin`: the admin host of Yaci DevKit, for a network that is not public. */
export function yaciDialect(http: BlockfrostHttp, magic: number, admin?: BlockfrostHttp): Dialect {
  let genesis: KnownGenesis | undefined;

  const knownGenesis = async (signal?: AbortSignal): Promise<KnownGenesis> => {
    const found = genesis ?? (admin ? await readAdminGenesis(admin, signal) : publicNetworkGenesis(magic));
    if (!found) throw blockfrostError("refused", `Without its admin host, the genesis of network ${magic} is unknown.`);
    return genesis = found;
  };
  return {
    who: "Yaci Store",
    guarantees: GUARANTEES,
    mempool: false,
    readNetwork: async (signal) => {
      const known = await knownGenesis(signal);
      const newest = await blockOf(http, "latest", signal);
      if (newest) checkTime(http.where, known, newest);
      const slot = newest?.slot ?? 0;
      return networkOf(known, slot);
    },
    blocksAfter: async ({ hash, height }: KnownBlock, tip: Tip, count, signal) => {
      const from = height ?? (await blockOf(http, hash, signal))?.height;
      if (from === undefined) return undefined;
      const most = Math.max(0, Math.min(count, MOST_BLOCKS, tip.height - from));
      const heights = Array.from({ length: most }, (_, i) => from + 1 + i);
      const found = await mapParallel(heights, PARALLEL, (number) => blockOf(http, number, signal));
      const end = found.indexOf(undefined);
      return found.slice(0, end < 0 ? found.length : end).flatMap((one) => one ?? []);
    },
    followable: async ({ hash }, signal) => {
      try {
        await bytesOf(http, hash, signal);
        return true;
      } catch (error) {
        if (hasFailed(error, "absent")) return false;
        throw error;
      }
    },
    readBlock: async ({ hash }, _known, signal) => ({
      type: "forward",
      block: (await scanned(http, hash, signal)).bytes,
    }),
    readTransaction: async (hash) => {
      const { block_height } = parse(transactionDetails, await http.get(`/txs/${hash}`), "a transaction");
      const made = await blockOf(http, block_height);
      const found = made && (await scanned(http, made.hash)).block.transactions.find((one) => one.hash === hash);
      if (found) return found;
      throw blockfrostError("unusable", `The service names block ${block_height} for transaction ${hash}.`);
    },
    unspent: (refs, outputs) => unspentOf(http, refs, outputs),
    failures: failuresIn,
    parameters: async () =>
      parametersOf(parse(yaciParameters, await http.get("/epochs/latest/parameters"), "the protocol parameters")),
    accounts: ({ network }, wanted) => accountsOf(http, network.id, wanted),
    epoch: async (_known, { slot }) => {
      const eras = erasAt(await knownGenesis(), slot);
      const number = epochOfSlot(eras.history, Math.max(0, slot));
      const times = number.ok ? epochTimes(eras, number.value) : number;
      if (times.ok) return times.value;
      throw blockfrostError("unusable", `The epoch of slot ${slot} is unknown: ${times.error.message}`);
    },
    eras: async (_known, { slot }) => erasAt(await knownGenesis(), slot),
    genesis: async () => {
      const { systemStart, activeSlots, securityParameter, epochLength, slotLength, maxSupply } = await knownGenesis();
      const hash = publicGenesis(magic);
      return { hash, systemStart, activeSlots, securityParameter, epochLength, slotLength, maxSupply };
    },
  };
}

async function blockOf(
  http: BlockfrostHttp,
  name: string | number,
  signal?: AbortSignal,
): Promise<BlockDocument | undefined> {
  const answer = await http.find(`/blocks/${name}`, signal);
  return answer === undefined ? undefined : parse(blockDocument, answer, "a block");
}

async function bytesOf(http: BlockfrostHttp, hash: string, signal?: AbortSignal): Promise<Uint8Array> {
  try {
    return await http.bytes(`/blocks/${hash}/cbor`, signal);
  } catch (error) {
    if (!hasFailed(error, "absent") || await blockOf(http, hash, signal) === undefined) throw error;
    throw blockfrostError("lacking", `${http.where} has block ${hash} without its bytes: ${SAVE_CBOR}`);
  }
}

async function scanned(
  http: BlockfrostHttp,
  hash: string,
  signal?: AbortSignal,
): Promise<{ bytes: Uint8Array; block: ScannedBlock }> {
  const bytes = await bytesOf(http, hash, signal);
  const block = scanOf(hash, bytes);
  if (block.hash === hash) return { bytes, block };
  throw blockfrostError("unusable", `The service returned another block than ${hash}.`);
}

async function unspentOf(
  http: BlockfrostHttp,
  refs: readonly OutRef[],
  outputs: Parameters<Dialect["unspent"]>[1],
): Promise<Utxo[]> {
  const wanted = new Set(refs.map(refKey));
  const addresses = new Set<string>();
  for (let at = 0; at < refs.length; at += MOST_OUTPUTS) {
    const keys = refs.slice(at, at + MOST_OUTPUTS).map(keyOf);
    const answer = await http.post("/utxos", JSON.stringify(keys), "application/json");
    for (const { owner_addr } of parse(outputsByKey, answer, "outputs")) {
      const parsed = owner_addr ? parseAddress(owner_addr) : undefined;
      if (parsed?.ok) addresses.add(parsed.value.hex);
    }
  }
  const found = await mapParallel([...addresses], PARALLEL, (address) => outputs.atAddress(address));
  return found.flat().filter(({ ref }) => wanted.has(refKey(ref)));
}

/** Why a transaction was refused: the node's rejection in hexadecimal, or a text. */
function failuresIn(text: string, transaction: Uint8Array): ReturnType<Dialect["failures"]> {
  const hex = text.trim().replace(/^"|"$/g, "");
  try {
    if (hex !== "" && isHex(hex)) return decodeRejection(fromHex(hex), transaction);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
  }
  return decodeRefusal(text);
}

async function accountsOf(
  http: BlockfrostHttp,
  network: NetworkId,
  wanted: readonly Credential[],
): Promise<readonly StakeAccount[]> {
  const distinct = [...new Map(wanted.map((one) => [`${one.kind} ${one.hash}`, one])).values()];
  return await mapParallel(distinct, PARALLEL, async (credential: Credential) => {
    const answer = await http.get(`/accounts/${addressText(rewardAddress(network, credential))}`);
    const { withdrawable_amount, pool_id } = parse(stakeAccount, answer, "an account");
    const [rewards, pool] = [withdrawable_amount ?? 0n, pool_id ? poolOf(pool_id) : undefined];
    const registered = rewards > 0n || pool !== undefined;
    return { credential, registered, rewards, deposit: undefined, pool, drep: undefined, incomplete: true };
  });
}

const SAVE_CBOR = "a Yaci Store has to save the CBOR of blocks (store.blocks.save-cbor=true).";

const keyOf = ({ txHash, index }: OutRef) => ({ tx_hash: txHash, output_index: index });

/** Throws `BlockfrostError` if the bytes are no block, `UnknownEraError` if they are one of a later era. */
function scanOf(hash: string, bytes: Uint8Array): ScannedBlock {
  try {
    return scanBlock(bytes);
  } catch (error) {
    if (!(error instanceof CborError) || error instanceof UnknownEraError) throw error;
    throw blockfrostError("unusable", `The service returned an invalid block for ${hash}: ${error.message}.`);
  }
}

/** The network of a genesis, whose slots are counted from the start of its newest era. */
function networkOf(genesis: KnownGenesis, slot: number): KnownNetwork {
  const { magic, securityParameter, activeSlots: { numerator, denominator } } = genesis;
  const { systemStart, history } = erasAt(genesis, slot);
  const newest = history.at(-1);
  const slotLength = newest?.terms.slotLength ?? genesis.slotLength;
  return {
    network: {
      magic,
      id: magic === MAINNET_MAGIC ? 1 : 0,
      slots: {
        zeroTime: systemStart + Number((newest?.start.time ?? 0n) / 1_000_000_000n),
        zeroSlot: newest?.start.slot ?? 0,
        slotLength,
      },
      securityParameter,
    },
    blockMs: slotLength * Number(denominator) / Math.max(1, Number(numerator)),
    // the bytes of a block state its era
    eraAt: () => history.length,
  };
}

/** Yaci Store does not state its network: the time of a block does, to the second. */
function checkTime(where: string, genesis: KnownGenesis, { slot, time, hash }: BlockDocument): void {
  const expected = timeAt(erasAt(genesis, slot), slot);
  if (expected.ok && Math.abs(expected.value - time * 1_000) < 2_000) return;
  throw blockfrostError(
    "refused",
    `${where} is for another network than that with magic ${genesis.magic}: the time of its block ${hash} is ${time}.`,
  );
}
