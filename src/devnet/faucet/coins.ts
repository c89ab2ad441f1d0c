/** The faucet's outputs, kept apart so that nobody walks the whole UTxO set to find them. */
import type { Coin } from "#src/transaction/coinPool.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Applied } from "#src/ledger/delta.ts";
import type { UtxoView } from "#src/ledger/state.ts";

export class Purse {
  readonly #confirmed = new Map<string, Utxo>();
  #waiting = new Map<string, Utxo>();

  constructor(private readonly address: string) {}

  /** Starts anew with the outputs of a chain. */
  reset(outputs: Iterable<Utxo>): void {
    this.#confirmed.clear();
    for (const utxo of outputs) this.#put(this.#confirmed, utxo);
  }

  /** A block has a transaction. */
  confirm(applied: Applied): void {
    for (const { ref } of applied.spent) this.#confirmed.delete(refKey(ref));
    for (const utxo of applied.created) this.#put(this.#confirmed, utxo);
  }

  /** The mempool has these transactions now. */
  await(transactions: Iterable<Applied>): void {
    this.#waiting = new Map();
    for (const applied of transactions) this.expect(applied);
  }

  /** The mempool has one more transaction. */
  expect(applied: Applied): void {
    for (const { ref } of applied.spent) this.#waiting.delete(refKey(ref));
    for (const utxo of applied.created) this.#put(this.#waiting, utxo);
  }

  /** What a view still has unspent; outputs of the chain come before those that wait. */
  unspent(view: UtxoView): Coin[] {
    const still = ({ ref }: Utxo) => view.get(ref) !== undefined;
    return [
      ...[...this.#confirmed.values()].filter(still).map((utxo) => ({ utxo, preference: 0 })),
      ...[...this.#waiting.values()].filter(still).map((utxo) => ({ utxo, preference: 1 })),
    ];
  }

  #put(outputs: Map<string, Utxo>, utxo: Utxo): void {
    if (utxo.output.address === this.address) outputs.set(refKey(utxo.ref), utxo);
  }
}
