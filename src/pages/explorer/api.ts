/// <reference lib="dom" />
/** What the explorer reads from its own devnet. */
import type { z } from "zod";
import type * as devnet from "#src/devnet/api/devnet.ts";
import type * as ledger from "#src/devnet/api/devnetLedger.ts";
import type * as api from "#src/devnet/api/explorer.ts";
import { call, type Query, queryText } from "#src/client/http.ts";

export type Live = z.infer<typeof api.live>;
export type Transaction = z.infer<typeof api.transaction>;
export type TransactionSummary = z.infer<typeof api.transactionSummary>;
export type AddressTransactions = z.infer<typeof api.addressTransactions>;
export type TransactionList = z.infer<typeof api.transactionList>;
export type Output = z.infer<typeof api.explorerOutput>;
export type Input = Transaction["inputs"][number];
export type PlutusData = z.infer<typeof api.plutusData>;
export type Departed = z.infer<typeof api.departed>;
export type Departures = z.infer<typeof api.departures>;
export type ScriptRuns = z.infer<typeof api.scriptRuns>;
export type Load = z.infer<typeof api.load>;
export type SearchHit = z.infer<typeof api.searchHit>;
export type SearchAnswer = z.infer<typeof api.searchAnswer>;
export type GovernanceAction = z.infer<typeof api.governanceAction>;
export type GovernanceState = z.infer<typeof api.governanceState>;
export type GovernanceActions = z.infer<typeof api.governanceActions>;
export type Tip = z.infer<typeof devnet.tip>;
export type Network = z.infer<typeof devnet.network>;
export type Mempool = z.infer<typeof devnet.mempool>;
export type Snapshot = z.infer<typeof devnet.snapshot>;
export type Epoch = z.infer<typeof ledger.epoch>;
export type Pool = z.infer<typeof ledger.pool>;

/** An amount in the paths of Blockfrost: `lovelace`, or policy and name. */
export interface Amount {
  readonly unit: string;
  readonly quantity: string;
}

/** A block in the paths of Blockfrost. */
export interface Block {
  readonly time: number;
  /** Null for the genesis. */
  readonly height: number | null;
  readonly hash: string;
  readonly slot: number | null;
  readonly epoch: number | null;
  readonly epoch_slot: number | null;
  /** A pool's id, or another name. */
  readonly slot_leader: string;
  readonly size: number;
  readonly tx_count: number;
  readonly output: string | null;
  readonly fees: string | null;
  readonly previous_block: string | null;
  readonly next_block: string | null;
  readonly confirmations: number;
}

/** A transaction of an address or an asset in the paths of Blockfrost. */
export interface Place {
  readonly tx_hash: string;
  readonly tx_index: number;
  readonly block_height: number;
  readonly block_time: number;
}

/** An unspent output in the paths of Blockfrost. */
export interface HeldOutput {
  readonly address: string;
  readonly tx_hash: string;
  readonly output_index: number;
  readonly amount: readonly Amount[];
  readonly data_hash: string | null;
  readonly inline_datum: string | null;
  readonly reference_script_hash: string | null;
}

/** Reads a path of the devnet. */
export const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  call<T>(location.origin, "GET", path, undefined, signal);

/** Changes the devnet. */
export const send = <T>(method: "POST" | "DELETE", path: string, body?: unknown): Promise<T> =>
  call<T>(location.origin, method, path, body);

/** Reads the index of the chain, in the paths of Blockfrost. */
export const index = <T>(path: string, signal?: AbortSignal, query: Query = {}): Promise<T> =>
  get<T>(`/explorer/v0${path}${queryText(query)}`, signal);

/** A part of a path. */
export const part = (text: string): string => encodeURIComponent(text);
