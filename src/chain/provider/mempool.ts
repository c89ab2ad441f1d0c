/** Reads of a network's mempool. */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { type MempoolTransaction, readMempoolTransaction } from "#src/cardano/mempoolTransaction.ts";

/** Transactions of one read at most. A mempool of a public network holds a few hundred. */
export const MEMPOOL_MOST = 20_000;

/** What a read of the mempool gives. */
export interface MempoolRead {
  /** Hashes of the transactions in the mempool. */
  readonly hashes: ReadonlySet<string>;
  /** Those that the caller did not know, parents before the transactions that spend their outputs. */
  readonly transactions: readonly MempoolTransaction[];
  /** Whether `hashes` are all; false where the mempool holds more than `MEMPOOL_MOST`. */
  readonly complete: boolean;
}

/** Collects a read from transactions' bytes, a few milliseconds at a time. */
export class MempoolReader {
  readonly #hashes = new Set<string>();
  readonly #transactions: MempoolTransaction[] = [];
  readonly #pace = new EventLoopPacer();
  #complete = true;

  constructor(private readonly known: ReadonlySet<string>) {}

  /** Adds a hash; false where the read is full. */
  add(hash: string): boolean {
    if (this.#hashes.size >= MEMPOOL_MOST && !this.#hashes.has(hash)) {
      this.#complete = false;
      return false;
    }
    this.#hashes.add(hash);
    return true;
  }

  /** Reads an added transaction, unless the caller knows it. */
  read(hash: string, cbor: Uint8Array): Promise<void> {
    return this.readBy(hash, () => readMempoolTransaction(cbor));
  }

  /** As `read`, for a transaction that is not given as CBOR; `work` is undefined where it cannot be read. */
  async readBy(hash: string, work: () => MempoolTransaction | undefined): Promise<void> {
    await this.#pace.step();
    if (this.known.has(hash)) return;
    const transaction = work();
    if (transaction) this.#transactions.push(transaction);
  }

  /** What was added. */
  result(): MempoolRead {
    return { hashes: this.#hashes, transactions: this.#transactions, complete: this.#complete };
  }
}
