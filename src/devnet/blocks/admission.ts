/** Admission to the mempool: of submitted transactions, and of payments that the faucet makes. */
import { type Log, reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { SigningKey } from "#src/cardano/keys/signingKey.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Submission } from "#src/chain/provider/port.ts";
import type { ChainMemory, MemorySettings } from "#src/devnet/blocks/chainMemory.ts";
import type { DepartureLog } from "#src/devnet/blocks/departureLog.ts";
import { GroupCommit } from "#src/devnet/blocks/groupCommit.ts";
import type { SubmittedTransaction } from "#src/devnet/blocks/mempool.ts";
import { isInLedger } from "#src/devnet/blocks/rows.ts";
import {
  accepted,
  decodeSubmission,
  type SubmissionUnavailable,
  unavailable,
  type UndecodableSubmission,
} from "#src/devnet/blocks/submission.ts";
import { faucetEmpty, type FaucetPayment, paymentResult } from "#src/devnet/faucet/faucet.ts";
import { buildPayment, type PaymentOutput } from "#src/devnet/faucet/payment.ts";
import type { Store } from "#src/store/store.ts";
import type { LedgerState } from "#src/ledger/state.ts";
import type { Coin } from "#src/transaction/coinPool.ts";

/** What admission depends on. */
export interface AdmissionSettings extends MemorySettings {
  readonly store: Store;
  readonly mempoolBytes: number;
  readonly log: Log;
}

/** What became of a transaction; with the row to write, where it is in the mempool now. */
interface Admitted {
  readonly row?: SubmittedTransaction;
  /** Whether the mempool had it before. */
  readonly again?: boolean;
  readonly outcome: Result<Submission, SubmissionUnavailable>;
}

export type SubmissionResult = Result<Submission, SubmissionUnavailable | UndecodableSubmission>;

/** The faucet as a payer, and the ledger with the mempool applied. */
export interface OwnPayer {
  readonly key: SigningKey;
  /** Bytes of the faucet's address in hexadecimal. */
  readonly address: string;
  readonly available: readonly Coin[];
  readonly parameters: Parameters;
  readonly view: LedgerState;
}

/** A transaction of the devnet's own, and what the ledger says of it. */
export interface OwnTransaction {
  readonly txHash: string;
  readonly submission: Submission;
}

/** The chain as admission uses it. */
interface AdmittingChain {
  readonly memory: () => ChainMemory;
  readonly departures: DepartureLog;
  /** Runs work while no other operation runs. */
  readonly exclusive: (work: () => Promise<void>) => Promise<void>;
  /** Writes the rows of admitted transactions; none if submissions only count on earlier ones. */
  readonly commit: (rows: readonly SubmittedTransaction[]) => Promise<void>;
}

export class Admission {
  /** Resolves when the scripts of all submissions so far are evaluated; keeps submissions in order. */
  #evaluated: Promise<unknown> = Promise.resolve();

  readonly #commits: GroupCommit<SubmittedTransaction>;

  constructor(private readonly settings: AdmissionSettings, private readonly chain: AdmittingChain) {
    this.#commits = new GroupCommit(
      chain.exclusive,
      chain.commit,
      (error) => settings.log.warn("submissions could not be processed", { reason: reason(error) }),
    );
  }

  /**
   * Submits a transaction; `accepted` once its row is committed. Its scripts are evaluated before it enters the queue, so
   * that neither blocks nor other submissions wait for them.
   */
  async submit(cbor: Uint8Array): Promise<SubmissionResult> {
    const read = decodeSubmission(cbor, this.settings.genesis.parameters.maxTxSize);
    if (!read.ok) return read;
    const { transaction, runsScripts } = read.value;
    await this.#evaluateAhead(transaction, cbor, runsScripts);
    return await this.#commits.add((resolve) => ({
      failed: () => resolve(unavailable()),
      run: async () => {
        const { row, again = false, outcome } = await this.#admit(transaction, cbor);
        return { ...(row ? { row } : {}), again, answer: () => resolve(outcome) };
      },
    }));
  }

  /** Pays from the faucet; resolves once the transaction is in the mempool. */
  async pay(targets: readonly PaymentOutput[]): Promise<FaucetPayment> {
    const done = await this.own((payer) => {
      const built = buildPayment(payer, targets);
      return built.ok ? built : faucetEmpty(built.error);
    });
    return done.ok ? paymentResult(done.value, this.settings.log) : done;
  }

  /**
   * Makes a transaction of the devnet's own with the faucet's coins. `build` sees the ledger with the mempool applied, and
   * gives the signed transaction. Resolves once that is in the mempool, or refused.
   */
  own<E>(
    build: (payer: OwnPayer) => Result<Uint8Array, E>,
  ): Promise<Result<OwnTransaction, E | SubmissionUnavailable>> {
    return this.#commits.add((resolve) => ({
      failed: () => resolve(unavailable()),
      run: async () => {
        const { faucet: { key, address } } = this.settings.genesis;
        const { coins, mempool: { view }, state: { parameters } } = this.chain.memory();
        const built = build({ key, address, available: coins.unspent(view.utxo), parameters, view });
        if (!built.ok) return { answer: () => resolve(built) };
        const cbor = built.value;
        const transaction = scanTransaction(cbor);
        const { row, outcome } = await this.#admit(transaction, cbor);
        const answer = () =>
          resolve(outcome.ok ? ok({ txHash: transaction.hash, submission: outcome.value }) : outcome);
        return { ...(row ? { row } : {}), answer };
      },
    }));
  }

  /** Waits for the scripts of all submissions so far, and of this one: their results are cached. */
  async #evaluateAhead(transaction: ScannedTransaction, cbor: Uint8Array, runsScripts: boolean): Promise<void> {
    const earlier = this.#evaluated;
    if (runsScripts) this.#evaluated = Promise.all([earlier, this.#evaluate({ position: 0, transaction, cbor })]);
    await this.#evaluated;
  }

  async #evaluate(waiting: SubmittedTransaction): Promise<void> {
    const { mempool, slot, horizon } = this.chain.memory();
    await this.settings.judge(mempool.view, waiting, slot, { horizon }).catch(() => {});
  }

  /** Validates a transaction on top of the mempool, and adds it if it is valid. */
  async #admit(transaction: ScannedTransaction, cbor: Uint8Array): Promise<Admitted> {
    const { mempoolBytes, log, store } = this.settings;
    const memory = this.chain.memory();
    const { mempool } = memory;
    const { hash } = transaction;
    const again = mempool.has(hash);
    if (mempool.bytes + cbor.length > mempoolBytes) {
      const message = `The mempool is full: it has ${mempool.size} transactions and a limit of ${mempoolBytes} bytes.`;
      return { again, outcome: fail("mempool_full", message) };
    }
    const waiting: SubmittedTransaction = { position: memory.next, transaction, cbor };
    const judged = await mempool.submit(waiting, memory.slot, { horizon: memory.horizon }).catch((error) => {
      log.warn("a transaction could not be validated", { transaction: hash, reason: reason(error) });
      return undefined;
    });
    if (!judged) return { outcome: unavailable() };
    if (judged.ok) {
      memory.next++;
      memory.coins.addPending(judged.value);
      return { row: waiting, outcome: accepted };
    }
    // one that the chain has is no departure, though it is refused like any other whose inputs are spent
    if (!again && !await isInLedger(store.sql, hash)) {
      this.chain.departures.add({ hash, cbor, kind: "refused", why: "The ledger refused it", failures: judged.error });
    }
    return { again, outcome: ok({ outcome: "refused", failures: judged.error }) };
  }
}
