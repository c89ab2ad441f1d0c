/**
 * The devnet's chain while this process holds the lease: one chain, one mempool, one operation at a time.
 *
 * Assumptions: the rows are the truth, written in transactions that lock the lease's epoch. Memory is a copy, read
 * again whenever a write did not end as expected. No other process writes these rows while the epoch is valid.
 */
import type { BalanceFailure } from "#src/transaction/balance.ts";
import { equalBytes } from "#src/base/bytes.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { ScannedTransaction, Tip } from "#src/cardano/block.ts";
import { horizon } from "#src/cardano/eras.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { type Output, parseRefKey, refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { scanBlock, scanTransaction } from "#src/cardano/scan.ts";
import type { Submission } from "#src/chain/provider/port.ts";
import { GroupCommit } from "#src/devnet/blocks/groupCommit.ts";
import type { MiningControl } from "#src/devnet/blocks/mining.ts";
import { isInLedger, readTip } from "#src/devnet/blocks/rows.ts";
import { DepartureWriter, readDepartures, writeDepartures } from "#src/devnet/blocks/departureRows.ts";
import { type Departure, Departures } from "#src/devnet/blocks/departures.ts";
import {
  appendBlocks,
  deleteMempool,
  eachUtxo,
  insertMempool,
  type NewBlock,
  readMempool,
  turnBack,
  undoBlocks,
  type UndoneBlocks,
} from "#src/devnet/blocks/writes.ts";
import type { IndexedBlock } from "#src/devnet/index/foldBlock.ts";
import { rebuildIndex } from "#src/devnet/index/rebuild.ts";
import { indexBlocks } from "#src/devnet/index/write.ts";
import {
  deleteSnapshot,
  restoreSnapshot,
  type SaveOptions,
  saveSnapshot,
  type Snapshot,
  type SnapshotNotSaved,
  type SnapshotUnknown,
} from "#src/devnet/snapshots/snapshots.ts";
import { ChangeSet, writeEntries } from "#src/devnet/ledger/changes.ts";
import { readEntries } from "#src/devnet/ledger/entries.ts";
import { enterEpoch, type EpochBoundary, epochOf } from "#src/devnet/ledger/epoch.ts";
import { type Genesis, readBounds } from "#src/devnet/genesis/genesis.ts";
import { faucetEmpty, type FaucetPayment, paymentResult } from "#src/devnet/faucet/faucet.ts";
import { composeBlock } from "#src/devnet/blocks/forge.ts";
import {
  type DroppedTransaction,
  Mempool,
  type SubmittedTransaction,
  transactionCbor,
  type ValidateTransaction,
} from "#src/devnet/blocks/mempool.ts";
import { buildPayment, type PaymentOutput } from "#src/devnet/faucet/payment.ts";
import { eraHistory } from "#src/devnet/serve/nodeGenesis.ts";
import { readColdKeys } from "#src/devnet/genesis/pools.ts";
import { FaucetCoins } from "#src/devnet/faucet/faucetCoins.ts";
import {
  accepted,
  decodeSubmission,
  type SubmissionUnavailable,
  unavailable,
  type UndecodableSubmission,
} from "#src/devnet/blocks/submission.ts";
import { type Applied, applyDelta, write } from "#src/ledger/delta.ts";
import { type LedgerState, type MutableLedgerState, newState, overlay } from "#src/ledger/state.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { fence } from "#src/runtime/placement/namedLease.ts";

/** Name of the lease under which a devnet produces blocks. */
export const LEASE = "devnet";

export type RollbackImpossible = Failure<"rollback_impossible">;

/** The lease was taken over: nothing is written under this epoch any more. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Does `work` in one transaction that locks the lease's epoch. @throws {LeaseLost} if another process has taken the lease over */
export async function underLease<T>(store: Store, epoch: number, work: (sql: Queries) => Promise<T>): Promise<T> {
  const { done } = await store.sql.begin(async (sql) => {
    if ((await fence(sql, LEASE, epoch)).length === 0) {
      throw new LeaseLost("the lease of this operation has ended");
    }
    return { done: await work(sql) };
  });
  return done;
}

interface ChainSettings {
  readonly store: Store;
  readonly epoch: number;
  readonly genesis: Genesis;
  /** Validates a transaction by the rules of the ledger. */
  readonly judge: ValidateTransaction;
  /** Whether scripts run in transactions with a bound past the horizon. */
  readonly pastHorizon: boolean;
  readonly mempoolBytes: number;
  /** Whether blocks are added to the index of the chain. */
  readonly index: boolean;
  /** The slot of the clock; the devnet may run ahead of it. */
  readonly slot: () => number;
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly mining: MiningControl;
  /** Called with each new block, in order, once it is written. */
  readonly announce: (tip: Tip) => void;
  readonly log: Log;
}

/** Blocks that one database transaction writes at most. */
const BATCH_BLOCKS = 50;

/** Milliseconds of work after which the blocks made so far are written. */
const BATCH_MS = 10;

/** Chooses the slot of the next block; undefined: none is made. */
export type BlockPlan = (at: {
  /** Slot of the newest block. */
  readonly tip: number;
  /** Its epoch. */
  readonly epoch: number;
  /** The present slot, or the one after the newest block's. */
  readonly now: number;
  /** The slot that was set for the next block. */
  readonly set: number | undefined;
}) => number | undefined;

/** A plan that ends after so many blocks. */
export function times(count: number, choose: BlockPlan): BlockPlan {
  let left = count;
  return (at) => left-- > 0 ? choose(at) : undefined;
}

type SubmissionResult = Result<Submission, SubmissionUnavailable | UndecodableSubmission>;

export class DevnetChain {
  #state!: MutableLedgerState;
  #outputs!: Map<string, Output>;
  /** Cold keys of pools, by id. */
  #coldKeys!: Map<string, Uint8Array>;
  /** What the mempool judges on: the state; after a rollback over a boundary, or a restart after one, the state as it will be in the next block's epoch. */
  #base!: LedgerState;
  #mempool!: Mempool;
  #tip!: Tip;
  #floor = -1;
  #slotsAhead = 0;
  #fork = 0;
  #nextSlot: number | undefined;
  #next = 0;
  #writes = 0;
  #changes = 0;
  /** Whether memory may differ from the rows. */
  #stale = false;
  /** Resolves when the scripts of all submissions so far are evaluated; keeps submissions in order. */
  #evaluated: Promise<unknown> = Promise.resolve();
  readonly #coins: FaucetCoins;
  readonly #departures = new Departures();
  readonly #departureWriter = new DepartureWriter(
    (departures) => underLease(this.settings.store, this.settings.epoch, (sql) => writeDepartures(sql, departures)),
    (error) => this.settings.log.info("refused transactions were not written", { reason: reason(error) }),
  );
  /** Resolves when the operation begun last has ended, whatever its result. */
  #running: Promise<unknown> = Promise.resolve();
  readonly #submissions = new GroupCommit<SubmittedTransaction>(
    (work) => this.#run(work),
    async (waiting) => {
      if (waiting.length > 0) {
        await this.#write((sql) => insertMempool(sql, waiting.map(row)));
        this.#stale = false;
      }
      if (this.settings.mining.present.mode === "submit") await this.#mineWaiting();
    },
    (error) => this.settings.log.warn("submissions could not be processed", { reason: reason(error) }),
  );

  private constructor(private readonly settings: ChainSettings) {
    this.#coins = new FaucetCoins(settings.genesis.faucet.address);
  }

  /** Opens the chain from its rows. First builds the index again, unless it is off or ends at the chain's tip. */
  static async open(settings: ChainSettings): Promise<DevnetChain> {
    if (settings.index) await completeIndex(settings);
    const chain = new DevnetChain(settings);
    for (const departure of await readDepartures(settings.store.sql)) chain.#departures.add(departure);
    await chain.#load();
    return chain;
  }

  /** A number that grows with every operation that changes the chain or the mempool. */
  get changes(): number {
    return this.#changes;
  }

  get tip(): Tip {
    return this.#tip;
  }

  /** The protocol parameters at the tip. */
  get parameters(): Parameters {
    return this.#state.parameters;
  }

  /** The ledger state at the tip, without the mempool. */
  get state(): LedgerState {
    return this.#state;
  }

  /** Unspent outputs of the chain at an address (bytes in hexadecimal). Scans all outputs. */
  outputsAt(address: string): Utxo[] {
    return [...utxos(this.#outputs)].filter(({ output }) => output.address === address);
  }

  /** The first slot whose time is not known at the tip: a script that needs it cannot be run. Undefined: that is not checked. */
  get horizon(): number | undefined {
    const { genesis, pastHorizon } = this.settings;
    return pastHorizon ? undefined : horizon(eraHistory(genesis, this.#tip))?.slot;
  }

  /** By how many slots the devnet runs ahead of the clock. */
  get slotsAhead(): number {
    return this.#slotsAhead;
  }

  /** The slot of the next block, if it is made now. */
  get nextSlot(): number {
    return this.#slot();
  }

  /** Transactions that were refused or departed without a block. */
  get departures(): Pick<Departures, "get" | "newestFirst"> {
    return this.#departures;
  }

  get mempool(): Pick<Mempool, "entries" | "has" | "size" | "bytes"> {
    return this.#mempool;
  }

  /**
   * Submits a transaction; `accepted` once its row is committed. Like a node it refuses one that it has. Its scripts are evaluated before it enters the queue,
   * so that neither blocks nor other submissions wait for them.
   */
  async submit(cbor: Uint8Array): Promise<SubmissionResult> {
    const read = decodeSubmission(cbor, this.settings.genesis.parameters.maxTxSize);
    if (!read.ok) return read;
    const { transaction, runsScripts } = read.value;
    const earlier = this.#evaluated;
    const foreseen = runsScripts ? this.#evaluateAhead({ position: 0, transaction, cbor }) : undefined;
    if (foreseen) this.#evaluated = Promise.all([earlier, foreseen]);
    await this.#evaluated;
    return await this.#submissions.add((resolve) => ({
      failed: () => resolve(unavailable()),
      run: async () => {
        const { row, again = false, outcome } = await this.#admit(transaction, cbor);
        return { ...(row ? { row } : {}), again, answer: () => resolve(outcome) };
      },
    }));
  }

  /** Pays from the faucet; resolves once the transaction is in the mempool. */
  pay(targets: readonly PaymentOutput[]): Promise<FaucetPayment> {
    return this.#submissions.add((resolve) => ({
      failed: () => resolve(unavailable()),
      run: async () => {
        const built = this.#payment(targets);
        if (!built.ok) return { answer: () => resolve(faucetEmpty(built.error)) };
        const cbor = built.value;
        const transaction = scanTransaction(cbor);
        const { row, outcome } = await this.#admit(transaction, cbor);
        const answer = () => resolve(paymentResult(transaction.hash, outcome, this.settings.log));
        return { ...(row ? { row } : {}), answer };
      },
    }));
  }

  /** Whether an output at an address holds this script, in the chain or in the mempool. */
  holdsScript(address: string, script: Uint8Array): Promise<boolean> {
    const is = (output: Output) =>
      output.address === address && output.script !== undefined && equalBytes(output.script, script);
    return this.#run(async () => {
      const { utxo } = this.#mempool.view;
      for (const [key, output] of this.#outputs) if (is(output) && utxo.get(parseRefKey(key))) return true;
      for (const { applied } of this.#mempool.entries()) {
        if (applied.created.some(({ ref, output }) => is(output) && utxo.get(ref))) return true;
      }
      return false;
    });
  }

  /** Produces a block in a slot, or in that which was set; undefined if the newest block is not before it. */
  async forge(slot: number): Promise<Tip | undefined> {
    const [tip] = await this.forgeBlocks(times(1, ({ set = slot }) => set));
    return tip;
  }

  /**
   * Produces the blocks of a plan until it gives no slot after the newest block, or for some milliseconds; their slots
   * may be in the future: the devnet's clock then goes on from there. Gives the blocks, none where the plan has ended.
   * With `empty` the mempool stays as it is, but for transactions that expire.
   */
  forgeBlocks(plan: BlockPlan, { empty = false } = {}): Promise<readonly Tip[]> {
    return this.#run(() => this.#append(plan, empty));
  }

  /** Sets the slot of the next block, if `check` allows it with the slot of the newest one. */
  setNextSlot<E>(slot: number, check: (tip: number) => Result<void, E>): Promise<Result<void, E>> {
    return this.#run(async () => {
      const checked = check(this.#tip.slot);
      if (checked.ok) this.#nextSlot = slot;
      return checked;
    });
  }

  /** Produces blocks with the transactions of the mempool. */
  mineWaiting(): Promise<void> {
    return this.#run(() => this.#mineWaiting());
  }

  async #mineWaiting(): Promise<void> {
    for (let before = Infinity; this.#mempool.size > 0 && this.#mempool.size < before;) {
      before = this.#mempool.size;
      await this.#append(times(1, ({ now, set = now }) => set));
    }
  }

  /** Runs within an operation. Blocks with transactions are the last of their database transaction. */
  async #append(plan: BlockPlan, empty = false): Promise<readonly Tip[]> {
    const { genesis, index } = this.settings;
    const blocks: NewBlock[] = [];
    const indexed: IndexedBlock[] = [];
    const leaving: string[] = [];
    const tips: Tip[] = [];
    let tip = this.#tip;
    let slotsAhead = this.#slotsAhead;
    let inOrder = true;
    const started = performance.now();
    while (blocks.length < BATCH_BLOCKS && performance.now() - started < BATCH_MS) {
      const now = Math.max(this.settings.slot() + slotsAhead, tip.slot + 1);
      const set = blocks.length === 0 ? this.#nextSlot : undefined;
      const slot = plan({ tip: tip.slot, epoch: this.#state.epoch, now, set });
      if (slot === undefined || slot <= tip.slot) break;
      const changes = new ChangeSet(this.#state);
      const { dropped, boundaries } = await this.#advanceTo(slot, changes);
      const selected = empty ? undefined : await this.#mempool.select(slot);
      const chosen = selected?.chosen ?? [];
      const parts = {
        genesis,
        state: this.#state,
        coldKeys: this.#coldKeys,
        tip,
        slot,
        fork: this.#fork,
        chosen,
        changes,
      };
      const { block, pool, made } = composeBlock(parts);
      const { epoch, parameters } = this.#state;
      blocks.push(block);
      indexed.push({ ...block, pool, epoch, parameters, boundaries, transactions: chosen });
      leaving.push(...block.transactions.map(({ hash }) => hash), ...dropped.map(({ hash }) => hash));
      write(this.#state.blocks, made, "after");
      tip = { height: block.height, slot, hash: block.hash };
      tips.push(tip);
      slotsAhead = Math.max(slotsAhead, slot - this.settings.slot());
      if (chosen.length === 0) continue;
      inOrder = selected?.inOrder ?? true;
      break;
    }
    if (blocks.length === 0) return [];
    const k = genesis.network.securityParameter;
    const [floor] = await this.#write((sql) =>
      Promise.all([appendBlocks(sql, blocks, { leaving, slotsAhead, k }), index && indexBlocks(sql, indexed)])
    );
    for (const { transactions, coldKeys } of blocks) {
      for (const [pool, key] of coldKeys) this.#coldKeys.set(pool, key);
      for (const applied of transactions) {
        applyDelta(this.#state, applied);
        this.#coins.confirm(applied);
      }
    }
    this.#tip = tip;
    this.#slotsAhead = slotsAhead;
    this.#nextSlot = undefined;
    this.#floor = floor;
    for (const made of tips) this.settings.announce(made);
    const included = new Set(leaving);
    if (inOrder) {
      this.#mempool.removeIncluded(included);
      this.#coins.setPending(this.#pendingEffects());
    } else {
      const waiting = [...this.#mempool.entries()].filter(({ transaction }) => !included.has(transaction.hash));
      await this.#refill(waiting, "It was no longer valid after a block");
    }
    this.#stale = false;
    return tips;
  }

  /**
   * Undoes every block above a height (-1: all). Their transactions return to the front of the mempool as far as they
   * are still valid; with `drop` they do not. With `emptied` the mempool loses what it holds as well. Time goes back to
   * the newest block's slot, unless the clock is later.
   */
  rollback(height: number, drop: boolean, emptied = false): Promise<Result<Tip, RollbackImpossible>> {
    return this.#run(async () => {
      if (!Number.isSafeInteger(height) || height < this.#floor || height > this.#tip.height) {
        return fail(
          "rollback_impossible",
          `The chain can be rolled back to heights ${this.#floor} to ${this.#tip.height} (-1: before the first block).`,
          { lowest: this.#floor, highest: this.#tip.height },
        );
      }
      const held: SubmittedTransaction[] = [...this.#mempool.entries()];
      const waiting = emptied ? [] : held;
      const { undone, returned, removed, tip, slotsAhead, fork } = await this.#write(async (sql) => {
        if (emptied) await deleteMempool(sql, held.map(({ transaction: { hash } }) => hash));
        const undone = await undoBlocks(sql, height, this.settings.index);
        const removed = undone.blocks.flatMap((bytes) => scanBlock(bytes).transactions);
        const transactions = drop ? [] : removed;
        const before = waiting.reduce((least, { position }) => Math.min(least, position), this.#next);
        const returned = transactions.map((transaction, index): SubmittedTransaction => ({
          position: before - transactions.length + index,
          transaction,
          cbor: transactionCbor(transaction),
        }));
        await insertMempool(sql, returned.map(row));
        const tip = await readTip(sql);
        const slotsAhead = this.#aheadAt(tip);
        return { undone, returned, removed, tip, slotsAhead, fork: await turnBack(sql, slotsAhead) };
      });
      const why = emptied ? "The devnet was reset" : "A rollback undid its block and dropped it";
      if (drop) this.#withdrawn(removed, why);
      if (emptied) this.#withdrawn(held.map(({ transaction }) => transaction), why);
      this.#forget(undone);
      this.#moveTo(tip, slotsAhead, fork);
      await this.#refill([...returned, ...waiting], "It was no longer valid after a rollback");
      this.#stale = false;
      return ok(this.#tip);
    });
  }

  /** Saves the newest block and the mempool as a snapshot. */
  saveSnapshot(name: string, options: SaveOptions): Promise<Result<Snapshot, SnapshotNotSaved>> {
    return this.#run(async () => {
      const { mining } = this.settings;
      const saved = await this.#write((sql) => saveSnapshot(sql, name, options, mining.present));
      this.#stale = false;
      return saved;
    });
  }

  /**
   * Goes to the block of a snapshot: back to the last block that both chains have, and forward again. The mempool is
   * the snapshot's, as far as its transactions are still valid, and so are the clock's slots ahead and the mining.
   */
  restoreSnapshot(name: string): Promise<Result<Tip, SnapshotUnknown>> {
    return this.#run(async () => {
      const restored = await this.#write(async (sql) => {
        const done = await restoreSnapshot(sql, name, this.settings.index);
        if (!done.ok) return done;
        const { tip, clock } = done.value;
        const slotsAhead = clock?.slotsAhead ?? this.#aheadAt(tip);
        return ok({ ...done.value, slotsAhead, fork: await turnBack(sql, slotsAhead) });
      });
      if (!restored.ok) {
        this.#stale = false;
        return restored;
      }
      const { undone, appended, tip, mempool, clock, slotsAhead, fork } = restored.value;
      const why = "A snapshot was restored that does not have it";
      this.#withdrawn(undone.blocks.flatMap((bytes) => scanBlock(bytes).transactions), why);
      this.#withdrawn([...this.#mempool.entries()].map(({ transaction }) => transaction), why);
      this.#forget(undone);
      for (const ref of appended.spent) this.#outputs.delete(refKey(ref));
      for (const { ref, output } of appended.created) this.#outputs.set(refKey(ref), output);
      writeEntries(this.#state, appended.changes, "after");
      this.#moveTo(tip, slotsAhead, fork);
      if (clock) this.settings.mining.set(clock);
      if (this.settings.index && !appended.isIndexed) await completeIndex(this.settings);
      const waiting = mempool.map(({ position, cbor }) => ({ position, cbor, transaction: scanTransaction(cbor) }));
      await this.#refill(waiting, "It was no longer valid after a snapshot was restored");
      this.#stale = false;
      return ok(this.#tip);
    });
  }

  /** Deletes a snapshot, and the blocks that were kept for it alone. */
  deleteSnapshot(name: string): Promise<Result<void, SnapshotUnknown>> {
    return this.#run(async () => {
      const deleted = await this.#write((sql) => deleteSnapshot(sql, name));
      this.#stale = false;
      return deleted;
    });
  }

  /** Reads the chain between two operations, without the mempool. */
  read<T>(use: (state: LedgerState, tip: Tip) => T): Promise<T> {
    return this.#run(async () => use(this.#state, this.#tip));
  }

  /** Waits for the running operation, and writes what only a restart needs. */
  async idle(): Promise<void> {
    await this.#running;
    await this.#departureWriter.end();
  }

  /**
   * Advances the ledger to a slot. If that ends epochs, the mempool is validated again; else transactions past their
   * validity are dropped. Memory is then ahead of the rows until `changes` are written.
   */
  async #advanceTo(
    slot: number,
    changes: ChangeSet,
  ): Promise<{ dropped: DroppedTransaction[]; boundaries: EpochBoundary[] }> {
    const { terms } = this.settings.genesis;
    let dropped: DroppedTransaction[];
    let boundaries: EpochBoundary[] = [];
    const isOfEpoch = epochOf(slot, terms.epochLength) <= this.#state.epoch;
    if (isOfEpoch && this.#base === this.#state) dropped = await this.#mempool.expire(slot);
    else {
      this.#stale = true;
      boundaries = await enterEpoch(this.#state, slot, terms, changes);
      this.#base = this.#state;
      dropped = await this.#mempool.refill([...this.#mempool.entries()], slot);
    }
    this.#dropped(dropped, "It was no longer valid when a block was made");
    return { dropped, boundaries };
  }

  /** By how many slots the clock has to run ahead, at most as far as now, to have reached a block. */
  #aheadAt({ slot }: Tip): number {
    return Math.min(this.#slotsAhead, Math.max(0, slot - this.settings.slot()));
  }

  /** Continues from a block of the rows. */
  #moveTo(tip: Tip, slotsAhead: number, fork: number): void {
    this.#tip = tip;
    this.#slotsAhead = slotsAhead;
    this.#fork = fork;
    this.#nextSlot = undefined;
  }

  /** Removes the effects of undone blocks from memory. */
  #forget({ removed, restored, changes }: UndoneBlocks): void {
    for (const ref of removed) this.#outputs.delete(refKey(ref));
    for (const { ref, output } of restored) this.#outputs.set(refKey(ref), output);
    writeEntries(this.#state, changes, "before");
  }

  /** Evaluates a transaction's scripts ahead of its validation: the results are cached. */
  async #evaluateAhead(waiting: SubmittedTransaction): Promise<void> {
    await this.settings.judge(this.#mempool.view, waiting, this.#slot(), { horizon: this.horizon }).catch(() => {});
  }

  async #admit(
    transaction: ScannedTransaction,
    cbor: Uint8Array,
  ): Promise<{ row?: SubmittedTransaction; again?: boolean; outcome: Result<Submission, SubmissionUnavailable> }> {
    const { hash } = transaction;
    const again = this.#mempool.has(hash);
    const waiting: SubmittedTransaction = { position: this.#next, transaction, cbor };
    if (this.#mempool.bytes + cbor.length > this.settings.mempoolBytes) {
      const message =
        `The mempool is full: it has ${this.#mempool.size} transactions and a limit of ${this.settings.mempoolBytes} bytes.`;
      return { again, outcome: fail("mempool_full", message) };
    }
    const judged = await this.#mempool.submit(waiting, this.#slot(), { horizon: this.horizon }).catch((error) => {
      this.settings.log.warn("a transaction could not be validated", { transaction: hash, reason: reason(error) });
      return undefined;
    });
    if (!judged) return { outcome: unavailable() };
    if (judged.ok) {
      this.#next++;
      this.#coins.addPending(judged.value);
      return { row: waiting, outcome: accepted };
    }
    // one that the chain has is no departure, though it is refused like any other whose inputs are spent
    if (!again && !await isInLedger(this.settings.store.sql, hash)) {
      this.#depart({ hash, cbor, kind: "refused", why: "The ledger refused it", failures: judged.error });
    }
    return { again, outcome: ok({ outcome: "refused", failures: judged.error }) };
  }

  #payment(targets: readonly PaymentOutput[]): Result<Uint8Array, BalanceFailure> {
    const { faucet: { key, address } } = this.settings.genesis;
    const available = this.#coins.unspent(this.#mempool.view.utxo);
    return buildPayment({ key, address, available, parameters: this.#state.parameters }, targets);
  }

  #slot(): number {
    return this.#nextSlot ?? Math.max(this.settings.slot() + this.#slotsAhead, this.#tip.slot + 1);
  }

  *#pendingEffects(): Iterable<Applied> {
    for (const { applied } of this.#mempool.entries()) yield applied;
  }

  /** Writes under the lease. Memory counts as stale from here on, until the caller has updated it. */
  async #write<T>(work: (sql: Queries) => Promise<T>): Promise<T> {
    this.#stale = true;
    this.#writes++;
    return await underLease(this.settings.store, this.settings.epoch, work);
  }

  /**
   * Runs one operation after all earlier ones, on memory that agrees with the rows. If it fails, memory is read again.
   */
  #run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#running.then(async () => {
      if (this.#stale) await this.#load();
      try {
        return await work();
      } catch (error) {
        this.#stale = true;
        await this.#load().catch((again) =>
          this.settings.log.warn("the chain could not be read", { reason: reason(again) })
        );
        throw error;
      } finally {
        // not before: readers that see the change read memory as well as rows
        this.#changes = this.#writes;
      }
    });
    this.#running = result.catch(() => {});
    return result;
  }

  async #load(): Promise<void> {
    const { store: { sql }, genesis: { parameters, network } } = this.settings;
    this.#stale = true;
    this.#outputs = new Map();
    await sql.begin((sql) => eachUtxo(sql, ({ ref, output }) => this.#outputs.set(refKey(ref), output)));
    this.#state = newState({ parameters, network: network.id, outputs: this.#outputs });
    writeEntries(this.#state, await readEntries(sql), "after");
    this.#coldKeys = await readColdKeys(sql);
    ({ floor: this.#floor, slotsAhead: this.#slotsAhead, fork: this.#fork } = await readBounds(sql));
    this.#tip = await readTip(sql);
    this.#base = this.#state;
    this.#mempool = new Mempool(() => this.#base, this.settings.judge);
    const rows = await readMempool(sql);
    const waiting = rows.map(({ position, cbor }) => ({ position, cbor, transaction: scanTransaction(cbor) }));
    await this.#refill(waiting, "It was no longer valid after a restart");
    this.#stale = false;
  }

  /** The state in the epoch of a slot, as a block in that slot finds it; the current state is not changed. */
  async #stateIn(slot: number): Promise<LedgerState> {
    const { terms } = this.settings.genesis;
    if (epochOf(slot, terms.epochLength) <= this.#state.epoch) return this.#state;
    const ahead = overlay(this.#state);
    await enterEpoch(ahead, slot, terms, new ChangeSet(ahead));
    return ahead;
  }

  /** Fills the mempool again on the present chain, and deletes the rows of transactions that are no longer valid. */
  async #refill(waiting: readonly SubmittedTransaction[], why: string): Promise<void> {
    const slot = this.#slot();
    this.#base = await this.#stateIn(slot);
    const dropped = await this.#mempool.refill(waiting, slot);
    this.#next = waiting.reduce((most, { position }) => Math.max(most, position + 1), this.#next);
    this.#coins.reset(utxos(this.#outputs));
    this.#coins.setPending(this.#pendingEffects());
    if (dropped.length === 0) return;
    this.#dropped(dropped, why);
    await this.#write((sql) => deleteMempool(sql, dropped.map(({ hash }) => hash)));
  }

  #withdrawn(transactions: readonly ScannedTransaction[], why: string): void {
    for (const transaction of transactions) {
      this.#depart({
        hash: transaction.hash,
        cbor: transactionCbor(transaction),
        kind: "withdrawn",
        why,
        failures: [],
      });
    }
  }

  #depart(departure: Omit<Departure, "at" | "slot">): void {
    const whole = { ...departure, at: this.settings.now(), slot: this.#slot() };
    this.#departures.add(whole);
    this.#departureWriter.add(whole);
  }

  #dropped(dropped: readonly DroppedTransaction[], why: string): void {
    for (const { hash, cbor, failures } of dropped) {
      this.#depart({ hash, cbor, kind: "dropped", why, failures });
      const names = failures.map(({ name }: LedgerFailure) => name);
      this.settings.log.info("a transaction left the mempool", { transaction: hash, why, failures: names });
    }
  }
}

/** Builds the index of the chain again unless it ends at the tip. */
function completeIndex({ store, epoch, genesis, log }: ChainSettings): Promise<void> {
  return rebuildIndex({ sql: store.sql, write: (work) => underLease(store, epoch, work), genesis, log });
}

function row({ position, transaction: { hash }, cbor }: SubmittedTransaction) {
  return { position, hash, cbor };
}

function* utxos(outputs: ReadonlyMap<string, Output>): Iterable<Utxo> {
  for (const [key, output] of outputs) yield { ref: parseRefKey(key), output };
}
