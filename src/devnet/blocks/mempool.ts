/**
 * The mempool: transactions in order of acceptance, each valid on top of the chain and those before it.
 *
 * Assumptions: the base changes only by blocks that hold some of these transactions, or by a rollback. So between
 * rollbacks a transaction becomes invalid only with time, when its validity interval ends, and with it those that spend
 * its outputs. Time goes back with a rollback, so a transaction's validity may begin later than the next block.
 */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { ok, type Result } from "#src/base/result.ts";
import { fitsBlock, type SubmissionChecks } from "#src/ledger/validate.ts";
import { type Applied, applyDelta } from "#src/ledger/delta.ts";
import { type LedgerState, type MutableLedgerState, overlay } from "#src/ledger/state.ts";

/** A submitted transaction and its position in the order. */
export interface SubmittedTransaction {
  readonly position: number;
  readonly transaction: ScannedTransaction;
  readonly cbor: Uint8Array;
}

/** A transaction in the mempool, with its effect. */
export interface PendingTransaction extends SubmittedTransaction {
  readonly applied: Applied;
}

/** A transaction that left the mempool without a block. */
export interface DroppedTransaction {
  readonly hash: string;
  readonly cbor: Uint8Array;
  readonly failures: readonly LedgerFailure[];
}

/** Validates a transaction against a state, at a slot; without `submission` one that the mempool has had before. */
export type ValidateTransaction = (
  state: LedgerState,
  waiting: SubmittedTransaction,
  slot: number,
  submission?: SubmissionChecks,
) => Promise<Result<Applied, readonly LedgerFailure[]>>;

export class Mempool {
  #entries = new Map<string, PendingTransaction>();
  #view: MutableLedgerState;
  #bytes = 0;

  /** `base` gives the state that transactions are validated on; it changes only before `refill` and `leave`. */
  constructor(private readonly base: () => LedgerState, private readonly validate: ValidateTransaction) {
    this.#view = overlay(base());
  }

  /** The chain's state with all transactions of the mempool applied. */
  get view(): LedgerState {
    return this.#view;
  }

  /** Bytes of all transactions. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** All transactions, in order. */
  entries(): Iterable<PendingTransaction> {
    return this.#entries.values();
  }

  has(hash: string): boolean {
    return this.#entries.has(hash);
  }

  /** Validates a submitted transaction on top of all others, and adds it if it is valid. */
  submit(
    waiting: SubmittedTransaction,
    slot: number,
    checks: SubmissionChecks,
  ): Promise<Result<Applied, readonly LedgerFailure[]>> {
    return this.#admit(waiting, slot, checks);
  }

  async #admit(
    waiting: SubmittedTransaction,
    slot: number,
    submission?: SubmissionChecks,
  ): Promise<Result<Applied, readonly LedgerFailure[]>> {
    const judged = await this.validate(this.#view, waiting, slot, submission);
    if (judged.ok) this.#add({ ...waiting, applied: judged.value });
    return judged;
  }

  /** Drops transactions whose validity ends by a slot, and those that depend on them. */
  async expire(slot: number): Promise<DroppedTransaction[]> {
    const entries = [...this.#entries.values()];
    const first = entries.findIndex(({ transaction }) =>
      transaction.validTo !== undefined && slot >= transaction.validTo
    );
    if (first < 0) return [];
    this.#restart(entries.slice(0, first));
    return await this.#admitAll(entries.slice(first), slot);
  }

  /**
   * The first transactions that fit into a block in a slot. Those whose validity begins later are passed over, and those
   * that depend on them; `inOrder` says that there are none.
   */
  async select(slot: number): Promise<{ chosen: PendingTransaction[]; inOrder: boolean }> {
    const chosen: PendingTransaction[] = [];
    let without: MutableLedgerState | undefined;
    for (const entry of this.#entries.values()) {
      const isEarly = (entry.transaction.validFrom ?? 0) > slot;
      if (isEarly && !without) {
        without = overlay(this.base());
        for (const { applied } of chosen) applyDelta(without, applied);
      }
      if (isEarly) continue;
      const judged = without ? await this.validate(without, entry, slot).catch(() => NOT_VALIDATED) : ok(entry.applied);
      if (!judged.ok) continue;
      const applied = judged.value;
      if (!fitsBlock(this.base().parameters, chosen.map(({ applied }) => applied), applied)) break;
      if (without) applyDelta(without, applied);
      chosen.push({ ...entry, applied });
    }
    return { chosen, inOrder: !without };
  }

  /** Removes the first transactions, which are in a block now; the base already includes it. */
  removeIncluded(included: ReadonlySet<string>): void {
    this.#restart([...this.#entries.values()].filter(({ transaction }) => !included.has(transaction.hash)));
  }

  /**
   * Starts again on a changed base: validates these transactions in order, and gives those that are no longer valid.
   */
  async refill(waiting: readonly SubmittedTransaction[], slot: number): Promise<DroppedTransaction[]> {
    this.#restart([]);
    return await this.#admitAll(waiting, slot);
  }

  async #admitAll(waiting: readonly SubmittedTransaction[], slot: number): Promise<DroppedTransaction[]> {
    const dropped: DroppedTransaction[] = [];
    const pacer = new EventLoopPacer();
    for (const one of waiting) {
      await pacer.step();
      // its validity may begin after the slot: then it waits
      const at = Math.max(slot, one.transaction.validFrom ?? slot);
      // retry a failed validation once; a transaction that fails twice is dropped, since it would block all later ones
      const judged = await this.#admit(one, at).catch(() => this.#admit(one, at)).catch(() => NOT_VALIDATED);
      if (!judged.ok) dropped.push({ hash: one.transaction.hash, cbor: one.cbor, failures: judged.error });
    }
    return dropped;
  }

  #restart(entries: readonly PendingTransaction[]): void {
    this.#entries = new Map();
    this.#view = overlay(this.base());
    this.#bytes = 0;
    for (const entry of entries) this.#add(entry);
  }

  #add(entry: PendingTransaction): void {
    this.#entries.set(entry.transaction.hash, entry);
    this.#bytes += entry.cbor.length;
    applyDelta(this.#view, entry.applied);
  }
}

const NOT_VALIDATED = { ok: false, error: [] } as const;

/** The CBOR of a block's transaction, as it would be submitted. */
export function transactionCbor(transaction: ScannedTransaction): Uint8Array {
  const { body, witnesses, valid, auxiliaryData } = transaction;
  return encode([
    new Encoded(body),
    new Encoded(witnesses),
    valid,
    auxiliaryData ? new Encoded(auxiliaryData) : null,
  ]);
}
