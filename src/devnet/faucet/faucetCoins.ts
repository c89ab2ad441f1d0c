/** The faucet's outputs, tracked so that payments need no scan of the whole UTxO set. */
import { each, type Steps } from "#src/base/steps.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import { type Output, parseRefKey, refKey, type Utxo } from "#src/cardano/output.ts";
import type { Applied } from "#src/ledger/delta.ts";
import type { UtxoView } from "#src/ledger/state.ts";

export class FaucetCoins {
  readonly #confirmed = new Map<string, Utxo>();
  #pending = new Map<string, Utxo>();

  constructor(private readonly address: string) {}

  /** Starts again with the outputs of a chain, by `refKey`. */
  *reset(outputs: ReadonlyMap<string, Output>): Steps<void> {
    this.#confirmed.clear();
    yield* each(outputs, ([key, output]) => {
      if (output.address === this.address) this.#confirmed.set(key, { ref: parseRefKey(key), output });
    });
  }

  /** A transaction is in a block now. */
  confirm(applied: Applied): void {
    for (const { ref } of applied.spent) this.#confirmed.delete(refKey(ref));
    for (const utxo of applied.created) this.#put(this.#confirmed, utxo);
  }

  /** Replaces the transactions that are pending. */
  setPending(transactions: Iterable<Applied>): void {
    this.#pending = new Map();
    for (const applied of transactions) this.addPending(applied);
  }

  /** One more transaction is pending. */
  addPending(applied: Applied): void {
    for (const { ref } of applied.spent) this.#pending.delete(refKey(ref));
    for (const utxo of applied.created) this.#put(this.#pending, utxo);
  }

  /** The outputs that are unspent in a view; those of the chain before pending ones. */
  unspent(view: UtxoView): Coin[] {
    const still = ({ ref }: Utxo) => view.get(ref) !== undefined;
    return [
      ...[...this.#confirmed.values()].filter(still).map((utxo) => ({ utxo, preference: 0 })),
      ...[...this.#pending.values()].filter(still).map((utxo) => ({ utxo, preference: 1 })),
    ];
  }

  #put(outputs: Map<string, Utxo>, utxo: Utxo): void {
    if (utxo.output.address === this.address) outputs.set(refKey(utxo.ref), utxo);
  }
}
