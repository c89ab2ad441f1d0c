/** What differs between services: Blockfrost's API, and others that the same port reads. */
import type { Credential } from "#src/cardano/address.ts";
import type { Point, ScannedBlock, ScannedTransaction, Tip } from "#src/cardano/block.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import type { Epoch, Eras } from "#src/cardano/eras.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { readBlock, scanDocument } from "#src/chain/provider/blockfrost/block.ts";
import {
  type BlockDocument,
  blocksDocument,
  parametersDocument,
  parse,
  transactionDocument,
} from "#src/chain/provider/blockfrost/documents.ts";
import { blockfrostError } from "#src/chain/provider/blockfrost/errors.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { readActions, readDrepStatus } from "#src/chain/provider/blockfrost/governance.ts";
import { readAccounts, readEpoch, readEras, readGenesis } from "#src/chain/provider/blockfrost/ledger.ts";
import { type KnownNetwork, readNetwork } from "#src/chain/provider/blockfrost/network.ts";
import type { BlockfrostOutputs } from "#src/chain/provider/blockfrost/outputs.ts";
import { parametersOf } from "#src/chain/provider/blockfrost/parameters.ts";
import { readPools } from "#src/chain/provider/blockfrost/pools.ts";
import { decodeRefusal } from "#src/chain/provider/blockfrost/refusal.ts";
import type { Guarantee } from "#src/chain/provider/port.ts";
import type {
  ActionStatus,
  DRepStatus,
  NetworkGenesis,
  StakeAccount,
  StakePool,
} from "#src/chain/provider/ledgerPort.ts";

/** A block that was read; its height is unknown if the caller named it. */
export interface KnownBlock extends Point {
  readonly height?: number;
}

/** A block with its transactions: its bytes `[era, block]`, or its parts where the service does not give the bytes. */
export type ReadBlock =
  | { readonly type: "forward"; readonly block: Uint8Array }
  | { readonly type: "scanned"; readonly block: ScannedBlock };

/** The requests to a service that differ between APIs. Each method throws `BlockfrostError`. */
export interface Dialect {
  /** The subject of messages: `A Blockfrost service`. */
  readonly who: string;
  readonly guarantees: readonly Guarantee[];
  /** Whether the service has requests for its mempool. */
  readonly mempool: boolean;
  readNetwork(signal?: AbortSignal): Promise<KnownNetwork>;
  /** Some of the blocks after another, oldest first; undefined if the service does not have that one. */
  blocksAfter(
    at: KnownBlock,
    tip: Tip,
    count: number,
    signal?: AbortSignal,
  ): Promise<readonly BlockDocument[] | undefined>;
  /** Checks that blocks can be followed from the newest one; whether it still is on the chain. */
  followable(newest: Tip, signal?: AbortSignal): Promise<boolean>;
  readBlock(block: BlockDocument, known: KnownNetwork, signal?: AbortSignal): Promise<ReadBlock>;
  readTransaction(hash: string): Promise<ScannedTransaction>;
  /** The unspent ones of some outputs. */
  unspent(refs: readonly OutRef[], outputs: BlockfrostOutputs): Promise<readonly Utxo[]>;
  /** The failures in the text of a refusal; at least one. */
  failures(text: string, transaction: Uint8Array): readonly LedgerFailure[];
  parameters(): Promise<Parameters>;
  accounts(known: KnownNetwork, wanted: readonly Credential[]): Promise<readonly StakeAccount[]>;
  epoch(known: KnownNetwork, tip: Tip): Promise<Epoch>;
  eras(known: KnownNetwork, tip: Tip): Promise<Eras>;
  genesis(known: KnownNetwork): Promise<NetworkGenesis>;
  /** Every pool; missing where the service has no list of them. */
  pools?(): Promise<readonly StakePool[]>;
  /** Some DReps; missing where the service does not report them. */
  drepStatus?(credentials: readonly Credential[]): Promise<readonly DRepStatus[]>;
  /** Some governance actions; missing where the service does not report them. */
  actions?(ids: readonly ActionId[]): Promise<readonly ActionStatus[]>;
}

const GUARANTEES: readonly Guarantee[] = [
  { query: "tip", holds: "at a point" },
  {
    query: "inMempool",
    holds: "at the tip",
    note: "the service's own mempool; without one, what it took from here",
  },
  { query: "utxosByAddress", holds: "at the tip" },
  { query: "utxosByRef", holds: "at the tip" },
  { query: "parameters", holds: "at the tip", note: "fractions as the service's decimals" },
  { query: "accounts", holds: "at the tip", note: "without deposits" },
  { query: "epoch", holds: "at the tip" },
  { query: "eras", holds: "at the tip" },
  { query: "genesis", holds: "at the tip", note: "the hash of public networks alone" },
  { query: "mempool", holds: "not at all", note: "a service lists only what was submitted through it" },
  {
    query: "pools",
    holds: "at the tip",
    note: "without owners, relays, keys and deposits; a request for each hundred",
  },
  { query: "drepStatus", holds: "at the tip", note: "without expiry and deposits; two requests each" },
  { query: "actions", holds: "at the tip" },
  { query: "poolRanking", holds: "not at all" },
  { query: "dreps", holds: "not at all" },
];

/** Blockfrost's own API. */
export function blockfrostDialect(http: BlockfrostHttp): Dialect {
  return {
    who: "A Blockfrost service",
    guarantees: GUARANTEES,
    mempool: true,
    readNetwork: (signal) => readNetwork(http, signal),
    blocksAfter: async ({ hash }, _tip, count, signal) => {
      const answer = await http.find(`/blocks/${hash}/next?count=${count}&page=1`, signal);
      return answer === undefined ? undefined : parse(blocksDocument, answer, "blocks");
    },
    followable: async ({ hash }, signal) => await http.find(`/blocks/${hash}/next?count=1`, signal) !== undefined,
    readBlock: async (block, known, signal) => ({
      type: "scanned",
      block: await readBlock(http, block, known.eraAt(block.slot), signal),
    }),
    readTransaction: async (hash) => {
      const { cbor } = parse(transactionDocument, await http.get(`/txs/${hash}/cbor`), "a transaction");
      const transaction = scanDocument(hash, cbor);
      if (transaction.hash === hash) return transaction;
      throw blockfrostError("unusable", `The service returned another transaction than ${hash}.`);
    },
    unspent: (refs, outputs) => outputs.unspent(refs),
    failures: decodeRefusal,
    parameters: async () =>
      parametersOf(parse(parametersDocument, await http.get("/epochs/latest/parameters"), "the protocol parameters")),
    accounts: (known, wanted) => readAccounts(http, known, wanted),
    epoch: (known, { slot }) => readEpoch(http, known, slot),
    eras: (known, { slot }) => readEras(http, known, slot),
    genesis: () => readGenesis(http),
    pools: () => readPools(http),
    drepStatus: (credentials) => readDrepStatus(http, credentials),
    actions: (ids) => readActions(http, ids),
  };
}
