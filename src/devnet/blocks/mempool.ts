/**
 * What waits to be in a block: transactions in the order of their acceptance, each judged on top of the chain and of those before it.
 *
 * Hypotheses: the base changes only by blocks made of a prefix of these transactions, or by a rollback; so between two rollbacks
 * time alone can make one invalid, when its validity passes, and with it those that were built upon it.
 */
import { encode, Encoded } from "#src/cardano/cbor.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Result } from "#src/base/result.ts";
import { fitsBlock } from "#src/ledger/validate.ts";
import { type Applied, applyDelta } from "#src/ledger/delta.ts";
import { type LedgerState, type MutableLedgerState, overlay } from "#src/ledger/state.ts";

/** A transaction as it was handed over, and where it stands in the order. */
export interface Waiting {
  readonly position: number;
  readonly transaction: ScannedTransaction;
  readonly cbor: Uint8Array;
}

/** A transaction of the mempool. */
export interface Pending extends Waiting {
  readonly applied: Applied;
}

/** A transaction that left the mempool without a block. */
export interface Dropped {
  readonly hash: string;
  readonly failures: readonly LedgerFailure[];
}

/** Judges a transaction against a state, at a slot. */
export type Judge = (
  state: LedgerState,
  waiting: Waiting,
  slot: number,
) => Promise<Result<Applied, readonly LedgerFailure[]>>;

export class Mempool {
  #entries = new Map<string, Pending>();
  #view: MutableLedgerState;
  #bytes = 0;

  /** `base` gives the chain as transactions are judged on it; what it gives changes only before `refill` and `leave`. */
  constructor(private readonly base: () => LedgerState, private readonly judge: Judge) {
    this.#view = overlay(base());
  }

  /** The chain with everything that waits applied to it. */
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

  /** In order. */
  entries(): Iterable<Pending> {
    return this.#entries.values();
  }

  has(hash: string): boolean {
    return this.#entries.has(hash);
  }

  /** Judges a transaction on top of all others, and takes it in when it is good. */
  async admit(waiting: Waiting, slot: number): Promise<Result<Applied, readonly LedgerFailure[]>> {
    const judged = await this.judge(this.#view, waiting, slot);
    if (judged.ok) this.#take({ ...waiting, applied: judged.value });
    return judged;
  }

  /** Drops what is past its validity at a slot, and what cannot stand without it. */
  async expire(slot: number): Promise<Dropped[]> {
    const entries = [...this.#entries.values()];
    const first = entries.findIndex(({ transaction }) =>
      transaction.validTo !== undefined && slot >= transaction.validTo
    );
    if (first < 0) return [];
    this.#restart(entries.slice(0, first));
    return await this.#again(entries.slice(first), slot);
  }

  /** The longest run of transactions from the first on that a block takes. */
  prefix(): Pending[] {
    const chosen: Pending[] = [];
    for (const entry of this.#entries.values()) {
      if (!fitsBlock(this.base().parameters, chosen.map(({ applied }) => applied), entry.applied)) break;
      chosen.push(entry);
    }
    return chosen;
  }

  /** Takes out a prefix that a block has; the base has changed by it already. */
  leave(included: ReadonlySet<string>): void {
    this.#restart([...this.#entries.values()].filter(({ transaction }) => !included.has(transaction.hash)));
  }

  /** Starts anew on a changed base with these, each judged again; gives those that are no longer good. */
  async refill(waiting: readonly Waiting[], slot: number): Promise<Dropped[]> {
    this.#restart([]);
    return await this.#again(waiting, slot);
  }

  async #again(waiting: readonly Waiting[], slot: number): Promise<Dropped[]> {
    const dropped: Dropped[] = [];
    for (const one of waiting) {
      // What cannot be judged once may be judged the next time; what cannot then, would stop everything for ever.
      const judged = await this.admit(one, slot).catch(() => this.admit(one, slot)).catch(() => unjudged);
      if (!judged.ok) dropped.push({ hash: one.transaction.hash, failures: judged.error });
    }
    return dropped;
  }

  #restart(entries: readonly Pending[]): void {
    this.#entries = new Map();
    this.#view = overlay(this.base());
    this.#bytes = 0;
    for (const entry of entries) this.#take(entry);
  }

  #take(entry: Pending): void {
    this.#entries.set(entry.transaction.hash, entry);
    this.#bytes += entry.cbor.length;
    applyDelta(this.#view, entry.applied);
  }
}

const unjudged = { ok: false, error: [] } as const;

/** A transaction of a block as it would be submitted. */
export function transactionCbor(transaction: ScannedTransaction): Uint8Array {
  const { body, witnesses, valid, auxiliaryData } = transaction;
  return encode([
    new Encoded(body),
    new Encoded(witnesses),
    valid,
    auxiliaryData ? new Encoded(auxiliaryData) : null,
  ]);
}
