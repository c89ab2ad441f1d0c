/**
 * The port to a network: follow its blocks, submit to it, ask it at a point.
 *
 * Hypotheses: a network is a tree of blocks of which one branch is the chain now; a follower that gives points it knows
 * is told where to go on and hears every rollback; nothing here assumes that the whole UTxO set is known to us; every answer to a
 * query carries the point it holds at, which may be behind or ahead of what the follower has seen.
 */
import type { Result } from "#src/base/result.ts";
import type { Point, ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import type { At, Unreachable } from "#src/chain/provider/answer.ts";
import type { Answering } from "#src/chain/provider/guarantees.ts";
import type { LedgerPort } from "#src/chain/provider/ledgerPort.ts";

export type { At, Unanswered, Unreachable, Unsupported } from "#src/chain/provider/answer.ts";

/** One step of a followed chain whose blocks come as they are: `[era, block]`. */
export type RawStep =
  | { readonly type: "forward"; readonly block: Uint8Array; readonly tip: Tip }
  | { readonly type: "backward"; readonly point: Point; readonly tip: Tip };

/** One step of a followed chain. `scanned`: a block of which a provider tells the parts, not the bytes. */
export type ChainStep = RawStep | { readonly type: "scanned"; readonly block: ScannedBlock; readonly tip: Tip };

/** What a network said of a submitted transaction. */
export type Submission =
  | { readonly outcome: "accepted" }
  | { readonly outcome: "refused"; readonly failures: readonly LedgerFailure[] };

/** What a network is, for ever. */
export interface Network {
  readonly magic: number;
  /** Network id in addresses: 0 test, 1 main. */
  readonly id: 0 | 1;
  readonly slots: SlotConfig;
  /** Blocks that a rollback may go back at the most (k). */
  readonly securityParameter: number;
}

/** The port; adapters stand beside this file and in `src/devnet`. */
export interface ChainPort extends LedgerPort {
  /** How each question is answered here: at a point, at the tip, or not at all. */
  readonly answers: readonly Answering[];
  /** What the network is; known once connected. */
  network(signal?: AbortSignal): Promise<Network>;
  /**
   * Follows from the newest of `points` (newest first) that is on the chain, else from the origin. The first step is `backward` to
   * that point. The stream ends when the signal aborts and throws when the connection is lost; the caller follows anew.
   */
  follow(points: readonly Point[], signal: AbortSignal): AsyncIterable<ChainStep>;
  tip(): Promise<Result<Tip, Unreachable>>;
  /** Hands over a signed transaction (CBOR). An `accepted` says that it stands in the mempool (or in the ledger already). */
  submit(transaction: Uint8Array): Promise<Result<Submission, Unreachable>>;
  /** Whether the network's mempool holds a transaction. */
  inMempool(txHash: string): Promise<Result<boolean, Unreachable>>;
  /** Unspent outputs at addresses (bytes in hexadecimal). */
  utxosByAddress(addresses: readonly string[]): Promise<Result<At<readonly Utxo[]>, Unreachable>>;
  /** The unspent among some outputs. */
  utxosByRef(refs: readonly OutRef[]): Promise<Result<At<readonly Utxo[]>, Unreachable>>;
  parameters(): Promise<Result<At<Parameters>, Unreachable>>;
}

/** A port whose blocks come as they are, so that others can be served them. */
export interface RawChainPort extends ChainPort {
  follow(points: readonly Point[], signal: AbortSignal): AsyncIterable<RawStep>;
}
