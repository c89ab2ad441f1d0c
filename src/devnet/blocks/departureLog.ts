/** Transactions that depart without a block are remembered, written and logged. */
import type { Log } from "#src/base/log.ts";
import { reason } from "#src/base/log.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { DepartureWriter } from "#src/devnet/blocks/departureRows.ts";
import { type Departure, Departures } from "#src/devnet/blocks/departures.ts";
import { type DroppedTransaction, transactionCbor } from "#src/devnet/blocks/mempool.ts";

interface DepartureLogOptions {
  readonly write: (departures: readonly Departure[]) => Promise<void>;
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
  /** The devnet's slot. */
  readonly slot: () => number;
  readonly log: Log;
}

export class DepartureLog {
  readonly #departures = new Departures();
  readonly #writer: DepartureWriter;

  /** `earlier`: those of the rows, oldest first. */
  constructor(private readonly options: DepartureLogOptions, earlier: readonly Departure[]) {
    const failed = (error: unknown) =>
      options.log.info("refused transactions were not written", { reason: reason(error) });
    this.#writer = new DepartureWriter(options.write, failed);
    for (const departure of earlier) this.#departures.add(departure);
  }

  /** What is remembered. */
  get departures(): Pick<Departures, "get" | "newestFirst"> {
    return this.#departures;
  }

  /** A transaction departs now. */
  add(departure: Omit<Departure, "at" | "slot">): void {
    const whole = { ...departure, at: this.options.now(), slot: this.options.slot() };
    this.#departures.add(whole);
    this.#writer.add(whole);
  }

  /** Transactions leave the chain or the mempool by an operation. */
  withdraw(transactions: readonly ScannedTransaction[], why: string): void {
    for (const transaction of transactions) {
      const { hash } = transaction;
      this.add({ hash, cbor: transactionCbor(transaction), kind: "withdrawn", why, failures: [] });
    }
  }

  /** Transactions leave the mempool because they are no longer valid. */
  drop(dropped: readonly DroppedTransaction[], why: string): void {
    for (const { hash, cbor, failures } of dropped) {
      this.add({ hash, cbor, kind: "dropped", why, failures });
      const names = failures.map(({ name }) => name);
      this.options.log.info("a transaction left the mempool", { transaction: hash, why, failures: names });
    }
  }

  /** Writes what waits. */
  end(): Promise<void> {
    return this.#writer.end();
  }
}
