/**
 * The port to a network: follow its blocks, submit transactions, query its ledger at a point.
 *
 * Assumptions: a network is a tree of blocks, one branch of which is the chain at a time. A follower that names points
 * it knows gets the newest one that is on the chain, and then every block and rollback. The whole UTxO set need not be
 * indexed. Every answer carries the point at which it holds, which may be behind or ahead of what the follower has
 * read.
 */
import type { Result } from "#src/base/result.ts";
import type { Point, ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotClock } from "#src/cardano/parameters.ts";
import type { At, Unanswered, Unreachable } from "#src/chain/provider/answer.ts";
import type { LedgerPort } from "#src/chain/provider/ledgerPort.ts";
import type { MempoolRead } from "#src/chain/provider/mempool.ts";

export type { At, Unanswered, Unreachable, Unsupported } from "#src/chain/provider/answer.ts";

/** A step of a followed chain; a block is its bytes, `[era, block]`. */
export type RawStep =
  | { readonly type: "forward"; readonly block: Uint8Array; readonly tip: Tip }
  | { readonly type: "backward"; readonly point: Point; readonly tip: Tip };

/** A step of a followed chain. `scanned`: a block whose parts the provider gives, but not its bytes. */
export type ChainStep = RawStep | { readonly type: "scanned"; readonly block: ScannedBlock; readonly tip: Tip };

/** The network's answer to a submitted transaction. */
export type Submission =
  | { readonly outcome: "accepted" }
  | { readonly outcome: "refused"; readonly failures: readonly LedgerFailure[] };

/** A network: its constants, and how far it runs ahead of the clock. */
export interface Network extends SlotClock {
  readonly magic: number;
  /** Network id in addresses: 0 test, 1 main. */
  readonly id: 0 | 1;
  /** Blocks that a rollback may undo at most (k). */
  readonly securityParameter: number;
}

/** The port. Its adapters are in the folders beside this file and in `src/devnet`. */
export interface ChainPort extends LedgerPort {
  /** What this provider guarantees about each query. */
  readonly guarantees: readonly Guarantee[];
  /** The network; waits until it can be reached. */
  network(signal?: AbortSignal): Promise<Network>;
  /**
   * Follows from the newest of `points` (newest first) that is on the chain, else from the origin. The first step is
   * `backward` to that point. The stream ends when the signal aborts and throws when the connection is lost; then the
   * caller follows again.
   */
  follow(points: readonly Point[], signal: AbortSignal): AsyncIterable<ChainStep>;
  tip(): Promise<Result<Tip, Unreachable>>;
  /** Submits a signed transaction (CBOR). `accepted` means that it is in the mempool, or in the ledger already. */
  submit(transaction: Uint8Array): Promise<Result<Submission, Unreachable>>;
  /** Whether the network's mempool holds a transaction. */
  inMempool(txHash: string): Promise<Result<boolean, Unreachable>>;
  /** Reads the network's mempool: all hashes, and the transactions whose hashes are not in `known`. */
  mempool(known: ReadonlySet<string>): Promise<Result<MempoolRead, Unanswered>>;
  /** Unspent outputs at addresses (bytes in hexadecimal). */
  utxosByAddress(addresses: readonly string[]): Promise<Result<At<readonly Utxo[]>, Unreachable>>;
  /** The unspent ones of some outputs. */
  utxosByRef(refs: readonly OutRef[]): Promise<Result<At<readonly Utxo[]>, Unreachable>>;
  parameters(): Promise<Result<At<Parameters>, Unreachable>>;
  /** CBOR of a transaction in a block, where the provider can look it up and has it. Absent where it cannot, as a node. */
  transactionCbor?(txHash: string): Promise<Uint8Array | undefined>;
}

/** A port that gives blocks as bytes, so that they can be served to others. */
export interface RawChainPort extends ChainPort {
  follow(points: readonly Point[], signal: AbortSignal): AsyncIterable<RawStep>;
}

/**
 * - "at a point": the answer is read from the ledger at one block, which is its point.
 * - "at the tip": the answer is composed from several requests, during which the newest block stayed the same.
 * - "not at all": the provider does not support the query.
 */
export type AnswerPoint = "at a point" | "at the tip" | "not at all";

/** A query of the port, by its name there. */
type PortQuery = Exclude<keyof ChainPort, "guarantees" | "network" | "follow" | "submit">;

/** What a provider guarantees about one query. */
export interface Guarantee {
  readonly query: PortQuery;
  readonly holds: AnswerPoint;
  /** A remark for operators. */
  readonly note?: string;
}
